"""Permutations that need no table: where a number goes is computed from the number and a key.

In: keys and numbers. Out: pseudorandom words, or the numbers of ``0..n-1`` in another order, one at a time.
Invariant: integers only, so equal arguments give equal results everywhere; the wirings, and with them the files, rest
on that. `docs/format.md` specifies both functions.
"""

import numpy as np
from numpy.typing import NDArray

Words = NDArray[np.uint64]


def mix(words: Words) -> Words:
    """A word that looks random for each word: a step of splitmix64.

    Steele, Lea and Flood, Fast splittable pseudorandom number generators, 2014.

    Parameters
    ----------
    words : uint64 array

    Returns
    -------
    uint64 array of the same shape

    Examples
    --------
    >>> hex(mix(np.array([0], np.uint64))[0])
    '0xe220a8397b1dcdaf'
    """
    mixed = words + np.uint64(0x9E3779B97F4A7C15)
    mixed ^= mixed >> np.uint64(30)
    mixed *= np.uint64(0xBF58476D1CE4E5B9)
    mixed ^= mixed >> np.uint64(27)
    mixed *= np.uint64(0x94D049BB133111EB)
    mixed ^= mixed >> np.uint64(31)
    return mixed


def permute(keys: Words, values: Words, n_values: int) -> Words:
    """Where the permutation of ``0..n_values-1`` that belongs to a key puts a value, for each key and its value.

    Parameters
    ----------
    keys, values : uint64 arrays, shape (n,)
    n_values : int
        At least 1; the values are below it.

    Returns
    -------
    uint64 array, shape (n,)

    Examples
    --------
    >>> keys = np.full(5, 7, np.uint64)
    >>> sorted(permute(keys, np.arange(5, dtype=np.uint64), 5).tolist())
    [0, 1, 2, 3, 4]
    """
    n_bits = (n_values - 1).bit_length()
    walked = _run_network(keys, values, n_bits)
    outside = np.flatnonzero(walked >= n_values)
    while outside.size:
        walked[outside] = _run_network(keys[outside], walked[outside], n_bits)
        outside = outside[walked[outside] >= n_values]
    return walked


def _run_network(keys: Words, values: Words, n_bits: int) -> Words:
    """The Feistel network on `n_bits` bits, each value under its own key."""
    if n_bits == 0:
        return values.copy()
    n_low = n_bits // 2
    n_high = n_bits - n_low
    low, high = values & np.uint64((1 << n_low) - 1), values >> np.uint64(n_low)
    for t in range(24 if n_bits <= 6 else 8):
        tagged = keys ^ np.uint64(t << 32)
        if t % 2 == 0:
            high ^= mix(tagged ^ low) >> np.uint64(64 - n_high)
        elif n_low:
            low ^= mix(tagged ^ high) >> np.uint64(64 - n_low)
    return high << np.uint64(n_low) | low
