"""Space: all rows that models of the same columns can be given, as cells of columns; and regions of it.

In: encoders, and conditions on columns. Out: regions, the bits of their cells, and rows of values.
Invariant: a region is a product of cells of columns, so the order of thresholds, the exclusion of categories by each
other and the missing value are part of every question; a row that comes out of a region lies in it.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cached_property
from itertools import groupby
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from gatewise.encode import Encoder
from gatewise.encode.columns import is_missing
from gatewise.encode.timed import read_by
from gatewise.verify.cells import Cell, ColumnCells
from gatewise.verify.moments import list_moments

Row: TypeAlias = dict[str, Any]
"""Values by name of the column, as `Model.predict` takes them."""

Given: TypeAlias = Mapping[str, Any]
"""Conditions by name of the column: a pair (low, high) of numbers or of dates, both included, None for no limit; a
value; or a list of values, None for a missing one."""

Cells: TypeAlias = NDArray[np.int64]


class Space:
    """The cells of all columns of one or more encoders.

    Parameters
    ----------
    encoders : sequence of Encoder
        Of the same columns, in the same order.

    Examples
    --------
    >>> encoder = Encoder.fit([{"age": 39, "job": "nurse"}, {"age": 50, "job": "smith"}, {"age": 60, "job": "clerk"}])
    >>> space = Space([encoder])
    >>> region = space.region({"age": (40, 50)})
    >>> region.n_rows, region.row([0, 2])
    (8, {'age': 40, 'job': 'smith'})
    """

    def __init__(self, encoders: Sequence[Encoder]) -> None:
        names = [encoder.table_names for encoder in encoders]
        if any(other != names[0] for other in names):
            raise ValueError(f"models must read the same columns in the same order, got {names!r:.300}")
        self.encoders = tuple(encoders)
        self.names = names[0]
        readers = [[list(own) for _, own in groupby(encoder.columns, read_by)] for encoder in encoders]
        self.columns = tuple(ColumnCells.of(own) for own in zip(*readers, strict=True))
        self.first_bit = np.cumsum([0, *(column.bits.shape[1] for column in self.columns)])
        self.n_bits = int(self.first_bit[-1])

    def inputs(self, encoder_idx: int) -> NDArray[np.int64]:
        """Where the bits of an encoder are among those of the space, which go column by column."""
        return self._inputs[encoder_idx]

    @cached_property
    def _inputs(self) -> list[NDArray[np.int64]]:
        pairs = list(zip(self.first_bit[:-1].tolist(), self.columns, strict=True))
        return [
            np.concatenate([np.empty(0, np.int64), *(first + column.places[k] for first, column in pairs)])
            for k in range(len(self.encoders))
        ]

    def locate(self, X: Any) -> Cells:
        """The cells of rows, (n_rows, n_columns)."""
        pieces = [encoder.transform(X) for encoder in self.encoders]
        bits = np.empty((len(pieces[0]), self.n_bits), bool)
        for encoder_idx, piece in enumerate(pieces):
            bits[:, self.inputs(encoder_idx)] = piece
        found = np.zeros((len(bits), len(self.columns)), np.int64)
        for i, numbers in enumerate(self._numbers):
            own = bits[:, self.first_bit[i] : self.first_bit[i + 1]]
            found[:, i] = [numbers[row.tobytes()] for row in own]
        return found

    def column_idx(self, name: str) -> int:
        """The position of a column; raises ValueError if there is none of that name."""
        if name not in self.names:
            near = ", ".join(map(repr, get_close_matches(str(name), self.names))) or repr(self.names)
            raise ValueError(f"column must be one of the model's {len(self.names)}, got {name!r:.60}; see {near:.300}")
        return self.names.index(name)

    def region(self, given: Given | None = None) -> "Region":
        """All rows that fulfil the conditions."""
        choices = [list(enumerate(column.cells)) for column in self.columns]
        for name, condition in (given or {}).items():
            i = self.column_idx(name)
            choices[i] = self._choose(i, condition)
            if not choices[i]:
                raise ValueError(f"given must leave a value of column {name!r:.60}, got {condition!r:.60}")
        return Region(self, tuple(tuple(choice) for choice in choices))

    def _choose(self, i: int, condition: Any) -> list[tuple[int, Cell]]:
        """The cells of a column, or parts of them, that a condition allows."""
        column = self.columns[i]
        if isinstance(condition, tuple) and column.timed and len(condition) == 2:
            return self.during(i, *condition)
        if isinstance(condition, tuple):
            if column.n_ordered == 0 or len(condition) != 2:
                raise ValueError(
                    f"condition on column {column.name!r:.60} must be a value or a list of values, or of numbers a "
                    f"pair (low, high), got {condition!r:.60}"
                )
            low, high = (-math.inf if condition[0] is None else condition[0]), condition[1]
            return self.between(i, float(low), math.inf if high is None else float(high))
        values = condition if isinstance(condition, list | set | frozenset) else [condition]
        return [self.exactly(i, value) for value in values]

    def between(self, i: int, low: float, high: float) -> list[tuple[int, Cell]]:
        """The parts of a column's cells between two numbers, both included."""
        clipped = [(k, cell.clip(low, high)) for k, cell in enumerate(self.columns[i].cells)]
        return [(k, cell) for k, cell in clipped if cell is not None]

    def during(self, i: int, low: Any, high: Any, near: Any = None) -> list[tuple[int, Cell]]:
        """The cells of a column of dates between two moments, both included; `near` stands for its own cell."""
        moments = list_moments(self.columns[i].timed, low, high)
        moments += [near] * (near is not None)
        if not moments:
            return []
        at = self.locate([self._any_row | {self.names[i]: moment} for moment in moments])[:, i].tolist()
        chosen = dict(zip(at, moments, strict=True))  # the last of equal ones
        return [(k, Cell(value=(chosen[k],))) for k in sorted(chosen)]

    def exactly(self, i: int, value: Any) -> tuple[int, Cell]:
        """The cell of a value, with that value alone in it."""
        return self.pin({self.names[i]: value})[i]

    def pin(self, row: Mapping[str, Any]) -> list[tuple[int, Cell]]:
        """The cell of each value of a row, with that value alone in it; columns that it lacks may be anywhere."""
        whole = self._any_row | {name: row[name] for name in self.names if name in row}
        at = self.locate([whole])[0].tolist()
        plain = [
            None if is_missing(value) else value.item() if isinstance(value, np.generic) else value
            for value in whole.values()
        ]
        return [
            (k, Cell(value=(value,), words="missing" if value is None else None))
            for k, value in zip(at, plain, strict=True)
        ]

    @cached_property
    def _any_row(self) -> Row:
        return {name: column.cells[0].pick() for name, column in zip(self.names, self.columns, strict=True)}

    @cached_property
    def _numbers(self) -> list[dict[bytes, int]]:
        return [{row.tobytes(): k for k, row in enumerate(column.bits)} for column in self.columns]


