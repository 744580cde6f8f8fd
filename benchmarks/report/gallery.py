"""Writes the reports of the gallery, as facts that the site makes pages of: digits, Adult and MNIST.

    pip install -c constraints.txt '.[bench]'
    python -m benchmarks.report.gallery --data DIR           # docs/gallery/*.json

Times in the pages are measured here, so the machine should be idle.
"""

import argparse
from collections.abc import Iterator
from pathlib import Path

from benchmarks.data.mnist import find_data
from benchmarks.process import REPOSITORY
from benchmarks.report.pages import Made, make_adult, make_digits, make_mnist

FOLDER = REPOSITORY / "docs" / "gallery"


def make_all(data: Path) -> Iterator[tuple[str, Made]]:
    """Names of files, and what is in them."""
    yield "digits", make_digits()
    yield "adult", make_adult(data)
    yield "mnist", make_mnist(data)


def main() -> None:
    """Write the facts, print a line for each."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, help="folder with the data sets (default: $GATEWISE_DATA)")
    FOLDER.mkdir(exist_ok=True)
    for name, made in make_all(find_data(parser.parse_args().data)):
        text = made.report().to_json()
        path = FOLDER / f"{name}.json"
        path.write_text(f"{text}\n")
        print(f"{path.relative_to(REPOSITORY)}: {len(text):,} bytes")


if __name__ == "__main__":
    main()
