"""`gatewise evaluate`: how well a model predicts a column that is known."""

import argparse
import math
import time
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from gatewise.cli.options import (
    Dialect,
    add_json,
    add_reading,
    add_threads,
    count,
    load_model,
    show,
    usable_cores,
)
from gatewise.heads import Classes
from gatewise.model import Model

if TYPE_CHECKING:
    import pyarrow as pa

    from gatewise.cli.tables.reading import TableFile

MAX_SHOWN = 20
EXAMPLES = """examples:
  gatewise evaluate churn.gw test.csv --target churn
  gatewise evaluate prices.gw test.parquet --target price
  gatewise evaluate churn.gw test.csv --target churn --json | jq .confusion
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of the command."""
    parser.add_argument("model", help="file written by gatewise train, or by Model.save")
    parser.add_argument("data", help="CSV file (also .gz, .bz2, .zst) or Parquet file; - for CSV on stdin")
    parser.add_argument("--target", required=True, metavar="COLUMN", help="the column with the true answers")
    add_threads(parser, usable_cores(), "threads that share the work (default: all cores)")
    add_reading(parser)
    add_json(parser)


def run(args: argparse.Namespace) -> int:
    """Evaluate a model on a file."""
    from gatewise.cli.tables.reading import open_table

    model = load_model(args.model, args.threads)
    with open_table(args.data, Dialect.given(args)) as table:
        report = evaluate_file(model, table, args.target)
    show(report, describe_scores(report, args.data), as_json=args.json)
    return 0


def evaluate_file(model: Model, table: "TableFile", target: str) -> dict[str, Any]:
    """Scores of a model on all rows of a file."""
    from gatewise.cli.asking import feature_types, find_features, label_type
    from gatewise.cli.tables.reading import check_columns

    features = find_features(model.encoder, table, [target])
    check_columns(table, [target])
    if target in features:
        raise ValueError(f"--target must be a column that the model does not read, got {target!r}")
    types = feature_types(model.encoder, features) | {target: label_type(model.head)}
    model.predict(table.schema(types).empty_table().select(features))  # plans now, so that only the rows are timed
    return evaluate_blocks(model, table.blocks(types), features, target)


def evaluate_blocks(model: Model, blocks: Iterable["pa.Table"], features: Sequence[str], target: str) -> dict[str, Any]:
    """Scores of a model on blocks of rows; rows without a target are left out, and their number is reported."""
    from gatewise.cli.tables.reading import drop_missing

    score: ClassScore | ValueScore = ClassScore(model) if isinstance(model.head, Classes) else ValueScore(model)
    n_left_out = 0
    start = time.perf_counter()
    for block in blocks:
        known = drop_missing(block, target)
        n_left_out += block.num_rows - known.num_rows
        score.add(known.select(features), known[target])
    seconds = time.perf_counter() - start
    if not score.n_rows:
        raise ValueError(f"the data must have a row with a value of {target!r}, got none")
    speed = {"rows_per_second": round(score.n_rows / seconds)}
    return {"rows": score.n_rows, "rows_without_target": n_left_out, **score.report(), **speed}


class ClassScore:
    """Counts rows by true and predicted class, and rows whose label the model does not know."""

    def __init__(self, model: Model) -> None:
        assert isinstance(model.head, Classes)
        self._model, self._labels = model, model.head.labels
        self._confusion = np.zeros((len(self._labels), len(self._labels)), np.int64)
        self.n_rows = self._n_unknown = 0

    def add(self, rows: "pa.Table", labels: "pa.ChunkedArray") -> None:
        """Count more rows."""
        from gatewise.cli.asking import label_type
        from gatewise.cli.tables.arrow import pa, pc

        kind = label_type(self._model.head)
        names = [str(label) for label in self._labels] if kind == pa.string() else list(self._labels)
        true = pc.index_in(labels.cast(kind), value_set=pa.array(names, kind)).fill_null(-1).to_numpy()
        predicted = self._model.scores(rows).argmax(axis=1)
        is_known = true >= 0
        np.add.at(self._confusion, (true[is_known], predicted[is_known]), 1)
        self.n_rows += len(true)
        self._n_unknown += int((~is_known).sum())

    def report(self) -> dict[str, Any]:
        """Accuracy, and what it consists of; a target without a single class of the model is another column."""
        if self._n_unknown == self.n_rows:
            listed = ", ".join(map(str, self._labels))
            raise ValueError(f"--target must name a column with classes of the model, {listed:.200}, got none of them")
        right, totals = self._confusion.diagonal(), self._confusion.sum(axis=1)
        recall = [hits / total if total else None for hits, total in zip(right.tolist(), totals.tolist(), strict=True)]
        return {
            "accuracy": int(right.sum()) / self.n_rows,
            "classes": list(self._labels),
            "recall": recall,
            "confusion": self._confusion.tolist(),
            "rows_of_unknown_classes": self._n_unknown,
        }


class ValueScore:
    """Sums the squares of a regression's errors, and of the values' distances to their mean, block by block.

    The sums around the mean are merged by the pairwise formula of Chan, Golub and LeVeque (1979).
    """

    def __init__(self, model: Model) -> None:
        if model.head.n_groups > 1:
            raise ValueError(f"the model must predict one column, got {model.head.n_groups}; evaluate it in Python")
        self._model = model
        self.n_rows, self._mean, self._around_mean, self._errors = 0, 0.0, 0.0, 0.0

    def add(self, rows: "pa.Table", values: "pa.ChunkedArray") -> None:
        """Add more rows."""
        true = values.to_numpy().astype(np.float64)
        n = len(true)
        if not n:
            return
        self._errors += float(np.square(self._model.predict(rows) - true).sum())
        mean, total = float(true.mean()), self.n_rows + n
        shift = mean - self._mean
        self._around_mean += float(np.square(true - mean).sum()) + shift**2 * self.n_rows * n / total
        self._mean += shift * n / total
        self.n_rows = total

    def report(self) -> dict[str, Any]:
        """Share of the variance that is explained, None if there is no variance, and the root mean square error."""
        r2 = 1 - self._errors / self._around_mean if self._around_mean > 0 else None
        return {"r2": r2, "rmse": math.sqrt(self._errors / self.n_rows)}


def describe_scores(report: dict[str, Any], source: str) -> list[str]:
    """The report in words."""
    rows, speed = count(report["rows"], "row"), f"{report['rows_per_second']:,} rows/s"
    lines = [f"{describe_score(report)} on {rows} of {source}, {speed}"]
    if report["rows_without_target"]:
        lines.append(f"left out: {count(report['rows_without_target'], 'row')} without a target")
    if report.get("rows_of_unknown_classes"):
        unknown = count(report["rows_of_unknown_classes"], "row")
        lines.append(f"counted as wrong: {unknown} of classes that the model does not know")
    totals = [sum(row) for row in report.get("confusion", [])]
    for label, recall, n in list(zip(report.get("classes", []), report.get("recall", []), totals, strict=True))[
        :MAX_SHOWN
    ]:
        found = "no rows" if recall is None else f"{recall:.4f} of {count(n, 'row')} found"
        lines.append(f"  {label!s:<24} {found}")
    if len(totals) > MAX_SHOWN:
        lines.append(f"  and {len(totals) - MAX_SHOWN} more classes; --json lists all of them")
    return lines


def describe_score(report: dict[str, Any]) -> str:
    """The score alone, in words."""
    if "accuracy" in report:
        return f"accuracy {report['accuracy']:.4f}"
    r2 = "undefined, as the target is constant" if report["r2"] is None else f"{report['r2']:.4f}"
    return f"R2 {r2}, RMSE {report['rmse']:.6g}"
