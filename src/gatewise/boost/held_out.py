"""Rows that the number of terms is chosen by, given apart from those that terms are grown on.

In: a table as bits, and bits of more rows. Out: one table of all of them that knows which are which.
Invariant: no row that is held out has a part in a term, nor in the scores before the first one.
"""

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gatewise.bits import LANES_PER_WORD, Planes
from gatewise.boost.learner import EncodedTable


def hold_out(table: EncodedTable, planes: Planes, weights: NDArray[np.floating[Any]] | None = None) -> EncodedTable:
    """Append rows that are held out. They begin at a whole word; rows of weight 0 lie between.

    Parameters
    ----------
    table : EncodedTable
    planes : Planes
        The rows to hold out, with the bits of the table.
    weights : float array, shape (n_rows,), optional
        Of these rows.

    Examples
    --------
    >>> from gatewise import Encoder
    >>> encoder = Encoder.fit([[1.0], [2.0], [3.0]])
    >>> table = EncodedTable(encoder, encoder.encode([[1.0], [2.0], [3.0]]))
    >>> both = hold_out(table, encoder.encode([[1.5], [2.5]]))
    >>> both.rows.tolist(), both.held_out.tolist()
    ([0, 1, 2], [64, 65])
    """
    first = first_held_out(table)
    known = np.ones(table.planes.n_rows) if table.weights is None else table.weights
    others = np.ones(planes.n_rows) if weights is None else weights
    joined = np.concatenate([known, np.zeros(first - len(known)), others])
    rows = first + np.flatnonzero(others)
    words = np.hstack([table.planes.words, planes.words])
    return replace(table, planes=Planes(words, len(joined)), weights=joined, held_out=rows.astype(np.uint32))


def join_targets(table: EncodedTable, targets: NDArray[Any], others: NDArray[Any]) -> NDArray[Any]:
    """Targets of the rows of `hold_out`; those between are 0.

    Examples
    --------
    >>> from gatewise import Encoder
    >>> encoder = Encoder.fit([[1.0], [2.0]])
    >>> table = EncodedTable(encoder, encoder.encode([[1.0], [2.0]]))
    >>> join_targets(table, np.array([7, 8]), np.array([9]))[[0, 1, 2, 64]].tolist()
    [7, 8, 0, 9]
    """
    between = np.zeros((first_held_out(table) - len(targets), *targets.shape[1:]), targets.dtype)
    return np.concatenate([targets, between, others])


def first_held_out(table: EncodedTable) -> int:
    """Row of a table at which rows that are held out begin."""
    return int(table.planes.words.shape[1]) * LANES_PER_WORD
