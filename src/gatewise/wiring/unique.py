"""Unique wiring: no two gates read the same two wires while that is possible. `docs/format.md` specifies it.

Each round of a round-robin tournament, or each cycle of Walecki's decomposition for odd numbers of wires, pairs wires
in a new way, so no pair has to be remembered.
"""

import numpy as np

from gatewise.wiring.layers import Operands, key_of_layer
from gatewise.wiring.permutation import Words, mix, permute

CHUNK = 2**14  # gates computed at a time, so that the intermediate words stay in the cache


def unique_wiring(seed: int, layer: int, *, in_features: int, out_features: int) -> Operands:
    """Operands of a layer's gates, such that no two gates read the same pair of wires while that is possible.

    Parameters and returns are those of `random_wiring`. Wires are read equally often, up to one; so are pairs.

    Examples
    --------
    >>> a, b = unique_wiring(7, 0, in_features=4, out_features=6)
    >>> sorted((min(pair), max(pair)) for pair in zip(a.tolist(), b.tolist()))
    [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)]
    """
    key, n_wires, n_gates = key_of_layer(seed, layer, in_features, out_features)
    a, b = np.zeros(n_gates, np.int32), np.zeros(n_gates, np.int32)
    for start in range(0, n_gates if n_wires > 1 else 0, CHUNK):
        gates = np.arange(start, min(start + CHUNK, n_gates), dtype=np.uint64)
        a[start : start + CHUNK], b[start : start + CHUNK] = _pair(key, gates, n_wires)
    return a, b


def _pair(key: Words, gates: Words, n_wires: int) -> tuple[Words, Words]:
    """The two wires of each gate in the unique wiring of at least two wires."""
    ring = np.uint64(n_wires - 1)
    n_rounds, n_positions = (n_wires - 1, n_wires // 2) if n_wires % 2 == 0 else (n_wires // 2, n_wires)
    index, p = np.divmod(gates, np.uint64(n_positions))
    c, index = np.divmod(index, np.uint64(n_rounds))
    r = permute(mix(key ^ (2 * c + 1)), index, n_rounds)
    if n_wires % 2 == 0:
        x = np.where(p == 0, ring, (r + p) % ring)
        y = (r + ring - p) % ring
    else:
        t = 2 * p % n_wires
        x, y = _vertex(r, t, ring), _vertex(r, (t + 1) % n_wires, ring)
    wire_keys = mix(key ^ (2 * c))
    return permute(wire_keys, x, n_wires), permute(wire_keys, y, n_wires)


def _vertex(r: Words, t: Words, ring: np.uint64) -> Words:
    """Vertex t of the cycle of round r: ring, r, r + 1, r - 1, r + 2, ..."""
    on_ring = np.where(t % 2 == 0, r + t // 2, r + ring - t // 2) % ring
    return np.where(t == 0, ring, on_ring)
