"""Speed of encoding tables, and of a model from raw rows to labels: nanoseconds per row, one thread.

python -m benchmarks.infer.encode        # prints a block per table; makes no record
"""

from collections.abc import Callable
from functools import partial

import numpy as np

from benchmarks.timer import time_calls
from gatewise import Encoder, Model, SeededCircuit
from gatewise.heads import Classes

TABLES = [(14, 100), (116, 116), (784, 784)]  # columns, bits
N_ROWS = 50_000
GATES, GROUP_SIZE = (1, 6, 7, 8, 14), 500


def make_model(encoder: Encoder) -> Model:
    """Two classes, two layers of random gates."""
    rng = np.random.default_rng(0)
    gates = [rng.choice(GATES, 2 * GROUP_SIZE) for _ in range(2)]
    circuit = SeededCircuit(encoder.n_bits, gates=gates, n_groups=2, seed=0).expand()
    return Model.build(encoder, circuit, Classes(("no", "yes"), tau=10.0, group_size=GROUP_SIZE))


def main() -> None:
    """Measure and print."""
    rng = np.random.default_rng(0)
    for n_columns, max_bits in TABLES:
        X = (50 * rng.normal(size=(N_ROWS, n_columns)) + 128).clip(0, 255)
        encoder = Encoder.fit(X, max_bits=max_bits)
        model = make_model(encoder)
        calls: dict[str, Callable[[], object]] = {
            f"{np.dtype(dtype).name} {order}": partial(encoder.encode, X.astype(dtype, order=order))
            for dtype in (np.float32, np.float64, np.uint8)
            for order in ("C", "F")
        }
        calls["predict"] = partial(model.predict, X.astype(np.float32))
        times = time_calls(calls, N_ROWS)
        print(f"{n_columns} columns, {encoder.n_bits} bits, {model.circuit.n_gates} gates:")
        print("  " + ", ".join(f"{name} {value:.1f}" for name, value in times.items()))
        one_row = time_calls({"predict": partial(model.predict, X[:1].astype(np.float32))}, 1)
        print(f"  one row: {one_row['predict_ns'] / 1000:.1f} µs")


if __name__ == "__main__":
    main()
