"""The timer: how long calls take, measured in turns, and how much of its cores others left to this process.

In: functions without arguments. Out: a `Timing` for each. Needs nothing but the standard library, because benchmarks
also load this file into environments that have no gatewise.
"""

import os
import statistics
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

STAT = Path("/proc/stat")


@dataclass(frozen=True)
class Timing:
    """What repeated calls took.

    Attributes
    ----------
    median, least : float
        Seconds of a call, by the clock on the wall.
    cpu : float
        Mean processor time of a call in seconds, all threads together.
    n_calls : int
        Calls that were timed.
    free : float
        Share of its cores' time that other processes left to this one while it was timed; 1 on an idle machine.
    """

    median: float
    least: float
    cpu: float
    n_calls: int
    free: float


def time_call(call: Callable[[], object], *, seconds: float = 2.0, min_calls: int = 5) -> Timing:
    """Time one call again and again, after a first call that is not timed.

    Parameters
    ----------
    call : callable
        Takes no arguments; what it returns is dropped.
    seconds : float
        Time that the calls take together at least.
    min_calls : int
        Calls at least, however long they take.

    Returns
    -------
    Timing

    Examples
    --------
    >>> timing = time_call(lambda: sum(range(100)), seconds=0.01)
    >>> timing.n_calls >= 5 and 0 < timing.least <= timing.median
    True
    """
    return time_in_turns({"": call}, seconds=seconds, min_calls=min_calls)[""]


def time_in_turns(
    calls: Mapping[str, Callable[[], object]], *, seconds: float = 2.0, min_calls: int = 5
) -> dict[str, Timing]:
    """Time several calls round after round, so that a disturbance falls on all of them alike.

    Parameters
    ----------
    calls : mapping of str to callable
    seconds : float
        Time that each call's laps take together at least.
    min_calls : int
        Rounds at least.

    Returns
    -------
    dict of str to Timing

    Examples
    --------
    >>> both = time_in_turns({"sum": lambda: sum([1, 2]), "max": lambda: max([1, 2])}, seconds=0.01)
    >>> both["sum"].n_calls == both["max"].n_calls
    True
    """
    for call in calls.values():
        call()
    laps: dict[str, list[float]] = {name: [] for name in calls}
    total, own = dict.fromkeys(calls, 0.0), dict.fromkeys(calls, 0.0)
    start, cpu_start, busy_start = time.perf_counter(), time.process_time(), busy_seconds()
    while any(len(laps[name]) < min_calls or total[name] < seconds for name in calls):
        for name, call in calls.items():
            cpu, lap = time.process_time(), time.perf_counter()
            call()
            laps[name].append(time.perf_counter() - lap)
            total[name] += laps[name][-1]
            own[name] += time.process_time() - cpu
    wall = time.perf_counter() - start
    of_others = max(0.0, busy_seconds() - busy_start - (time.process_time() - cpu_start))
    free = max(0.0, 1 - of_others / wall / n_cores()) if wall else 1.0
    return {
        name: Timing(statistics.median(each), min(each), own[name] / len(each), len(each), free)
        for name, each in laps.items()
    }


def n_cores() -> int:
    """Count the cores that this process may run on.

    Examples
    --------
    >>> n_cores() >= 1
    True
    """
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def busy_seconds() -> float:
    """Sum up how long the cores of this process were busy, for anyone, since the machine started.

    Returns
    -------
    float
        0 where the system does not say: there nothing can be told about other processes.

    Examples
    --------
    >>> busy_seconds() >= 0
    True
    """
    if not STAT.exists():
        return 0.0
    cores = {f"cpu{core}" for core in os.sched_getaffinity(0)}
    ticks = 0
    for line in STAT.read_text().splitlines():
        name, *fields = line.split()
        if name in cores:
            user, nice, system, _idle, _iowait, interrupts, soft_interrupts, stolen = map(int, fields[:8])
            ticks += user + nice + system + interrupts + soft_interrupts + stolen
    return ticks / os.sysconf("SC_CLK_TCK")
