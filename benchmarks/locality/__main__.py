"""What local wiring is worth: one shape of net with random and with local wiring, side by side in one process.

    python benchmarks/locality.py [--inputs 95232 9216] [--width 256000] [--json benchmarks/results/locality.json]
    python benchmarks/locality.py --accuracy --data DIR

Nets of random gates, optimized, one thread tied to one core. Times are the least of interleaved runs, from bools,
packed rows and bit-planes to counts; bit-planes come in calls of 512 rows too, which stay in cache. With --accuracy,
small nets of both wirings learn MNIST, from its four .gz files in DIR/mnist (or $GATEWISE_DATA/mnist), instead.
"""

import argparse
import json
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import machine
import numpy as np

from gatewise import Engine, optimize
from gatewise.run.bits import PackedRows, Planes
from gatewise.run.reference import count_groups
from gatewise.seeded import SeededCircuit

WIRINGS = ("random", "local")
N_LAYERS = 5
N_GROUPS = 10
N_REFERENCE_ROWS = 64
CACHED_ROWS = 512


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--inputs", nargs="+", type=int, default=[95_232, 9_216])
    parser.add_argument("--width", type=int, default=256_000, help=f"gates in each of {N_LAYERS} layers")
    parser.add_argument("--rows", type=int, default=4096)
    parser.add_argument("--rounds", type=int, default=12)
    parser.add_argument("--json", type=Path, help="where to write the results")
    parser.add_argument("--accuracy", action="store_true", help="train on MNIST instead")
    parser.add_argument("--data", type=Path, help="folder with mnist/ (default: $GATEWISE_DATA)")
    return parser.parse_args()


def make_engine(n_inputs: int, width: int, wiring: str) -> tuple[Engine, dict[str, Any]]:
    """The engine of an optimized net of random gates, and what its preparation took."""
    gates = np.random.default_rng(0).integers(16, size=(N_LAYERS, width), dtype=np.uint8)
    circuit = SeededCircuit(n_inputs, gates=list(gates), n_groups=N_GROUPS, seed=1, wiring=wiring).expand()
    start = time.perf_counter()
    optimized = optimize(circuit)
    after_optimize = time.perf_counter()
    engine = Engine(optimized)
    end = time.perf_counter()
    return engine, {
        "n_gates": optimized.n_gates,
        "n_slots": engine.n_slots,
        "optimize_s": after_optimize - start,
        "plan_s": end - after_optimize,
    }


def make_layouts(n_inputs: int, n_rows: int) -> dict[str, Any]:
    """Random rows in every layout that is timed."""
    packed = np.random.default_rng(1).integers(256, size=(n_rows, n_inputs // 8), dtype=np.uint8)
    rows = np.unpackbits(packed, axis=1).view(np.bool_)
    return {
        "bools": rows,
        "packed": PackedRows(packed, n_inputs),
        "planes": Planes.pack(rows),
        f"planes of {CACHED_ROWS}": Planes.pack(rows[:CACHED_ROWS]),
    }


def least_ns(call: Callable[[], object], n_rows: int, n_calls: int) -> float:
    """Nanoseconds of processor time a row, of the fastest call."""
    seconds = []
    for _ in range(n_calls):
        start = time.process_time()
        call()
        seconds.append(time.process_time() - start)
    return 1e9 * min(seconds) / n_rows


def compare(n_inputs: int, width: int, n_rows: int, n_rounds: int) -> dict[str, Any]:
    """Both wirings of one shape on the same rows, after a check against the reference."""
    layouts = make_layouts(n_inputs, n_rows)
    result: dict[str, Any] = {"n_inputs": n_inputs, "width": width, "n_rows": n_rows}
    engines = {}
    for wiring in WIRINGS:
        engines[wiring], result[wiring] = make_engine(n_inputs, width, wiring)
        expected = count_groups(engines[wiring].circuit, layouts["bools"][:N_REFERENCE_ROWS])
        for name, rows in layouts.items():
            if not np.array_equal(engines[wiring].counts(rows)[:N_REFERENCE_ROWS], expected):
                raise SystemExit(f"counts must equal the reference's, got others from {name} with {wiring} wiring")
    for _ in range(n_rounds):
        for name, rows in layouts.items():
            for wiring, engine in engines.items():
                n_calls = max(1, n_rows // len(rows))
                ns = least_ns(lambda engine=engine, rows=rows: engine.counts(rows), len(rows), n_calls)
                result[wiring][name] = min(ns, result[wiring].get(name, ns))
    return result


def table_lines(result: dict[str, Any]) -> str:
    """One net as text."""
    lines = [f"{N_LAYERS} x {result['width']:,} gates, {result['n_inputs']:,} inputs; ns a row"]
    for wiring in WIRINGS:
        slots, plan_s = result[wiring]["n_slots"], result[wiring]["plan_s"]
        lines.append(f"  {wiring:6}: {slots:,} slots, planned in {plan_s:.2f} s")
    for name in result["random"]:
        if name in ("n_gates", "n_slots", "optimize_s", "plan_s"):
            continue
        random, local = (result[wiring][name] for wiring in WIRINGS)
        lines.append(f"  {name:14} random {random:8,.0f}   local {local:8,.0f}   {random / local:4.1f} times faster")
    return "\n".join(lines)


def main() -> None:
    """Compare speed, or accuracy; print, and write the JSON."""
    args = parse_arguments()
    if args.accuracy:
        import locality_accuracy

        results = locality_accuracy.compare(args.data)
    else:
        os.sched_setaffinity(0, machine.usable_cores()[:1])
        results = []
        for n_inputs in args.inputs:
            results.append(compare(n_inputs, args.width, args.rows, args.rounds))
            print(table_lines(results[-1]), flush=True)
    if args.json:
        report = {"machine": machine.describe() | {"threads": 1}, "nets": results}
        args.json.write_text(json.dumps(report, indent=1) + "\n")


if __name__ == "__main__":
    main()
