"""Timing: the median of repeated runs after a warm-up. Needs nothing but the standard library."""

import os
import statistics
import time
from collections.abc import Callable

MIN_SECONDS = 2.0
MIN_RUNS = 5


def measure(calls: dict[str, Callable[[], object]], n_rows: int) -> dict[str, float]:
    """Median nanoseconds a row of every call, as "<name>_ns".

    "cpu_share" is the least share of the time in which this process ran: below 1 with one thread, others have
    disturbed it and the times are too long.
    """
    result = {"cpu_share": 1.0}
    for name, call in calls.items():
        call()
        seconds: list[float] = []
        cpu_start = time.process_time()
        while len(seconds) < MIN_RUNS or sum(seconds) < MIN_SECONDS:
            start = time.perf_counter()
            call()
            seconds.append(time.perf_counter() - start)
        share = (time.process_time() - cpu_start) / sum(seconds)
        result["cpu_share"] = min(result["cpu_share"], share)
        result[f"{name}_ns"] = 1e9 * statistics.median(seconds) / n_rows
    return result


def cpu_seconds() -> float:
    """Processor time of this process and of those it waited for: a compilation's time on an idle machine."""
    return sum(os.times()[:4])
