"""Fitting of an encoder: which thresholds and categories the columns of a table get.

In: a `Table`. Out: one `Numeric` or `Categorical` per column.
Invariant: every bit separates some rows of the table, and the number of bits follows the rule in `Encoder.fit`.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gatewise.encode.advice import is_id_like, warn_of_categories
from gatewise.encode.columns import MAX_EXACT, Categorical, Column, Numeric, Value, as_value
from gatewise.encode.raw import Coded, Raw, check_exact
from gatewise.encode.tables import Table
from gatewise.encode.timed import Timed
from gatewise.encode.times import CALENDAR, DURATION, ELAPSED, check_instants, count_part, find_anchor

MAX_CATEGORIES = 64
MAX_BITS = 4096
MAX_SAMPLE = 200_000
MAX_KEPT = 1024  # columns with more distinct values are summarized twice, so that not all summaries are in memory

LARGEST = np.finfo(np.float64).max


@dataclass(frozen=True, eq=False)
class Summary:
    """What fitting needs to know of a column.

    Parameters
    ----------
    name : str
    values : float64 array or list
        Distinct values, sorted; a list if they are categories.
    counts : int64 array, shape (n_values,)
        Rows that have the value.
    has_missing : bool
        Whether the value is missing in some row.
    part : str
        Which part of dates or durations the values are; empty if they are neither.
    anchor : int
        Of elapsed seconds.
    """

    name: str
    values: NDArray[np.float64] | list[Value]
    counts: NDArray[np.int64]
    has_missing: bool
    part: str = ""
    anchor: int = 0

    def n_wanted(self, max_thresholds: int) -> int:
        """Bits that the column would get without a limit for all columns, not counting the bit for missing values."""
        if isinstance(self.values, np.ndarray):
            return min(max(len(self.values) - 1, 0), max_thresholds)
        if self.is_id_like:
            return 0
        return min(len(self.values), MAX_CATEGORIES) if len(self.values) > 2 else max(len(self.values) - 1, 0)

    @property
    def is_id_like(self) -> bool:
        """Whether these are strings nearly all of which are different."""
        has_strings = isinstance(self.values, list) and any(isinstance(value, str) for value in self.values[-1:])
        return has_strings and is_id_like(self.counts, MAX_CATEGORIES)

    @property
    def needs_missing(self) -> bool:
        """Whether a bit for missing values would separate rows, which it does not if all values are missing."""
        return self.has_missing and len(self.values) > 0

    def to_column(self, limit: int, max_thresholds: int) -> Column:
        """The column with at most `limit` bits, not counting the bit for missing values."""
        limit = min(limit, self.n_wanted(max_thresholds))
        if isinstance(self.values, np.ndarray):
            cuts = choose_cuts(self.counts, limit)
            low, high = self.values[cuts], self.values[cuts + 1]
            if self.part:
                middle = _midpoints(low, high)
                return Timed(middle, self.needs_missing, source=self.name, part=self.part, anchor=self.anchor)
            return Numeric(self.name, place_thresholds(low, high), self.needs_missing)
        if len(self.values) <= 2:
            return Categorical(self.name, tuple(self.values[1:]), self.needs_missing)
        kept = np.sort(np.argsort(-self.counts, kind="stable")[:limit])
        if len(self.values) > MAX_CATEGORIES:
            warn_of_categories(self.name, self.values, self.counts, len(kept))
        return Categorical(self.name, tuple(self.values[i] for i in kept.tolist()), self.needs_missing)


def fit_columns(
    table: Table,
    max_bits: int | None,
    max_thresholds: int,
    categorical: Sequence[str | int],
    only: Sequence[str | int] | None,
) -> list[Column]:
    """Choose the columns of an encoder for a table; the rules are those of `Encoder.fit`."""
    if table.n_rows == 0 or table.n_columns == 0:
        raise ValueError(f"X must have at least one row and one column, got shape {(table.n_rows, table.n_columns)}")
    if max_thresholds < 1:
        raise ValueError(f"max_thresholds must be at least 1, got {max_thresholds}")
    names = table.names or default_names(table.n_columns)
    is_categorical = _find_columns("categorical", categorical, names)
    is_read = set(range(len(names))) if only is None else _find_columns("only", only, names)
    sample = None
    if table.n_rows > MAX_SAMPLE:
        sample = np.sort(np.random.default_rng(0).choice(table.n_rows, MAX_SAMPLE, replace=False, shuffle=False))
    summaries: list[list[Summary | None]] = []
    n_wanted, n_missing = [0], 0
    for i, name in enumerate(names):
        parts = summarize(table.read(i), name, i in is_categorical, sample) if i in is_read else []
        n_wanted += [part.n_wanted(max_thresholds) for part in parts]
        n_missing += sum(part.needs_missing for part in parts)
        summaries.append([part if len(part.values) <= MAX_KEPT else None for part in parts])
    limit = _find_limit(np.array(n_wanted), n_missing, max_bits)
    columns: list[Column] = []
    for i, (name, kept) in enumerate(zip(names, summaries, strict=True)):
        parts = [part for part in kept if part is not None]
        if len(parts) < len(kept):
            parts = summarize(table.read(i), name, i in is_categorical, sample)
        columns += [part.to_column(limit, max_thresholds) for part in parts] or [Numeric(name, np.empty(0))]
    return columns


def default_names(n_columns: int) -> tuple[str, ...]:
    """Names of columns that are known by position: x0, x1, ..."""
    return tuple(f"x{i}" for i in range(n_columns))


def summarize(raw: Raw, name: str, is_categorical: bool, sample: NDArray[np.int64] | None) -> list[Summary]:
    """Summarize a column, or a sample of its rows; missing values are looked for in all rows.

    A column of dates has several summaries, one for each part that varies and for elapsed time.
    """
    if isinstance(raw, Coded):
        return [_summarize_coded(raw, name, sample)]
    if raw.dtype.kind not in "Mm":
        return [_summarize_numbers(raw, name, is_categorical, sample)]
    if is_categorical:
        raise ValueError(f"categorical must not name dates or durations, got {name!r:.60}; convert it to strings")
    check_instants(raw, name)
    rows = raw if sample is None else raw[sample]
    if raw.dtype.kind == "m":
        return [_summarize_part(rows, name, DURATION, 0, bool(np.isnat(raw).any()))]
    elapsed = _summarize_part(rows, name, ELAPSED, find_anchor(raw), bool(np.isnat(raw).any()))
    parts = [_summarize_part(rows, name, part, 0, False) for part in CALENDAR]
    return [elapsed, *(part for part in parts if len(part.values) > 1)]


def _summarize_part(rows: NDArray[Any], name: str, part: str, anchor: int, has_missing: bool) -> Summary:
    numbers = count_part(rows, part, anchor)
    values, counts = np.unique(numbers[~np.isnan(numbers)], return_counts=True)
    return Summary(name, values, counts, has_missing, part, anchor)


def _summarize_numbers(raw: NDArray[Any], name: str, is_categorical: bool, sample: NDArray[np.int64] | None) -> Summary:
    is_bool = raw.dtype.kind == "b"
    missing = np.isnan(raw) if raw.dtype.kind == "f" else np.zeros(1, bool)
    rows = raw if sample is None else raw[sample]
    if raw.dtype.kind == "f":
        rows = rows[~np.isnan(rows)].astype(np.float64 if raw.dtype.itemsize > 8 else raw.dtype)
    if raw.dtype.kind in "iu":
        for extreme in (raw.min(), raw.max()):
            check_exact(extreme, name)
    values, counts = np.unique(rows, return_counts=True)
    if is_bool or is_categorical:
        return Summary(name, [as_value(name, value) for value in values], counts, bool(missing.any()))
    return Summary(name, values.astype(np.float64), counts, bool(missing.any()))


def choose_cuts(counts: NDArray[np.int64], n: int) -> NDArray[np.int64]:
    """Choose at most `n` cuts between neighboring values that divide the rows into parts of about equal size.

    A value that is more frequent than a part is large would take the place of several cuts; it counts as one part.

    Parameters
    ----------
    counts : int64 array, shape (n_values,)
        Rows that have each value; the values are sorted.
    n : int

    Returns
    -------
    int64 array
        Positions of the values below the cuts, strictly increasing.

    Examples
    --------
    >>> choose_cuts(np.array([97, 1, 1, 1]), 2).tolist()
    [0, 1]
    """
    if len(counts) - 1 <= n or n == 0:
        return np.arange(min(max(len(counts) - 1, 0), n))
    weights = counts.astype(np.float64)
    for _ in range(20):  # converges to weights none of which exceeds a part
        part = weights.sum() / (n + 1)
        if weights.max() <= part:
            break
        weights = np.minimum(counts, part)
    ends = np.cumsum(weights)[:-1]
    wanted = weights.sum() * np.arange(1, n + 1) / (n + 1)
    above = np.searchsorted(ends, wanted).clip(1, len(ends) - 1)
    nearest = np.where(wanted - ends[above - 1] <= ends[above] - wanted, above - 1, above)
    return np.unique(nearest)


def place_thresholds(low: NDArray[np.float64], high: NDArray[np.float64]) -> NDArray[np.float64]:
    """Thresholds near halfway between neighbors, of few decimals: at least `low` and below `high`.

    Halfway is rounded to the fewest decimals, but at least one, that move it by no more than an eighth of the distance.

    Parameters
    ----------
    low, high : float64 arrays, shape (n_thresholds,)
        Strictly increasing; infinities are allowed.

    Examples
    --------
    >>> place_thresholds(np.array([1.0, 0.2984, 0.12345678]), np.array([2.0, 0.299, 0.12987654])).tolist()
    [1.5, 0.2987, 0.127]
    """
    middle = _midpoints(low, high)
    with np.errstate(all="ignore"):
        n_decimals = np.ceil(-np.log10((high - low) / 4)).clip(1, 22)
        scale = 10.0**n_decimals  # exact, so that the quotient is the float64 number next to the decimal one
        whole = np.rint(middle * scale)
        rounded = whole / scale
    return np.where((rounded > low) & (rounded < high) & (np.abs(whole) < MAX_EXACT), rounded, middle)


def _midpoints(low: NDArray[np.float64], high: NDArray[np.float64]) -> NDArray[np.float64]:
    """Thresholds halfway between neighbors: at least `low` and below `high`, so that each separates the two."""
    with np.errstate(over="ignore", invalid="ignore"):
        middle = np.where(np.isfinite(high - low), low + (high - low) / 2, low / 2 + high / 2)
    middle = np.where(middle < high, middle, low)  # no float64 lies between the two, and halfway was rounded up
    middle = np.where(high == np.inf, LARGEST, middle)
    middle = np.where(low == -np.inf, -np.inf, middle)
    return np.where((low == -np.inf) & (high == np.inf), 0.0, middle)


def _summarize_coded(raw: Coded, name: str, sample: NDArray[np.int64] | None) -> Summary:
    codes = raw.codes if sample is None else raw.codes[sample]
    counts = np.bincount(codes.astype(np.int64) + 1, minlength=len(raw.values) + 1)[1:]
    seen = np.flatnonzero(counts)
    values = [as_value(name, raw.values[i]) for i in seen.tolist()]
    order = sorted(range(len(values)), key=lambda i: (isinstance(values[i], str), values[i]))
    return Summary(name, [values[i] for i in order], counts[seen][order], bool((raw.codes < 0).any()))


def _find_columns(option: str, wanted: Sequence[str | int], names: tuple[str, ...]) -> set[int]:
    position = {name: i for i, name in enumerate(names)}
    found = set()
    for column in wanted:
        at = position.get(column, -1) if isinstance(column, str) else column
        if isinstance(at, bool) or not isinstance(at, int | np.integer) or not 0 <= at < len(names):
            raise ValueError(f"{option} must name or number columns of X, got {column!r}; X has {names!r:.200}")
        found.add(int(at))
    return found


def _find_limit(n_wanted: NDArray[np.int64], n_missing: int, max_bits: int | None) -> int:
    """The largest limit per column that keeps the number of all bits within the budget."""
    least = int(np.minimum(n_wanted, 1).sum()) + n_missing
    if max_bits is not None and max_bits < least:
        raise ValueError(
            f"max_bits must be at least {least}, one for each column that varies and each that has missing values, "
            f"got {max_bits}; raise it or drop columns"
        )
    budget = max(MAX_BITS, least) if max_bits is None else max_bits
    limit = int(n_wanted.max())
    while limit > 1 and np.minimum(n_wanted, limit).sum() + n_missing > budget:
        limit -= 1
    return limit
