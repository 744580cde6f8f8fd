"""Processes: the cores and memory of this one, and others tied to some of its cores.

Needs the standard library only, because the peers' runners import it in environments of their own.
"""

import json
import os
import subprocess
from pathlib import Path
from typing import Any

REPOSITORY = Path(__file__).resolve().parents[1]


def usable_cores() -> list[int]:
    """Cores that this process may run on, highest first, because the lowest serves the interrupts."""
    return sorted(os.sched_getaffinity(0), reverse=True)


def run_pinned(command: list[str], cores: list[int], **variables: str) -> dict[str, Any]:
    """Run a process tied to `cores`, from the repository; returns the JSON on the last line that it prints."""
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, cores)  # inherited by the process; this one only waits
    try:
        environment = os.environ | variables
        done = subprocess.run(command, stdout=subprocess.PIPE, text=True, cwd=REPOSITORY, env=environment)
    finally:
        os.sched_setaffinity(0, before)
    if done.returncode:
        raise RuntimeError(f"{' '.join(command)} must succeed, got exit code {done.returncode}")
    result: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return result


def cpu_seconds() -> float:
    """Processor time of this process and of those it waited for: a compilation's time on an idle machine."""
    return sum(os.times()[:4])


def peak_memory_gb() -> float:
    """The most memory this process has held; from /proc, as getrusage counts the parent's too."""
    return _memory_gb("VmHWM")


def memory_gb() -> float:
    """The memory this process holds now."""
    return _memory_gb("VmRSS")


def _memory_gb(field: str) -> float:
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(f"{field}:"):
            return int(line.split()[1]) * 1024 / 1e9
    raise OSError(f"{field} must be in /proc/self/status, got none")
