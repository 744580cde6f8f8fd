"""`gatewise report`: a page about a model, one HTML file with the model itself in it."""

import argparse
import json
import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gatewise.cli.options import Dialect, add_json, add_reading, add_threads, load_model, show, usable_cores
from gatewise.heads import Classes
from gatewise.model import Model

if TYPE_CHECKING:
    from gatewise.cli.tables.reading import TableFile

EXAMPLES = """examples:
  gatewise report churn.gw
  gatewise report churn.gw test.csv --target churn -o churn.html
  gatewise verify churn.gw --rises age --json > age.json
  gatewise report churn.gw test.csv --target churn --proof age.json
  gatewise report digits.gw test.parquet --target digit --image 8x8
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of the command."""
    parser.add_argument("model", help="file written by gatewise train, or by Model.save")
    parser.add_argument(
        "data", nargs="?", help="CSV file (also .gz, .bz2, .zst) or Parquet file; up to 1,000 of its rows are shown"
    )
    parser.add_argument("--target", metavar="COLUMN", help="the column of the data with the true answers")
    parser.add_argument(
        "-o", "--output", metavar="FILE", help="HTML file to write (default: that of the model, with .html)"
    )
    parser.add_argument(
        "--title", metavar="TEXT", help="what the page is called (default: the name of the model's file)"
    )
    parser.add_argument("--image", metavar="HxW", help="if a row is an image: its height and width, such as 28x28")
    parser.add_argument(
        "--proof",
        action="append",
        default=[],
        metavar="FILE",
        help="what gatewise verify --json printed; may be repeated",
    )
    parser.add_argument("--history", metavar="FILE", help="JSON that gatewise.train.History.to_json gave")
    add_threads(parser, usable_cores(), "threads that share the work (default: all cores)")
    add_reading(parser)
    add_json(parser)


def run(args: argparse.Namespace) -> int:
    """Write a page."""
    if args.target is not None and args.data is None:
        raise ValueError(f"--target must be a column of a file, got {args.target!r} and no file")
    model = load_model(args.model, args.threads)
    X, y = (None, None) if args.data is None else _read(model, args)
    path = Path(args.output) if args.output else Path(args.model).with_suffix(".html")
    page = model.report(
        X,
        y,
        title=args.title or Path(args.model).stem,
        image=None if args.image is None else _parse_image(args.image),
        history=[] if args.history is None else _load_json(args.history, list),
        proofs=[_load_json(each, dict) for each in args.proof],
        commands=[_describe_command(args)],
    )
    page.save(path)
    size = path.stat().st_size
    report = {"path": str(path), "bytes": size, "left_out": list(page.left_out)}
    show(report, [f"{path}: {size:,} bytes; open it in a browser", *page.left_out], as_json=args.json)
    return 0


def _read(model: Model, args: argparse.Namespace) -> tuple[Any, list[Any] | None]:
    """The columns that the model reads, and the true answers."""
    from gatewise.cli.asking import feature_types, find_features, label_type
    from gatewise.cli.tables.arrow import pa
    from gatewise.cli.tables.reading import check_columns, drop_missing, open_table

    targets = [] if args.target is None else [args.target]
    with open_table(args.data, Dialect.given(args)) as file:
        features = find_features(model.encoder, file, targets)
        check_columns(file, targets)
        if args.target in features:
            raise ValueError(f"--target must be a column that the model does not read, got {args.target!r}")
        types = feature_types(model.encoder, features) | {name: label_type(model.head) for name in targets}
        table = _join(file, types)
    if not targets:
        return table.select(features), None
    known = drop_missing(table, args.target)
    answers = known[args.target].to_pylist()
    if isinstance(model.head, Classes) and label_type(model.head) == pa.string():
        labels = {str(label): label for label in model.head.labels}
        answers = [labels.get(answer, answer) for answer in answers]
    return known.select(features), answers


def _join(file: "TableFile", types: dict[str, Any]) -> Any:
    from gatewise.cli.tables.arrow import pa

    blocks = list(file.blocks(types))
    return pa.concat_tables(blocks) if blocks else file.schema(types).empty_table()


def _parse_image(text: str) -> tuple[int, int]:
    height, _, width = text.partition("x")
    if not (height.isdecimal() and width.isdecimal()):
        raise ValueError(f"--image must be a height and a width, such as 28x28, got {text!r}")
    return int(height), int(width)


def _load_json(path: str, kind: type) -> Any:
    found = json.loads(Path(path).read_text("utf-8"))
    if not isinstance(found, kind):
        raise ValueError(f"{path} must hold a JSON {kind.__name__}, got a {type(found).__name__}")
    return found


def _describe_command(args: argparse.Namespace) -> str:
    words = ["gatewise", "report", args.model, *([args.data] if args.data else [])]
    for name in ("target", "output", "title", "image", "history"):
        value = getattr(args, name)
        words += [f"--{name}", value] if value is not None else []
    for each in args.proof:
        words += ["--proof", each]
    return shlex.join(words)
