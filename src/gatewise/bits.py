"""Packed layouts of Boolean rows: what comes in is 0/1 arrays, what goes out is the same bits, 8 or 64 to a word.

`PackedRows` keeps a row together, eight features to a byte, as `numpy.packbits` does. `Planes` keeps a feature
together, 64 rows to a word, which is the layout that circuits compute on. Both know their true size, because padding
hides it.
"""

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

LANES_PER_WORD = 64


@dataclass(frozen=True, eq=False)
class PackedRows:
    """Rows packed along their features.

    Parameters
    ----------
    data : uint8 array, shape (n_rows, ceil(n_features / 8))
    n_features : int
    bitorder : {"big", "little"}
        Whether a byte's first feature is its highest or lowest bit, as in `numpy.packbits`.

    Examples
    --------
    >>> rows = np.array([[0, 1, 1], [1, 0, 0]], bool)
    >>> PackedRows(np.packbits(rows, axis=1), 3).unpack().astype(int).tolist()
    [[0, 1, 1], [1, 0, 0]]
    """

    data: NDArray[np.uint8]
    n_features: int
    bitorder: Literal["big", "little"] = "big"

    def __post_init__(self) -> None:
        n_bytes = -(-self.n_features // 8)
        rule = f"shape (n_rows, {n_bytes}) for {self.n_features} features, as np.packbits(rows, axis=1) makes"
        _check_array("data", self.data, np.uint8, n_bytes, rule)
        if self.bitorder not in ("big", "little"):
            raise ValueError(f"bitorder must be 'big' or 'little', got {self.bitorder!r}")

    def __len__(self) -> int:
        return len(self.data)

    def unpack(self) -> NDArray[np.bool_]:
        """The rows as a bool array of shape (n_rows, n_features)."""
        return np.unpackbits(self.data, axis=1, count=self.n_features, bitorder=self.bitorder).astype(bool)


@dataclass(frozen=True, eq=False)
class Planes:
    """Bit-planes: row i of feature f is bit ``i % 64`` of ``words[f, i // 64]``. Bits past the last row are ignored.

    Parameters
    ----------
    words : uint64 array, shape (n_features, ceil(n_rows / 64))
    n_rows : int

    Examples
    --------
    >>> planes = Planes.pack([[0, 1, 1], [1, 0, 1]])
    >>> planes.words.ravel().tolist()
    [2, 1, 3]
    >>> planes.unpack().astype(int).tolist()
    [[0, 1, 1], [1, 0, 1]]
    """

    words: NDArray[np.uint64]
    n_rows: int

    def __post_init__(self) -> None:
        n_words = -(-self.n_rows // LANES_PER_WORD)
        rule = f"shape (n_features, {n_words}) for {self.n_rows} rows"
        _check_array("words", self.words, np.uint64, n_words, rule)

    @classmethod
    def pack(cls, rows: ArrayLike) -> "Planes":
        """Pack 0/1 rows of shape (n_rows, n_features)."""
        columns = np.asarray(rows).T
        n_features, n_rows = columns.shape
        padded = np.zeros((n_features, -(-n_rows // LANES_PER_WORD) * LANES_PER_WORD), bool)
        padded[:, :n_rows] = columns
        octets = np.packbits(padded, axis=1, bitorder="little")
        return cls(octets.view("<u8").astype(np.uint64), n_rows)

    def __len__(self) -> int:
        return self.n_rows

    def unpack(self) -> NDArray[np.bool_]:
        """The rows as a bool array of shape (n_rows, n_features)."""
        octets = np.ascontiguousarray(self.words, dtype="<u8").view(np.uint8)
        return np.unpackbits(octets, axis=1, count=self.n_rows, bitorder="little").T.astype(bool)


def _check_array(name: str, value: object, dtype: type[np.generic], n_columns: int, rule: str) -> None:
    got = type(value).__name__
    if isinstance(value, np.ndarray):
        if value.dtype == dtype and value.ndim == 2 and value.shape[1] == n_columns:
            return
        got = f"{value.dtype} of shape {value.shape}"
    raise ValueError(f"{name} must be a {np.dtype(dtype)} array of {rule}, got {got}")
