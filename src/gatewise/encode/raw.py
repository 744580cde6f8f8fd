"""One column of raw values as an array that numpy can count and compare.

In: an array, or Python values. Out: numbers or bools with NaN for what is missing, dates or durations with NaT, or
`Coded` values.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from gatewise.encode.columns import MAX_EXACT, is_missing
from gatewise.encode.times import as_instants


@dataclass(frozen=True, eq=False)
class Coded:
    """A column of arbitrary values, each distinct one kept once.

    Parameters
    ----------
    values : list
    codes : int array, shape (n_rows,)
        Positions in `values`; -1 where the value is missing.
    """

    values: list[Any]
    codes: NDArray[Any]


Raw: TypeAlias = NDArray[Any] | Coded


def read_array(column: NDArray[Any], name: str) -> Raw:
    """A column in which missing values are NaN, NaT or code -1.

    Objects become float64 if all are numbers that it holds, datetime64 or timedelta64 if all are dates or durations.

    Examples
    --------
    >>> read_array(np.array([1, None, 2.5], object), "x").tolist()
    [1.0, nan, 2.5]
    """
    if column.dtype.kind in "biufMm":
        return column
    if column.dtype.kind not in "UOT":
        raise TypeError(
            f"column {name!r:.60} must hold numbers, strings, bools or dates, got {column.dtype}; convert it, "
            "bytes for instance to strings by x.astype(str)"
        )
    coded = code_values(column.tolist())
    instants = as_instants(coded.values)
    if instants is not None:
        times: NDArray[Any] = np.append(instants, np.array(["NaT"], instants.dtype))[coded.codes]  # NaT is for code -1
        return times
    if not all(_is_number(value) for value in coded.values):
        return coded
    numbers: NDArray[np.float64] = np.array([*coded.values, np.nan], np.float64)[coded.codes]  # NaN is for code -1
    return numbers


def code_values(values: Iterable[Any]) -> Coded:
    """Number the distinct values in order of appearance; missing ones are -1.

    Examples
    --------
    >>> coded = code_values(["b", None, "a", "b"])
    >>> coded.values, coded.codes.tolist()
    (['b', 'a'], [0, -1, 1, 0])
    """
    position: dict[Any, int] = {}
    try:
        codes = np.array([position.setdefault(value, len(position)) for value in values], np.int64)
    except TypeError as error:
        raise TypeError(f"X must hold strings, numbers and bools, got a value that is none of them: {error}") from error
    return drop_missing(list(position), codes)


def drop_missing(values: Sequence[Any], codes: NDArray[Any]) -> Coded:
    """Values and codes without the values that stand for a missing one; their code becomes -1."""
    missing = [is_missing(value) for value in values]
    if not any(missing):
        return Coded(list(values), codes)
    kept = np.flatnonzero(~np.array(missing))
    renumbered = np.full(len(values) + 1, -1, np.int64)  # the last one is for code -1
    renumbered[kept] = np.arange(len(kept))
    return Coded([values[i] for i in kept.tolist()], renumbered[codes])


def check_exact(value: Any, name: str) -> None:
    """Raise ValueError for an integer that is not a float64 number."""
    if isinstance(value, int | np.integer) and not -MAX_EXACT <= value <= MAX_EXACT:
        raise ValueError(
            f"column {name!r:.60} must hold integers within 2**53, beyond which float64 cannot tell neighbors apart, "
            f"got {value}; make it categorical by strings, or subtract a number first"
        )


def _is_number(value: Any) -> bool:
    if isinstance(value, int | np.integer):
        return not isinstance(value, bool) and bool(-MAX_EXACT <= value <= MAX_EXACT)
    return isinstance(value, float | np.floating)
