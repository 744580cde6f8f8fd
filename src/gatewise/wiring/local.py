"""Local wiring: gates read wires around their own position, so that a wide circuit can be run piece by piece.

`docs/format.md` specifies it. Pins, two for each gate, are laid along the wires in order and then shuffled in blocks,
whose boundaries alternate between layers, so that neighboring blocks mix.
"""

from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from gatewise.wiring.layers import Operands, key_of_layer
from gatewise.wiring.permutation import mix, permute

LOCAL_BLOCK = 4096  # pins that are shuffled together
LOCAL_READS = 4  # of a wire by the pins of a pass; the last pass may have up to twice as many
INPUT_TAG = 2**32  # sets the key of the inputs apart from those of the blocks


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
    key, n_wires, n_gates = key_of_layer(seed, layer, in_features, out_features)
    wires = np.empty(2 * n_gates, np.int32)
    for k, (start, end) in enumerate(pairwise(_block_bounds(layer, 2 * n_gates))):
        pins = np.arange(end - start, dtype=np.uint64)
        keys = np.repeat(mix(key ^ np.array([[k], [INPUT_TAG]], np.uint64)), len(pins), axis=1)
        shuffled = start + permute(keys[0], pins, len(pins)).astype(np.int64)
        block = _wires_in_order(shuffled, 2 * n_gates, n_wires)
        if n_wires > 1:
            _part_pins(block)
        wires[start:end] = block if layer else permute(keys[1], block.astype(np.uint64), n_wires)
    return wires[0::2].copy(), wires[1::2].copy()


def _block_bounds(layer: int, n_pins: int) -> list[int]:
    """Where the blocks begin, and the end of the last."""
    half = LOCAL_BLOCK // 2
    first = LOCAL_BLOCK if layer % 2 == 0 else half
    inner = range(first, n_pins - half + 1, LOCAL_BLOCK) if n_pins > LOCAL_BLOCK else ()
    return [0, *inner, n_pins] if n_pins else [0]


def _wires_in_order(pins: NDArray[np.int64], n_pins: int, n_wires: int) -> NDArray[np.int64]:
    """The wires that pins stand for before they are shuffled."""
    size = LOCAL_READS * n_wires
    last = max(1, n_pins // size) - 1
    passes = np.minimum(pins // size, last)
    sizes = np.where(passes == last, n_pins - last * size, size)
    wires: NDArray[np.int64] = (pins - passes * size) * n_wires // sizes
    return wires


def _part_pins(block: NDArray[np.int64]) -> None:
    """Part the pins of gates that read one wire twice, in place."""
    a, b = block[0::2], block[1::2]
    for i in np.flatnonzero(a == b):
        k = i
        while a[i] == b[i]:
            k = (k + 1) % len(a)
            if a[i] not in (a[k], b[k]):
                b[i], b[k] = b[k], b[i]
