"""What an encoder asks about the numbers of a row, for rows of one type of number.

In: an encoder and a dtype. Out: for each column the comparisons that its bits are, with constants of that dtype.
Invariant: a row of that dtype gets the bits that `Encoder.encode` gives it; where no constant of the dtype can do that,
ValueError. Categories that are not all numbers are given to exported code by their position among the values; where
numbers have no NaN, the position behind the last stands for a missing value.
"""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gatewise.encode import Encoder
from gatewise.encode.columns import EQUAL, GREATER, MISSING, Categorical, Column, Numeric

DTYPES = ("float64", "float32", "int32", "int16", "uint8")
"""Types of the numbers of a row."""


@dataclass(frozen=True)
class Asked:
    """The comparisons of a column, one bit each: ``x > constant`` if `is_greater`, else ``x == constant``.

    A constant may be NaN, which is equal to nothing. If `asks_missing`, a last bit is ``x != x``, which holds for NaN.
    """

    is_greater: bool
    constants: tuple[float | int, ...]
    asks_missing: bool = False

    @property
    def has_positions(self) -> bool:
        """Whether the constants are 0, 1, ..., as those of categories without numbers are."""
        return not self.is_greater and self.constants == tuple(range(len(self.constants)))

    def list_bits(self) -> list[tuple[int, float | int]]:
        """Question, numbered as in `gatewise.encode`, and constant of each bit."""
        kind = GREATER if self.is_greater else EQUAL
        return [*((kind, constant) for constant in self.constants), *[(MISSING, 0)] * self.asks_missing]


def ask(encoder: Encoder, dtype: str) -> list[Asked]:
    """The comparisons of all columns.

    Examples
    --------
    >>> encoder = Encoder((Numeric("age", [17.5]), Categorical("work", ("private", "state"))), named=True)
    >>> [asked.constants for asked in ask(encoder, "int16")]
    [(17,), (0, 1)]
    """
    if dtype not in DTYPES:
        raise ValueError(f"dtype must be one of {', '.join(DTYPES)}, got {dtype!r:.60}")
    ask_column = _ask_floats if dtype[0] == "f" else _ask_integers
    return [ask_column(column, np.dtype(dtype)) for column in encoder.columns]


def is_coded(column: Column) -> bool:
    """Whether values of the column are given by their position among its categories."""
    return isinstance(column, Categorical) and not column.of_numbers


def missing_code(column: Column, dtype: str) -> int | None:
    """The number that stands for a missing value of coded columns where numbers have no NaN."""
    return len(column.values) if isinstance(column, Categorical) and is_coded(column) and dtype[0] != "f" else None


def encode_numbers(encoder: Encoder, rows: NDArray[Any]) -> NDArray[np.bool_]:
    """Bits, (n_rows, n_bits), of rows of one of `DTYPES`: the definition that exported code is checked against."""
    bits = [np.empty((len(rows), 0), bool)]
    for i, column in enumerate(encoder.columns):
        x = rows[:, i].astype(np.float64)  # exact for all of them
        x[rows[:, i] == missing_code(column, rows.dtype.name)] = np.nan
        for question, constant in zip(*column.tests(), strict=True):
            answers = {GREATER: x > constant, EQUAL: x == constant, MISSING: np.isnan(x)}
            bits.append(answers[question][:, np.newaxis])
    return np.concatenate(bits, axis=1)


def find_clipped(encoder: Encoder, dtype: str) -> list[str]:
    """Names of columns with a threshold that no number of the dtype exceeds, so that its bit is always false."""
    highest = np.inf if dtype[0] == "f" else np.iinfo(dtype).max
    numeric = (column for column in encoder.columns if isinstance(column, Numeric))
    return [column.name for column in numeric if (column.thresholds >= highest).any()]


def warn_of_range(columns: Sequence[str], holder: str, option: str) -> None:
    """Warn the user of such columns; called by what a public function calls."""
    if columns:
        names = ", ".join(f"{name!r:.60}" for name in columns)
        warnings.warn(
            f"columns must be compared with numbers that {holder} can hold, got others for {names}: some of their bits "
            f"never change; choose a wider {option}",
            stacklevel=4,
        )


def round_constants(question: int, constants: NDArray[np.float64], dtype: np.dtype[Any]) -> NDArray[Any]:
    """Constants of a type of floats that give the same answers for every number of that type.

    x > t holds just where x > the largest number up to t; what is no number of the type equals none, as NaN.
    """
    with np.errstate(over="ignore", under="ignore"):
        nearest = constants.astype(dtype)
        if question == GREATER:
            return np.where(nearest > constants, np.nextafter(nearest, dtype.type(-np.inf)), nearest)
    return np.where(nearest == constants, nearest, dtype.type(np.nan))


def _ask_floats(column: Column, dtype: np.dtype[Any]) -> Asked:
    is_greater = isinstance(column, Numeric)
    constants = column.tests()[1][: column.n_bits - column.missing]
    rounded = round_constants(GREATER if is_greater else EQUAL, constants, dtype).tolist()
    return Asked(is_greater, tuple(rounded), column.missing)


def _ask_integers(column: Column, dtype: np.dtype[Any]) -> Asked:
    limits, name = np.iinfo(dtype), f"column {column.name!r:.60}"
    if is_coded(column):
        if column.n_bits > limits.max - 2:  # two more, for missing and for other values
            raise ValueError(
                f"{name} must have categories that {dtype} can number, got {column.n_bits}; export for a wider dtype"
            )
        return Asked(False, tuple(range(column.n_bits)))
    values = column.tests()[1][: column.n_bits - column.missing].tolist()
    if isinstance(column, Categorical):
        wrong = [value for value in values if value != np.floor(value) or not limits.min <= value <= limits.max]
    else:
        wrong = [value for value in values if value < limits.min]
    if wrong:
        raise ValueError(f"{name} must ask for values of {dtype} if rows hold them, got {wrong[0]}; export for float64")
    if column.missing and isinstance(column, Categorical):
        raise ValueError(
            f"{name} must have no bit for missing values in rows of {dtype}, which have none, got one; "
            "export for float32 or float64"
        )
    # No integer is missing, and none is greater than the largest.
    constants = [int(min(np.floor(value), limits.max)) for value in values] + [int(limits.max)] * column.missing
    return Asked(isinstance(column, Numeric), tuple(constants))
