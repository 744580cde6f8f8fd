"""The machine a benchmark ran on: CPU, compiler, commit, cores, and the limits that `probe.cpp` measures."""

import json
import os
import platform
import subprocess
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
READS_PER_GATE = 2


def usable_cores() -> list[int]:
    """Cores that this process may run on, highest first, because the lowest serves the interrupts."""
    return sorted(os.sched_getaffinity(0), reverse=True)


def run_pinned(command: list[str], cores: list[int], **variables: str) -> dict[str, Any]:
    """Run a process tied to `cores`, from this folder; gives the JSON on the last line that it prints."""
    os.sched_setaffinity(0, cores)  # inherited by the process; this one only waits
    environment = os.environ | variables
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, cwd=HERE, env=environment)
    if done.returncode:
        raise RuntimeError(f"{' '.join(command)} must succeed, got exit code {done.returncode}")
    return json.loads(done.stdout.splitlines()[-1])


def describe() -> dict[str, Any]:
    """CPU, cores, system, compiler and commit."""
    return {
        "cpu": cpu_name(),
        "n_cores": os.cpu_count(),
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
        "compiler": _first_line("g++", "--version"),
        "commit": _first_line("git", "-C", str(HERE), "describe", "--always", "--dirty", "--abbrev=12"),
    }


def cpu_name() -> str:
    """The processor's name, with family and model where the name alone says little."""
    info: dict[str, str] = {}
    for line in Path("/proc/cpuinfo").read_text().split("\n\n")[0].splitlines():
        key, _, value = line.partition(":")
        info[key.strip()] = value.strip()
    if "model name" not in info:
        return platform.processor() or platform.machine()
    return f"{info['model name']} (family {info['cpu family']}, model {info['model']})"


def measure_limits(work: Path, core: int) -> dict[str, float]:
    """Compile and run the probe on one core; adds the gate evaluations per cycle that its limits allow.

    A gate reads two vectors and applies one operation, each vector holding as many rows as it has bits.
    """
    binary = work / "probe"
    subprocess.run(["g++", "-O2", "-march=native", "-o", binary, HERE / "probe.cpp"], check=True)
    limits = run_pinned([str(binary)], [core])
    gates_per_cycle = [
        bits * min(limits[f"loads_l1_{bits}"] / READS_PER_GATE, limits[f"operations_{bits}"])
        for bits in (256, 512)
        if f"operations_{bits}" in limits
    ]
    return limits | {"gates_per_cycle": max(gates_per_cycle)}


def peak_memory_gb() -> float:
    """The most memory this process has held; from /proc, as getrusage counts the parent's too."""
    return _memory_gb("VmHWM")


def memory_gb() -> float:
    """The memory this process holds now."""
    return _memory_gb("VmRSS")


def _first_line(*command: str) -> str:
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()[0]


def _memory_gb(field: str) -> float:
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(f"{field}:"):
            return int(line.split()[1]) * 1024 / 1e9
    raise OSError(f"{field} must be in /proc/self/status, got none")
