"""Proofs about models of default settings: how long questions take, and whether they are decided.

    pip install -c constraints.txt '.[bench]'
    python -m benchmarks.verify --data DIR --record          # benchmarks/results/verify.json
    python -m benchmarks.verify --data DIR --only adult

Adult's models are LogicClassifier's, with all columns and without sex. MNIST's is a network of 8,000 gates with learned
wires, trained for a few epochs. Times are wall-clock seconds in one process, one thread; each question has a minute,
those about five flipped pixels ten seconds.
"""

import argparse
import statistics
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import records
from benchmarks.data.mnist import find_data, load_mnist
from benchmarks.data.tables import adult
from experiments.data import load_idx_images
from experiments.points.frontier import POINTS
from experiments.training import train_network
from gatewise import Circuit, LogicClassifier, Model, verify
from gatewise.verify.robustness import list_rows
from gatewise.verify.space import Space

LIMIT = 60.0
LIMITS = {1: LIMIT, 3: LIMIT, 5: 10.0}
"""Seconds for an image, by how many pixels may be flipped."""

N_ROBUST, N_EXPLAINED, N_IMAGES = 1000, 100, 100
DEVIATIONS = 0.3
EPOCHS = 6
Result = dict[str, Any]


def describe(name: str, verdicts: list[Any], seconds: list[float], **more: Any) -> Result:
    """A line of the table."""
    outcomes = [getattr(each, "status", "found") for each in verdicts]
    found = {outcome: outcomes.count(outcome) for outcome in dict.fromkeys(outcomes)}
    median, worst = statistics.median(seconds), max(seconds)
    print(f"{name:<44}{len(seconds):>6}{median:>10.3f}{worst:>10.3f}  {found} {more or ''}", flush=True)
    return {"question": name, "n": len(seconds), "median": median, "worst": worst, "outcomes": found, **more}


def ask(name: str, question: Callable[[], Any], **more: Any) -> Result:
    """Time one question."""
    start = time.perf_counter()
    verdict = question()
    return describe(name, [verdict], [time.perf_counter() - start], **more)


def ask_each(name: str, question: Callable[[Any], Any], rows: list[Any], **more: Any) -> tuple[Result, list[Any]]:
    """Time a question about each row."""
    verdicts, seconds = [], []
    for row in rows:
        start = time.perf_counter()
        verdicts.append(question(row))
        seconds.append(time.perf_counter() - start)
    return describe(name, verdicts, seconds, **more), verdicts


def measure_adult(data: Path) -> Iterator[Result]:
    """All questions about Adult."""
    table = adult(data)
    training, test = next(table.splits())
    X, y = table.X.iloc[training], table.y[training]
    model = LogicClassifier(random_state=0).fit(X, y).model_
    blind = LogicClassifier(random_state=0).fit(X.drop(columns="sex"), y).model_
    X = table.X.iloc[test]
    yield ask(
        "adult: equivalent to the model as it was stored",
        lambda: verify.equivalent(model, Model.from_bytes(model.to_bytes())),
    )
    yield ask(
        "adult: equivalent to a model without sex", lambda: verify.equivalent(model, _widen(blind, model), limit=LIMIT)
    )
    yield ask("adult: independent of sex", lambda: verify.independent_of(model, "sex", limit=LIMIT))
    yield ask("adult without sex: independent of sex", lambda: verify.independent_of(_widen(blind, model), "sex"))
    yield ask("adult: monotone in education-num", lambda: verify.monotone(model, "education-num", limit=LIMIT))
    bounds = verify.bounds(model, limit=LIMIT)
    ranges = {str(label): [each.low, each.lowest, each.highest, each.high] for label, each in bounds.ranges.items()}
    yield describe("adult: bounds", [bounds], [bounds.effort.seconds], ranges=ranges)
    yield ask("adult: reachable", lambda: verify.reachable(model, model.predict(X)[0], limit=LIMIT))
    rows = list_rows(Space([model.encoder]), X.iloc[:N_ROBUST])
    numeric = X.select_dtypes("number")
    within = {name: float(DEVIATIONS * numeric[name].std()) for name in numeric}
    verdicts = verify.robust(model, rows, within, limit=LIMIT)
    seconds = [each.effort.seconds for each in verdicts]
    yield describe(f"adult: robust within {DEVIATIONS} deviations", verdicts, seconds)
    few = rows[:N_EXPLAINED]
    explain = ask_each("adult: explain", lambda row: verify.explain(model, row, limit=LIMIT), few)
    yield explain[0] | {"columns": statistics.median(len(each.columns) for each in explain[1])}
    changes = ask_each("adult: counterfactual", lambda row: verify.counterfactual(model, row, limit=LIMIT), few)
    yield changes[0] | {"least": sum(each.is_least for each in changes[1])}


def _widen(model: Model, like: Model) -> Model:
    """A model that takes the columns of another one, and reads those that it read before."""
    columns = {column.name: column for column in model.encoder.columns}
    empty = [column.take(np.empty(0, np.int64)) for column in like.encoder.columns]
    encoder = replace(like.encoder, columns=tuple(columns.get(column.name, column) for column in empty))
    return Model(encoder, model.circuit, model.head)


def measure_mnist(data: Path) -> Iterator[Result]:
    """Equivalence, flipped pixels and explanations of images."""
    point, images = POINTS["mnist-8k"], load_idx_images(data, "mnist")
    trained = train_network(
        point.widths, point.plan(images).scaled(EPOCHS), images, 0, folder=None, report=lambda _: None
    )
    model, raw = trained.model, trained.circuit
    assert isinstance(raw, Circuit)
    full = Model(
        trained.model.encoder if raw.n_inputs == model.encoder.n_bits else point.plan(images).encoder, raw, model.head
    )
    gates = {"gates": model.circuit.n_gates, "before": raw.n_gates}
    yield ask("mnist: equivalent to the circuit as trained", lambda: verify.equivalent(full, model), **gates)
    X, y = load_mnist(data, "t10k")
    right = X[(model.predict(X) == y.astype(model.predict(X[:1]).dtype))][:N_IMAGES]
    rows = list_rows(Space([model.encoder]), right)
    for k, limit in LIMITS.items():
        verdicts = verify.robust(model, rows, at_most=k, limit=limit)
        seconds = [each.effort.seconds for each in verdicts]
        yield describe(f"mnist: {k} flipped pixels within {limit:g} s", verdicts, seconds)


def main() -> None:
    """Ask everything, print a line for each question, write the record."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, help="folder with the data sets (default: $GATEWISE_DATA)")
    parser.add_argument("--only", choices=("adult", "mnist"), help="one of the data sets")
    records.add_options(parser)
    args = parser.parse_args()
    described = records.start(recording=args.record, allow_dirty=args.allow_dirty)
    data = find_data(args.data)
    print(f"{'question':<44}{'n':>6}{'median s':>10}{'worst s':>10}  outcomes")
    parts = {"adult": measure_adult, "mnist": measure_mnist}
    results = [result for name, part in parts.items() if args.only in (None, name) for result in part(data)]
    if args.record:
        records.write("verify", described, {"results": results})


if __name__ == "__main__":
    main()
