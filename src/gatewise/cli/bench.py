"""`gatewise bench`: how fast a model runs on this machine, from raw rows to labels or values."""

import argparse
import platform
import statistics
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gatewise.cli.options import Commands, Dialect, add_json, add_reading, add_threads, load_model, new_command, show
from gatewise.encode import Categorical, Encoder, Numeric
from gatewise.run.engine import LEVELS

MIN_SECONDS = 0.5
MIN_RUNS = 5
MISSING_SHARE = 0.1  # of the drawn values of a column whose missing values are asked about
EXAMPLES = """examples:
  gatewise bench churn.gw
  gatewise bench churn.gw customers.csv --rows 1000000 --threads 8
  gatewise bench churn.gw --json | jq .ns_per_row
"""


def add_command(commands: Commands) -> None:
    """Add the command."""
    parser = new_command(commands, run, "bench", summary="measure how fast a model runs on this machine", text=EXAMPLES)
    parser.add_argument("model", help="file written by train, or by Model.save")
    parser.add_argument(
        "data", nargs="?", help="CSV or Parquet file; without it rows are drawn around the model's thresholds"
    )
    parser.add_argument(
        "--rows", type=int, default=100_000, metavar="N", help="rows of a call, repeated if the data has fewer: 100000"
    )
    add_threads(parser, 1, "threads that share the rows: 1")
    add_reading(parser)
    add_json(parser)


def run(args: argparse.Namespace) -> int:
    """Time a model."""
    if args.rows < 1:
        raise ValueError(f"--rows must be at least 1, got {args.rows}")
    model = load_model(args.model, args.threads)
    rows = read_rows(model.encoder, args) if args.data else draw_rows(model.encoder, args.rows)
    one = rows[:1] if isinstance(rows, np.ndarray) else rows.slice(0, 1)
    seconds, latency = measure(lambda: model.predict(rows)), measure(lambda: model.predict(one))
    report = {
        "ns_per_row": 1e9 * seconds / args.rows,
        "rows_per_second": round(args.rows / seconds),
        "one_row_us": 1e6 * latency,
        "rows": args.rows,
        "threads": args.threads,
        "data": args.data or "drawn around the thresholds",
        "layout": "float64 matrix" if isinstance(rows, np.ndarray) else "table with strings",
        "cpu": cpu_name(),
        "simd": LEVELS[0],
    }
    many = f"{report['ns_per_row']:.1f} ns a row, {report['rows_per_second']:,} rows/s"
    lines = [
        f"{many}, {report['one_row_us']:.1f} µs for a single row",
        f"  {args.rows:,} rows, {report['data']}, {report['layout']}, {args.threads} threads",
        f"  {report['cpu']}, {report['simd']}",
    ]
    show(report, lines, as_json=args.json)
    return 0


def measure(call: Callable[[], object]) -> float:
    """Seconds of a call: the median of several, after a first one that plans."""
    call()
    seconds: list[float] = []
    while len(seconds) < MIN_RUNS or sum(seconds) < MIN_SECONDS:
        start = time.perf_counter()
        call()
        seconds.append(time.perf_counter() - start)
    return statistics.median(seconds)


def draw_rows(encoder: Encoder, n_rows: int) -> Any:
    """Rows that lie equally often between any two neighboring thresholds, and in any category.

    Returns
    -------
    float64 array, shape (n_rows, n_columns); or a pyarrow table, if categories are strings
    """
    rng = np.random.default_rng(0)
    columns = [_draw_column(column, n_rows, rng) for column in encoder.columns]
    if all(column.dtype == np.float64 for column in columns):
        return np.stack(columns, axis=1) if columns else np.empty((n_rows, 0))
    from gatewise.cli.arrow import pa

    return pa.table([pa.array(column) for column in columns], list(encoder.names))


def read_rows(encoder: Encoder, args: argparse.Namespace) -> Any:
    """The first rows of a file, over and over if it has too few; what is returned is as in `draw_rows`."""
    from gatewise.cli.arrow import pa
    from gatewise.cli.asking import feature_types, find_features
    from gatewise.cli.reading import open_table

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
    if pa.string() in types.values():
        return table
    columns = [
        np.zeros(args.rows) if types[name] is None else table[name].cast(pa.float64(), safe=False).to_numpy()
        for name in names
    ]
    return np.stack(columns, axis=1)


def cpu_name() -> str:
    """The processor's name."""
    path = Path("/proc/cpuinfo")
    for line in path.read_text().splitlines() if path.exists() else ():
        if line.startswith("model name"):
            return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()


def _draw_column(column: Numeric | Categorical, n_rows: int, rng: np.random.Generator) -> NDArray[Any]:
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
