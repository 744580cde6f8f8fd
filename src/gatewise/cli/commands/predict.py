"""`gatewise predict`: a table in; labels, values or probabilities of its rows out, in memory that does not grow."""

import argparse
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from gatewise.cli.options import (
    Dialect,
    add_reading,
    add_threads,
    count,
    load_model,
    split_names,
    usable_cores,
)
from gatewise.heads import Classes
from gatewise.model import Model
from gatewise.store.files import check_replaceable

if TYPE_CHECKING:
    import pyarrow as pa

EXAMPLES = """examples:
  gatewise predict churn.gw customers.csv -o churn.csv --keep customer_id
  gatewise predict churn.gw customers.parquet -o churn.parquet --proba --threads 8
  tail -n +1 -f log.csv | gatewise predict churn.gw -
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of the command."""
    parser.add_argument("model", help="file written by gatewise train, or by Model.save")
    parser.add_argument(
        "data",
        help="CSV file (also .gz, .bz2, .zst) or Parquet file; - for CSV on stdin, which is answered whenever it "
        "pauses. Columns that the model does not know are ignored",
    )
    parser.add_argument(
        "-o",
        "--output",
        metavar="FILE",
        help="CSV file (also .gz, .bz2, .zst) or Parquet file (default: CSV on stdout)",
    )
    parser.add_argument("--proba", action="store_true", help="add a column proba_<class> for each class")
    parser.add_argument(
        "--keep",
        type=split_names,
        default=[],
        metavar="A,B",
        help="columns of the data to copy in front of the prediction",
    )
    add_threads(parser, usable_cores(), "threads that share the work (default: all cores)")
    add_reading(parser)


def run(args: argparse.Namespace) -> int:
    """Predict a file."""
    from gatewise.cli.asking import feature_types, find_features
    from gatewise.cli.tables.reading import check_columns, check_output, open_table
    from gatewise.cli.tables.writing import write_table

    to_file = args.output not in (None, "-")
    check_output(args.output if to_file else None, [args.data, args.model])
    if to_file:
        check_replaceable(args.output)
    model = load_model(args.model, args.threads)
    if args.proba and not isinstance(model.head, Classes):
        raise ValueError(f"--proba must be left out for a regression, got it with {args.model}, which has no classes")
    start = time.perf_counter()
    with open_table(args.data, Dialect.given(args)) as table:
        features = find_features(model.encoder, table, args.keep)
        check_columns(table, args.keep)
        types = dict.fromkeys(args.keep) | feature_types(model.encoder, features)
        schema = answer(model, table.schema(types).empty_table(), features, args).schema
        n_rows = write_table(
            args.output, schema, (answer(model, block, features, args) for block in table.blocks(types))
        )
    if to_file:
        print(f"{args.output}: {count(n_rows, 'row')} in {time.perf_counter() - start:.2f} s")
    return 0


def answer(model: Model, block: "pa.Table", features: Sequence[str], args: argparse.Namespace) -> "pa.Table":
    """Kept columns, predictions and, if asked for, probabilities of a block of rows."""
    from gatewise.cli.tables.arrow import pa

    rows = block.select(features)
    columns: list[tuple[str, Any]] = [(name, block[name]) for name in args.keep]
    predicted = model.predict(rows)
    if predicted.ndim == 1:
        columns.append(("prediction", _as_strings(predicted) if predicted.dtype == object else predicted))
    else:
        columns += [(f"prediction_{i}", values) for i, values in enumerate(predicted.T)]
    if args.proba and isinstance(model.head, Classes):
        shares = model.predict_proba(rows)
        columns += [(f"proba_{label}", shares[:, i]) for i, label in enumerate(model.head.labels)]
    names = [name for name, _ in columns]
    if len(set(names)) != len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"columns of the output must differ, got {twice!r} twice; leave it out of --keep")
    return pa.table(
        [pa.chunked_array([values]) if isinstance(values, np.ndarray) else values for _, values in columns], names
    )


def _as_strings(labels: NDArray[Any]) -> NDArray[Any]:
    """Labels of several types as strings, because a column of a file has one type."""
    return np.array([str(label) for label in labels], dtype=np.str_)
