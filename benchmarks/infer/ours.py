"""Runner of gatewise: one net in a fresh process, so its preparation is cold and its peak memory its own.

In: a net, rows, a number of threads. Out: the counts as .npy, and one JSON line of times in the peers' units.
"""

import argparse
import json
import time
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.nets import Net
from benchmarks.process import peak_memory_gb
from benchmarks.timer import time_calls
from gatewise import Circuit, Engine, simplify
from gatewise.bits import PackedRows


def prepare(net: Net, n_threads: int) -> tuple[Engine, dict[str, Any]]:
    """From the circuit to the first result."""
    circuit = Circuit.from_layers(net.n_inputs, net.layers(), net.n_groups)
    one_row = np.zeros((1, net.n_inputs), np.bool_)
    start = time.perf_counter()
    simplified = simplify(circuit)
    after_simplify = time.perf_counter()
    engine = Engine(simplified, threads=n_threads)
    after_plan = time.perf_counter()
    engine.counts(one_row)
    end = time.perf_counter()
    return engine, {
        "simplify_s": after_simplify - start,
        "plan_s": after_plan - after_simplify,
        "preparation_s": end - start,
        "peak_memory_gb": peak_memory_gb(),
        "n_gates": simplified.n_gates,
        "target": engine.target,
    }


def run(engine: Engine, rows: NDArray[np.bool_]) -> dict[str, float]:
    """Nanoseconds per row to counts, from bools and from packed rows."""
    packed = PackedRows(np.packbits(rows, axis=1), rows.shape[1])
    calls = {"library": lambda: engine.counts(rows), "packed": lambda: engine.counts(packed)}
    return time_calls(calls, len(rows))


def main() -> None:
    """Prepare, write the counts, time, print the findings as JSON."""
    parser = argparse.ArgumentParser()
    parser.add_argument("net", type=Path)
    parser.add_argument("--rows", type=Path, required=True)
    parser.add_argument("--counts", type=Path, required=True)
    parser.add_argument("--threads", type=int, default=1)
    args = parser.parse_args()
    engine, result = prepare(Net.load(args.net), args.threads)
    rows = np.load(args.rows)
    np.save(args.counts, engine.counts(rows))
    print(json.dumps(result | run(engine, rows)))


if __name__ == "__main__":
    main()
