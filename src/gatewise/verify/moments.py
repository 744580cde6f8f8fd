"""Moments: dates and durations that between them give every pattern of bits that there can be.

In: the parts of a column of dates, of one or more encoders, and perhaps a range. Out: a moment for each pattern.
Invariant: parts depend on each other, as months and elapsed seconds do, so only patterns of real moments are listed.
Calendars repeat themselves: beyond the first and the last threshold, every month, day and weekday comes together within
some decades.
"""

import math
from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from gatewise.encode.timed import Timed
from gatewise.encode.times import DURATION, ELAPSED, FIRST_DAY, LAST_DAY

DAY, MINUTE, SECOND = 86_400_000_000, 60_000_000, 1_000_000
DECADES = 60 * 366
"""Days before the first and after the last threshold that are looked at."""

SOME_DAY = 20_454
"""2026-01-01, around which days are looked at that no threshold asks for."""

MOST_LOOKED_AT, MOST_PATTERNS = 2**23, 2**12

Ticks: TypeAlias = NDArray[np.int64]
"""Microseconds, since 1970-01-01 if they are dates."""


def list_moments(parts: Sequence[Timed], low: Any = None, high: Any = None) -> list[Any]:
    """A datetime, or a timedelta, for each pattern of bits, in rising order.

    Parameters
    ----------
    parts : sequence of Timed
        Of one column of a table.
    low, high : datetime, date or timedelta, optional
        Moments between which patterns are looked for, both included.

    Examples
    --------
    >>> weekend = Timed([5.5], source="paid", part="weekday")
    >>> late = Timed([17.5], source="paid", part="hour")
    >>> [f"{moment:%A %H:%M}" for moment in list_moments([weekend, late])]
    ['Thursday 00:00', 'Thursday 18:00', 'Saturday 00:00', 'Saturday 18:00']
    """
    is_long = parts[0].part == DURATION
    kind = "timedelta64[us]" if is_long else "datetime64[us]"
    name = parts[0].source
    least, most = (_to_ticks(parts[0], each) if each is not None else None for each in (low, high))
    ends = [each for each in (least, most) if each is not None]
    looked_at = (_list_lengths if is_long else _list_instants)(parts, ends)
    kept = np.ones(len(looked_at), bool)
    if least is not None:
        kept &= looked_at >= least
    if most is not None:
        kept &= looked_at <= most
    looked_at = looked_at[kept]
    if not len(looked_at):
        return []
    bits = np.concatenate([_ask(part, looked_at.view(kind)) for part in parts], axis=1)
    _, first = np.unique(np.packbits(bits, axis=1), axis=0, return_index=True)
    if len(first) > MOST_PATTERNS:
        raise ValueError(
            f"column {name!r:.60} must have at most {MOST_PATTERNS:,} kinds of moments, got {len(first):,}; "
            "fit with fewer max_thresholds, or name a shorter time in given"
        )
    found: list[Any] = np.sort(looked_at[first]).view(kind).tolist()
    return found


def _ask(part: Timed, moments: NDArray[Any]) -> NDArray[np.bool_]:
    answers: NDArray[np.bool_] = part.count(moments)[:, np.newaxis] > part.thresholds
    return answers


def _to_ticks(part: Timed, moment: Any) -> int:
    seconds = part.translate([moment])[0]
    if math.isnan(seconds):
        raise ValueError(f"condition on column {part.source!r:.60} must be a pair of moments, got {moment!r:.60}")
    anchored = Timed(np.zeros(1), source=part.source, part=DURATION if part.part == DURATION else ELAPSED)
    return round(anchored.translate([moment])[0] * SECOND)


def _list_lengths(parts: Sequence[Timed], ends: list[int]) -> Ticks:
    """Durations on both sides of each threshold, whole minutes and seconds first."""
    cuts = np.floor(np.concatenate([part.thresholds for part in parts]) * SECOND).astype(np.int64)
    round_ones = [(cuts // unit + i) * unit for unit in (MINUTE, SECOND) for i in (0, 1)]
    return np.concatenate([np.zeros(1, np.int64), *round_ones, cuts, cuts + 1, np.array(ends, np.int64)])


def _list_instants(parts: Sequence[Timed], ends: list[int]) -> Ticks:
    """Instants of every pattern; of days in which no threshold of elapsed seconds lies, one for each kind of day."""
    elapsed = [part for part in parts if part.part == ELAPSED]
    each = [part.anchor * DAY + np.floor(part.thresholds * SECOND).astype(np.int64) for part in elapsed]
    cuts = np.unique(np.concatenate([np.array(ends, np.int64), *each]))
    cut_days = np.unique(np.concatenate([cuts // DAY, (cuts + 1) // DAY]))
    first, last = (cut_days[0], cut_days[-1]) if len(cut_days) else (SOME_DAY, SOME_DAY)
    days = np.arange(max(first - DECADES, FIRST_DAY), min(last + DECADES, LAST_DAY) + 1)
    days = days[~np.isin(days, cut_days)]
    # Those from the middle on come first: dates of this time are nicer than those of decades ago.
    days = np.concatenate([days[days >= first], days[days < first][::-1]])
    minutes = np.arange(DAY // MINUTE) * MINUTE
    in_day = [part for part in parts if part.part in ("hour", "minute")]
    by_day = [part for part in parts if part.part not in ("hour", "minute", ELAPSED)]
    kinds = [np.searchsorted(cuts, days * DAY)[:, np.newaxis], *(_ask(part, _at(days * DAY)) for part in by_day)]
    _, first_days = np.unique(np.concatenate(kinds, axis=1), axis=0, return_index=True)
    _, first_minutes = np.unique(
        np.concatenate([np.zeros((len(minutes), 1), bool), *(_ask(part, _at(minutes)) for part in in_day)], axis=1),
        axis=0,
        return_index=True,
    )
    if len(first_days) * len(first_minutes) + len(cut_days) * len(minutes) > MOST_LOOKED_AT:
        raise ValueError(
            f"column {parts[0].source!r:.60} must have fewer kinds of moments, got {len(first_days):,} of days times "
            f"{len(first_minutes):,} of minutes; fit with fewer max_thresholds"
        )
    plain = (days[first_days][:, np.newaxis] * DAY + minutes[np.sort(first_minutes)]).ravel()
    listed = np.concatenate([plain, (cut_days[:, np.newaxis] * DAY + minutes).ravel(), cuts, cuts + 1])
    return listed[(listed >= FIRST_DAY * DAY) & (listed < (LAST_DAY + 1) * DAY)]


def _at(ticks: Ticks) -> NDArray[np.datetime64]:
    return ticks.view("datetime64[us]")
