"""What local wiring is worth: one shape of net with random and with local wiring, side by side in one process.

    python -m benchmarks.locality --record       # benchmarks/results/locality.json

Nets of random gates, simplified, one thread tied to one core. Times are the least of interleaved runs, from bools,
packed rows and bit-planes to counts; bit-planes come in calls of 512 rows too, which stay in cache. `accuracy` beside
this file compares what both wirings learn.
"""

import argparse
import os
import time
from functools import partial
from typing import Any

import numpy as np

from benchmarks import records
from benchmarks.process import usable_cores
from gatewise import Engine, simplify
from gatewise.bits import PackedRows, Planes
from gatewise.run.reference import count_groups
from gatewise.run.timing import time_in_turns
from gatewise.wiring.seeded import SeededCircuit

WIRINGS = ("random", "local")
SHAPES = ((95_232, 256_000), (9_216, 256_000), (95_232, 1_024_000))  # inputs, gates per layer
N_LAYERS = 5
N_GROUPS = 10
N_REFERENCE_ROWS = 64
CACHED_ROWS = 512


def make_engine(n_inputs: int, width: int, wiring: str) -> tuple[Engine, dict[str, Any]]:
    """The engine of a simplified net of random gates, and what its preparation took."""
    gates = np.random.default_rng(0).integers(16, size=(N_LAYERS, width), dtype=np.uint8)
    circuit = SeededCircuit(n_inputs, gates=list(gates), n_groups=N_GROUPS, seed=1, wiring=wiring).expand()
    start = time.perf_counter()
    simplified = simplify(circuit)
    after_simplify = time.perf_counter()
    engine = Engine(simplified)
    end = time.perf_counter()
    return engine, {
        "n_gates": simplified.n_gates,
        "n_slots": engine.n_slots,
        "simplify_s": after_simplify - start,
        "plan_s": end - after_simplify,
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
    for name, rows in layouts.items():
        n_calls = max(1, n_rows // len(rows))
        calls = {wiring: partial(count_repeatedly, engine, rows, n_calls) for wiring, engine in engines.items()}
        for wiring, timing in time_in_turns(calls, seconds=0.0, min_calls=n_rounds).items():
            result[wiring][name] = 1e9 * timing.least / (n_calls * len(rows))
            result["free"] = min(result.get("free", 1.0), timing.free)
    return result


def count_repeatedly(engine: Engine, rows: Any, n_calls: int) -> None:
    """Evaluate the same rows again and again."""
    for _ in range(n_calls):
        engine.counts(rows)


def table_lines(result: dict[str, Any]) -> str:
    """One net as text."""
    lines = [f"{N_LAYERS} x {result['width']:,} gates, {result['n_inputs']:,} inputs; ns per row"]
    for wiring in WIRINGS:
        slots, plan_s = result[wiring]["n_slots"], result[wiring]["plan_s"]
        lines.append(f"  {wiring:6}: {slots:,} slots, planned in {plan_s:.2f} s")
    for name in result["random"]:
        if name in ("n_gates", "n_slots", "simplify_s", "plan_s"):
            continue
        random, local = (result[wiring][name] for wiring in WIRINGS)
        lines.append(f"  {name:14} random {random:8,.0f}   local {local:8,.0f}   {random / local:4.1f} times faster")
    return "\n".join(lines)


def main() -> None:
    """Compare, print, write the record."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--shrink", type=int, default=1, help="divide the sizes by this power of two, to try it out")
    parser.add_argument("--rows", type=int, default=4096)
    parser.add_argument("--rounds", type=int, default=10)
    records.add_options(parser)
    args = parser.parse_args()
    run = records.start(recording=args.record, allow_dirty=args.allow_dirty)
    os.sched_setaffinity(0, usable_cores()[:1])
    results = []
    for n_inputs, width in SHAPES:
        results.append(compare(n_inputs // args.shrink, width // args.shrink, args.rows, args.rounds))
        print(table_lines(results[-1]), flush=True)
    if args.record:
        records.write("locality", run, {"layers": N_LAYERS, "rounds": args.rounds, "nets": results})


if __name__ == "__main__":
    main()
