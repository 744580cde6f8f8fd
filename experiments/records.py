"""Records: what was measured, one JSON object a line, appended and never changed.

In: a trained network for each seed. Out: lines of `results.jsonl`, and the latest one of each experiment.
"""

import json
import shlex
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import machine, timing
from experiments.data import Dataset
from experiments.plans import Plan
from experiments.training import Trained, soft_accuracy
from gatewise import Engine, Model
from gatewise.train import Bits

PATH = Path(__file__).parent / "results.jsonl"
MAX_BYTES = 64 * 2**20  # of the rows that are timed
MAX_ROWS = 100_000


def measure_seed(trained: Trained, plan: Plan, data: Dataset, seed: int) -> dict[str, Any]:
    """The circuit, and the network that it comes from, on the test rows."""
    hard = float((trained.model.predict(data.X_test) == data.y_test).mean())
    soft = soft_accuracy(trained, Bits(plan.encoder.encode_rows(data.X_test), data.y_test))
    return {
        "seed": seed,
        "accuracy": 100 * hard,
        "soft_accuracy": 100 * soft,
        "gap": 100 * (soft - hard),
        "gates": trained.circuit.n_gates,
        "gates_optimized": trained.model.circuit.n_gates,
        "bytes": len(trained.model.to_bytes()),
        "seconds": trained.seconds,
        "epochs": plan.epochs,
        "curve": [
            [each.epoch, round(each.seconds, 1), *(round(100 * x, 3) for x in (each.hard, each.soft))]
            for each in trained.curve
        ],
        "gate_counts": trained.curve[-1].gates,
    }


def summarize(values: list[float]) -> dict[str, float]:
    """Mean and sample standard deviation."""
    return {"mean": float(np.mean(values)), "std": float(np.std(values, ddof=1)) if len(values) > 1 else 0.0}


def time_model(model: Model, data: Dataset) -> dict[str, float]:
    """Nanoseconds a row on one thread: from rows of packed bits, and from raw rows."""
    n_rows = min(MAX_ROWS, MAX_BYTES // data.X_test[0].nbytes)
    raw = np.resize(data.X_test, (n_rows, data.X_test.shape[1]))
    packed, engine = model.encoder.encode_rows(raw), Engine(model.circuit)
    calls = {"packed": lambda: engine.classify(packed), "raw": lambda: model.predict(raw)}
    return timing.measure(calls, n_rows)


def append(record: dict[str, Any], path: Path = PATH) -> None:
    """Add a line, with the machine and the command."""
    command = shlex.join(["python", "-m", "experiments", *_without_places(sys.argv[1:])])
    line = json.dumps(record | {"command": command, "machine": machine.describe()})
    with open(path, "a") as file:
        file.write(line + "\n")


def read(path: Path = PATH) -> Iterator[dict[str, Any]]:
    """All records, oldest first."""
    if path.exists():
        yield from map(json.loads, path.read_text().splitlines())


def latest(path: Path = PATH) -> dict[tuple[str, str], dict[str, Any]]:
    """The last record of each name and recipe."""
    return {(record["name"], record["recipe"]): record for record in read(path)}


def _without_places(arguments: list[str]) -> list[str]:
    """The arguments, but where data and checkpoints lie on this machine."""
    kept, skip = [], False
    for argument in arguments:
        if not skip and argument not in ("--data", "--runs"):
            kept.append(argument)
        skip = argument in ("--data", "--runs")
    return kept
