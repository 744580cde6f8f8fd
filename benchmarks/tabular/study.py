"""Which defaults of the estimators are best: each choice varied by itself, on rows that no test touches.

    python -m benchmarks.tabular.study --data DIR --record      # benchmarks/results/tabular_study.json

Settings of `gatewise.boost.Boosting` are varied besides the estimators' parameters. Of every table only the training
rows of its first split are used, at most 100,000: three quarters of them to learn from, the rest to validate with;
small tables three times over, with other quarters.
"""

import argparse
import time
import warnings
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from statistics import mean, median
from typing import Any
from unittest.mock import patch

import numpy as np
from sklearn.metrics import log_loss
from sklearn.model_selection import train_test_split

from benchmarks import records
from benchmarks.data.generated import drawn, shipped
from benchmarks.data.mnist import find_data
from benchmarks.data.tables import Table, read_tables
from gatewise.boost import Boosting
from gatewise.estimators import ConvergenceWarning, LogicClassifier, LogicRegressor, boosted

VARIED: dict[str, tuple[float, ...]] = {
    "learning_rate": (0.1, 0.15, 0.3),
    "depth": (2, 3, 4),
    "l2_regularization": (0.3, 3.0),
    "max_thresholds": (64, 127),
}
SETTINGS: dict[str, tuple[float, ...]] = {
    "row_share": (0.5, 0.7, 1.0),
    "column_share": (0.5, 1.0),
    "value_bits": (1, 3),
    "n_pairs": (0, 16),
    "n_sketches": (0, 2, 8),
}
MOST_ROWS = 100_000
SMALL_ROWS = 3_000
N_REPEATS = 3


def cases() -> Iterator[dict[str, float]]:
    """The defaults, then every other value of each parameter."""
    yield {}
    for name, values in (VARIED | SETTINGS).items():
        for value in values:
            yield {name: value}


def run(table: Table, parameters: dict[str, Any], seed: int) -> dict[str, Any]:
    """What one setting gives on rows held out of the training rows."""
    known, _ = next(table.splits())
    known = known[:MOST_ROWS]
    X, y = table.numbers()[known], table.y[known]
    stratify = None if table.regression else y
    X, X_held, y, y_held = train_test_split(X, y, test_size=0.25, random_state=seed, stratify=stratify)
    kind = LogicRegressor if table.regression else LogicClassifier
    settings = {name: value for name, value in parameters.items() if name in SETTINGS}
    own = {name: value for name, value in parameters.items() if name in VARIED}
    estimator = kind(categorical=[*table.categorical], random_state=seed, **own)
    start = time.perf_counter()
    with patch.object(boosted, "Boosting", partial(Boosting, **settings)):
        estimator.fit(X, y)
    found = {"table": table.name, "regression": table.regression, "parameters": parameters, "seed": seed}
    found |= {"seconds": time.perf_counter() - start, "score": float(estimator.score(X_held, y_held))}
    found |= {"terms": estimator.n_iter_, "gates": estimator.model_.circuit.n_gates}
    if not table.regression:
        shares = estimator.predict_proba(X_held)
        found["log_loss"] = float(log_loss(y_held, shares, labels=estimator.classes_))
    return found


def summarize(results: list[dict[str, Any]], parameters: dict[str, Any]) -> dict[str, float]:
    """Means over the tables, each of which counts once."""
    by_table: dict[str, list[dict[str, Any]]] = {}
    for each in results:
        if each["parameters"] == parameters:
            by_table.setdefault(each["table"], []).append(each)

    def means(name: str) -> list[float]:
        return [mean(each[name] for each in runs) for runs in by_table.values() if name in runs[0]]

    scores = {is_regression: [] for is_regression in (False, True)}  # type: dict[bool, list[float]]
    for runs in by_table.values():
        scores[runs[0]["regression"]].append(mean(each["score"] for each in runs))
    found = {"accuracy": mean(scores[False]), "r2": mean(scores[True]), "log_loss": mean(means("log_loss"))}
    return found | {"gates": sum(means("gates")), "seconds": median(means("seconds"))}


def main() -> None:
    """Run everything, print a line for each setting, write the record."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, help="folder with the data sets (default: $GATEWISE_DATA)")
    records.add_options(parser)
    args = parser.parse_args()
    described = records.start(recording=args.record, allow_dirty=args.allow_dirty)
    warnings.filterwarnings("ignore", category=ConvergenceWarning)
    tables = [*read_tables(find_data(args.data)), *shipped(), *drawn()]
    results: list[dict[str, Any]] = []
    for parameters in cases():
        for table in tables:
            n_repeats = N_REPEATS if len(table.y) < SMALL_ROWS else 1
            results += [run(table, parameters, seed) for seed in range(n_repeats)]
        numbers = summarize(results, parameters)
        print(parameters, {name: float(np.round(value, 4)) for name, value in numbers.items()}, flush=True)
    if args.record:
        records.write("tabular_study", described, {"results": results})


if __name__ == "__main__":
    main()
