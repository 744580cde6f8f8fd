"""Tables of any library as columns of numpy arrays, without importing that library.

In: arrays, lists of rows, data frames of pandas, polars and pyarrow, or what looks like one of them. Out: a `Table`:
names, a size, and a function that reads column i.
Invariant: a column that was read is an array of numbers or bools, or `Coded` values; its missing values are NaN or -1.
"""

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from gatewise.encode.columns import MAX_EXACT

NULLS = ("NoneType", "NAType", "NaTType")
"""Types of missing values, by name, because pandas is not imported."""

ARROW_STRINGS = ("string", "large_string")


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


@dataclass(frozen=True, eq=False)
class Table:
    """What an encoder sees of its input.

    Parameters
    ----------
    names : tuple of str, or None
        None if the columns are known by position only.
    n_rows, n_columns : int
    read : function of a position
        Gives that column.
    matrix : array, shape (n_rows, n_columns), optional
        All columns, if they are numbers or bools of one dtype.
    """

    names: tuple[str, ...] | None
    n_rows: int
    n_columns: int
    read: Callable[[int], Raw]
    matrix: NDArray[Any] | None = None


def as_table(X: Any) -> Table:
    """Look at any kind of table; nothing is copied but what its library must convert.

    Parameters
    ----------
    X : array or list of shape (n_rows, n_columns), or data frame
        Arrays of more dimensions, as images, are flattened to rows.

    Examples
    --------
    >>> table = as_table([[39, "private"], [50, None]])
    >>> table.n_rows, table.read(0).tolist(), table.read(1).codes.tolist()
    (2, [39.0, 50.0], [0, -1])
    """
    if isinstance(X, np.ndarray):
        return _from_array(X)
    if hasattr(X, "toarray") and hasattr(X, "nnz"):
        raise TypeError(f"X must be dense, got sparse {type(X).__name__}; pass X.toarray()")
    if hasattr(X, "collect") and hasattr(X, "collect_schema"):
        raise TypeError(f"X must be in memory, got {type(X).__name__}; pass X.collect()")
    if hasattr(X, "iloc") and hasattr(X, "columns"):
        return _from_pandas(X)
    if hasattr(X, "get_columns"):  # polars
        return _from_columns(list(X.columns), X.height, X.get_columns())
    if hasattr(X, "column_names") and hasattr(X, "columns"):  # pyarrow
        return _from_columns(list(X.column_names), X.num_rows, X.columns)
    if hasattr(X, "to_pandas"):
        return _from_pandas(X.to_pandas())
    return _from_array(_from_rows(X))


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
    return _drop_missing(list(position), codes)


def _drop_missing(values: Sequence[Any], codes: NDArray[Any]) -> Coded:
    is_missing = [type(value).__name__ in NULLS or value != value for value in values]
    if not any(is_missing):
        return Coded(list(values), codes)
    kept = np.flatnonzero(~np.array(is_missing))
    renumbered = np.full(len(values) + 1, -1, np.int64)  # the last one is for code -1
    renumbered[kept] = np.arange(len(kept))
    return Coded([values[i] for i in kept.tolist()], renumbered[codes])


def _from_rows(X: Any) -> NDArray[Any]:
    """Rows of mixed types become objects, where numpy would turn all of them into strings."""
    try:
        array = np.asarray(X)
        return array if array.dtype.kind in "biuf" else np.array(X, dtype=object)
    except ValueError as error:
        raise ValueError(f"X must have rows of equal lengths, got a {type(X).__name__}: {error}") from error


def _from_array(X: NDArray[Any]) -> Table:
    if X.ndim < 2:
        raise ValueError(
            f"X must have shape (n_rows, n_columns), got {X.shape}; "
            "pass X.reshape(-1, 1) for one column, X.reshape(1, -1) for one row"
        )
    if isinstance(X, np.ma.MaskedArray):
        raise TypeError("X must be a plain array, got a masked one; pass X.filled(np.nan)")
    rows = X.reshape(len(X), math.prod(X.shape[1:])) if X.ndim > 2 else X
    is_numeric = X.dtype.kind in "biuf"
    n_rows, n_columns = rows.shape
    return Table(None, n_rows, n_columns, lambda i: _read_array(rows[:, i], f"x{i}"), rows if is_numeric else None)


