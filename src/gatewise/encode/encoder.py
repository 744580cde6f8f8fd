"""Encoder: columns of raw values to bits.

In: tables, see `gatewise.encode.tables`. Out: bit-planes, or packed rows.
Invariant: an encoder is an immutable value; the same row gives the same bits in every dtype and kind of table that
holds it exactly, on every machine and with every number of threads.
"""

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gatewise import _native
from gatewise.bits import LANES_PER_WORD, PackedRows, Planes
from gatewise.encode.blocks import BlockReader, as_native
from gatewise.encode.columns import Categorical, Column, Numeric
from gatewise.encode.fit import default_names, fit_columns
from gatewise.encode.raw import check_exact
from gatewise.encode.tables import as_table, is_sparse
from gatewise.encode.timed import read_by
from gatewise.machine import TARGETS, make_pool
from gatewise.notebook import make_table

MAX_SPARSE = 2**14  # rows of a sparse table whose columns are dense at a time
MAX_SHOWN = 40  # columns, in notebooks
CHUNK_BITS = 2**22  # per chunk: bit-planes of this size stay in the cache


@dataclass(frozen=True, eq=False)
class Encoder:
    """Turns rows of a table into bits, each of which answers one question about one column.

    If both the encoder and the table have column names, columns are matched by name: their order does not matter, and
    a column that is missing or unknown is an error. Otherwise columns are matched by position, and their number must
    agree. Dicts are always matched by name; an encoder without names calls its columns x0, x1, ...

    Parameters
    ----------
    columns : sequence of Numeric, Timed and Categorical
        Their names differ. Each reads a column of the table, several `Timed` ones after the other the same one;
        without `named` the columns of the table are x0, x1, ...
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
        object.__setattr__(self, "columns", columns)
        table_names = tuple(name for name, _ in itertools.groupby(columns, read_by))
        if len({name for name, _ in table_names}) != len(table_names):
            raise ValueError(f"columns must read a column of the table one after the other, got {names!r:.200}")
        if not self.named and self.table_names != default_names(len(table_names)):
            raise ValueError(f"names of columns must be x0, x1, ... without named=True, got {names!r:.200}")
        object.__setattr__(self, "named", bool(self.named))

    @classmethod
    def fit(
        cls,
        X: Any,
        *,
        max_bits: int | None = None,
        max_thresholds: int = 32,
        categorical: Sequence[str | int] | None = None,
        only: Sequence[str | int] | None = None,
    ) -> "Encoder":
        """Choose thresholds and categories for a table.

        A column of numbers gets thresholds that cut its rows into parts of about equal size: numbers of few decimals,
        about halfway between neighboring values. If it has few distinct values, every two neighbors are separated.
        Dates and times become elapsed seconds since midnight of the first day, which is stored, and those parts of the
        calendar that vary: month, day of the month, weekday, hour, minute. Each of them gets thresholds as a column of
        numbers does, and so do durations in seconds. Times with a zone are read in UTC.

        Strings, bools, pandas categories and the columns that `categorical` lists get one bit per value, or a single
        bit if there are only two values. Integers count as numbers, and so do Python objects if all of them are
        numbers. Missing values get one more bit. A column that has the same value in every row gets no bits.

        A column has at most `max_thresholds` thresholds, or bits for its 64 most frequent categories; a `ColumnWarning`
        says so if there are more. Strings nearly all of which are different get no bits, with a warning. If the columns
        need more than `max_bits` bits together, the limit per column is lowered, equally for all, until they do not.

        Parameters
        ----------
        X : table, shape (n_rows, n_columns)
            A numeric, string or object array, a sparse matrix, a list of rows, a list of dicts, or a data frame of
            pandas, polars or pyarrow. Of larger tables, a fixed random sample of 200,000 rows gives thresholds and
            categories; missing values are looked for in all rows.
        max_bits : int, optional
            4096 by default, or more if there are more columns.
        max_thresholds : int
            Per column of numbers.
        categorical : sequence of names or positions, optional
            Columns of numbers that hold categories.
        only : sequence of names or positions, optional
            The columns that get bits; all by default. Others are known, and not read.

        Examples
        --------
        >>> rows = [[39, "private"], [50, "state"], [17, "none"], [39, None]]
        >>> Encoder.fit(rows).describe_bits()
        ['x0 > 28', 'x0 > 44.5', 'x1 = none', 'x1 = private', 'x1 = state', 'x1 is missing']
        """
        table = as_table(X)
        columns = fit_columns(table, max_bits, max_thresholds, categorical or (), only)
        return cls(tuple(columns), table.names is not None)

    @classmethod
    def images(cls, shape: Sequence[int], n_thresholds: int, *, high: float = 255.0) -> "Encoder":
        """Equally spaced thresholds for every value of an image, flattened in the order of its array.

        Parameters
        ----------
        shape : sequence of int
            Of one image, channels included; rows to encode have this shape, or are flat.
        n_thresholds : int
            Bits per value.
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
        """Numbers of a row, see `to_numbers`: one for each column of a table, of dates several."""
        return len(self.columns)

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Names of these numbers: of the columns, or of parts of dates."""
        return tuple(column.name for column in self.columns)

    @cached_property
    def table_names(self) -> tuple[str, ...]:
        """Names of the columns of a table."""
        return tuple(dict.fromkeys(column.table_name for column in self.columns))

    @cached_property
    def table_idx(self) -> tuple[int, ...]:
        """For each of `columns`, which column of a table it reads."""
        position = {name: i for i, name in enumerate(self.table_names)}
        return tuple(position[column.table_name] for column in self.columns)

    @cached_property
    def n_bits(self) -> int:
        """Number of bits of an encoded row."""
        return sum(column.n_bits for column in self.columns)

    def describe_bits(self) -> list[str]:
        """What each bit says about a row, in words."""
        return [bit for column in self.columns for bit in column.describe()]

    def encode(self, X: Any, *, threads: int = 1) -> Planes:
        """Encode rows into bit-planes, which hold one bit of all rows after the other, as circuits read them.

        Parameters
        ----------
        X : table, shape (n_rows, n_columns)
            What `Encoder.fit` takes, or a dict: one row, with values by name of the column.
        threads : int

        Returns
        -------
        Planes
            Of `n_bits` features.

        Examples
        --------
        >>> encoder = Encoder.fit([{"age": 39, "job": "nurse"}, {"age": 50, "job": "smith"}])
        >>> encoder.encode({"age": 60, "job": "nurse"}).unpack().tolist()
        [[True, False]]
        """
        return next(self.encode_chunks(X, None, make_pool(threads)))

    def encode_rows(self, X: Any, *, threads: int = 1) -> PackedRows:
        """Encode rows into packed rows, which hold all bits of one row after the other, as training reads them.

        The rows are encoded in chunks, so the memory needed besides the result does not grow with their number.

        Parameters
        ----------
        X : table, shape (n_rows, n_columns)
            What `encode` takes.
        threads : int

        Returns
        -------
        PackedRows
            Of `n_bits` features.

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

    def transform(self, X: Any, *, threads: int = 1) -> NDArray[np.bool_]:
        """Encode rows into an array of bools, as scikit-learn's transformers do; one byte per bit.

        `gatewise.BitEncoder` is the transformer that can be fitted in a pipeline.

        Parameters
        ----------
        X : table, shape (n_rows, n_columns)
            What `encode` takes.
        threads : int

        Returns
        -------
        bool array, shape (n_rows, n_bits)

        Examples
        --------
        >>> encoder = Encoder((Numeric("x0", [0.5, 1.5]),))
        >>> encoder.transform([[0], [1], [2]]).astype(int).tolist()
        [[0, 0], [1, 0], [1, 1]]
        """
        return self.encode_rows(X, threads=threads).unpack()

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[np.object_]:
        """The bits in words, as `describe_bits` gives them, in the form in which scikit-learn asks for them.

        Parameters
        ----------
        input_features : sequence of str, optional
            Names of the columns, which must be those of this encoder.

        Returns
        -------
        object array of str, shape (n_bits,)

        Examples
        --------
        >>> Encoder((Numeric("x0", [0.5, 1.5]),)).get_feature_names_out().tolist()
        ['x0 > 0.5', 'x0 > 1.5']
        """
        if input_features is not None and tuple(input_features) != self.table_names:
            raise ValueError(
                f"input_features must be the columns of fit, {self.table_names!r:.200}, got {input_features!r:.200}"
            )
        return np.array(self.describe_bits(), object)

    @cached_property
    def chunk_rows(self) -> int:
        """Rows per chunk, so few that their bits stay in the cache.

        A plane takes an odd number of cache lines: planes a power of two apart would evict each other.
        """
        n_lines = max(1, CHUNK_BITS // max(self.n_bits, 64) // (8 * LANES_PER_WORD))
        return (n_lines - 1 + n_lines % 2) * 8 * LANES_PER_WORD

    def encode_chunks(self, X: Any, chunk_rows: int | None, pool: _native.Pool) -> Iterator[Planes]:
        """Encode consecutive chunks of the rows.

        Parameters
        ----------
        X : table, shape (n_rows, n_columns)
            What `encode` takes.
        chunk_rows : int, optional
            Rows per chunk; all by default.
        pool : Pool
            Threads that share the work.

        Yields
        ------
        Planes
            A table without rows gives one empty chunk.
        """
        if chunk_rows is not None and is_sparse(X) and X.shape[0] > MAX_SPARSE:
            by_row = X.tocsr()
            for start in range(0, X.shape[0], MAX_SPARSE):
                yield from self.encode_chunks(by_row[start : start + MAX_SPARSE], chunk_rows, pool)
            return
        n_rows, blocks = self._reader.read(X)
        step = chunk_rows or max(n_rows, 1)
        if step < n_rows:
            blocks = list(blocks)  # which several chunks read
        for start in range(0, max(n_rows, 1), step):
            n = min(step, n_rows - start)
            words = np.empty((self.n_bits, -(-n // LANES_PER_WORD)), np.uint64)
            for first_column, values in blocks:
                self._native.encode(as_native(values[start : start + n]), first_column, words, pool)
            yield Planes(words, n)

    def to_numbers(self, X: Any) -> NDArray[np.float64]:
        """Turn rows into numbers, as exported code reads them.

        If the categories of a column are not all numbers, a category becomes its position among them, and any other
        value infinity. Missing values become NaN, and so do all values of columns without bits. A column of dates and
        times becomes several numbers, elapsed seconds and parts of the calendar; `names` says which.

        Returns
        -------
        float64 array, shape (n_rows, n_columns)

        Examples
        --------
        >>> encoder = Encoder.fit([[39, "private"], [50, "state"], [17, "none"]])
        >>> encoder.to_numbers([[20, "state"], [30, "other"]]).tolist()
        [[20.0, 2.0], [30.0, inf]]
        """
        n_rows, blocks = self._reader.read(X)
        numbers = np.full((n_rows, self.n_columns), np.nan)
        for first_column, values in blocks:
            if values.dtype.kind in "iu" and values.size:
                for extreme in (values.min(), values.max()):
                    check_exact(extreme, self.names[first_column])
            numbers[:, first_column : first_column + values.shape[1]] = values
        return numbers

    def take(self, bit_idx: ArrayLike) -> "Encoder":
        """Make an encoder that gives only some of the bits; it reads the same tables.

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

    def _repr_html_(self) -> str:
        first = {column.name: ", ".join(column.describe()) for column in self.columns[:MAX_SHOWN]}
        return make_table(f"gatewise.Encoder: {self.n_columns} columns, {self.n_bits} bits", first)

    @cached_property
    def _reader(self) -> BlockReader:
        return BlockReader(self.columns, named=self.named)

    @cached_property
    def _native(self) -> _native.Encoder:
        tests = [column.tests() for column in self.columns]
        test_ptr = np.cumsum([0, *(column.n_bits for column in self.columns)]).astype(np.uint32)
        questions = np.array([question for questions, _ in tests for question in questions], np.uint8)
        constants = np.concatenate([np.empty(0), *(constants for _, constants in tests)])
        return _native.Encoder(test_ptr, questions, constants, TARGETS[0])
