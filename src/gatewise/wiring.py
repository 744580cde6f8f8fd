"""Wiring from a seed: which wires the gates of a layer read, computed instead of stored.

In: a seed, a layer's position and its two widths. Out: the operands ``a`` and ``b`` of every gate.
Invariant: this algorithm is part of the `.gw` format: equal arguments give equal wires everywhere, forever.

``random`` wiring. Pin ``j`` is operand a of gate ``j / 2`` (j even) or operand b of gate ``(j - 1) / 2`` (j
odd). The pins deal out all ``n = in_features`` wires once in random order, then once more in another order,
and so on: pin ``j`` reads wire ``P(j % n)``, where P is the permutation of ``0..n-1`` that belongs to deal
``r = j // n``. All arithmetic is modulo 2**64, ``>>`` shifts zeros in, ``^`` is the exclusive or:

* ``mix(x)`` is a step of splitmix64: ``x += 0x9E3779B97F4A7C15; x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EB; return x ^ (x >> 31)``.
* The key of a deal is ``mix(mix(mix(seed) ^ layer) ^ r)``.
* P is a Feistel network on k bits, with 2**k the least power of two >= n; the low half has ``k // 2`` bits,
  the high half the others. It has 24 rounds if k <= 6 (short halves mix slowly), else 8. In round t, from 0,
  t even, the high half is xored with the top bits (as many as it has) of ``mix(key ^ (t << 32) ^ low half)``;
  t odd, the low half with those of ``mix(key ^ (t << 32) ^ high half)``.
* Cycle walking: while the result is >= n, the network is applied to it again.
* Repair: a gate whose pins lie in two deals could read one wire twice. Where ``P_r(n - 1) = P_{r+1}(0)``,
  r even, n odd and n > 1, the first two wires of deal r + 1 change places. So ``a != b``, unless n = 1.

Every wire is read equally often, up to one, and a narrower layer is a prefix of a wider one.
"""

import numpy as np
from numpy.typing import NDArray

from gatewise.circuit import MAX_WIRES

MAX_SEED = 2**64 - 1
MAX_LAYER = 2**32 - 1
BLOCK = 2**14  # pins computed at a time, so that the intermediate words stay in the cache

Words = NDArray[np.uint64]


def random_wiring(
    seed: int, layer: int, *, in_features: int, out_features: int
) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Operands of a layer's gates, drawn evenly from the wires of the layer before.

    Parameters
    ----------
    seed : int
        0..2**64 - 1.
    layer : int
        Position of the layer in its circuit, 0..2**32 - 1; layers get independent wirings.
    in_features : int
        Number of wires to read from, at least 1.
    out_features : int
        Number of gates.

    Returns
    -------
    a, b : int32 arrays, shape (out_features,)
        Indices into the layer before; ``a[i] != b[i]`` unless ``in_features`` is 1.

    Examples
    --------
    >>> a, b = random_wiring(7, 0, in_features=6, out_features=3)
    >>> sorted([*a.tolist(), *b.tolist()])
    [0, 1, 2, 3, 4, 5]
    """
    seed = as_integer("seed", seed, 0, MAX_SEED)
    layer = as_integer("layer", layer, 0, MAX_LAYER)
    in_features = as_integer("in_features", in_features, 1, MAX_WIRES)
    n_pins = 2 * as_integer("out_features", out_features, 0, MAX_WIRES)
    # One pin more than needed: the repair of the last gate may take its wire.
    wires = np.empty(n_pins + 1, np.int32)
    for start in range(0, n_pins + 1, BLOCK):
        pins = np.arange(start, min(start + BLOCK, n_pins + 1), dtype=np.uint64)
        wires[start : start + BLOCK] = _deal(seed, layer, pins, in_features)
    if in_features % 2 and in_features > 1:
        _repair(wires, in_features)
    return wires[0:n_pins:2].copy(), wires[1:n_pins:2].copy()


def as_integer(name: str, value: object, low: int, high: int) -> int:
    """The value as an int; raises ValueError unless it is an integer in ``low..high``.

    Examples
    --------
    >>> as_integer("seed", np.uint64(7), 0, 9)
    7
    """
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or not low <= value <= high:
        raise ValueError(f"{name} must be an integer in {low}..{high}, got {value!r:.60}")
    return int(value)


def _deal(seed: int, layer: int, pins: Words, n_wires: int) -> Words:
    """Wire of each pin, before the repair."""
    deal, position = np.divmod(pins, np.uint64(n_wires))
    keys = _mix(_mix(_mix(np.array([seed], np.uint64)) ^ np.uint64(layer)) ^ deal)
    n_bits = (n_wires - 1).bit_length()
    wires = _permute(keys, position, n_bits)
    outside = np.flatnonzero(wires >= n_wires)
    while outside.size:
        wires[outside] = _permute(keys[outside], wires[outside], n_bits)
        outside = outside[wires[outside] >= n_wires]
    return wires


def _permute(keys: Words, values: Words, n_bits: int) -> Words:
    """The Feistel network on `n_bits` bits, each value under its own key."""
    if n_bits == 0:
        return values.copy()
    n_low = n_bits // 2
    n_high = n_bits - n_low
    low, high = values & np.uint64((1 << n_low) - 1), values >> np.uint64(n_low)
    for t in range(24 if n_bits <= 6 else 8):
        tagged = keys ^ np.uint64(t << 32)
        if t % 2 == 0:
            high ^= _mix(tagged ^ low) >> np.uint64(64 - n_high)
        elif n_low:
            low ^= _mix(tagged ^ high) >> np.uint64(64 - n_low)
    return high << np.uint64(n_low) | low


def _mix(words: Words) -> Words:
    """splitmix64 of each word (Steele, Lea, Flood: Fast splittable pseudorandom number generators, 2014)."""
    mixed = words + np.uint64(0x9E3779B97F4A7C15)
    mixed ^= mixed >> np.uint64(30)
    mixed *= np.uint64(0xBF58476D1CE4E5B9)
    mixed ^= mixed >> np.uint64(27)
    mixed *= np.uint64(0x94D049BB133111EB)
    mixed ^= mixed >> np.uint64(31)
    return mixed


def _repair(wires: NDArray[np.int32], n_wires: int) -> None:
    """Part the pins of gates that read one wire twice, in place."""
    first = np.arange(n_wires, len(wires) - 1, 2 * n_wires)
    twice = first[wires[first] == wires[first - 1]]
    wires[twice], wires[twice + 1] = wires[twice + 1], wires[twice]
