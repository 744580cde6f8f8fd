"""Tables as blocks of numbers: what the native encoder compares with its constants.

In: a table of any kind, and the columns of an encoder. Out: arrays of numbers, each with the index of its first column.
Invariant: a number answers the tests of its column as the raw value does; missing values are NaN.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gatewise.encode.columns import Categorical, Column
from gatewise.encode.raw import Coded, Raw, code_values
from gatewise.encode.tables import Table, as_table
from gatewise.encode.timed import Timed

NATIVE = frozenset(np.dtype(name) for name in ("float32", "float64", "uint8", "int32", "int64"))
WIDER = {"float16": "float32", "int8": "int32", "int16": "int32", "uint16": "int32", "uint32": "int64"}


class BlockReader:
    """Reads tables for an encoder.

    Parameters
    ----------
    columns : sequence of Numeric and Categorical
        The columns of the encoder.
    named : bool
        Whether the names of the columns come from the data; if not, tables are read by position.

    Examples
    --------
    >>> from gatewise.encode import Numeric
    >>> BlockReader([Numeric("x0", [1.0])], named=False).read([[1.5], [2.5]])
    (2, [(0, array([[1.5],
           [2.5]]))])
    """

    def __init__(self, columns: Sequence[Column], *, named: bool) -> None:
        self._columns, self._named = columns, named
        self._names = tuple(dict.fromkeys(column.table_name for column in columns))
        position = {name: i for i, name in enumerate(self._names)}
        self._table_idx = [position[column.table_name] for column in columns]
        self._used = [i for i, column in enumerate(columns) if column.n_bits]
        self._takes_numbers = all(map(_takes_numbers, columns))

    def read(self, X: Any) -> tuple[int, Iterable[tuple[int, NDArray[Any]]]]:
        """Read a table into numbers, a block at a time as they are asked for.

        Parameters
        ----------
        X : table, shape (n_rows, n_columns)

        Returns
        -------
        n_rows : int
        blocks : iterable of (int, array of shape (n_rows, n_columns of the block))
            Each block with the index of its first column. Columns without bits need not be in any of them.
        """
        table = as_table(X)
        order = self._match(table)
        if table.matrix is not None and order is None and self._takes_numbers:
            return table.n_rows, [(0, table.matrix)]
        at = [(order or range(len(self._names)))[i] for i in self._table_idx]
        if table.cells is not None:
            return table.n_rows, [(0, self._translate_cells(table.cells(), at, table.n_rows))]
        return table.n_rows, self._read_columns(table, at)

    def _read_columns(self, table: Table, at: Sequence[int]) -> Iterator[tuple[int, NDArray[Any]]]:
        last, raw = -1, None
        for i in self._used:
            if raw is None or at[i] != last:  # the parts of dates read a column once
                last, raw = at[i], table.read(at[i])
            yield i, _translate(self._columns[i], raw)[:, np.newaxis]

    def _match(self, table: Table) -> list[int] | None:
        """Positions of the encoder's columns in a table, or None if they are in the same order there."""
        names = self._names
        if table.names is None or (table.has_order and not self._named):
            if table.n_columns != len(names):
                raise ValueError(f"X must have {len(names)} columns, as at fit, got {table.n_columns}")
            return None
        if table.names == names:
            return None
        position = {name: i for i, name in enumerate(table.names)}
        known = set(names)
        missing, unknown = [n for n in names if n not in position], [n for n in table.names if n not in known]
        if missing:
            raise ValueError(f"X must have the columns of fit, got none named {', '.join(map(repr, missing)):.200}")
        if unknown:
            listed = ", ".join(map(repr, unknown))
            raise ValueError(f"X must have no columns but those of fit, got {listed:.200}; drop them, as by X[names]")
        return [position[name] for name in names]

    def _translate_cells(self, cells: Sequence[Sequence[Any]], at: Sequence[int], n_rows: int) -> NDArray[np.float64]:
        unread = [np.nan] * n_rows
        pairs = zip(self._columns, at, strict=True)
        numbers = [column.translate(cells[i]) if column.n_bits else unread for column, i in pairs]
        return np.array(numbers, np.float64).reshape(len(numbers), n_rows).T


def _takes_numbers(column: Column) -> bool:
    """Whether numbers of a table are compared as they are."""
    return column.of_numbers if isinstance(column, Categorical) else not isinstance(column, Timed)


def _translate(column: Column, raw: Raw) -> NDArray[Any]:
    """A column as the numbers that its tests compare."""
    if isinstance(column, Timed) and not isinstance(raw, Coded):
        return column.count(raw)
    if not isinstance(raw, Coded) and raw.dtype.kind in "Mm":
        raise TypeError(
            f"column {column.name!r:.60} must hold numbers or categories, as at fit, got {raw.dtype}; convert it"
        )
    if isinstance(raw, Coded):
        numbers: NDArray[np.float64] = np.array([*column.translate(raw.values), np.nan])[raw.codes]  # NaN for code -1
        return numbers
    if _takes_numbers(column) or (raw.dtype.kind == "f" and np.isnan(raw).all()):
        return raw
    return _translate(column, code_values(raw.tolist()))


def as_native(values: NDArray[Any]) -> NDArray[Any]:
    """The same numbers in a dtype that the native encoder reads; only long doubles are rounded, to float64."""
    if values.dtype in NATIVE and values.flags.aligned:
        return values
    if values.dtype == np.bool_:
        return values.view(np.uint8)
    if values.dtype.kind == "u" and values.dtype.itemsize == 8:
        largest = values.max(initial=0)
        if largest > np.iinfo(np.int64).max:
            raise ValueError(f"X must hold integers below 2**63, got {largest}; subtract a number first")
        return values.astype(np.int64)
    name = values.dtype.newbyteorder("=").name
    return values.astype(WIDER.get(name, name if np.dtype(name) in NATIVE else "float64"))
