"""What is measured of trained networks: accuracy, size, and the speed of the model.

In: a trained network, and its data. Out: dictionaries that go into records.
"""

from typing import Any

import numpy as np

from benchmarks.timer import time_calls
from experiments.data import Dataset
from experiments.plans import Plan
from experiments.training import Trained, soft_accuracy
from gatewise import Engine, Model
from gatewise.tools.abc import count_tables
from gatewise.train import Bits

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
        "gates_simplified": trained.model.circuit.n_gates,
        "tables": count_tables(trained.model.circuit) if plan.is_synthesized else None,
        "bytes": len(trained.model.to_bytes()),
        "seconds": trained.seconds,
        "epochs": plan.epochs,
        "curve": [
            [each.epoch, round(each.seconds, 1), *(round(100 * x, 3) for x in (each.score, each.soft_score))]
            for each in trained.curve
        ],
        "gate_counts": trained.curve[-1].gates,
    }


def summarize(values: list[float]) -> dict[str, float]:
    """Mean and sample standard deviation."""
    return {"mean": float(np.mean(values)), "std": float(np.std(values, ddof=1)) if len(values) > 1 else 0.0}


def time_model(model: Model, data: Dataset) -> dict[str, float]:
    """Nanoseconds per row on one thread: from rows of packed bits, and from raw rows."""
    n_rows = min(MAX_ROWS, MAX_BYTES // data.X_test[0].nbytes)
    raw = np.resize(data.X_test, (n_rows, data.X_test.shape[1]))
    packed, engine = model.encoder.encode_rows(raw), Engine(model.circuit)
    calls = {"packed": lambda: engine.classify(packed), "raw": lambda: model.predict(raw)}
    return time_calls(calls, n_rows)
