"""The networks that the paper could not compile: larger than large, with random gates.

In: a setting. Out: time and memory of building, simplifying, saving, loading and running it.
"""

import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from benchmarks.process import peak_memory_gb
from benchmarks.timer import time_calls
from experiments.settings import Setting
from gatewise import Circuit, Engine, SeededCircuit, load, save, simplify
from gatewise.bits import PackedRows

N_ROWS = 2048
N_CLASSES = 10
Value = TypeVar("Value")


def measure_giant(setting: Setting, seed: int = 0) -> dict[str, Any]:
    """Every step from the random gates to counts, with the seconds that it took."""
    seconds: dict[str, float] = {}

    def timed(step: str, call: Callable[[], Value]) -> Value:
        start = time.perf_counter()
        value = call()
        seconds[step] = time.perf_counter() - start
        return value

    if setting.n_thresholds is None or setting.data != "cifar10":
        raise SystemExit(f"name must be a network for CIFAR-10, got {setting.name}; cifar-large-4 is the largest")
    random = np.random.default_rng(seed)
    n_inputs = 3 * 32 * 32 * setting.n_thresholds
    gates = [random.integers(0, 16, width, dtype=np.uint8) for width in setting.widths]
    seeded = SeededCircuit(n_inputs, gates, n_groups=N_CLASSES, seed=seed)
    circuit: Circuit = timed("build", seeded.expand)
    small = timed("simplify", lambda: simplify(circuit))
    with tempfile.TemporaryDirectory() as folder:
        paths = {name: Path(folder) / f"{name}.gw" for name in ("seeded", "simplified")}
        save(paths["seeded"], seeded)
        timed("save", lambda: save(paths["simplified"], small))
        loaded = timed("load", lambda: load(paths["simplified"]))
        sizes = {f"bytes_{name}": path.stat().st_size for name, path in paths.items()}
    assert isinstance(loaded, Circuit)
    rows = PackedRows(random.integers(0, 256, (N_ROWS, n_inputs // 8), dtype=np.uint8), n_inputs)
    engine = timed("plan", lambda: Engine(loaded))
    return {
        "gates": setting.n_gates,
        "gates_simplified": small.n_gates,
        "seconds_of": seconds,
        **sizes,
        "time": time_calls({"packed": lambda: engine.classify(rows)}, N_ROWS),
        "peak_memory_gb": peak_memory_gb(),
    }
