"""Lookup tables of up to six inputs, and the two-input gates that compute them.

In: truth tables and the wires that they read. Out: gates to be put behind those wires, and a wire for every table.
Invariant: the wires compute the tables; what a table does not depend on is not read.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gatewise import _native

MAX_TABLE_INPUTS = 6


class Expansion(NamedTuple):
    """Gates as a `Circuit` holds them, and the wire of every table, which may be a constant or one that was there."""

    gate: NDArray[np.uint8]
    a: NDArray[np.int32]
    b: NDArray[np.int32]
    outputs: NDArray[np.int32]


def expand_tables(tables: ArrayLike, wires: ArrayLike, *, n_wires: int) -> Expansion:
    """Gates that compute lookup tables.

    Functions of at most four wires become shortest formulas. A function of more is split at one of its wires, into
    the functions of the others where that wire is false, where it is true, or where both differ, so that it takes the
    fewest gates. Equal gates of all tables are one gate.

    Parameters
    ----------
    tables : bool, (n, 2**k)
        The value of a table at the number whose binary digits its wires are, the first wire the highest; k is 1..6.
    wires : integers, (k, n)
        What each table reads: wires in 0..n_wires - 1, of which 0 is false and 1 is true, as in a `Circuit`.
    n_wires : int
        Wires that there are; the gates come after them.

    Returns
    -------
    gate, a, b, outputs : arrays, (n_gates,) and, of the outputs, (n,)

    Examples
    --------
    >>> majority = [[False, False, False, True, False, True, True, True]]
    >>> made = expand_tables(majority, [[2], [3], [4]], n_wires=5)
    >>> len(made.gate), made.outputs.tolist()
    (4, [8])
    """
    values, read = np.asarray(tables, bool), np.asarray(wires, np.int32)
    k = read.shape[0] if read.ndim == 2 else 0
    if not 1 <= k <= MAX_TABLE_INPUTS or values.shape != (read.shape[1], 2**k):
        got = f"shapes {values.shape} and {read.shape}"
        raise ValueError(f"tables and wires must be (n, 2**k) and (k, n) with k in 1..{MAX_TABLE_INPUTS}, got {got}")
    bits = np.zeros((len(values), 2**MAX_TABLE_INPUTS), np.uint8)
    bits[:, : 2**k] = values
    words = np.packbits(bits, axis=1, bitorder="little").view(np.dtype("<u8"))[:, 0].astype(np.uint64)
    # Natively the first wire is the lowest digit.
    return Expansion(*_native.expand_tables(k, words, np.ascontiguousarray(read[::-1].T).reshape(-1), n_wires))
