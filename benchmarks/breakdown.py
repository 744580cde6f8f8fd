"""Where a training step of gatewise spends its time, seen from outside and whatever its functions are called.

In: a step split into named phases. Out: milliseconds a step of every phase, of every native function by phase,
and of the torch operators; what is left of a phase after its native functions is Python and torch.
"""

import functools
import statistics
import sys
import time
from collections import defaultdict
from collections.abc import Callable
from typing import Any

import torch

N_STEPS = 50
N_PROFILED_STEPS = 20
N_OPERATORS = 12

Phases = dict[str, Callable[[], object]]


class NativeClock:
    """Replaces the functions and methods of a native module by timed ones, wherever the package refers to them."""

    def __init__(self, native: Any, package: str) -> None:
        self.seconds: dict[str, float] = defaultdict(float)
        self.calls: dict[str, int] = defaultdict(int)
        timed: dict[int, Callable[..., Any]] = {}
        for name, value in list(vars(native).items()):
            if isinstance(value, type):
                self._time_methods(value)
            elif callable(value) and not name.startswith("__"):
                timed[id(value)] = self._time(name, value)
        modules = [module for name, module in sys.modules.items() if name.partition(".")[0] == package]
        for module in [native, *modules]:
            for name, value in list(vars(module).items()):
                if id(value) in timed:
                    setattr(module, name, timed[id(value)])

    def _time_methods(self, owner: type) -> None:
        for name, value in list(vars(owner).items()):
            if callable(value) and not name.startswith("_"):
                setattr(owner, name, self._time(f"{owner.__name__}.{name}", value))

    def _time(self, name: str, call: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(call, assigned=("__doc__",), updated=())
        def timed(*arguments: Any, **named: Any) -> Any:
            start = time.perf_counter()
            try:
                return call(*arguments, **named)
            finally:
                self.seconds[name] += time.perf_counter() - start
                self.calls[name] += 1

        return timed

    def reset(self) -> dict[str, float]:
        """The seconds by function since the last reset."""
        seconds = dict(self.seconds)
        self.seconds.clear()
        return seconds


def explain(phases: Phases, clock: NativeClock) -> dict[str, Any]:
    """Median milliseconds of the phases and of the native functions in each, and the busiest torch operators."""
    laps: dict[str, list[float]] = defaultdict(list)
    for _ in range(N_STEPS):
        for phase, call in phases.items():
            clock.reset()
            start = time.perf_counter()
            call()
            laps[phase].append(time.perf_counter() - start)
            for name, seconds in clock.reset().items():
                laps[f"{phase}: {name}"].append(seconds)
    parts = {name: 1e3 * statistics.median(seconds) for name, seconds in laps.items()}
    native_ms = sum(ms for name, ms in parts.items() if name not in phases)
    return {
        "phases_ms": {name: parts[name] for name in phases},
        "native_ms": {name: ms for name, ms in parts.items() if name not in phases},
        "python_and_torch_ms": sum(parts[name] for name in phases) - native_ms,
        "native_calls": {name: count / N_STEPS for name, count in clock.calls.items()},
        "torch_operators_ms": profile_operators(phases),
    }


def profile_operators(phases: Phases) -> dict[str, float]:
    """Milliseconds a step in the busiest torch operators, without those they call; profiling slows them a little."""
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU]) as profiler:
        for _ in range(N_PROFILED_STEPS):
            for call in phases.values():
                call()
    averages = sorted(profiler.key_averages(), key=lambda event: event.self_cpu_time_total, reverse=True)
    return {event.key: event.self_cpu_time_total / 1e3 / N_PROFILED_STEPS for event in averages[:N_OPERATORS]}
