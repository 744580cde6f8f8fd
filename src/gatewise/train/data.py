"""Rows to learn from, held small in memory, and the batches drawn from them.

In: 0/1 rows (`Bits`, one bit each) or values in [0, 1] (`Values`, float32), one target per row, and perhaps a weight.
Out: shuffled batches as tensors. Rows are checked once, here; targets by the task. The order of an epoch depends on its
seed and number alone, so that a run can be resumed anywhere, and workers that hold parts of the rows agree on every
batch.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple, TypeVar

import numpy as np
import torch
from numpy.typing import ArrayLike, NDArray
from torch import Tensor

from gatewise.bits import PackedRows

CHUNK_ROWS = 4096  # rows checked and packed at once
CHUNK_BYTES = 2**19  # batches are unpacked together up to this size, which fits into a cache


class Bits:
    """Rows of bits, packed eight to a byte, with their targets.

    Parameters
    ----------
    rows : (n_rows, n_features) of 0 and 1 in any dtype, or PackedRows
        Read in pieces, so that memory-mapped arrays stay on the disk.
    targets : (n_rows,) or (n_rows, n_outputs)
    weights : (n_rows,), optional
        How much each row counts, in the loss and in scores; only their ratios matter.

    Examples
    --------
    >>> data = Bits([[0, 1, 1], [1, 0, 0]], [0, 1])
    >>> len(data), data.n_features, data.nbytes
    (2, 3, 18)
    """

    def __init__(self, rows: ArrayLike | PackedRows, targets: ArrayLike, weights: ArrayLike | None = None) -> None:
        self.packed = _in_rows(rows) if isinstance(rows, PackedRows) else _pack(_as_matrix(rows))
        self.targets = _check_targets(targets, len(self.packed))
        self.weights = _check_weights(weights, len(self.packed))

    def __len__(self) -> int:
        return len(self.packed)

    @property
    def n_features(self) -> int:
        """Bits per row."""
        return self.packed.n_features

    @property
    def nbytes(self) -> int:
        """Memory of rows, targets and weights."""
        return _n_bytes(self.packed.data, self.targets, self.weights)

    def read(self, row_idx: NDArray[np.int64]) -> Tensor:
        """The rows at these positions as a bool tensor, (len(row_idx), n_features)."""
        packed = self.packed
        rows = packed.data.take(row_idx, axis=0)  # many times faster than indexing, as are whole bytes below
        bits = np.unpackbits(rows.reshape(-1), bitorder=packed.bitorder).reshape(len(rows), 8 * rows.shape[1])
        return torch.from_numpy(bits[:, : packed.n_features].view(np.bool_))

    def take(self, row_idx: NDArray[np.int64]) -> "Bits":
        """The rows at these positions, their targets and weights."""
        packed = PackedRows(self.packed.data[row_idx], self.packed.n_features, self.packed.bitorder)
        return Bits(packed, self.targets[row_idx], _pick(self.weights, row_idx))

    def with_targets(self, targets: ArrayLike) -> "Bits":
        """The same rows with other targets."""
        return Bits(self.packed, targets, self.weights)


class Values:
    """Rows of values between 0 and 1, float32, with their targets. A circuit sees them as ``rows > 0.5``.

    Parameters
    ----------
    rows : (n_rows, n_features)
    targets : (n_rows,) or (n_rows, n_outputs)
    weights : (n_rows,), optional
        How much each row counts, in the loss and in scores; only their ratios matter.

    Examples
    --------
    >>> data = Values([[0.2, 0.9]], [1.5])
    >>> data.packed.unpack().tolist()
    [[False, True]]
    """

    def __init__(self, rows: ArrayLike, targets: ArrayLike, weights: ArrayLike | None = None) -> None:
        self.rows = np.ascontiguousarray(_as_matrix(rows), np.float32)
        for start in range(0, len(self.rows), CHUNK_ROWS):
            _check_interval(self.rows[start : start + CHUNK_ROWS], start)
        self.packed = PackedRows(np.packbits(self.rows > 0.5, axis=1), self.rows.shape[1])
        self.targets = _check_targets(targets, len(self.rows))
        self.weights = _check_weights(weights, len(self.rows))

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def n_features(self) -> int:
        """Values per row."""
        return self.packed.n_features

    @property
    def nbytes(self) -> int:
        """Memory of rows, targets and weights."""
        return _n_bytes(self.rows, self.packed.data, self.targets, self.weights)

    def read(self, row_idx: NDArray[np.int64]) -> Tensor:
        """The rows at these positions as a float32 tensor, (len(row_idx), n_features)."""
        return torch.from_numpy(self.rows[row_idx])

    def take(self, row_idx: NDArray[np.int64]) -> "Values":
        """The rows at these positions, their targets and weights."""
        return Values(self.rows[row_idx], self.targets[row_idx], _pick(self.weights, row_idx))

    def with_targets(self, targets: ArrayLike) -> "Values":
        """The same rows with other targets."""
        return Values(self.rows, targets, self.weights)


Data = Bits | Values
Rows = TypeVar("Rows", Bits, Values)


def split(data: Rows, share: float, *, seed: int = 0) -> tuple[Rows, Rows]:
    """Rows to train with and rows to validate with, at random, the same share of every class.

    Parameters
    ----------
    data : Bits or Values
        Integers and Booleans of one dimension are taken for classes, and each class must have two rows at least.
    share : float
        Of the rows to validate with, between 0 and 1.
    seed : int

    Returns
    -------
    training, validation : as `data`

    Examples
    --------
    >>> training, validation = split(Bits(np.eye(10), [0, 1] * 5), 0.2)
    >>> sorted(validation.targets.tolist())
    [0, 1]
    """
    if not 0 < share < 1:
        raise ValueError(f"share must be between 0 and 1, got {share}")
    targets = data.targets
    is_class = targets.ndim == 1 and targets.dtype.kind in "biu"
    names, class_of = np.unique(targets, return_inverse=True) if is_class else (None, np.zeros(len(data), np.int64))
    order = np.random.default_rng(seed).permutation(len(data))
    validates = np.zeros(len(data), bool)
    for which in range(1 if names is None else len(names)):
        members = order[class_of[order] == which]
        if len(members) < 2:
            what = "data" if names is None else f"class {names[which]}"
            raise ValueError(f"{what} must have at least 2 rows to be split, got {len(members)}")
        validates[members[: min(max(round(share * len(members)), 1), len(members) - 1)]] = True
    return data.take(np.flatnonzero(~validates)), data.take(np.flatnonzero(validates))


class Chunk(NamedTuple):
    """Consecutive batches: this worker's rows, targets and weights, how many each batch has, and of all workers'."""

    x: Tensor
    y: Tensor
    weight: Tensor | None
    sizes: list[int]
    joint_sizes: list[int]


def draw_chunks(
    data: Data,
    order: NDArray[np.int64],
    batch_size: int,
    *,
    first_row: int = 0,
    skip: int = 0,
    max_batches: int | None = None,
) -> Iterator[Chunk]:
    """The batches of an epoch, as many at once as fit into a cache.

    Parameters
    ----------
    data : Bits or Values
        Rows ``first_row`` and following of all rows; the others are with other workers.
    order : int64, (n_joint_rows,)
        Of all rows; the batches are its consecutive pieces.
    batch_size : int
        Rows of all workers together; the last batch may be smaller.
    first_row : int
    skip : int
        Batches to leave out at the beginning.
    max_batches : int, optional
        Of a chunk.

    Examples
    --------
    >>> data = Bits(np.eye(3), [10, 11, 12])
    >>> [chunk.y.tolist() for chunk in draw_chunks(data, np.array([2, 0, 1]), 2, max_batches=1)]
    [[12, 10], [11]]
    """
    starts = np.arange(skip * batch_size, len(order), batch_size)
    is_own = (order >= first_row) & (order < first_row + len(data))
    own = order[is_own] - first_row
    ends = np.append(0, np.cumsum(is_own))[np.append(starts, len(order))]  # of this worker's part of each batch
    joint_sizes = np.diff(np.append(starts, len(order)))
    n_together = max(1, min(CHUNK_BYTES // (batch_size * data.n_features), max_batches or len(starts)))
    for chunk in range(0, len(starts), n_together):
        bounds = ends[chunk : chunk + n_together + 1]
        row_idx = own[bounds[0] : bounds[-1]]
        y = torch.from_numpy(data.targets.take(row_idx, axis=0))
        picked = _pick(data.weights, row_idx)
        weight = None if picked is None else torch.from_numpy(picked)
        sizes = np.diff(bounds).tolist()
        yield Chunk(data.read(row_idx), y, weight, sizes, joint_sizes[chunk : chunk + n_together].tolist())


def shuffle(n_rows: int, *, seed: int, epoch: int) -> NDArray[np.int64]:
    """The order of the rows in an epoch.

    Examples
    --------
    >>> sorted(shuffle(4, seed=0, epoch=7).tolist())
    [0, 1, 2, 3]
    """
    return np.random.default_rng([seed, epoch]).permutation(n_rows)


def _as_matrix(rows: ArrayLike) -> NDArray[Any]:
    array = np.asarray(rows)
    if array.ndim != 2 or 0 in array.shape:
        raise ValueError(f"rows must have shape (n_rows, n_features) with at least one of each, got {array.shape}")
    if array.dtype.kind not in "biuf":
        raise TypeError(f"rows must be Boolean or numbers, got {array.dtype}")
    return array


def _pack(rows: NDArray[Any]) -> PackedRows:
    packed = np.empty((len(rows), -(-rows.shape[1] // 8)), np.uint8)
    for start in range(0, len(rows), CHUNK_ROWS):
        piece = np.asarray(rows[start : start + CHUNK_ROWS])
        if piece.dtype != np.bool_:
            _check_interval(piece, start)
            _refuse((piece != 0) & (piece != 1), piece, start, "0 or 1; for values between them use train.Values")
        packed[start : start + CHUNK_ROWS] = np.packbits(piece != 0, axis=1)
    return PackedRows(packed, rows.shape[1])


def _check_interval(piece: NDArray[Any], start: int) -> None:
    _refuse(~((piece >= 0) & (piece <= 1)), piece, start, "in [0, 1]")  # NaN compares false


def _refuse(wrong: NDArray[np.bool_], piece: NDArray[Any], start: int, rule: str) -> None:
    if wrong.any():
        row, column = np.argwhere(wrong)[0]
        raise ValueError(f"rows must be {rule}, got {piece[row, column]} at row {start + row}, column {column}")


def _in_rows(packed: PackedRows) -> PackedRows:
    """The same bits with the bytes of a row next to each other: `take` would copy everything else at every batch."""
    if packed.data.flags.c_contiguous:
        return packed
    return PackedRows(np.ascontiguousarray(packed.data), packed.n_features, packed.bitorder)


def _check_targets(targets: ArrayLike, n_rows: int) -> NDArray[Any]:
    array = np.asarray(targets)
    if array.ndim not in (1, 2) or len(array) != n_rows:
        raise ValueError(f"targets must have shape ({n_rows},) or ({n_rows}, n_outputs), got {array.shape}")
    return array


def _check_weights(weights: ArrayLike | None, n_rows: int) -> NDArray[np.float32] | None:
    if weights is None:
        return None
    array = np.asarray(weights, np.float32)
    if array.shape != (n_rows,):
        raise ValueError(f"weights must have shape ({n_rows},), got {array.shape}")
    wrong = ~((array >= 0) & np.isfinite(array))
    if wrong.any():
        row = np.flatnonzero(wrong)[0]
        raise ValueError(f"weights must be finite and at least 0, got {array[row]} at row {row}")
    return array


def _pick(weights: NDArray[np.float32] | None, row_idx: NDArray[np.int64]) -> NDArray[np.float32] | None:
    return None if weights is None else weights.take(row_idx)


def _n_bytes(*arrays: NDArray[Any] | None) -> int:
    return sum(array.nbytes for array in arrays if array is not None)
