"""Write the records' numbers into README.md and docs/, and the table of the experiments.

python -m benchmarks.numbers            # says which pages differ from the records, and exits with 1 if any do
python -m benchmarks.numbers --write    # writes them
"""

import argparse
import sys

from benchmarks.numbers.markers import fill
from benchmarks.numbers.values import value_of
from benchmarks.process import REPOSITORY
from experiments.report import table
from experiments.report.records import latest

RESULTS = REPOSITORY / "experiments" / "RESULTS.md"
PAGES = [REPOSITORY / "README.md", *sorted((REPOSITORY / "docs").rglob("*.md"))]


def main() -> None:
    """Compare, or write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", action="store_true", help="write the pages that differ")
    args = parser.parse_args()
    made = {page: fill(page.read_text(), value_of) for page in PAGES} | {RESULTS: table.render(latest())}
    differing = [page for page, text in made.items() if page.read_text() != text]
    for page in differing:
        print(f"{page.relative_to(REPOSITORY)} {'written' if args.write else 'differs from its records'}")
        if args.write:
            page.write_text(made[page])
    sys.exit(1 if differing and not args.write else 0)


if __name__ == "__main__":
    main()
