"""The timer of `gatewise.run.timing`, for files that also run in the peers' environments, which have no gatewise.

`load_file` is how it gets there: a module from its file alone, without the package around it. `measure_busy` tells
whether the machine is idle enough for `time_calls`.
"""

import importlib.util
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

from benchmarks.process import REPOSITORY


def load_file(name: str, path: Path) -> ModuleType:
    """The module that a file defines, under a name of its own."""
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise ImportError(f"path must be a Python file, got {path}")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


if TYPE_CHECKING:
    from gatewise.run.timing import Timing, busy_seconds, n_cores, time_call
else:
    _timing = load_file("gatewise_timing", REPOSITORY / "src" / "gatewise" / "run" / "timing.py")
    Timing, time_call = _timing.Timing, _timing.time_call
    busy_seconds, n_cores = _timing.busy_seconds, _timing.n_cores

MAX_BUSY = 0.1  # share of the cores' time that is taken on an idle machine, at most


def time_calls(calls: Mapping[str, Callable[[], object]], n_rows: int) -> dict[str, float]:
    """Median nanoseconds per row of every call, as "<name>_ns", and the least share of a core that was "free"."""
    timings = {name: time_call(call) for name, call in calls.items()}
    times = {f"{name}_ns": 1e9 * timing.median / n_rows for name, timing in timings.items()}
    return {"free": min(timing.free for timing in timings.values())} | times


def measure_busy(seconds: float = 1.0) -> float:
    """Share of the cores' time that others take, while this process sleeps."""
    before = busy_seconds()
    time.sleep(seconds)
    return (busy_seconds() - before) / seconds / n_cores()


__all__ = ["MAX_BUSY", "Timing", "load_file", "measure_busy", "time_call", "time_calls"]
