"""Timing of one call: the median of repeated runs after a warm-up. Needs nothing but the standard library."""

import statistics
import time
from collections.abc import Callable


def time_call(call: Callable[[], object], *, min_seconds: float = 2.0, min_runs: int = 5) -> float:
    """Median seconds of `call`, run until both limits are reached."""
    call()
    seconds: list[float] = []
    while len(seconds) < min_runs or sum(seconds) < min_seconds:
        start = time.perf_counter()
        call()
        seconds.append(time.perf_counter() - start)
    return statistics.median(seconds)
