"""Cells: the values of a column that no encoder tells apart, and values that people recognize in them.

In: the columns of that name of one or more encoders. Out: its cells, and the bits that each of them gives.
Invariant: every value that the encoders accept lies in just one cell, and no two cells give the same bits.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import count, pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gatewise.encode import Categorical, Encoder, Numeric
from gatewise.encode.columns import Column, Value, is_missing
from gatewise.encode.timed import Timed
from gatewise.verify.moments import list_moments

MAX_DIGITS = 17


@dataclass(frozen=True)
class Cell:
    """Values that give the same bits: the numbers above `low` and up to `high`, or, if there is one, a single value.

    Parameters
    ----------
    low, high : float
        The first cell of a column has ``-inf`` as `low`, and holds it too.
    value : tuple of one value, or None
        A category, a value that stands for all others, or None for a missing one.
    words : str, optional
        What to call the value if it stands for others.

    Examples
    --------
    >>> Cell(36.5, 40.0).pick(), Cell(36.5, 40.0).pick(near=90.0), Cell(value=("nurse",)).pick()
    (37, 40, 'nurse')
    """

    low: float = -math.inf
    high: float = math.inf
    value: tuple[Any] | None = None
    words: str | None = None

    def pick(self, near: Any = None) -> Any:
        """A value of the cell, one of few digits, and close to `near` if that is a number."""
        if self.value is not None:
            return self.value[0]
        return pick_number(self.low, self.high, near)

    def holds(self, value: Any) -> bool:
        """Whether a value lies in it; a value that stands for others holds only itself."""
        if is_missing(value):
            return self.value == (None,)
        return bool(self.low < value <= self.high if self.value is None else self.value[0] == value)

    def clip(self, low: float, high: float) -> "Cell | None":
        """The part of the cell between two numbers, both included; None if there is none."""
        if self.value is not None:
            return None
        least = math.nextafter(low, -math.inf)
        clipped = replace(self, low=max(self.low, least), high=min(self.high, high))
        is_empty = clipped.high <= clipped.low and not (clipped.low == clipped.high == -math.inf)
        return None if is_empty else clipped

    def describe(self) -> str:
        """The value in words."""
        return self.words or str(self.pick())


def pick_number(low: float, high: float, near: Any = None) -> float | int:
    """A number above `low` and up to `high`, of few digits: close to `near`, otherwise to 0 and to the lower end.

    Examples
    --------
    >>> pick_number(0.123, 0.131), pick_number(-math.inf, -7.5), pick_number(-3.0, 5.0)
    (0.13, -8, 0)
    """
    is_number = isinstance(near, int | float | np.number) and not math.isnan(near)
    target = float(near) if is_number else 0.0
    if low < target <= high:
        return near if is_number else 0
    from_below = target <= low
    for digits in range(MAX_DIGITS):
        step = 10.0**-digits
        edge = low if from_below else high
        if not math.isfinite(edge) or abs(edge) > 2**53:
            break
        first = math.floor(edge / step)
        for steps in (first + 1, first + 2) if from_below else (first, first - 1):
            number = round(steps * step, digits)
            if low < number <= high:
                return int(number) if digits == 0 else number
    return high if math.isfinite(high) or high == low else math.nextafter(low, math.inf)


@dataclass(frozen=True, eq=False)
class ColumnCells:
    """The cells of a column.

    Parameters
    ----------
    name : str
    cells : tuple of Cell
        Numbers in rising order, then the missing value if it has a cell of its own.
    n_ordered : int
        How many of them are intervals of numbers.
    bits : bool array, shape (n_cells, n_bits)
        Those that the encoders give, equal ones once.
    places : tuple of int64 array
        Which of them the bits of each encoder are.
    timed : tuple of Timed
        The parts of a column of dates or durations, whose cells are moments; otherwise none.

    Examples
    --------
    >>> age = ColumnCells.of([[Numeric("age", [17.5, 37.5], missing=True)]])
    >>> [cell.describe() for cell in age.cells], age.bits.astype(int).tolist()
    (['0', '18', '38', 'missing'], [[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 0, 1]])
    """

    name: str
    cells: tuple[Cell, ...]
    n_ordered: int
    bits: NDArray[np.bool_]
    places: tuple[NDArray[np.int64], ...]
    timed: tuple[Timed, ...] = ()

    @classmethod
    def of(cls, readers: Sequence[Sequence[Column]]) -> "ColumnCells":
        """The cells of a column of a table, given for each encoder the columns that read it: of dates several."""
        columns = [column for own in readers for column in own]
        cells = partition(columns)
        singles = [Encoder(tuple(map(_rename, own))) for own in readers]
        rows = [{"x0": cell.pick()} for cell in cells]
        stacked = np.concatenate([single.transform(rows) for single in singles], axis=1)
        patterns = [column.tobytes() for column in stacked.T]
        number = {pattern: i for i, pattern in enumerate(dict.fromkeys(patterns))}
        bits = stacked[:, [patterns.index(pattern) for pattern in number]]
        ends = np.cumsum([single.n_bits for single in singles])[:-1]
        places = np.split(np.array([number[pattern] for pattern in patterns], np.int64), ends)
        n_ordered = sum(cell.value is None for cell in cells)
        timed = tuple(column for column in columns if isinstance(column, Timed))
        return cls(columns[0].table_name, tuple(cells), n_ordered, bits, tuple(places), timed)


def _rename(column: Column) -> Column:
    """The column as the only one of a table."""
    if isinstance(column, Timed):
        return Timed(column.thresholds, column.missing, source="x0", part=column.part, anchor=column.anchor)
    return replace(column, name="x0")


def partition(columns: Sequence[Column]) -> list[Cell]:
    """The coarsest cells such that each of the columns gives one pattern of bits in each."""
    missing = [Cell(value=(None,), words="missing")] * any(column.missing for column in columns)
    timed = [column for column in columns if isinstance(column, Timed)]
    if len(timed) == len(columns):
        return [*(Cell(value=(moment,)) for moment in list_moments(timed)), *missing]
    if not timed and all(isinstance(column, Numeric) for column in columns):
        thresholds = np.unique(np.concatenate([column.thresholds for column in columns])).tolist()  # type: ignore[union-attr]
        cells = [Cell(low, high) for low, high in pairwise([-math.inf, *thresholds, math.inf])]
        return [*cells, *missing]
    if not all(isinstance(column, Categorical) for column in columns):
        raise ValueError(
            f"column {columns[0].table_name!r:.60} must be numbers, dates or categories in both models, got two of "
            "these; fit both with the same categorical"
        )
    values = list(dict.fromkeys(value for column in columns for value in column.values))  # type: ignore[union-attr]
    other = find_other(values)
    words = None if isinstance(other, bool) else "other"  # of True there is no other but False
    return [*(Cell(value=(value,)) for value in values), Cell(value=(other,), words=words), *missing]


def find_other(values: Sequence[Value]) -> Value:
    """A value of the same kind that is none of these.

    Examples
    --------
    >>> find_other(["nurse", "other"]), find_other([True]), find_other([0, 1])
    ('other_2', False, 2)
    """
    candidates: Iterable[Value]
    if any(isinstance(value, str) for value in values) or not values:
        candidates = ("other" if i == 1 else f"other_{i}" for i in count(1))
    elif all(isinstance(value, bool) for value in values) and len(values) < 2:
        candidates = (True, False)
    else:
        candidates = count()
    return next(candidate for candidate in candidates if candidate not in values)
