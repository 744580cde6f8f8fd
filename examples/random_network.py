"""From a random network of 48,000 gates to a saved, re-loaded and timed circuit, in seconds and without training data.

    python examples/random_network.py

The network has the size of the paper's small MNIST model: 784 inputs, 6 layers of 8,000 gates, 10 classes. Its gates
are random, so its classes mean nothing; what it shows is what becomes of a trained network of that size.
"""

import tempfile
import time
from pathlib import Path

import numpy as np

from gatewise import Engine, SeededCircuit, load, save, simplify_with_report

N_INPUTS, N_LAYERS, WIDTH, N_CLASSES, N_ROWS = 784, 6, 8_000, 10, 100_000


def main() -> None:
    """Build, simplify, save, load, run, and print a line for each."""
    rng = np.random.default_rng(0)
    gates = tuple(rng.integers(0, 16, WIDTH, dtype=np.uint8) for _ in range(N_LAYERS))
    seeded = SeededCircuit(N_INPUTS, gates, N_CLASSES, seed=0)
    circuit = seeded.expand()
    print(f"built      {circuit}")

    start = time.perf_counter()
    simplified, report = simplify_with_report(circuit)
    print(f"simplified {report} in {1e3 * (time.perf_counter() - start):.0f} ms")

    with tempfile.TemporaryDirectory() as folder:
        for name, saved in (("seed.gw", seeded), ("circuit.gw", simplified)):
            path = Path(folder) / name
            save(path, saved)
            assert load(path) == saved
            print(f"saved      {name}: {path.stat().st_size:,} bytes, loaded back equal")

    start = time.perf_counter()
    engine = Engine(simplified)
    engine.classify(np.zeros((1, N_INPUTS), bool))
    print(f"planned    and ran a first row in {1e3 * (time.perf_counter() - start):.1f} ms: {engine}")

    rows = rng.integers(0, 2, (N_ROWS, N_INPUTS), dtype=np.uint8).astype(bool)
    classes = engine.classify(rows)
    seconds = min(timed(engine, rows) for _ in range(5))
    print(f"ran        {N_ROWS:,} rows at {1e9 * seconds / N_ROWS:.0f} ns per row on one thread")
    print(f"classes    {np.bincount(classes, minlength=N_CLASSES).tolist()}")


def timed(engine: Engine, rows: np.ndarray) -> float:
    """Seconds to classify all rows once."""
    start = time.perf_counter()
    engine.classify(rows)
    return time.perf_counter() - start


if __name__ == "__main__":
    main()
