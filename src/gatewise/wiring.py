"""Wiring from a seed: which wires the gates of a layer read, computed instead of stored.

In: a seed, a layer's position and its two widths. Out: the operands ``a`` and ``b`` of every gate.
Invariant: these algorithms are part of the `.gw` format: equal arguments give equal wires everywhere, forever.

All arithmetic is modulo 2**64, ``>>`` shifts zeros in, ``^`` is the exclusive or, ``n = in_features``:

* ``mix(x)`` is a step of splitmix64: ``x += 0x9E3779B97F4A7C15; x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EB; return x ^ (x >> 31)``.
* ``key(x) = mix(mix(mix(seed) ^ layer) ^ x)``.
* The permutation of ``0..n-1`` under a key is a Feistel network on k bits, with 2**k the least power of two
  >= n; the low half has ``k // 2`` bits, the high half the others. It has 24 rounds if k <= 6 (short halves mix
  slowly), else 8. In round t, from 0, t even, the high half is xored with the top bits (as many as it has) of
  ``mix(key ^ (t << 32) ^ low half)``; t odd, the low half with those of ``mix(key ^ (t << 32) ^ high half)``.
  Cycle walking: while the result is >= n, the network is applied to it again.

``random`` wiring. Pin ``j`` is operand a of gate ``j / 2`` (j even) or operand b of gate ``(j - 1) / 2`` (j
odd). The pins deal out all n wires once in random order, then once more in another order, and so on: pin ``j``
reads wire ``P(j % n)``, where P is the permutation under ``key(r)`` that belongs to deal ``r = j // n``. Repair:
a gate whose pins lie in two deals could read one wire twice. Where ``P_r(n - 1) = P_{r+1}(0)``, r even, n odd
and n > 1, the first two wires of deal r + 1 change places. So ``a != b``, unless n = 1. Every wire is read
equally often, up to one, and a narrower layer is a prefix of a wider one.

``unique`` wiring. The ``n * (n - 1) / 2`` pairs are gone through once, then once more in another order, and so
on; pass ``c`` renames the wires by the permutation P under ``key(2 * c)`` and takes the rounds in the order of
the permutation of ``0..n_rounds-1`` under ``key(2 * c + 1)``. A gate at position p of round r reads ``P(x)`` and
``P(y)``:

* n even: n - 1 rounds of n / 2 gates, a round-robin tournament. ``x = n - 1, y = r`` for p = 0, else
  ``x = (r + p) % (n - 1), y = (r - p) % (n - 1)``.
* n odd: (n - 1) / 2 rounds of n gates, each round a cycle through all wires (Walecki's). Its vertex 0 is wire
  n - 1, its vertex t is ``(r + t / 2) % (n - 1)``, t even, or ``(r - (t - 1) / 2) % (n - 1)``, t odd. x is vertex
  t and y vertex ``(t + 1) % n``, where ``t = 2 * p % n``: every other edge, so that wires take turns.
* n = 1: every gate reads wire 0 twice.

So no pair is read twice before all are read once, each pass reads every wire equally often, and so does every
prefix of it, up to one. The layer as a whole has more structure than a random one; each round has not.

``local`` wiring. Gates read wires from a neighborhood, in ``m = out_features`` gates with 2m pins, numbered as above:

* In order: the pins go through the wires in ``d = max(1, 2m // 4n)`` passes. All passes but the last have 4n pins,
  the last one has the rest. Pin u, from 0, of a pass of s pins stands for wire ``u * n // s``.
* Shuffled: blocks of pins are permuted. If 2m <= 4096, there is one block. Else blocks begin at pin 0 and at the
  multiples of 4096, layer even, or the odd multiples of 2048, layer odd, that are at most 2m - 2048. Pin
  ``start + i`` of block k, which has s pins, gets the wire that pin ``start + P(i)`` stands for, where P is the
  permutation of ``0..s-1`` under ``key(k)``.
* Repair, n > 1: in each block, from its first gate on, a gate that reads wire x twice exchanges its operand b with
  that of the next gate of the block, cyclically, that does not read x.
* In layer 0, wire w is then input ``Q(w)``, where Q is the permutation of ``0..n-1`` under ``key(2**32)``.

So ``a != b``, unless n = 1, and every wire is read equally often, up to one. Neighboring blocks mix across layers,
because boundaries alternate. Gates far apart share few wires, so a wide circuit can be run piece by piece.
"""

