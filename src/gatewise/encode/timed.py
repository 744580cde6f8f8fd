"""Columns of dates, times and durations: which part of them a number is, and what is asked about it.

In: a column of a table, a part, and thresholds. Out: a `Numeric` column whose numbers are that part.
Invariant: the anchor is stored with the column, so rows of later tables are counted from the day that `fit` saw first.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gatewise.encode.columns import Column, Numeric, check_name, is_missing
from gatewise.encode.times import (
    CALENDAR,
    DURATION,
    ELAPSED,
    FIRST_DAY,
    LAST_DAY,
    as_instants,
    check_instants,
    count_part,
    format_instant,
)

PARTS = (ELAPSED, *CALENDAR, DURATION)


@dataclass(frozen=True, eq=False)
class Timed(Numeric):
    """A part of a column of dates and times, or of durations: a bit ``part > t`` for each threshold.

    One column of a table is read by several of these, one for each part. A missing value is greater than no threshold.

    Parameters
    ----------
    thresholds, missing
        As for `Numeric`.
    source : str
        Name of the column of the table.
    part : {"elapsed", "month", "day", "weekday", "hour", "minute", "duration"}
        "elapsed" is seconds since the anchor, "duration" seconds; Monday is weekday 1.
    anchor : int
        A day, in days since 1970-01-01. Only "elapsed" has one, of the years 1 to 9999.

    Examples
    --------
    >>> Timed([216_000.0], source="paid", part="elapsed", anchor=20_454, missing=True).describe()
    ['paid > 2026-01-03T12:00:00', 'paid is missing']
    >>> Timed([5.5], source="paid", part="weekday").describe()
    ['weekday of paid > 5.5']
    """

    name: str = field(init=False)
    source: str = field(kw_only=True)
    part: str = field(kw_only=True)
    anchor: int = field(default=0, kw_only=True)

    def __post_init__(self) -> None:
        check_name(self.source)
        if self.part not in PARTS:
            raise ValueError(f"part must be one of {', '.join(PARTS)}, got {self.part!r:.60}")
        if not FIRST_DAY <= self.anchor <= LAST_DAY or (self.anchor and self.part != ELAPSED):
            raise ValueError(
                f"anchor must be a day from {FIRST_DAY} to {LAST_DAY} for {ELAPSED!r}, else 0, got {self.anchor!r:.60} "
                f"for {self.part!r}"
            )
        object.__setattr__(self, "anchor", int(self.anchor))
        object.__setattr__(self, "name", self._make_name())
        super().__post_init__()

    @property
    def table_name(self) -> str:
        """Name of the column of a table that this one reads."""
        return self.source

    def describe(self) -> list[str]:
        """Each bit in words; of elapsed time as instants."""
        bits = super().describe()
        if self.part == ELAPSED:
            bits[: len(self.thresholds)] = [
                f"{self.source} > {format_instant(seconds, self.anchor)}" for seconds in self.thresholds.tolist()
            ]
        return bits[: len(self.thresholds)] + [f"{self.source} is missing"] * self.missing

    def take(self, bit_idx: NDArray[np.int64]) -> "Timed":
        """The column with these bits only; positions in rising order."""
        n = len(self.thresholds)
        return self._with(self.thresholds[bit_idx[bit_idx < n]], bool((bit_idx == n).any()))

    def count(self, values: NDArray[Any]) -> NDArray[np.float64]:
        """Dates or durations as the numbers that are compared, NaN where one is missing.

        Parameters
        ----------
        values : datetime64 or timedelta64 array, shape (n_rows,), or float array all of whose values are NaN
        """
        if values.dtype.kind == "f" and np.isnan(values).all():
            return values.astype(np.float64)
        wanted, described = ("m", "durations") if self.part == DURATION else ("M", "dates and times")
        if values.dtype.kind != wanted:
            raise TypeError(
                f"column {self.source!r:.60} must hold {described}, as at fit, got {values.dtype}; "
                "convert it, as by pd.to_datetime or pd.to_timedelta"
            )
        check_instants(values, self.source)
        return count_part(values, self.part, self.anchor)

    def translate(self, values: Sequence[Any]) -> list[float]:
        """Python values as the numbers that are compared; missing ones as NaN."""
        known = [i for i, value in enumerate(values) if not is_missing(value)]
        numbers = [np.nan] * len(values)
        if not known:
            return numbers
        instants = as_instants([values[i] for i in known])
        if instants is None:
            kinds = sorted({type(values[i]).__name__ for i in known})
            raise TypeError(
                f"column {self.source!r:.60} must hold dates and times or durations, as at fit, got "
                f"{', '.join(kinds):.60}; convert it, as by datetime.fromisoformat"
            )
        for i, number in zip(known, self.count(instants).tolist(), strict=True):
            numbers[i] = number
        return numbers

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Timed):
            return False
        return super().__eq__(other) and (self.source, self.anchor) == (other.source, other.anchor)

    def __hash__(self) -> int:
        return hash((self.name, self.thresholds.tobytes(), self.missing, self.anchor))

    def __reduce__(self) -> tuple[Any, ...]:
        return _make, (self.thresholds, self.missing, self.source, self.part, self.anchor)

    def _with(self, thresholds: NDArray[np.float64], missing: bool) -> "Timed":
        return Timed(thresholds, missing, source=self.source, part=self.part, anchor=self.anchor)

    def _make_name(self) -> str:
        if self.part == ELAPSED:
            return f"seconds of {self.source} since {format_instant(0, self.anchor)}"
        return f"{'seconds' if self.part == DURATION else self.part} of {self.source}"


def _make(thresholds: NDArray[np.float64], missing: bool, source: str, part: str, anchor: int) -> Timed:
    return Timed(thresholds, missing, source=source, part=part, anchor=anchor)


def read_by(column: Column) -> tuple[str, object]:
    """What columns that read the same column of a table have in common; only parts of dates are several.

    Examples
    --------
    >>> read_by(Timed([5.5], source="paid", part="weekday")) == read_by(Timed([6.5], source="paid", part="month"))
    True
    """
    return column.table_name, Timed if isinstance(column, Timed) and column.part != DURATION else column