@dataclass(frozen=True, eq=False)
class Region:
    """A product of cells: for each column those that a row may lie in, by their numbers, perhaps only parts of them.

    A point of a region has a position among its choices for each column.
    """

    space: Space
    choices: tuple[tuple[tuple[int, Cell], ...], ...]

    @cached_property
    def sizes(self) -> NDArray[np.int64]:
        """Number of choices of each column."""
        return np.array([len(choice) for choice in self.choices], np.int64)

    @property
    def n_rows(self) -> int:
        """Number of points."""
        return math.prod(self.sizes.tolist())

    @cached_property
    def bits(self) -> list[NDArray[np.bool_]]:
        """Bits of the choices of each column, (n_choices, n_bits of the column)."""
        pairs = zip(self.space.columns, self.choices, strict=True)
        return [column.bits[[k for k, _ in choice]] for column, choice in pairs]

    def bits_at(self, points: NDArray[np.int64]) -> NDArray[np.bool_]:
        """The bits of points, (n_points, n_bits)."""
        parts = [bits[points[:, i]] for i, bits in enumerate(self.bits)]
        return np.concatenate([np.empty((len(points), 0), bool), *parts], axis=1)

    def fixed_bits(self) -> NDArray[np.int8]:
        """Of each bit of the space, its value if that is the same everywhere, otherwise -1."""
        lows = np.concatenate([np.empty(0, bool), *(bits.all(axis=0) for bits in self.bits)])
        highs = np.concatenate([np.empty(0, bool), *(bits.any(axis=0) for bits in self.bits)])
        return np.where(lows == highs, lows, -1).astype(np.int8)

    def at(self, i: int, positions: Sequence[int]) -> "Region":
        """The part in which a column has only some of its choices."""
        kept = tuple(self.choices[i][k] for k in positions)
        return Region(self.space, (*self.choices[:i], kept, *self.choices[i + 1 :]))

    def row(self, point: Sequence[int] | Cells, near: Mapping[str, Any] | None = None) -> Row:
        """A row of that point: the values of `near` where they lie in its cells, otherwise close to them."""
        pinned = self.space.pin(near) if near else []
        row = {}
        for i, (name, choice) in enumerate(zip(self.space.names, self.choices, strict=True)):
            cell_idx, cell = choice[int(point[i])]
            if near and name in near:
                is_in_cell = pinned[i][0] == cell_idx
                is_whole = cell == self.space.columns[i].cells[cell_idx]
                is_near = is_in_cell and (is_whole or cell.holds(near[name]))
                row[name] = near[name] if is_near else cell.pick(near[name])
            else:
                row[name] = cell.pick()
        return row