import warnings
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from gatewise.circuit import MAX_WIRES

MAX_SEED = 2**64 - 1
MAX_LAYER = 2**32 - 1
LOCAL_BLOCK = 4096  # pins of the local wiring that are shuffled together
LOCAL_READS = 4  # of a wire by the pins of a pass of the local wiring; the last pass may have up to twice as many
INPUT_TAG = 2**32  # sets the key of the local wiring's inputs apart from those of its blocks
CHUNK = 2**14  # gates or pins computed at a time, so that the intermediate words stay in the cache

Words = NDArray[np.uint64]
Operands = tuple[NDArray[np.int32], NDArray[np.int32]]


def random_wiring(seed: int, layer: int, *, in_features: int, out_features: int) -> Operands:
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
    key, n_wires, n_gates = _checked(seed, layer, in_features, out_features)
    wires = _deal(key, 2 * n_gates, n_wires)
    return wires[0::2].copy(), wires[1::2].copy()


def unique_wiring(seed: int, layer: int, *, in_features: int, out_features: int) -> Operands:
    """Operands of a layer's gates, such that no two gates read the same pair of wires while that is possible.

    Parameters and returns are those of `random_wiring`. Wires are read equally often, up to one; so are pairs.

    Examples
    --------
    >>> a, b = unique_wiring(7, 0, in_features=4, out_features=6)
    >>> sorted((min(pair), max(pair)) for pair in zip(a.tolist(), b.tolist()))
    [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)]
    """
    key, n_wires, n_gates = _checked(seed, layer, in_features, out_features)
    a, b = np.zeros(n_gates, np.int32), np.zeros(n_gates, np.int32)
    for start in range(0, n_gates if n_wires > 1 else 0, CHUNK):
        gates = np.arange(start, min(start + CHUNK, n_gates), dtype=np.uint64)
        a[start : start + CHUNK], b[start : start + CHUNK] = _pair(key, gates, n_wires)
    return a, b


def local_wiring(seed: int, layer: int, *, in_features: int, out_features: int) -> Operands:
    """Operands of a layer's gates, drawn evenly from the wires around the gate's own position.

    Parameters and returns are those of `random_wiring`. Layer 0 draws from inputs of random positions, the same
    ones for neighboring gates. Layers of at most 2,048 gates are wired at random.

    Examples
    --------
    >>> a, b = local_wiring(7, 1, in_features=100_000, out_features=100_000)
    >>> bool(max(abs(a - range(100_000)).max(), abs(b - range(100_000)).max()) < 3 * 2048)
    True
    """
    key, n_wires, n_gates = _checked(seed, layer, in_features, out_features)
    wires = np.empty(2 * n_gates, np.int32)
    for k, (start, end) in enumerate(pairwise(_block_bounds(layer, 2 * n_gates))):
        pins = np.arange(end - start, dtype=np.uint64)
        keys = np.repeat(_mix(key ^ np.array([[k], [INPUT_TAG]], np.uint64)), len(pins), axis=1)
        shuffled = start + _walk(keys[0], pins, len(pins)).astype(np.int64)
        block = _wires_in_order(shuffled, 2 * n_gates, n_wires)
        if n_wires > 1:
            _part_pins(block)
        wires[start:end] = block if layer else _walk(keys[1], block.astype(np.uint64), n_wires)
    return wires[0::2].copy(), wires[1::2].copy()


WIRINGS = {"random": random_wiring, "unique": unique_wiring, "local": local_wiring}


def warn_unread(in_features: int, out_features: int) -> None:
    """Warn if a layer has too few gates to read all its inputs; its result cannot depend on those left out.

    Parameters
    ----------
    in_features, out_features : int

    Examples
    --------
    >>> warn_unread(784, 392)
    """
    n_unread = in_features - 2 * out_features
    if n_unread > 0:
        warnings.warn(
            f"{out_features} gates read at most {2 * out_features} of {in_features} inputs: {n_unread} inputs are "
            f"not read and cannot matter; all are read from {-(-in_features // 2)} gates on",
            stacklevel=3,
        )


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


def _checked(seed: int, layer: int, in_features: int, out_features: int) -> tuple[Words, int, int]:
    """The key of the layer, the number of wires and the number of gates."""
    seed = as_integer("seed", seed, 0, MAX_SEED)
    layer = as_integer("layer", layer, 0, MAX_LAYER)
    n_wires = as_integer("in_features", in_features, 1, MAX_WIRES)
    n_gates = as_integer("out_features", out_features, 0, MAX_WIRES)
    return _mix(_mix(np.array([seed], np.uint64)) ^ np.uint64(layer)), n_wires, n_gates


