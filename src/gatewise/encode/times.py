"""Dates, times and durations as numbers: elapsed seconds, and parts of the calendar.

In: datetime64 and timedelta64 arrays of any unit, or Python values. Out: float64 numbers, NaN where one is missing.
Invariant: an instant gives the same numbers in every unit that holds it exactly, and nothing but the instant, the part
and the anchor has an influence on them. Times with a zone are read in UTC.
"""

import datetime
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

ELAPSED, DURATION = "elapsed", "duration"
SECONDS_PER_DAY = 86_400
UNITS = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9, "ps": 10**12, "fs": 10**15, "as": 10**18}
LONGER = {"W": 7 * SECONDS_PER_DAY, "D": SECONDS_PER_DAY, "h": 3600, "m": 60}
FIRST_DAY, LAST_DAY = -719_162, 2_932_896
"""0001-01-01 and 9999-12-31, in days since 1970-01-01."""

Instants = NDArray[np.datetime64]


def count_part(values: NDArray[Any], part: str, anchor: int = 0) -> NDArray[np.float64]:
    """Dates and times, or durations, as numbers.

    Parameters
    ----------
    values : datetime64 array, or timedelta64 array if the part is "duration"
    part : str
        "elapsed" and "duration" are seconds, the others one of `CALENDAR`.
    anchor : int
        Day that elapsed seconds are counted from, in days since 1970-01-01.

    Examples
    --------
    >>> noon = np.array(["1970-01-03T12:00", "NaT"], "datetime64[m]")
    >>> [count_part(noon, part).tolist() for part in ("elapsed", "weekday", "hour")]
    [[216000.0, nan], [6.0, nan], [12.0, nan]]
    """
    unit, step = np.datetime_data(values.dtype)
    values = values if step == 1 else values.astype(f"{values.dtype.kind}8[{unit}]")
    known = ~np.isnat(values)
    numbers = np.full(len(values), np.nan)
    if part == DURATION:
        numbers[known] = _count_duration(values[known])
    elif part == ELAPSED:
        numbers[known] = _count_elapsed(values[known], anchor)
    else:
        numbers[known] = CALENDAR[part](values[known])
    return numbers


def find_anchor(values: Instants) -> int:
    """The day of the first instant, in days since 1970-01-01; 0 if all are missing.

    Examples
    --------
    >>> find_anchor(np.array(["1970-01-03T12:00", "NaT"], "datetime64[m]"))
    2
    """
    known = values[~np.isnat(values)]
    return int(known.min().astype("datetime64[D]").astype(np.int64)) if len(known) else 0


def check_instants(values: NDArray[Any], name: str) -> None:
    """Raise ValueError for dates outside of the years 1 to 9999, and for durations without a fixed length."""
    unit = np.datetime_data(values.dtype)[0]
    known = values[~np.isnat(values)]
    if not len(known):
        return
    if values.dtype.kind == "m":
        if unit not in UNITS | LONGER:
            raise ValueError(
                f"column {name!r:.60} must hold durations of a fixed length, got {values.dtype}; "
                "convert it, as by x.astype('timedelta64[D]')"
            )
        return
    years = known.astype("datetime64[Y]").astype(np.int64) + 1970
    for year in (years.min(), years.max()):
        if not 1 <= year <= 9999:
            raise ValueError(f"column {name!r:.60} must hold dates of the years 1 to 9999, got the year {year}")


def as_instants(values: Sequence[Any]) -> NDArray[Any] | None:
    """Python values as datetime64 or timedelta64, or None unless all of them are dates, or all durations.

    Examples
    --------
    >>> as_instants([datetime.date(2026, 1, 31), datetime.datetime(2026, 2, 1, 12)]).tolist()
    [datetime.datetime(2026, 1, 31, 0, 0), datetime.datetime(2026, 2, 1, 12, 0)]
    >>> as_instants([1.5]) is None
    True
    """
    found = [_as_instant(value) for value in values]
    kinds = {None if value is None else value.dtype.kind for value in found}
    if len(kinds) != 1 or kinds == {None}:
        return None
    kind = f"{kinds.pop()}8"
    rounded = np.array([value.astype(f"{kind}[us]") for value in found])
    is_exact = all(value == micro for value, micro in zip(found, rounded, strict=True))
    return rounded if is_exact else np.array([value.astype(f"{kind}[ns]") for value in found])


