"""What one core can do, measured by `probe.cpp`: the clock, and vector loads and operations per cycle."""

import subprocess
from pathlib import Path

from benchmarks.process import run_pinned

READS_PER_GATE = 2


def measure_limits(work: Path, core: int) -> dict[str, float]:
    """Compile and run the probe on one core; adds the gate evaluations per cycle that its limits allow.

    A gate reads two vectors and applies one operation, each vector holding as many rows as it has bits.
    """
    binary = work / "probe"
    source = Path(__file__).with_name("probe.cpp")
    subprocess.run(["g++", "-O2", "-march=native", "-o", binary, source], check=True)
    limits: dict[str, float] = run_pinned([str(binary)], [core])
    gates_per_cycle = [
        bits * min(limits[f"loads_l1_{bits}"] / READS_PER_GATE, limits[f"operations_{bits}"])
        for bits in (256, 512)
        if f"operations_{bits}" in limits
    ]
    return limits | {"gates_per_cycle": max(gates_per_cycle)}