def _deal(key: Words, n_pins: int, n_wires: int) -> NDArray[np.int32]:
    """Wire of each pin of the random wiring."""
    # One pin more than needed: the repair of the last gate may take its wire.
    wires = np.empty(n_pins + 1, np.int32)
    for start in range(0, n_pins + 1, CHUNK):
        pins = np.arange(start, min(start + CHUNK, n_pins + 1), dtype=np.uint64)
        deal, position = np.divmod(pins, np.uint64(n_wires))
        wires[start : start + CHUNK] = _walk(_mix(key ^ deal), position, n_wires)
    if n_wires % 2 and n_wires > 1:
        _repair(wires, n_wires)
    return wires[:n_pins]


def _repair(wires: NDArray[np.int32], n_wires: int) -> None:
    """Part the pins of gates that read one wire twice, in place."""
    first = np.arange(n_wires, len(wires) - 1, 2 * n_wires)
    twice = first[wires[first] == wires[first - 1]]
    wires[twice], wires[twice + 1] = wires[twice + 1], wires[twice]


def _pair(key: Words, gates: Words, n_wires: int) -> tuple[Words, Words]:
    """The two wires of each gate in the unique wiring of at least two wires."""
    ring = np.uint64(n_wires - 1)
    n_rounds, n_positions = (n_wires - 1, n_wires // 2) if n_wires % 2 == 0 else (n_wires // 2, n_wires)
    index, p = np.divmod(gates, np.uint64(n_positions))
    c, index = np.divmod(index, np.uint64(n_rounds))
    r = _walk(_mix(key ^ (2 * c + 1)), index, n_rounds)
    if n_wires % 2 == 0:
        x = np.where(p == 0, ring, (r + p) % ring)
        y = (r + ring - p) % ring
    else:
        t = 2 * p % n_wires
        x, y = _vertex(r, t, ring), _vertex(r, (t + 1) % n_wires, ring)
    wire_keys = _mix(key ^ (2 * c))
    return _walk(wire_keys, x, n_wires), _walk(wire_keys, y, n_wires)


def _vertex(r: Words, t: Words, ring: np.uint64) -> Words:
    """Vertex t of the cycle of round r: ring, r, r + 1, r - 1, r + 2, ..."""
    on_ring = np.where(t % 2 == 0, r + t // 2, r + ring - t // 2) % ring
    return np.where(t == 0, ring, on_ring)


def _block_bounds(layer: int, n_pins: int) -> list[int]:
    """Where the blocks of the local wiring begin, and the end of the last."""
    half = LOCAL_BLOCK // 2
    first = LOCAL_BLOCK if layer % 2 == 0 else half
    inner = range(first, n_pins - half + 1, LOCAL_BLOCK) if n_pins > LOCAL_BLOCK else ()
    return [0, *inner, n_pins] if n_pins else [0]


def _wires_in_order(pins: NDArray[np.int64], n_pins: int, n_wires: int) -> NDArray[np.int64]:
    """The wires that pins of the local wiring stand for before they are shuffled."""
    size = LOCAL_READS * n_wires
    last = max(1, n_pins // size) - 1
    passes = np.minimum(pins // size, last)
    sizes = np.where(passes == last, n_pins - last * size, size)
    wires: NDArray[np.int64] = (pins - passes * size) * n_wires // sizes
    return wires


def _part_pins(block: NDArray[np.int64]) -> None:
    """Part the pins of gates of the local wiring that read one wire twice, in place."""
    a, b = block[0::2], block[1::2]
    for i in np.flatnonzero(a == b):
        k = i
        while a[i] == b[i]:
            k = (k + 1) % len(a)
            if a[i] not in (a[k], b[k]):
                b[i], b[k] = b[k], b[i]


def _walk(keys: Words, values: Words, n_values: int) -> Words:
    """The permutation of ``0..n_values-1``, each value under its own key."""
    n_bits = (n_values - 1).bit_length()
    walked = _permute(keys, values, n_bits)
    outside = np.flatnonzero(walked >= n_values)
    while outside.size:
        walked[outside] = _permute(keys[outside], walked[outside], n_bits)
        outside = outside[walked[outside] >= n_values]
    return walked


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
