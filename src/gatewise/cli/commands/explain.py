"""`gatewise explain`: why rows of a file get their answers, and what would have to change for another one.

Without a solver, each column is changed alone, and nothing is proved.
"""

import argparse
from typing import Any

from gatewise.cli.conditions import add_given, add_limit, parse_given, parse_label, read_rows
from gatewise.cli.options import Dialect, add_json, add_reading, load_model, show, split_names
from gatewise.heads import Classes

EXAMPLES = """examples:
  gatewise explain loans.gw customers.csv
  gatewise explain loans.gw customers.csv --row 7 --smallest
  gatewise explain loans.gw customers.csv --row 7 --changes 3 --to yes --fixed age,sex
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of the command."""
    parser.add_argument("model", help="file written by gatewise train, or by Model.save; of classes")
    parser.add_argument("data", help="CSV file (also .gz, .bz2, .zst) or Parquet file; - for CSV on stdin")
    parser.add_argument("--row", type=int, default=1, metavar="N", help="the number of the row (default: 1, the first)")
    parser.add_argument("--smallest", action="store_true", help="look for the fewest columns that force the answer")
    parser.add_argument(
        "--changes", type=int, default=1, metavar="N", help="how many ways to another answer to look for (default: 1)"
    )
    parser.add_argument("--to", metavar="CLASS", help="the other answer (default: any)")
    parser.add_argument("--fixed", type=split_names, default=[], metavar="A,B", help="columns that may not change")
    add_given(parser)
    add_limit(parser, "the explanation, and again for the changes")
    add_reading(parser)
    add_json(parser)


def run(args: argparse.Namespace) -> int:
    """Explain a row."""
    from gatewise import verify

    model = load_model(args.model, threads=1)
    if not isinstance(model.head, Classes):
        raise ValueError(f"{args.model} must hold a model of classes, got one of values")
    if args.row < 1:
        raise ValueError(f"--row must be at least 1, got {args.row}")
    if args.changes < 0:
        raise ValueError(f"--changes must be at least 0, got {args.changes}")
    (row,) = read_rows(model, args.data, Dialect.given(args), args.row, 1)
    given = parse_given(model.encoder, args.given)
    to = None if args.to is None else parse_label(model, args.to)
    try:
        explanation = verify.explain(model, row, given=given, smallest=args.smallest, limit=args.limit)
    except ModuleNotFoundError as error:
        if given or args.smallest or to is not None or args.fixed or len(model.head.labels) < 2:
            raise
        flips = verify.flip(model, row)
        note = f"nothing is proved: {error}"
        show({"row": row, "flips": flips.to_dict(), "note": note}, [str(flips), note], as_json=args.json)
        return 0
    report: dict[str, Any] = {"row": row, "explanation": explanation.to_dict()}
    lines = [str(explanation)]
    if args.changes:
        changes = verify.counterfactual(
            model, row, to=to, given=given, fixed=args.fixed, n=args.changes, limit=args.limit
        )
        report["changes"] = changes.to_dict()
        lines.append(str(changes))
    show(report, lines, as_json=args.json)
    return 0
