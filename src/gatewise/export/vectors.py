"""Rows that exported code is checked with, and what the reference evaluator says about them.

In: an encoder, a circuit, a dtype. Out: `Vectors`. Rows are drawn around what the encoder compares with, so that every
comparison is tried from both sides, with missing, infinite and unknown values.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gatewise.circuit import Circuit
from gatewise.encode import Encoder
from gatewise.encode.columns import Column
from gatewise.export.questions import encode_numbers, is_coded
from gatewise.run.reference import count_groups

N_ROWS = 70
MAX_CELLS = 50_000


@dataclass(frozen=True, eq=False)
class Vectors:
    """Questions and answers.

    Parameters
    ----------
    rows : array of a dtype of exports, shape (n_rows, n_columns)
    bits : bool array, shape (n_rows, n_bits)
    counts : int array, shape (n_rows, n_groups)
    """

    rows: NDArray[Any]
    bits: NDArray[np.bool_]
    counts: NDArray[np.integer[Any]]


def draw_vectors(encoder: Encoder, circuit: Circuit, dtype: str) -> Vectors:
    """Rows of the dtype and their answers, the same at every call.

    Examples
    --------
    >>> vectors = draw_vectors(Encoder.fit([[1.0], [2.0]]), Circuit(1, [], [], [], [2], [0, 1]), "float32")
    >>> (vectors.counts == vectors.bits).all() and (vectors.bits == (vectors.rows > 1.5)).all()
    np.True_
    """
    rng = np.random.default_rng(0)
    n_rows = int(np.clip(MAX_CELLS // max(encoder.n_columns, 1), 3, N_ROWS))
    rows = np.zeros((n_rows, encoder.n_columns), dtype)
    for i, column in enumerate(encoder.columns):
        rows[:, i] = rng.choice(_values_to_try(column, rows.dtype), n_rows)
    bits = encode_numbers(encoder, rows)
    return Vectors(rows, bits, count_groups(circuit, bits))


def spell(numbers: NDArray[np.integer[Any]], width: int) -> NDArray[np.bool_]:
    """Numbers in two's complement, shape (n_rows, width), the least significant bit first.

    Examples
    --------
    >>> spell(np.array([6, -1]), 4).astype(int).tolist()
    [[0, 1, 1, 0], [1, 1, 1, 1]]
    """
    bits: NDArray[np.bool_] = (numbers.astype(np.int64)[:, np.newaxis] >> np.arange(width) & 1).astype(bool)
    return bits


def _values_to_try(column: Column, dtype: np.dtype[Any]) -> NDArray[Any]:
    """What a column is compared with, its neighbors, and values that are special."""
    constants = column.tests()[1] if not is_coded(column) else np.arange(column.n_bits + 2.0)
    if dtype.kind == "f":
        with np.errstate(over="ignore", under="ignore"):
            near = constants.astype(dtype)
            up, down = (np.nextafter(near, dtype.type(limit)) for limit in (np.inf, -np.inf))
        special = np.array([0.0, -0.0, np.inf, -np.inf, np.nan], dtype)
        return np.concatenate([near, up, down, special])
    limits = np.iinfo(dtype)
    near = np.floor(constants)
    wanted = np.concatenate([near - 1, near, near + 1, [0, limits.min, limits.max]])
    tried: NDArray[Any] = np.clip(wanted, limits.min, limits.max).astype(dtype)
    return tried