def _from_pandas(X: Any) -> Table:
    names, dtypes = list(X.columns), list(X.dtypes)
    is_matrix = all(isinstance(dtype, np.dtype) and dtype.kind in "biuf" for dtype in set(dtypes))
    matrix = X.to_numpy() if is_matrix and len(set(dtypes)) == 1 else None

    def read(i: int) -> Raw:
        column = X.iloc[:, i]
        if type(column.dtype).__name__ == "CategoricalDtype":
            return _drop_missing(column.cat.categories.tolist(), column.cat.codes.to_numpy())
        if type(column.dtype).__name__ == "StringDtype":
            codes, values = column.factorize()  # many times faster than looking at each string
            return _drop_missing(values.tolist(), codes)
        if isinstance(column.dtype, np.dtype):
            return _read_array(column.to_numpy(), names[i])
        kind, array = getattr(column.dtype, "kind", "O"), None
        if kind in "iu" and not column.hasnans:
            array = column.to_numpy(np.int64 if kind == "i" else np.uint64)
        elif kind == "f":
            array = column.to_numpy(np.float64, na_value=np.nan)
        return _read_array(column.to_numpy(object) if array is None else array, names[i])

    return Table(_check_names(names), len(X), len(names), read, matrix)


def _from_columns(names: list[str], n_rows: int, columns: Sequence[Any]) -> Table:
    """polars and pyarrow: their columns become arrays by `to_numpy`, nulls None or NaN."""
    return Table(_check_names(names), n_rows, len(names), lambda i: _read_column(columns[i], names[i]))


def _read_column(column: Any, name: str) -> Raw:
    if str(getattr(column, "type", "")) in ARROW_STRINGS and hasattr(column, "combine_chunks"):
        coded = column.dictionary_encode().combine_chunks()  # several times faster than looking at each string
        return Coded(coded.dictionary.to_pylist(), coded.indices.fill_null(-1).to_numpy())
    return _read_array(column.to_numpy(), name)


def _read_array(column: NDArray[Any], name: str) -> Raw:
    if column.dtype.kind in "biuf":
        return column
    if column.dtype.kind not in "UOT":
        raise TypeError(
            f"column {name!r:.60} must hold numbers, strings or bools, got {column.dtype}; convert it, "
            "dates for instance to days by (x - x.min()) / np.timedelta64(1, 'D'), bytes to strings by x.astype(str)"
        )
    coded = code_values(column.tolist())
    kinds = {type(value) for value in coded.values}
    if bool not in kinds and all(issubclass(kind, int | float | np.integer | np.floating) for kind in kinds):
        return decode_numbers(coded, name)
    return coded


def decode_numbers(coded: Coded, name: str) -> NDArray[np.float64]:
    """A column of numbers as float64, NaN where they are missing.

    Examples
    --------
    >>> decode_numbers(code_values([1, None, 2.5]), "x").tolist()
    [1.0, nan, 2.5]
    """
    numbers = np.full(len(coded.values) + 1, np.nan)  # the last one is for code -1
    for i, value in enumerate(coded.values):
        if isinstance(value, str):
            raise TypeError(
                f"column {name!r:.60} must hold numbers, as at fit, got {value!r:.60}; convert it, as by pd.to_numeric"
            )
        check_exact(value, name)
        numbers[i] = value
    column: NDArray[np.float64] = numbers[coded.codes]
    return column


def check_exact(value: Any, name: str) -> None:
    """Raise ValueError for an integer that is not a float64 number."""
    if isinstance(value, int | np.integer) and not -MAX_EXACT <= value <= MAX_EXACT:
        raise ValueError(
            f"column {name!r:.60} must hold integers within 2**53, beyond which float64 cannot tell neighbors apart, "
            f"got {value}; make it categorical by strings, or subtract a number first"
        )


def _check_names(names: list[Any]) -> tuple[str, ...] | None:
    """Names if all are strings; None if none is, as for pandas' numbered columns."""
    if not any(isinstance(name, str) for name in names):
        return None
    if not all(isinstance(name, str) for name in names):
        raise ValueError(f"column names must be all strings or all numbers, got {names!r:.200}; X.columns.astype(str)")
    if len(set(names)) != len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"column names must differ, got {twice!r:.60} twice; rename one of them")
    return tuple(str(name) for name in names)
