"""The machine that this process runs on: its processor, and the threads and instructions that native code uses there.

Invariant: pools of threads survive a fork, so a process that used one may be forked, and both go on.
"""

import platform
from pathlib import Path

from gatewise import _native
from gatewise.checks import as_integer

TARGETS: tuple[str, ...] = tuple(_native.targets())
"""Instruction sets that this machine can run and native code is compiled for, best first."""

MAX_THREADS = 256

CPU_INFO = Path("/proc/cpuinfo")


def cpu_name() -> str:
    """Name the processor.

    Returns
    -------
    str
        With family and model where Linux tells them, because names such as "AMD EPYC" say little.

    Examples
    --------
    >>> len(cpu_name()) > 0
    True
    """
    first = CPU_INFO.read_text().split("\n\n")[0] if CPU_INFO.exists() else ""
    pairs = (line.partition(":") for line in first.splitlines())
    info = {key.strip(): value.strip() for key, _, value in pairs}
    if "model name" not in info:
        return platform.processor() or platform.machine()
    family, model = info.get("cpu family"), info.get("model")
    return info["model name"] + (f" (family {family}, model {model})" if family and model else "")


def check_threads(threads: int) -> int:
    """Check a number of threads; raises ValueError unless it is in 1..256.

    Examples
    --------
    >>> check_threads(2)
    2
    """
    return as_integer("threads", threads, 1, MAX_THREADS)


def make_pool(threads: int) -> _native.Pool:
    """Make a pool of threads that share work; they start when they are first needed.

    Parameters
    ----------
    threads : int
        Those of the caller included, so a pool of 1 starts none.

    Examples
    --------
    >>> make_pool(2).threads
    2
    """
    return _native.Pool(check_threads(threads))
