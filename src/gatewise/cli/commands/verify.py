"""`gatewise verify`: whether a model keeps a rule for every row there can be."""

import argparse
from pathlib import Path
from typing import Any

from gatewise.circuit import Circuit
from gatewise.cli.conditions import (
    EXIT_CODES,
    add_given,
    add_limit,
    parse_given,
    parse_label,
    parse_within,
    read_rows,
)
from gatewise.cli.options import Dialect, add_json, add_reading, count, load_model, show
from gatewise.heads import Classes
from gatewise.model import Model

EXAMPLES = """examples:
  gatewise verify loans.gw --independent-of sex
  gatewise verify loans.gw --rises income --given 'age=18..65'
  gatewise verify loans.gw --always no --given 'income=..1000' --given 'job=|student'
  gatewise verify loans.gw --never yes --given 'income=0' --proof proofs
  gatewise verify loans.gw --bounds
  gatewise verify loans.gw --equals exported.aig
  gatewise verify loans.gw --robust customers.csv --rows 100 --within age=1 --within income=500

exit code: 0 proved, 1 refuted, 3 undecided
"""
METHODS = ("auto", "search", "sat", "sat with adders")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of the command."""
    parser.add_argument("model", help="file written by gatewise train, or by Model.save")
    rule = parser.add_mutually_exclusive_group(required=True)
    rule.add_argument("--always", metavar="ANSWER", help="rows get this class, one of A|B, or a value of LOW..HIGH")
    rule.add_argument("--never", metavar="CLASS", help="no row gets this class")
    rule.add_argument("--independent-of", metavar="COLUMN", help="no answer changes when only this column changes")
    rule.add_argument("--rises", metavar="COLUMN", help="raising this column never lowers the score")
    rule.add_argument("--falls", metavar="COLUMN", help="raising this column never raises the score")
    rule.add_argument("--bounds", action="store_true", help="least and greatest score, and which classes are answered")
    rule.add_argument("--equals", metavar="FILE", help="another model, or an AIGER file of this one, answers alike")
    rule.add_argument("--robust", metavar="FILE", help="rows of this file keep their answer within limits")
    add_given(parser)
    parser.add_argument(
        "--within",
        action="append",
        default=[],
        metavar="COLUMN=AMOUNT",
        help="for --robust, how far a column may go, up or down, or COLUMN=any; others stay (default: all go anywhere)",
    )
    parser.add_argument("--at-most", type=int, metavar="N", help="for --robust, how many columns may change at once")
    parser.add_argument("--rows", type=int, default=10, metavar="N", help="for --robust, how many rows (default: 10)")
    parser.add_argument(
        "--head",
        choices=("bits", "counts", "class"),
        default="bits",
        help="what an AIGER file gives out (default: bits)",
    )
    add_limit(parser, "the question, or for each row")
    parser.add_argument("--method", choices=METHODS, default="auto", help="how to decide (default: auto, all in turn)")
    parser.add_argument("--proof", metavar="DIR", help="folder for formulas and proofs, which other programs check")
    add_reading(parser)
    add_json(parser)


def run(args: argparse.Namespace) -> int:
    """Ask a question."""
    from gatewise import verify

    model = load_model(args.model, threads=1)
    given = parse_given(model.encoder, args.given)
    options = {"limit": args.limit, "method": args.method}
    if args.bounds:
        found = verify.bounds(model, given, **options)
        show(found.to_dict(), [str(found)], as_json=args.json)
        return 0
    if args.robust is not None:
        return _ask_rows(model, args, options | {"proof": args.proof})
    verdict = _ask(model, given, args, options | {"proof": args.proof})
    show(verdict.to_dict(), [str(verdict)], as_json=args.json)
    return EXIT_CODES[verdict.status]


def _ask(model: Model, given: dict[str, Any], args: argparse.Namespace, options: dict[str, Any]) -> Any:
    """The verdict on one of the rules about all rows."""
    from gatewise import verify

    if args.always is not None:
        return verify.always(model, given, then=_parse_answer(model, args.always), **options)
    if args.never is not None:
        return verify.reachable(model, parse_label(model, args.never), given, **options)
    if args.independent_of is not None:
        return verify.independent_of(model, args.independent_of, given, **options)
    if args.equals is not None:
        return verify.equivalent(model, _load_other(args.equals), given, head=args.head, **options)
    column, increasing = (args.rises, True) if args.rises is not None else (args.falls, False)
    return verify.monotone(model, column, given, increasing=increasing, **options)


def _ask_rows(model: Model, args: argparse.Namespace, options: dict[str, Any]) -> int:
    """Ask whether rows are robust; refuted if one is not."""
    from gatewise import verify

    if args.given:
        raise ValueError("--given must be left out for --robust, which is about rows; say --within")
    rows = read_rows(model, args.robust, Dialect.given(args), 1, args.rows)
    within = parse_within(model.encoder, args.within) or None
    verdicts = verify.robust(model, rows, within, at_most=args.at_most, **options)
    n_of = {status: sum(each.status == status for each in verdicts) for status in EXIT_CODES}
    summary = f"{count(len(rows), 'row')}: " + ", ".join(f"{n} {status}" for status, n in n_of.items())
    lines = [f"row {i}: {verdict}" for i, verdict in enumerate(verdicts, 1)]
    show({"rows": [each.to_dict() for each in verdicts], **n_of}, [*lines, summary], as_json=args.json)
    worst = "refuted" if n_of["refuted"] else "undecided" if n_of["undecided"] else "proved"
    return EXIT_CODES[worst]


def _parse_answer(model: Model, text: str) -> Any:
    """Classes, or a pair of values."""
    if isinstance(model.head, Classes):
        labels = [str(label) for label in model.head.labels]
        return [parse_label(model, each) for each in ([text] if text in labels else text.split("|"))]
    low, _, high = text.partition("..")
    try:
        return (float(low) if low else None), (float(high) if high else None)
    except ValueError:
        raise ValueError(f"--always must be LOW..HIGH for a regression, got {text!r:.60}") from None


def _load_other(path: str) -> Model | Circuit:
    """A model, or the circuit of an AIGER file."""
    if not path.endswith((".aig", ".aag")):
        return load_model(path, threads=1)
    from gatewise.tools.aiger import from_aiger

    return from_aiger(Path(path).read_bytes())
