"""Accuracy, fitting time, size and speed on tables, beside the models that one would pick otherwise.

    pip install -c constraints.txt '.[bench]'
    python -m benchmarks.tabular --data DIR --record          # benchmarks/results/tabular.json
    python -m benchmarks.tabular --data DIR --tables adult letter --estimators gatewise tree

Every estimator has its default settings; on Adult ours is also fitted with fewer gates. Rows are float64, strings
replaced by codes that the estimators are told are categories. Scores are accuracies, or R squared, on official test
rows where they exist, on a fifth of the rows of large tables, otherwise on each of five folds. Sizes and speed are
those of the first fold: predict on 100,000 rows, or as many as take a second, in one thread, from raw rows to labels.
"""

import argparse
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.metrics import log_loss

from benchmarks import records
from benchmarks.data.generated import drawn, shipped
from benchmarks.data.mnist import find_data
from benchmarks.data.tables import Table, read_tables
from benchmarks.tabular.models import make_estimators, make_predict, measure_bytes, time_compiled, time_predict

MOST_COMPILED = 5_000_000  # bytes of a LightGBM model; gcc takes minutes for more
SMALLER = ({"max_iter": 200}, {"max_iter": 100}, {"max_iter": 50})  # terms of ours on Adult
Sizes = dict[str, int]


def run(table: Table, name: str, sizes: Sizes) -> dict[str, Any]:
    """One estimator on one table; `sizes` are parameters of ours."""
    X = table.numbers()
    result: dict[str, Any] = {"table": table.name, "shape": X.shape, "regression": table.regression}
    result |= {"estimator": name, "sizes": sizes, "scores": [], "fit_seconds": [], "log_losses": []}
    for fold, (training, test) in enumerate(table.splits()):
        estimator = make_estimators(table.categorical, X.shape, regression=table.regression)[name]
        estimator.set_params(**sizes)
        start = time.perf_counter()
        estimator.fit(X[training], table.y[training])
        result["fit_seconds"].append(time.perf_counter() - start)
        result["scores"].append(float(estimator.score(X[test], table.y[test])))
        if not table.regression:
            shares = estimator.predict_proba(X[test])
            result["log_losses"].append(float(log_loss(table.y[test], shares, labels=estimator.classes_)))
        if fold == 0:
            result["bytes"] = measure_bytes(name, estimator)
            result["ns_per_row"] = time_predict(make_predict(name, estimator), X[test])
            if name == "LightGBM" and result["bytes"] < MOST_COMPILED:
                result["compiled_ns_per_row"] = time_compiled(estimator, X[test])
            if name == "gatewise":
                result["model"] = estimator.model_.info() | {"classes": None}
    return result


def name_of(result: dict[str, Any]) -> str:
    """The estimator, with its sizes where they are not the default."""
    return " ".join([result["estimator"], *map(str, result["sizes"].values())])


def describe(result: dict[str, Any]) -> str:
    """A line of the table."""
    compiled = f"{result['compiled_ns_per_row']:12.0f}" if "compiled_ns_per_row" in result else ""
    return (
        f"{result['table']:<14}{name_of(result):<22}{100 * np.mean(result['scores']):8.2f}"
        f"{np.mean(result['fit_seconds']):9.1f}{result['bytes']:12,}{result['ns_per_row']:12.1f}{compiled}"
    )


def summarize(results: list[dict[str, Any]]) -> list[str]:
    """Mean accuracy of each estimator, and ratios of speed and size."""
    by_key = {(result["table"], result["estimator"]): result for result in results if not result["sizes"]}
    names = list(dict.fromkeys(result["estimator"] for result in results))
    tables = list(dict.fromkeys(result["table"] for result in results if not result["regression"]))
    lines = []
    for name in names:
        scores = [np.mean(by_key[table, name]["scores"]) for table in tables]
        lines.append(f"{name:<22} mean accuracy of {len(tables)} tables: {100 * np.mean(scores):.2f} %")
    for table in dict.fromkeys(result["table"] for result in results):
        ours, light = by_key[table, "gatewise"], by_key[table, "LightGBM"]
        times = {name: by_key[table, name]["ns_per_row"] for name in ("HistGradientBoosting", "LightGBM", "tree")}
        times["tl2cgen"] = light.get("compiled_ns_per_row", np.nan)
        ratios = ", ".join(f"{name} {value / ours['ns_per_row']:.1f}x" for name, value in times.items())
        lines.append(f"{table:<14} faster than {ratios}; bytes 1/{light['bytes'] / ours['bytes']:.0f} of LightGBM's")
    return lines


def main() -> None:
    """Run everything, print a line for each, write the record."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, help="folder with the data sets (default: $GATEWISE_DATA)")
    parser.add_argument("--tables", nargs="+", help="some of the tables")
    parser.add_argument("--estimators", nargs="+", help="some of the estimators")
    records.add_options(parser)
    args = parser.parse_args()
    described = records.start(recording=args.record, allow_dirty=args.allow_dirty)
    warnings.filterwarnings("ignore", module="sklearn")  # iterations that did not suffice, names of features
    print(f"{'table':<14}{'estimator':<22}{'score %':>8}{'fit s':>9}{'bytes':>12}{'ns/row':>12}{'tl2cgen':>12}")
    results: list[dict[str, Any]] = []
    for table in [*read_tables(find_data(args.data)), *shipped(), *drawn()]:
        if args.tables and table.name not in args.tables:
            continue
        names = list(make_estimators([], table.X.shape, regression=table.regression))
        cases: list[tuple[str, Sizes]] = [(name, {}) for name in names]
        cases += [("gatewise", sizes) for sizes in SMALLER if table.name == "adult"]
        for name, sizes in cases:
            if not args.estimators or name in args.estimators:
                results.append(run(table, name, sizes))
                print(describe(results[-1]), flush=True)
    if not args.estimators:
        print(*summarize(results), sep="\n")
    if args.record:
        records.write("tabular", described, {"results": results})


if __name__ == "__main__":
    main()
