"""Tables of any library as columns, without importing that library.

In: arrays, sparse matrices, lists of rows, dicts as rows, data frames of pandas, polars and pyarrow, or what looks like
one of them.
Out: a `Table`: names, a size, and a function that reads column i.
Invariant: a column that was read is an array of numbers, bools or dates, or `Coded` values; its missing values are NaN,
NaT or -1.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gatewise.encode.raw import Coded, Raw, drop_missing, read_array

ARROW_STRINGS = ("string", "large_string")
TIMED = ("datetime", "timestamp", "duration")
FEW_ROWS = 64
"""Up to so many rows, Python values are translated faster than arrays are made of them."""


@dataclass(frozen=True, eq=False)
class Table:
    """A table of any library, as encoders see it.

    Parameters
    ----------
    names : tuple of str, or None
        None if the columns are known by position only.
    n_rows, n_columns : int
    read : function of a position
        Gives that column.
    matrix : array, shape (n_rows, n_columns), optional
        All columns, if they are numbers or bools of one dtype.
    cells : function, optional
        Gives all columns as sequences of Python values; only tables of few rows have it.
    has_order : bool
        False if the columns are known by name only, as those of a dict are.
    """

    names: tuple[str, ...] | None
    n_rows: int
    n_columns: int
    read: Callable[[int], Raw]
    matrix: NDArray[Any] | None = None
    cells: Callable[[], Sequence[Sequence[Any]]] | None = None
    has_order: bool = True

    def __len__(self) -> int:
        return self.n_rows


def as_table(X: Any) -> Table:
    """View any kind of table as a `Table`; only what its library must convert is copied.

    Parameters
    ----------
    X : array, sparse matrix or list of shape (n_rows, n_columns), data frame, list of dicts, dict, or Table
        Arrays of more dimensions, as images, are flattened to rows. A dict is one row: values by name of the column.

    Examples
    --------
    >>> table = as_table([[39, "private"], [50, None]])
    >>> table.n_rows, table.read(0).tolist(), table.read(1).codes.tolist()
    (2, [39.0, 50.0], [0, -1])
    >>> as_table({"age": 39, "work": "private"}).names
    ('age', 'work')
    """
    if isinstance(X, np.ndarray):
        return _from_array(X)
    if isinstance(X, Table):
        return X
    if is_rows_of_dicts(X):
        return _from_dicts([X] if isinstance(X, Mapping) else X)
    if hasattr(X, "iloc") and hasattr(X, "columns"):  # asked first: pandas takes long to say what it does not have
        return _from_pandas(X)
    if is_sparse(X):
        return _from_sparse(X)
    if hasattr(X, "collect") and hasattr(X, "collect_schema"):
        raise TypeError(f"X must be in memory, got {type(X).__name__}; pass X.collect()")
    if hasattr(X, "get_columns"):  # polars
        return _from_columns(list(X.columns), X.get_columns(), X.height, lambda column: column.to_list())
    if hasattr(X, "column_names") and hasattr(X, "columns"):  # pyarrow
        return _from_columns(list(X.column_names), X.columns, X.num_rows, lambda column: column.to_pylist())
    if hasattr(X, "to_frame"):
        raise ValueError(
            f"X must have rows and columns, got a {type(X).__name__}; "
            "pass X.to_frame() for one column, frame.iloc[[i]] for row i of a frame"
        )
    if hasattr(X, "to_pandas"):
        return _from_pandas(X.to_pandas())
    return _from_array(_from_rows(X))


def is_rows_of_dicts(X: Any) -> bool:
    """Whether a table is given as a dict, which is one row, or as a list of dicts.

    Examples
    --------
    >>> is_rows_of_dicts({"age": 39}), is_rows_of_dicts([{"age": 39}]), is_rows_of_dicts([[39]])
    (True, True, False)
    """
    return isinstance(X, Mapping) or (isinstance(X, list | tuple) and len(X) > 0 and isinstance(X[0], Mapping))


def is_sparse(X: Any) -> bool:
    """Whether a table is a sparse matrix or array of scipy, or looks like one.

    Examples
    --------
    >>> is_sparse(np.eye(2))
    False
    """
    return hasattr(X, "toarray") and hasattr(X, "nnz")


def _from_sparse(X: Any) -> Table:
    """View a sparse matrix, whose columns become arrays one at a time; what it does not store is 0."""
    if X.ndim != 2 or X.dtype.kind not in "biuf":
        raise TypeError(f"X must be a sparse matrix of numbers, got {X.dtype} of shape {X.shape}")
    by_column = X.tocsc()
    if not by_column.has_canonical_format:
        by_column = by_column.copy()
        by_column.sum_duplicates()
    ptr, n_rows = by_column.indptr.tolist(), X.shape[0]

    def read(column_idx: int) -> NDArray[Any]:
        part = slice(ptr[column_idx], ptr[column_idx + 1])
        values: NDArray[Any] = np.zeros(n_rows, by_column.dtype)
        values[by_column.indices[part]] = by_column.data[part]
        return values

    return Table(None, n_rows, X.shape[1], read)


def _from_dicts(rows: Sequence[Any]) -> Table:
    names = _check_names(list(rows[0]))
    if names is None:
        raise ValueError(f"keys of a row must be names of columns, got {list(rows[0])!r:.200}")
    known = frozenset(names)
    for i, row in enumerate(rows):
        _check_dict(row, i, known)

    def read_cells(column_idx: int) -> list[Any]:
        name = names[column_idx]
        return [row[name] for row in rows]

    return Table(
        names,
        len(rows),
        len(names),
        lambda i: read_array(np.array(read_cells(i), object), names[i]),
        cells=(lambda: [read_cells(i) for i in range(len(names))]) if len(rows) <= FEW_ROWS else None,
        has_order=False,
    )


def _check_dict(row: Any, row_idx: int, names: frozenset[str]) -> None:
    if not isinstance(row, Mapping):
        raise TypeError(f"rows must all be dicts, as the first one is, got a {type(row).__name__} in row {row_idx}")
    if row.keys() != names:
        listed = ", ".join(sorted(map(repr, names ^ row.keys())))
        raise ValueError(
            f"rows must have the same keys, got {listed:.200} in only one of rows 0 and {row_idx}; "
            "write None where a value is missing"
        )
    for name, value in row.items():
        if hasattr(value, "__len__") and not isinstance(value, str):
            raise TypeError(
                f"a dict must be one row, with one value for each column, got a {type(value).__name__} for "
                f"{name!r:.60}; pandas.DataFrame(X) or pyarrow.table(X) makes a table from columns"
            )


def _from_rows(X: Any) -> NDArray[Any]:
    """Make an array from a list of rows; mixed types stay objects, where numpy would turn all of them into strings."""
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
    n_rows, n_columns = rows.shape
    return Table(
        None,
        n_rows,
        n_columns,
        lambda i: read_array(rows[:, i], f"x{i}"),
        matrix=rows if X.dtype.kind in "biuf" else None,
        cells=rows.T.tolist if X.dtype.kind in "UOT" and n_rows <= FEW_ROWS else None,
    )


def _from_pandas(X: Any) -> Table:
    names, dtypes = list(X.columns), list(X.dtypes)
    is_matrix = all(isinstance(dtype, np.dtype) and dtype.kind in "biuf" for dtype in dtypes) and len(set(dtypes)) == 1
    return Table(
        _check_names(names),
        len(X),
        len(names),
        lambda i: _read_series(X.iloc[:, i], names[i]),
        matrix=X.to_numpy() if is_matrix else None,
        # All at once, because reading a single column of pandas takes longer than translating many cells.
        cells=(lambda: X.to_numpy(object).T.tolist()) if len(X) <= FEW_ROWS and not is_matrix else None,
    )


def _read_series(column: Any, name: str) -> Raw:
    kind = type(column.dtype).__name__
    if kind == "CategoricalDtype":
        return drop_missing(column.cat.categories.tolist(), column.cat.codes.to_numpy())
    if kind == "StringDtype":
        codes, values = column.factorize()  # many times faster than looking at each string
        return drop_missing(values.tolist(), codes)
    if isinstance(column.dtype, np.dtype):
        return read_array(column.to_numpy(), name)
    kind, array = getattr(column.dtype, "kind", "O"), None
    if kind == "M" and getattr(column.dtype, "tz", None) is not None:
        return read_array(column.dt.tz_convert("UTC").dt.tz_localize(None).to_numpy(), name)
    if kind in "iu" and not column.hasnans:
        array = column.to_numpy(np.int64 if kind == "i" else np.uint64)
    elif kind == "f":
        array = column.to_numpy(np.float64, na_value=np.nan)
    return read_array(column.to_numpy(object) if array is None else array, name)


def _from_columns(names: list[str], columns: Sequence[Any], n_rows: int, to_list: Callable[[Any], list[Any]]) -> Table:
    """View a frame of polars or pyarrow, whose columns become arrays by `to_numpy`, and nulls None or NaN."""
    kinds = [str(getattr(column, "type", getattr(column, "dtype", ""))).lower() for column in columns]
    is_timed = any(kind.startswith(TIMED) for kind in kinds)  # as Python values they would lose nanoseconds
    return Table(
        _check_names(names),
        n_rows,
        len(names),
        lambda i: _read_column(columns[i], names[i]),
        cells=(lambda: [to_list(column) for column in columns]) if n_rows <= FEW_ROWS and not is_timed else None,
    )


def _read_column(column: Any, name: str) -> Raw:
    if str(getattr(column, "type", "")) in ARROW_STRINGS and hasattr(column, "combine_chunks"):
        coded = column.dictionary_encode().combine_chunks()  # several times faster than looking at each string
        return Coded(coded.dictionary.to_pylist(), coded.indices.fill_null(-1).to_numpy())
    return read_array(column.to_numpy(), name)


def _check_names(names: list[Any]) -> tuple[str, ...] | None:
    """The names if all are strings; None if none is, as with the numbered columns of pandas."""
    if not any(isinstance(name, str) for name in names):
        return None
    if not all(isinstance(name, str) for name in names):
        raise ValueError(f"column names must be all strings or all numbers, got {names!r:.200}; X.columns.astype(str)")
    if len(set(names)) != len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"column names must differ, got {twice!r:.60} twice; rename one of them")
    return tuple(str(name) for name in names)
