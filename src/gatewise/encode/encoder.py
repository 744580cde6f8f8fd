"""Encoder: columns of raw values to bits.

In: tables, see `gatewise.encode.tables`. Out: bit-planes, or packed rows.
Invariant: an encoder is an immutable value; the same row gives the same bits in every dtype and kind of table that
holds it exactly, on every machine and with every number of threads.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gatewise import _native
from gatewise.container import Document, Tensors
from gatewise.encode.columns import Categorical, Column, Numeric
from gatewise.encode.document import decode_columns, encode_columns
from gatewise.encode.fit import default_names, fit_columns
from gatewise.encode.tables import Coded, Raw, Table, as_table, check_exact, code_values, decode_numbers
from gatewise.run.bits import LANES_PER_WORD, PackedRows, Planes
from gatewise.run.engine import LEVELS, MAX_THREADS

CHUNK_BITS = 2**22  # encoded at a time where the result is not kept: planes of this size stay in cache
NATIVE = frozenset(np.dtype(name) for name in ("float32", "float64", "uint8", "int32", "int64"))
WIDER = {"float16": "float32", "int8": "int32", "int16": "int32", "uint16": "int32", "uint32": "int64"}


@dataclass(frozen=True, eq=False)
class Encoder:
    """Turns rows of a table into bits, each a question about one column.

    Columns are matched by name where encoder and table both have names: their order does not matter, and a column
    that is missing or unknown is an error. Otherwise they are matched by position, and their number must agree.

    Parameters
    ----------
    columns : sequence of Numeric and Categorical
        Their names differ; without `named` they are x0, x1, ...
    named : bool
        Whether the names come from the data.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[39.0, 0.0], [50.0, 1.0], [17.0, np.nan]])
    >>> encoder = Encoder.fit(X)
    >>> encoder.describe_bits()
    ['x0 > 28', 'x0 > 44.5', 'x1 > 0.5', 'x1 is missing']
    >>> encoder.encode(X).unpack().astype(int).tolist()
    [[1, 0, 0, 0], [1, 1, 1, 0], [0, 0, 0, 1]]
    """

    columns: tuple[Column, ...]
    named: bool = False

    def __post_init__(self) -> None:
        columns = tuple(self.columns)
        for column in columns:
            if not isinstance(column, Numeric | Categorical):
                raise TypeError(f"columns must be Numeric or Categorical, got {type(column).__name__}")
        names = tuple(column.name for column in columns)
        if len(set(names)) != len(names):
            raise ValueError(f"names of columns must differ, got {names!r:.200}")
        if not self.named and names != default_names(len(names)):
            raise ValueError(f"names of columns must be x0, x1, ... without named=True, got {names!r:.200}")
        object.__setattr__(self, "columns", columns)
        object.__setattr__(self, "named", bool(self.named))

    @classmethod
    def fit(
        cls,
        X: Any,
        *,
        max_bits: int | None = None,
        max_thresholds: int = 32,
        categorical: Sequence[str | int] | None = None,
    ) -> "Encoder":
        """Choose thresholds and categories for a table.

        Numbers get thresholds that cut their rows into parts of about equal size, each halfway between two neighboring
        values; a column with few distinct values gets all of them. Strings, bools, pandas categories and what
        `categorical` lists get a bit for each value, or one bit if there are two values only. Columns of Python objects
        are numbers if all their values are. Integers count as numbers, since thresholds tell up to three values apart
        as well as categories do. A column with missing values gets a bit for them; one with a single value gets none.

        A column has at most `max_thresholds`, or its 64 most frequent categories. If all columns together exceed
        `max_bits`, that limit is lowered for all of them alike until they do not.

        Parameters
        ----------
        X : table, shape (n_rows, n_columns)
            A numeric, string or object array, a list of rows, or a data frame of pandas, polars or pyarrow. Of more
            than 200,000 rows a fixed random sample of that size is looked at, all of them for missing values.
        max_bits : int, optional
            4096 by default, or more if there are more columns.
        max_thresholds : int
            Of a column of numbers.
        categorical : sequence of names or positions, optional
            Columns of numbers to be taken for categories.

        Examples
        --------
        >>> rows = [[39, "private"], [50, "state"], [17, "none"], [39, None]]
        >>> Encoder.fit(rows).describe_bits()
        ['x0 > 28', 'x0 > 44.5', 'x1 = none', 'x1 = private', 'x1 = state', 'x1 is missing']
        """
        table = as_table(X)
        return cls(tuple(fit_columns(table, max_bits, max_thresholds, categorical or ())), table.names is not None)

    @classmethod
    def images(cls, shape: Sequence[int], n_thresholds: int, *, high: float = 255.0) -> "Encoder":
        """Equally spaced thresholds for every value of an image, flattened in the order of its array.

        Parameters
        ----------
        shape : sequence of int
            Of one image, channels included; rows to encode have this shape, or are flat.
        n_thresholds : int
            Bits a value.
        high : float
            The largest value; the least is 0.

        Examples
        --------
        >>> Encoder.images((1, 2), 3).describe_bits()
        ['x0 > 63.75', 'x0 > 127.5', 'x0 > 191.25', 'x1 > 63.75', 'x1 > 127.5', 'x1 > 191.25']
        """
        if n_thresholds < 1 or not 0 < high < np.inf:
            raise ValueError(f"n_thresholds and high must be positive, got {n_thresholds} and {high}")
        thresholds = high * np.arange(1, n_thresholds + 1) / (n_thresholds + 1)
        return cls(tuple(Numeric(name, thresholds) for name in default_names(math.prod(shape))))

    @property
    def n_columns(self) -> int:
        """Columns of a table."""
        return len(self.columns)

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Names of the columns."""
        return tuple(column.name for column in self.columns)

    @cached_property
    def n_bits(self) -> int:
        """Bits of an encoded row."""
        return sum(column.n_bits for column in self.columns)

    def describe_bits(self) -> list[str]:
        """What each bit says about a row, in words."""
        return [bit for column in self.columns for bit in column.describe()]

    def encode(self, X: Any, *, threads: int = 1) -> Planes:
        """Bits of all rows, a feature at a time, as circuits read them.

        Parameters
        ----------
        X : table, shape (n_rows, n_columns)
        threads : int

        Returns
        -------
        Planes
            Of `n_bits` features.
        """
        return next(self.encode_chunks(X, None, make_pool(threads)))

    def encode_rows(self, X: Any, *, threads: int = 1) -> PackedRows:
        """Bits of all rows, a row at a time, as training reads them. No byte a bit is ever made for more than a chunk.

        Examples
        --------
        >>> encoder = Encoder((Numeric("x0", [0.5, 1.5]),))
        >>> encoder.encode_rows([[0], [1], [2]]).data.tolist()
        [[0], [128], [192]]
        """
        pieces = [
            np.ascontiguousarray(np.packbits(planes.unpack(), axis=1))  # planes unpack to columns
            for planes in self.encode_chunks(X, self.chunk_rows, make_pool(threads))
        ]
        return PackedRows(np.concatenate(pieces), self.n_bits)

    @cached_property
    def chunk_rows(self) -> int:
        """Rows whose bits stay in cache; a plane is an odd number of its lines, so that planes do not collide there."""
        n_lines = max(1, CHUNK_BITS // max(self.n_bits, 64) // (8 * LANES_PER_WORD))
        return (n_lines - 1 + n_lines % 2) * 8 * LANES_PER_WORD

    def encode_chunks(self, X: Any, chunk_rows: int | None, pool: _native.Pool) -> Iterator[Planes]:
        """Bits of consecutive pieces of the rows; of none, if there are none, one empty piece.

        Parameters
        ----------
        X : table, shape (n_rows, n_columns)
        chunk_rows : int, optional
            Rows of a piece; all by default.
        pool : threads that share the work
        """
        n_rows, blocks = self._read(X)
        step = chunk_rows or max(n_rows, 1)
        for start in range(0, max(n_rows, 1), step):
            n = min(step, n_rows - start)
            words = np.empty((self.n_bits, -(-n // LANES_PER_WORD)), np.uint64)
            for first_column, values in blocks:
                self._native.encode(_as_native(values[start : start + n]), first_column, words, pool)
            yield Planes(words, n)

    def to_numbers(self, X: Any) -> NDArray[np.float64]:
        """Rows of numbers, as exported code reads them.

        Categories that are not all numbers become positions among them, any other value infinity. Missing values are
        NaN, and so are columns that have no bits.

        Returns
        -------
        float64 array, shape (n_rows, n_columns)

        Examples
        --------
        >>> encoder = Encoder.fit([[39, "private"], [50, "state"], [17, "none"]])
        >>> encoder.to_numbers([[20, "state"], [30, "other"]]).tolist()
        [[20.0, 2.0], [30.0, inf]]
        """
        n_rows, blocks = self._read(X)
        numbers = np.full((n_rows, self.n_columns), np.nan)
        for first_column, values in blocks:
            if values.dtype.kind in "iu" and values.size:
                for extreme in (values.min(), values.max()):
                    check_exact(extreme, self.names[first_column])
            numbers[:, first_column : first_column + values.shape[1]] = values
        return numbers

    def take(self, bit_idx: ArrayLike) -> "Encoder":
        """The encoder of some of the bits; it reads the same tables.

        Parameters
        ----------
        bit_idx : int array
            Positions of bits, each once, in any order; the bits that are kept stay in their order.

        Examples
        --------
        >>> Encoder.images((1, 2), 3).take([5, 0]).describe_bits()
        ['x0 > 63.75', 'x1 > 191.25']
        """
        given = np.asarray(bit_idx)
        if given.size and given.dtype.kind not in "iu":
            raise TypeError(f"bit_idx must hold positions, got {given.dtype}; np.flatnonzero makes them of a mask")
        wanted = np.sort(given.reshape(-1).astype(np.int64))
        if len(wanted) and (wanted[0] < 0 or wanted[-1] >= self.n_bits or (np.diff(wanted) == 0).any()):
            raise ValueError(f"bit_idx must be distinct and in 0..{self.n_bits - 1}, got {bit_idx!r:.200}")
        ends = np.cumsum([0, *(column.n_bits for column in self.columns)])
        cuts = np.searchsorted(wanted, ends)
        pieces = zip(self.columns, ends[:-1].tolist(), cuts[:-1].tolist(), cuts[1:].tolist(), strict=True)
        return Encoder(tuple(column.take(wanted[i:j] - first) for column, first, i, j in pieces), self.named)

    def to_document(self) -> tuple[Tensors, Document]:
        """Tensors and JSON document that stand for the encoder, to be put into a container."""
        return encode_columns(self.columns, self.named)

    @classmethod
    def from_document(cls, tensors: Tensors, document: Document) -> "Encoder":
        """Inverse of `to_document`; raises ValueError unless both are complete and consistent."""
        columns, named = decode_columns(tensors, document)
        return cls(tuple(columns), named)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Encoder):
            return NotImplemented
        return (self.columns, self.named) == (other.columns, other.named)

    def __hash__(self) -> int:
        return hash((self.columns, self.named))

    def __reduce__(self) -> tuple[type["Encoder"], tuple[object, ...]]:
        return Encoder, (self.columns, self.named)

    def __repr__(self) -> str:
        return f"Encoder(n_columns={self.n_columns}, n_bits={self.n_bits}, named={self.named})"

    @cached_property
    def _native(self) -> _native.Encoder:
        tests = [column.tests() for column in self.columns]
        test_ptr = np.cumsum([0, *(column.n_bits for column in self.columns)]).astype(np.uint32)
        questions = np.array([question for questions, _ in tests for question in questions], np.uint8)
        constants = np.concatenate([np.empty(0), *(constants for _, constants in tests)])
        return _native.Encoder(test_ptr, questions, constants, LEVELS[0])

    @cached_property
    def _reads_numbers(self) -> bool:
        """Whether a matrix of numbers needs no translation."""
        return all(isinstance(column, Numeric) or column.of_numbers for column in self.columns)

    def _read(self, X: Any) -> tuple[int, list[tuple[int, NDArray[Any]]]]:
        """Number of rows, and arrays of numbers with the column that each starts at, columns without bits left out."""
        table = as_table(X)
        order = self._match(table)
        if table.matrix is not None and order is None and self._reads_numbers:
            return table.n_rows, [(0, table.matrix)]
        used = [i for i, column in enumerate(self.columns) if column.n_bits]
        read = [(i, _translate(self.columns[i], table.read(order[i] if order else i))) for i in used]
        return table.n_rows, [(i, values[:, np.newaxis]) for i, values in read]

    def _match(self, table: Table) -> list[int] | None:
        """Positions of this encoder's columns in a table; None if it has them in order."""
        if not self.named or table.names is None:
            if table.n_columns != self.n_columns:
                raise ValueError(f"X must have {self.n_columns} columns, as at fit, got {table.n_columns}")
            return None
        if table.names == self.names:
            return None
        position = {name: i for i, name in enumerate(table.names)}
        known = set(self.names)
        missing, unknown = [n for n in self.names if n not in position], [n for n in table.names if n not in known]
        if missing:
            raise ValueError(f"X must have the columns of fit, got none named {', '.join(map(repr, missing)):.200}")
        if unknown:
            listed = ", ".join(map(repr, unknown))
            raise ValueError(f"X must have no columns but those of fit, got {listed:.200}; drop them, as by X[names]")
        return [position[name] for name in self.names]


def make_pool(threads: int) -> _native.Pool:
    """Threads that share work; they start when they are first needed."""
    if not 1 <= threads <= MAX_THREADS:
        raise ValueError(f"threads must be in 1..{MAX_THREADS}, got {threads}")
    return _native.Pool(threads)


def _translate(column: Column, raw: Raw) -> NDArray[Any]:
    """A column as the numbers that its tests compare."""
    if isinstance(column, Numeric):
        return decode_numbers(raw, column.name) if isinstance(raw, Coded) else raw
    if isinstance(raw, np.ndarray):
        if column.of_numbers or (raw.dtype.kind == "f" and np.isnan(raw).all()):
            return raw
        if all(isinstance(value, str) for value in column.values):
            raise TypeError(
                f"column {column.name!r:.60} must hold strings, as at fit, got {raw.dtype}; "
                "convert it, as by X[column].astype(str)"
            )
        raw = code_values(raw.tolist())
    numbers: NDArray[np.float64] = np.append(column.translate(raw.values), np.nan)[raw.codes]  # NaN is for code -1
    return numbers


def _as_native(values: NDArray[Any]) -> NDArray[Any]:
    """The same numbers in a dtype that the native encoder reads; no number changes, but those of long doubles."""
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
