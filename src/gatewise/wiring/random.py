"""Random wiring: every gate draws its two wires from all of them, evenly. `docs/format.md` specifies it."""

import numpy as np
from numpy.typing import NDArray

from gatewise.wiring.layers import Operands, key_of_layer
from gatewise.wiring.permutation import Words, mix, permute

CHUNK = 2**14  # pins computed at a time, so that the intermediate words stay in the cache


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
    key, n_wires, n_gates = key_of_layer(seed, layer, in_features, out_features)
    wires = _deal(key, 2 * n_gates, n_wires)
    return wires[0::2].copy(), wires[1::2].copy()


def _deal(key: Words, n_pins: int, n_wires: int) -> NDArray[np.int32]:
    """Wire of each pin of the random wiring."""
    # One pin more than needed: the repair of the last gate may take its wire.
    wires = np.empty(n_pins + 1, np.int32)
    for start in range(0, n_pins + 1, CHUNK):
        pins = np.arange(start, min(start + CHUNK, n_pins + 1), dtype=np.uint64)
        deal, position = np.divmod(pins, np.uint64(n_wires))
        wires[start : start + CHUNK] = permute(mix(key ^ deal), position, n_wires)
    if n_wires % 2 and n_wires > 1:
        _repair(wires, n_wires)
    return wires[:n_pins]


def _repair(wires: NDArray[np.int32], n_wires: int) -> None:
    """Part the pins of gates that read one wire twice, in place."""
    first = np.arange(n_wires, len(wires) - 1, 2 * n_wires)
    twice = first[wires[first] == wires[first - 1]]
    wires[twice], wires[twice + 1] = wires[twice + 1], wires[twice]
