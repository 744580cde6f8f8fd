"""`gatewise bench`: how fast a model runs on this machine, from raw rows to labels or values."""

import argparse
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gatewise.cli.options import Dialect, add_json, add_reading, add_threads, count, load_model, show
from gatewise.encode import Categorical, Encoder, Numeric, Timed
from gatewise.machine import TARGETS, cpu_name
from gatewise.run.timing import time_call

MIN_SECONDS = 0.5
YEAR = 365.0 * 86_400  # in seconds
MISSING_SHARE = 0.1  # of the drawn values of a column whose missing values are asked about
EXAMPLES = """examples:
  gatewise bench churn.gw
  gatewise bench churn.gw customers.csv --rows 1000000 --threads 8
  gatewise bench churn.gw --json | jq .ns_per_row
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of the command."""
    parser.add_argument("model", help="file written by gatewise train, or by Model.save")
    parser.add_argument(
        "data",
        nargs="?",
        help="CSV file (also .gz, .bz2, .zst) or Parquet file (default: rows drawn around the model's thresholds)",
    )
    parser.add_argument(
        "--rows",
        type=int,
        default=100_000,
        metavar="N",
        help="rows per call; they are repeated if the data has fewer (default: 100000)",
    )
    add_threads(parser, 1, "threads that share the rows (default: 1)")
    add_reading(parser)
    add_json(parser)


def run(args: argparse.Namespace) -> int:
    """Time a model."""
    if args.rows < 1:
        raise ValueError(f"--rows must be at least 1, got {args.rows}")
    model = load_model(args.model, args.threads)
    rows = read_rows(model.encoder, args) if args.data else draw_rows(model.encoder, args.rows)
    one = rows[:1] if isinstance(rows, np.ndarray) else rows.slice(0, 1)
    seconds = time_call(lambda: model.predict(rows), seconds=MIN_SECONDS).median
    latency = time_call(lambda: model.predict(one), seconds=MIN_SECONDS).median
    report = {
        "ns_per_row": 1e9 * seconds / args.rows,
        "rows_per_second": round(args.rows / seconds),
        "one_row_us": 1e6 * latency,
        "rows": args.rows,
        "threads": args.threads,
        "data": args.data or "drawn around the thresholds",
        "layout": "float64 matrix" if isinstance(rows, np.ndarray) else "table with strings or dates",
        "cpu": cpu_name(),
        "simd": TARGETS[0],
    }
    many = f"{report['ns_per_row']:.1f} ns per row, {report['rows_per_second']:,} rows/s"
    lines = [
        f"{many}, {report['one_row_us']:.1f} µs for a single row",
        f"  {count(args.rows, 'row')}, {report['data']}, {report['layout']}, {count(args.threads, 'thread')}",
        f"  {report['cpu']}, {report['simd']}",
    ]
    show(report, lines, as_json=args.json)
    return 0


def draw_rows(encoder: Encoder, n_rows: int) -> Any:
    """Draw rows that fall equally often between any two neighboring thresholds, and into any category.

    Returns
    -------
    float64 array, shape (n_rows, n_columns); or a pyarrow table, if categories are strings or columns dates
    """
    rng = np.random.default_rng(0)
    read = dict(zip(reversed(encoder.table_idx), reversed(encoder.columns), strict=True))  # the first one of each
    columns = [_draw_column(read[i], n_rows, rng) for i in range(len(read))]
    if all(column.dtype == np.float64 for column in columns):
        return np.stack(columns, axis=1) if columns else np.empty((n_rows, 0))
    from gatewise.cli.tables.arrow import pa

    return pa.table([pa.array(column) for column in columns], list(encoder.table_names))


def read_rows(encoder: Encoder, args: argparse.Namespace) -> Any:
    """Read the first rows of a file, and repeat them if there are too few; returns what `draw_rows` does."""
    from gatewise.cli.asking import feature_types, find_features
    from gatewise.cli.tables.arrow import pa
    from gatewise.cli.tables.reading import open_table

    with open_table(args.data, Dialect.given(args)) as file:
        names = find_features(encoder, file, [])
        types = feature_types(encoder, names)
        blocks, n_read = [], 0
        for block in file.blocks(types):
            blocks.append(block)
            n_read += block.num_rows
            if n_read >= args.rows:
                break
        if not n_read:
            raise ValueError(f"{args.data} must have at least one row, got none")
    table = pa.concat_tables(blocks).take(pa.array(np.arange(args.rows) % n_read))
    if any(pa.types.is_string(kind) or pa.types.is_temporal(kind) for kind in types.values() if kind is not None):
        return table
    columns = [
        np.zeros(args.rows) if types[name] is None else table[name].cast(pa.float64(), safe=False).to_numpy()
        for name in names
    ]
    return np.stack(columns, axis=1)


def _draw_column(column: Numeric | Categorical, n_rows: int, rng: np.random.Generator) -> NDArray[Any]:
    if isinstance(column, Timed):
        seconds = (
            _draw_numbers(column.thresholds, n_rows, rng) if len(column.thresholds) else rng.uniform(0, YEAR, n_rows)
        )
        if column.part == "duration":
            return (seconds * 1e6).astype("timedelta64[us]")
        return np.datetime64(column.anchor, "D") + (seconds * 1e6).astype("timedelta64[us]")
    if isinstance(column, Numeric):
        values = _draw_numbers(column.thresholds, n_rows, rng)
    else:
        kind = np.float64 if column.of_numbers else object
        values = rng.choice(np.array(column.values or (0.0,), kind), n_rows)
    if column.missing:
        values[rng.random(n_rows) < MISSING_SHARE] = np.nan if values.dtype == np.float64 else None
    return values


def _draw_numbers(thresholds: NDArray[np.float64], n_rows: int, rng: np.random.Generator) -> NDArray[np.float64]:
    if not len(thresholds):
        return np.zeros(n_rows)
    known = np.nan_to_num(thresholds)
    step = (known[-1] - known[0]) / len(known) or 1.0
    points = np.concatenate([[known[0] - step], known, [known[-1] + step]])
    drawn: NDArray[np.float64] = np.interp(rng.uniform(0, len(points) - 1, n_rows), np.arange(len(points)), points)
    return drawn
