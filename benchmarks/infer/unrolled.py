"""How long a file of shared gates takes until it runs: LogicTreeNet of three million gates at all positions.

    python -m benchmarks.infer.unrolled --record      # benchmarks/results/unrolled.json

The gates are random, so that nothing simplifies away because training had not begun. Memory is that of the whole
process, with torch and the network that was saved.
"""

import argparse
import tempfile
import time
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any, TypeVar

import torch

from benchmarks import records
from benchmarks.infer.table import verdict_lines
from benchmarks.infer.targets import Verdict
from benchmarks.process import peak_memory_gb
from gatewise import ConvolutionalCircuit, Engine, load, nn, save, simplify
from gatewise.wiring import unique_wiring

K = 106
READY_S, MEMORY_GB, FILE_KB = (10, 5), (2, 1), (1000, 200)  # target, stretch
Value = TypeVar("Value")


def measure(path: Path, k: int) -> dict[str, Any]:
    """Save a network of size k, and make it run again."""
    seconds: dict[str, float] = {}

    def timed(step: str, call: Callable[[], Value]) -> Value:
        start = time.perf_counter()
        value = call()
        seconds[step] = time.perf_counter() - start
        return value

    torch.manual_seed(0)
    net = nn.tree_network_cifar10(k, tau=1.0, parametrization=nn.Softmax(), wiring=unique_wiring, seed=0)
    save(path, nn.discretize_shared(net))
    shared = timed("load", lambda: load(path))
    assert isinstance(shared, ConvolutionalCircuit)
    circuit = timed("write out", shared.expand)
    small = timed("simplify", lambda: simplify(circuit))
    engine = timed("plan", lambda: Engine(small))
    return {
        "gates": circuit.n_gates,
        "gates_stored": shared.n_stored,
        "gates_simplified": small.n_gates,
        "n_slots": engine.n_slots,
        "seconds": seconds,
        "ready_s": sum(seconds.values()),
        "peak_memory_gb": peak_memory_gb(),
        "file_kb": path.stat().st_size / 1000,
    }


def judge(found: dict[str, Any]) -> list[Verdict]:
    """Time, memory and the file against what this project promises."""
    name = f"convolutions of {found['gates'] / 1e6:.1f} million gates"
    return [
        Verdict(f"{name}: seconds until ready", found["ready_s"], *READY_S, at_most=True),
        Verdict(f"{name}: memory, GB", found["peak_memory_gb"], *MEMORY_GB, at_most=True),
        Verdict(f"{name}: file, kB", found["file_kb"], *FILE_KB, at_most=True),
    ]


def main() -> None:
    """Measure, print the verdicts, write the record."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--k", type=int, default=K, help="size of the network")
    records.add_options(parser)
    args = parser.parse_args()
    run = records.start(recording=args.record, allow_dirty=args.allow_dirty)
    with tempfile.TemporaryDirectory() as folder:
        found = measure(Path(folder) / "shared.gw", args.k)
    print(", ".join(f"{step} {seconds:.2f} s" for step, seconds in found["seconds"].items()))
    verdicts = judge(found)
    print(verdict_lines(verdicts))
    if args.record:
        judged = [asdict(verdict) | {"outcome": verdict.outcome} for verdict in verdicts]
        records.write("unrolled", run, {"k": args.k, **found, "targets": judged})


if __name__ == "__main__":
    main()
