"""Inference speed by wiring: nets of five layers of 256,000 gates, wired at random, in unique pairs and locally.

    python benchmarks/locality.py [--inputs 9216 95232] [--json benchmarks/results/locality.json]

The inputs are CIFAR-10 with 3 or with 31 thresholds a channel: with 31, fetching the rows from memory is most of the
time, whatever the wiring; "load" is what a net of ten gates takes. Gates are random, or 35 % of them pass an
operand through, as after training. One thread tied to one core, from packed rows or planes to counts, each net
optimized, and the first rows compared with the reference. The wirings take turns, so that a disturbance meets all
alike, and the least processor time of each counts: other work on the machine can only add to it.
"""

import argparse
import json
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import machine
import nets
import numpy as np
from numpy.typing import NDArray

from gatewise import Circuit, Engine, PackedRows, Planes, SeededCircuit, optimize
from gatewise.run.reference import count_groups
from gatewise.wiring import WIRINGS

N_LAYERS, WIDTH, N_GROUPS = 5, 256_000, 10
N_REFERENCE_ROWS = 64
TARGETS = {"target": 4.0, "stretch": 10.0}


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--inputs", nargs="+", type=int, default=[9_216, 95_232])
    parser.add_argument("--kinds", nargs="+", choices=nets.KINDS, default=list(nets.KINDS))
    parser.add_argument("--rows", type=int, default=4_096)
    parser.add_argument("--rounds", type=int, default=15, help="runs of each net, of which the fastest counts")
    parser.add_argument("--json", type=Path, help="where to write the results")
    return parser.parse_args()


def make_engine(circuit: Circuit, rows: NDArray[np.bool_]) -> tuple[Engine, dict[str, Any]]:
    """The engine of a circuit, checked against the reference, and what it took to get there."""
    start = time.perf_counter()
    optimized = optimize(circuit)
    after_optimize = time.perf_counter()
    engine = Engine(optimized, threads=1)
    found = {
        "n_gates": optimized.n_gates,
        "n_slots": engine.n_slots,
        "optimize_s": after_optimize - start,
        "plan_s": time.perf_counter() - after_optimize,
    }
    first = rows[:N_REFERENCE_ROWS]
    if not np.array_equal(engine.counts(first), count_groups(circuit, first)):
        raise SystemExit("counts must be equal, got different ones from the engine and the reference")
    return engine, found


def time_in_turns(calls: dict[str, Callable[[], object]], n_rounds: int) -> dict[str, float]:
    """Least processor seconds of every call, after one to warm up."""
    for call in calls.values():
        call()
    best = dict.fromkeys(calls, float("inf"))
    for _ in range(n_rounds):
        for name, call in calls.items():
            start = time.process_time()
            call()
            best[name] = min(best[name], time.process_time() - start)
    return best


def run_kind(n_inputs: int, kind: str, args: argparse.Namespace) -> dict[str, Any]:
    """Nanoseconds a row of all wirings of one kind of net, and how many times random wiring takes longer."""
    size = nets.Size(n_inputs, N_LAYERS, WIDTH, N_GROUPS)
    net = nets.make_net(size, kind)
    rows = nets.make_rows(net, args.rows)
    layouts = {"packed": PackedRows(np.packbits(rows, axis=1), n_inputs), "planes": Planes.pack(rows)}
    few = SeededCircuit(n_inputs, gates=[[6] * N_GROUPS], n_groups=N_GROUPS, seed=0)
    engines, found = {"load": Engine(few.expand(), threads=1)}, {}
    for wiring in WIRINGS:
        circuit = SeededCircuit(n_inputs, gates=list(net.gate), n_groups=N_GROUPS, seed=0, wiring=wiring).expand()
        engines[wiring], found[wiring] = make_engine(circuit, rows)
    result: dict[str, Any] = {"n_inputs": n_inputs, "kind": kind, "n_rows": args.rows, "wirings": found}
    for layout, packed in layouts.items():
        calls = {name: lambda engine=engine, packed=packed: engine.counts(packed) for name, engine in engines.items()}
        seconds = time_in_turns(calls, args.rounds)
        result[f"{layout}_ns"] = {name: 1e9 * value / args.rows for name, value in seconds.items()}
        result[f"{layout}_ratio"] = seconds["random"] / seconds["local"]
    return result


def lines_of(result: dict[str, Any]) -> str:
    """One line a layout."""
    lines = []
    for layout in ("packed", "planes"):
        times = "  ".join(f"{name} {value:7,.0f}" for name, value in result[f"{layout}_ns"].items())
        ratio = result[f"{layout}_ratio"]
        verdicts = ", ".join(f"{value:g}x {'pass' if ratio >= value else 'miss'}" for value in TARGETS.values())
        head = f"{result['n_inputs']:7,} inputs  {result['kind']:6}  {layout:6}"
        lines.append(f"{head}  {times}  ns a row; local is {ratio:.1f}x faster than random ({verdicts})")
    return "\n".join(lines)


def main() -> None:
    """Run, print a line for every net and layout, write the JSON."""
    args = parse_arguments()
    os.sched_setaffinity(0, machine.usable_cores()[:1])
    described = machine.describe() | {"threads": 1, "load_average": os.getloadavg()[0]}
    command = " ".join(["python", *sys.argv])
    print(f"{command}\n{', '.join(f'{key} {value}' for key, value in described.items())}")
    results = []
    for n_inputs in args.inputs:
        for kind in args.kinds:
            results.append(run_kind(n_inputs, kind, args))
            print(lines_of(results[-1]), flush=True)
    if args.json:
        report = {"command": command, "machine": described, "targets": TARGETS, "nets": results}
        args.json.parent.mkdir(parents=True, exist_ok=True)
        args.json.write_text(json.dumps(report, indent=1) + "\n")


if __name__ == "__main__":
    main()
