"""Columns of an encoder: which questions are asked about a value, one bit each.

In: thresholds or categories. Out: tests (question, constant) that the native encoder answers, and their words.
Invariant: the bits of a column are its thresholds or categories in order, and then, if it has one, its missing bit.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

Value: TypeAlias = str | int | float | bool
GREATER, EQUAL, MISSING = range(3)
"""Questions, numbered as in the native encoder."""

MAX_EXACT = 2**53
"""Integers up to here, and their negatives, are float64 numbers, each its own."""

OTHER = math.inf
"""Stands for a value that is not among the categories, which are finite."""

LARGEST = float(np.finfo(np.float64).max)
NULLS = ("NoneType", "NAType", "NaTType")
"""Types of missing values, by name, because pandas is not imported."""


@dataclass(frozen=True, eq=False)
class Numeric:
    """A column of numbers: a bit ``x > t`` for each threshold, a thermometer code.

    A missing value (NaN) is greater than no threshold; the infinities are ordinary values.

    Parameters
    ----------
    name : str
    thresholds : float64 array, shape (n_thresholds,)
        Strictly increasing, not NaN and below infinity.
    missing : bool
        Whether a last bit says that the value is missing.

    Examples
    --------
    >>> Numeric("age", [17.5, 37.5], missing=True).describe()
    ['age > 17.5', 'age > 37.5', 'age is missing']
    """

    name: str
    thresholds: NDArray[np.float64]
    missing: bool = False

    def __post_init__(self) -> None:
        check_name(self.name)
        thresholds = np.array(self.thresholds, np.float64) + 0.0  # no -0.0: equal columns are to be equal bytes
        rising = thresholds.ndim == 1 and (thresholds[1:] > thresholds[:-1]).all() and not np.isnan(thresholds).any()
        if not rising or (thresholds == np.inf).any():
            raise ValueError(
                f"thresholds must increase strictly and lie below infinity, got {self.thresholds!r:.200}; "
                "np.unique sorts them and drops repeated ones"
            )
        thresholds.flags.writeable = False
        object.__setattr__(self, "thresholds", thresholds)
        object.__setattr__(self, "missing", bool(self.missing))

    @property
    def table_name(self) -> str:
        """Name of the column of a table that this one reads."""
        return self.name

    @property
    def n_bits(self) -> int:
        """Number of bits."""
        return len(self.thresholds) + self.missing

    def describe(self) -> list[str]:
        """Each bit in words; thresholds in the shortest form that reads back exactly."""
        bits = [f"{self.name} > {repr(threshold).removesuffix('.0')}" for threshold in self.thresholds.tolist()]
        return bits + [f"{self.name} is missing"] * self.missing

    def take(self, bit_idx: NDArray[np.int64]) -> "Numeric":
        """The column with these bits only; positions in rising order."""
        n = len(self.thresholds)
        return Numeric(self.name, self.thresholds[bit_idx[bit_idx < n]], bool((bit_idx == n).any()))

    def tests(self) -> tuple[list[int], NDArray[np.float64]]:
        """Question and constant of each bit."""
        return _append_missing([GREATER] * len(self.thresholds), self.thresholds, self.missing)

    def translate(self, values: Sequence[Any]) -> list[float]:
        """Python values as numbers that exceed the same thresholds; missing ones as NaN."""
        return [value if type(value) is float else _as_number(self.name, value) for value in values]

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Numeric):
            return NotImplemented
        same = (self.name, self.missing) == (other.name, other.missing)
        return same and np.array_equal(self.thresholds, other.thresholds)

    def __hash__(self) -> int:
        return hash((self.name, self.thresholds.tobytes(), self.missing))

    def __reduce__(self) -> tuple[type["Numeric"], tuple[object, ...]]:
        return Numeric, (self.name, self.thresholds, self.missing)


@dataclass(frozen=True)
class Categorical:
    """A column of categories: a bit ``x = v`` for each value. Of any other value, all bits are False.

    Values are equal as in Python: 1, 1.0 and True are one category, "1" is another.

    Parameters
    ----------
    name : str
    values : tuple of str, int, float or bool
        No value twice; numbers finite, integers within 2**53.
    missing : bool
        Whether a last bit says that the value is missing: None, NaN or a data frame's null.

    Examples
    --------
    >>> Categorical("work", ("private", "state"), missing=False).describe()
    ['work = private', 'work = state']
    """

    name: str
    values: tuple[Value, ...]
    missing: bool = False

    def __post_init__(self) -> None:
        check_name(self.name)
        values = tuple(as_value(self.name, value) for value in self.values)
        if len(set(values)) != len(values):
            raise ValueError(f"values of column {self.name!r:.60} must differ, got {values!r:.200}")
        object.__setattr__(self, "values", values)
        object.__setattr__(self, "missing", bool(self.missing))

    @property
    def table_name(self) -> str:
        """Name of the column of a table that this one reads."""
        return self.name

    @property
    def n_bits(self) -> int:
        """Number of bits."""
        return len(self.values) + self.missing

    @cached_property
    def of_numbers(self) -> bool:
        """Whether all categories are numbers, so that numeric columns need no translation."""
        return not any(isinstance(value, str) for value in self.values)

    def describe(self) -> list[str]:
        """Each bit in words."""
        return [f"{self.name} = {value}" for value in self.values] + [f"{self.name} is missing"] * self.missing

    def take(self, bit_idx: NDArray[np.int64]) -> "Categorical":
        """The column with these bits only; positions in rising order."""
        n = len(self.values)
        kept = tuple(self.values[i] for i in bit_idx.tolist() if i < n)
        return Categorical(self.name, kept, bool((bit_idx == n).any()))

    def tests(self) -> tuple[list[int], NDArray[np.float64]]:
        """Question and constant of each bit, for columns that went through `translate`."""
        return _append_missing([EQUAL] * len(self.values), self.translate(self.values), self.missing)

    def translate(self, values: Sequence[Any]) -> list[float]:
        """Python values as numbers, missing ones as NaN, and those that are no category as `OTHER`.

        If all categories are numbers, they stand for themselves; otherwise a category becomes its position.
        """
        numbers = [self._number.get(value, OTHER) if type(value) is str else self._find(value) for value in values]
        if self._has_strings_only and OTHER in numbers and not any(isinstance(value, str) for value in values):
            raise TypeError(
                f"column {self.name!r:.60} must hold strings, as at fit, got {values[numbers.index(OTHER)]!r:.60}; "
                "convert it, as by X[column].astype(str)"
            )
        return numbers

    def __reduce__(self) -> tuple[type["Categorical"], tuple[object, ...]]:
        return Categorical, (self.name, self.values, self.missing)

    @cached_property
    def _number(self) -> dict[Value, float]:
        return {value: float(value if self.of_numbers else i) for i, value in enumerate(self.values)}

    @cached_property
    def _has_strings_only(self) -> bool:
        return bool(self.values) and all(isinstance(value, str) for value in self.values)

    def _find(self, value: Any) -> float:
        if is_missing(value):
            return math.nan
        if not isinstance(value, str | int | float | np.generic):
            raise TypeError(
                f"column {self.name!r:.60} must hold strings, numbers or bools, got {value!r:.60}; convert it"
            )
        return self._number.get(value, OTHER)  # type: ignore[arg-type]


Column: TypeAlias = Numeric | Categorical


def as_value(name: str, value: object) -> Value:
    """A category as a Python value; raises TypeError or ValueError if it cannot be one.

    Examples
    --------
    >>> as_value("work", np.int64(3))
    3
    """
    plain = value.item() if isinstance(value, np.generic) else value
    if isinstance(plain, str | bool):
        return plain
    if not isinstance(plain, int | float):
        raise TypeError(
            f"values of column {name!r:.60} must be strings, numbers or bools, got {type(value).__name__}; "
            "convert them, as in X[column].astype(str)"
        )
    if not -np.inf < plain < np.inf or (isinstance(plain, int) and abs(plain) > MAX_EXACT):
        raise ValueError(
            f"values of column {name!r:.60} must be finite, integers within 2**53, got {plain!r:.60}; "
            "convert them to strings to keep them apart"
        )
    return plain


def is_missing(value: Any) -> bool:
    """Whether a value is None, NaN or the null of a data frame.

    Examples
    --------
    >>> [is_missing(value) for value in (None, float("nan"), 0, "")]
    [True, True, False, False]
    """
    return type(value).__name__ in NULLS or bool(value != value)


def _as_number(name: str, value: Any) -> float:
    """The float64 number that exceeds the same float64 numbers as the value; NaN if it is missing."""
    if is_missing(value):
        return math.nan
    try:
        number = math.nan if isinstance(value, str | bytes) else float(value)
    except OverflowError:
        return math.inf if value > 0 else -LARGEST
    except (TypeError, ValueError):
        number = math.nan
    if math.isnan(number):
        raise TypeError(
            f"column {name!r:.60} must hold numbers, as at fit, got {value!r:.60}; convert it, as by pd.to_numeric"
        )
    # An integer beyond 2**53 is rounded up: it exceeds the float64 numbers that the next float64 above it exceeds.
    return math.nextafter(number, math.inf) if isinstance(value, int | np.integer) and number < value else number


def _append_missing(questions: list[int], constants: ArrayLike, missing: bool) -> tuple[list[int], NDArray[np.float64]]:
    return questions + [MISSING] * missing, np.append(constants, np.zeros(int(missing)))


def check_name(name: object) -> None:
    """Raise TypeError unless the name of a column is a string."""
    if not isinstance(name, str):
        raise TypeError(f"name of a column must be a str, got {name!r:.60}")
