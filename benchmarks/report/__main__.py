"""Report pages of Adult and MNIST: seconds to make one, its bytes, and milliseconds in a browser.

    pip install -c constraints.txt '.[bench]'; make page; apt-get install nodejs chromium
    python -m benchmarks.report --data DIR --record          # benchmarks/results/report.json

Adult's model is LogicClassifier's by default, learned from two thirds of the rows, and its page is made of all 48,842.
MNIST's is a network of 8,000 gates with learned wires, trained for a few epochs; its page is made of the test images.
Milliseconds are of headless Chromium: until something is painted, from opening the file; and from a change of a slider,
or a pixel, until the answer stands there, laid out.
"""

import argparse
import json
import shutil
import statistics
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from benchmarks import records
from benchmarks.data.mnist import find_data
from benchmarks.process import REPOSITORY
from benchmarks.report.pages import Made, make_adult, make_mnist


def write_page(made: Made, path: Path) -> records.Record:
    """Make a page; seconds and bytes."""
    start = time.perf_counter()
    made.report().save(path)
    seconds = time.perf_counter() - start
    return {
        "page": made.title,
        "rows": len(made.X),
        "gates": made.model.circuit.n_gates,
        "seconds": seconds,
        "bytes": path.stat().st_size,
    }


def browse(paths: list[Path]) -> Iterator[records.Record]:
    """What the browser measures of each page."""
    node, chromium = (_find(tool) for tool in ("node", "chromium"))
    script = Path(__file__).parent / "browse.mjs"
    done = subprocess.run([node, script, chromium, *paths], check=True, capture_output=True, text=True)
    for each in json.loads(done.stdout):
        answers = sorted(each["answers"])
        yield {
            "paint_ms": statistics.median(each["paints"]),
            "answer_ms": statistics.median(answers),
            "answer_worst_ms": answers[-1],
            "violations": each["violations"],
        }


def _find(tool: str) -> str:
    path = shutil.which(tool)
    if path is None:
        raise SystemExit(f"{tool} must be installed, got none on PATH; try: apt-get install nodejs chromium")
    return path


def main() -> None:
    """Make the pages, open them, print a line for each, write the record."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, help="folder with the data sets (default: $GATEWISE_DATA)")
    records.add_options(parser)
    args = parser.parse_args()
    described = records.start(recording=args.record, allow_dirty=args.allow_dirty)
    if not (REPOSITORY / "src/page/node_modules").is_dir():
        raise SystemExit("playwright-core and axe-core must be installed, got no src/page/node_modules; try: make page")
    data = find_data(args.data)
    with tempfile.TemporaryDirectory() as folder:
        made = [make_adult(data), make_mnist(data)]
        paths = [Path(folder, f"{k}.html") for k in range(len(made))]
        pages = [write_page(each, path) for each, path in zip(made, paths, strict=True)]
        results = [page | timed for page, timed in zip(pages, browse(paths), strict=True)]
    for result in results:
        print(result)
    if args.record:
        records.write("report", described, {"results": results})


if __name__ == "__main__":
    main()
