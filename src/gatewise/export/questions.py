"""What an encoder asks about the numbers of a row, for rows of one type of number.

In: an encoder and a dtype. Out: for each column the comparisons that its bits are, with constants of that dtype.
Invariant: a row of that dtype gets the bits that `Encoder.encode` gives it; where no constant of the dtype can do that,
ValueError. Categories that are not all numbers are given to exported code by their position among the values.
"""

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
    """The comparisons of a column, one bit each, all of one kind but for the last, which may ask for a missing value.

    Parameters
    ----------
    is_greater : bool
        Whether bits are ``x > constant``; else they are ``x == constant``.
    constants : tuple of float or int
        NaN is equal to nothing, which floats need.
    missing : None, "nan", or int
        What asks for a missing value: no bit, a bit ``x != x``, or a bit ``x == code``.
    has_positions : bool
        Whether the constants are 0, 1, ...: positions among categories.
    """

    is_greater: bool
    constants: tuple[float | int, ...]
    missing: str | int | None
    has_positions: bool

    @property
    def n_bits(self) -> int:
        """Number of bits."""
        return len(self.constants) + (self.missing is not None)


def ask(encoder: Encoder, dtype: str) -> list[Asked]:
    """The comparisons of all columns.

    Examples
    --------
    >>> from gatewise.encode import Categorical, Numeric
    >>> encoder = Encoder((Numeric("age", [17.5]), Categorical("work", ("private", "state"))), named=True)
    >>> [asked.constants for asked in ask(encoder, "int16")]
    [(17,), (0, 1)]
    """
    if dtype not in DTYPES:
        raise ValueError(f"dtype must be one of {', '.join(DTYPES)}, got {dtype!r:.60}")
    return [_ask_column(column, np.dtype(dtype)) for column in encoder.columns]


@dataclass(frozen=True)
class Question:
    """What a bit says about a column: whether its number is greater than a constant, equal to it, or missing."""

    column: int
    kind: int
    constant: float | int


def list_questions(asked: Sequence[Asked]) -> list[Question]:
    """The comparisons of all columns, bit by bit, with the kinds of `gatewise.encode`.

    Examples
    --------
    >>> list_questions([Asked(True, (0.5,), "nan", False)])
    [Question(column=0, kind=0, constant=0.5), Question(column=0, kind=2, constant=0)]
    """
    questions = []
    for column, found in enumerate(asked):
        kind = GREATER if found.is_greater else EQUAL
        questions += [Question(column, kind, constant) for constant in found.constants]
        if found.missing == "nan":
            questions.append(Question(column, MISSING, 0))
        elif found.missing is not None:
            questions.append(Question(column, EQUAL, int(found.missing)))
    return questions


def is_coded(column: Column) -> bool:
    """Whether values of the column are given by their position among its categories."""
    return isinstance(column, Categorical) and not column.of_numbers


def missing_code(column: Column, dtype: str) -> int | None:
    """The number that stands for a missing value of coded columns where numbers have no NaN."""
    return len(column.values) if isinstance(column, Categorical) and is_coded(column) and dtype[0] != "f" else None


def encode_numbers(encoder: Encoder, rows: NDArray[Any]) -> NDArray[np.bool_]:
    """Bits of rows as exported code gets them: the definition that exported code is checked against.

    Parameters
    ----------
    encoder : Encoder
    rows : array of one of `DTYPES`, shape (n_rows, n_columns)

    Returns
    -------
    bool array, shape (n_rows, n_bits)
    """
    bits = [np.empty((len(rows), 0), bool)]
    for i, column in enumerate(encoder.columns):
        x = rows[:, i].astype(np.float64)  # exact for all of them
        code = missing_code(column, rows.dtype.name)
        if code is not None:
            x[rows[:, i] == code] = np.nan
        questions, constants = column.tests()
        for question, constant in zip(questions, constants.tolist(), strict=True):
            answers = {GREATER: x > constant, EQUAL: x == constant, MISSING: np.isnan(x)}
            bits.append(answers[question][:, np.newaxis])
    return np.concatenate(bits, axis=1)


def _ask_column(column: Column, dtype: np.dtype[Any]) -> Asked:
    is_float = dtype.kind == "f"
    constants: list[float | int]
    if isinstance(column, Categorical) and is_coded(column):
        n_values = len(column.values)
        if not is_float and n_values > np.iinfo(dtype).max - 2:  # two more, for missing and for other values
            raise ValueError(
                f"column {column.name!r:.60} must have categories that {dtype} can number, "
                f"got {n_values}; export for a wider dtype"
            )
        missing = "nan" if is_float else n_values
        return Asked(False, tuple(range(n_values)), missing if column.missing else None, True)
    questions, numbers = column.tests()
    values = numbers[: len(questions) - column.missing]
    if is_float:
        question = GREATER if isinstance(column, Numeric) else EQUAL
        constants = round_constants(question, values, dtype).tolist()
        return Asked(isinstance(column, Numeric), tuple(constants), "nan" if column.missing else None, False)
    constants = [_as_integer(value, column, dtype) for value in values.tolist()]
    if column.missing and isinstance(column, Categorical):
        raise ValueError(
            f"column {column.name!r:.60} must have no bit for missing values in rows of {dtype}, which have none, "
            "got one; export for float32 or float64"
        )
    if column.missing:
        constants.append(int(np.iinfo(dtype).max))  # no integer is missing, and none is greater than the largest
    return Asked(isinstance(column, Numeric), tuple(constants), None, False)


def round_constants(question: int, constants: NDArray[np.float64], dtype: np.dtype[Any]) -> NDArray[Any]:
    """Constants of a type of floats that give the same answers for every number of that type.

    x > t holds just where x > the largest number up to t; what is no number of the type equals none, as NaN.
    """
    with np.errstate(over="ignore", under="ignore"):
        nearest = constants.astype(dtype)
        if question == GREATER:
            return np.where(nearest > constants, np.nextafter(nearest, dtype.type(-np.inf)), nearest)
    return np.where(nearest == constants, nearest, dtype.type(np.nan))


def _as_integer(value: float, column: Column, dtype: np.dtype[Any]) -> int:
    limits = np.iinfo(dtype)
    if isinstance(column, Numeric) and value >= limits.min:
        return int(min(np.floor(value), limits.max))
    if isinstance(column, Categorical) and value == np.floor(value) and limits.min <= value <= limits.max:
        return int(value)
    raise ValueError(
        f"column {column.name!r:.60} must ask for values of {dtype} if rows hold them, got {value}; export for float64"
    )