def format_instant(seconds: float, anchor: int) -> str:
    """An instant as people write it, in the shortest of three forms that is exact to a microsecond.

    Examples
    --------
    >>> format_instant(86400.0, 2), format_instant(0.5, 0)
    ('1970-01-04', '1970-01-01T00:00:00.500000')
    """
    whole, part = divmod(seconds, 1)
    if not FIRST_DAY <= anchor + whole // SECONDS_PER_DAY <= LAST_DAY:
        return f"{format_instant(0, anchor)} + {seconds!r} seconds"
    second = np.datetime64(anchor, "D").astype("datetime64[s]") + np.timedelta64(int(whole), "s")
    if part:
        return str(second.astype("datetime64[us]") + np.timedelta64(round(part * 1e6), "us"))
    return str(second if whole % SECONDS_PER_DAY else second.astype("datetime64[D]"))


def _count_elapsed(known: Instants, anchor: int) -> NDArray[np.float64]:
    seconds = known.astype("datetime64[s]")  # rounded down
    rest = (known - seconds).astype(np.int64) / UNITS.get(np.datetime_data(known.dtype)[0], 1)
    numbers: NDArray[np.float64] = (seconds.astype(np.int64) - anchor * SECONDS_PER_DAY) + rest
    return numbers


def _count_duration(known: NDArray[np.timedelta64]) -> NDArray[np.float64]:
    unit, ticks = np.datetime_data(known.dtype)[0], known.astype(np.int64)
    if unit in LONGER:
        return ticks.astype(np.float64) * LONGER[unit]
    seconds, rest = np.divmod(np.abs(ticks), UNITS[unit])
    numbers: NDArray[np.float64] = np.sign(ticks) * (seconds + rest / UNITS[unit])
    return numbers


def _days(known: Instants) -> NDArray[np.int64]:
    return known.astype("datetime64[D]").astype(np.int64)


def _seconds_of_day(known: Instants) -> NDArray[np.int64]:
    return known.astype("datetime64[s]").astype(np.int64) % SECONDS_PER_DAY


CALENDAR: dict[str, Callable[[Instants], NDArray[np.int64]]] = {
    "month": lambda known: known.astype("datetime64[M]").astype(np.int64) % 12 + 1,
    "day": lambda known: _days(known) - _days(known.astype("datetime64[M]")) + 1,
    "weekday": lambda known: (_days(known) + 3) % 7 + 1,  # Monday is 1; 1970-01-01 was a Thursday
    "hour": lambda known: _seconds_of_day(known) // 3600,
    "minute": lambda known: _seconds_of_day(known) // 60 % 60,
}
"""Parts of the calendar, as functions of instants none of which is missing."""


def _as_instant(value: Any) -> Any:
    """A date or a duration of Python, numpy or pandas as numpy has it; None for anything else."""
    for name in ("to_datetime64", "to_timedelta64"):  # of pandas, whose values are datetimes, too
        if hasattr(value, name):
            return getattr(value, name)()
    if isinstance(value, np.datetime64 | np.timedelta64):
        return value
    if isinstance(value, datetime.datetime):
        plain = value if value.tzinfo is None else value.astimezone(datetime.UTC).replace(tzinfo=None)
        return np.datetime64(plain, "us")
    if isinstance(value, datetime.date):
        return np.datetime64(value, "D")
    return np.timedelta64(value, "us") if isinstance(value, datetime.timedelta) else None
