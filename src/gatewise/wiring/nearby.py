"""Nearby wiring: the first layers of an image network pair wires that lie close together.

`docs/format.md` specifies it. A gate lies halfway between what it reads. A layer with a reach cuts the image into
squares of that side, at a random offset, and pairs the wires within each square at random; then once more, at another
offset, until it has its gates.
"""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gatewise.checks import as_integer
from gatewise.wiring.layers import Operands, as_image_shape, key_of_layer
from gatewise.wiring.permutation import Words, mix, permute
from gatewise.wiring.unique import unique_wiring

PIXEL = 256  # units of length in a pixel: positions are integers, so that they are the same on every machine
MAX_INPUTS = 2**20
MAX_REACHES = 16  # by then the gates lie close to the center; it bounds the work of later layers
MAX_PASSES = 1024  # the pairs of so many passes are used again if there are more gates
MIN_FRESH = 5  # if fewer than one pair of a pass in so many is new, nearly all are found, and known ones are let in

Pairs = NDArray[np.int64]


@dataclass(frozen=True)
class NearbyWiring:
    """Pairs of nearby wires in the first layers, `unique_wiring` in the others; called as `random_wiring` is.

    The layers that have a reach should have equally many gates, since the places of a layer's gates are computed as
    though all layers before it were as wide.

    Parameters
    ----------
    shape : (channels, rows, columns)
        Of an image, as for `Encoder.images`.
    n_thresholds : int
        Bits per value; an image has at most 2**20 bits.
    reach : tuple of int
        Side of the squares in pixels, for the first layers: at least one of them and at most 16.
    margin : int
        Pixels at each border that the first layer does not read.

    Examples
    --------
    >>> wiring = NearbyWiring((1, 28, 28), 1, reach=(5, 8), margin=4)
    >>> a, b = wiring(7, 0, in_features=784, out_features=1000)
    >>> int(abs(a // 28 - b // 28).max()) < 28
    True
    """

    shape: tuple[int, ...]
    n_thresholds: int
    reach: tuple[int, ...]
    margin: int = 0

    def __post_init__(self) -> None:
        shape = as_image_shape(self.shape)
        n_thresholds = as_integer("n_thresholds", self.n_thresholds, 1, MAX_INPUTS)
        if math.prod(shape) * n_thresholds > MAX_INPUTS:
            n_inputs = math.prod(shape) * n_thresholds
            raise ValueError(f"shape and n_thresholds must make at most {MAX_INPUTS} inputs, got {n_inputs}")
        if not isinstance(self.reach, tuple | list) or not 1 <= len(self.reach) <= MAX_REACHES:
            raise ValueError(f"reach must be a tuple of 1..{MAX_REACHES} integers, got {self.reach!r:.60}")
        reach = tuple(as_integer(f"reach[{i}]", side, 1, MAX_INPUTS) for i, side in enumerate(self.reach))
        margin = as_integer("margin", self.margin, 0, (min(shape[1:]) - 1) // 2)
        for name, value in (("shape", shape), ("n_thresholds", n_thresholds), ("reach", reach), ("margin", margin)):
            object.__setattr__(self, name, value)

    @property
    def n_inputs(self) -> int:
        """Bits of an image."""
        return math.prod(self.shape) * self.n_thresholds

    def __call__(self, seed: int, layer: int, *, in_features: int, out_features: int) -> Operands:
        """Operands of a layer's gates, int32 arrays of shape (out_features,); see `random_wiring`."""
        key, n_wires, n_gates = key_of_layer(seed, layer, in_features, out_features)
        if layer >= len(self.reach):
            return unique_wiring(seed, layer, in_features=n_wires, out_features=n_gates)
        if layer == 0 and n_wires != self.n_inputs:
            raise ValueError(f"in_features must be {self.n_inputs} for images of {self}, got {n_wires}")
        pairs = _pair_wires(self.place(seed, layer, n_wires), self.reach[layer] * PIXEL, key, n_gates)
        if layer == 0:
            pairs = self._read_inputs()[pairs]
        return pairs[:, 0].astype(np.int32), pairs[:, 1].astype(np.int32)

    def place(self, seed: int, layer: int, in_features: int) -> Pairs:
        """Row and column of each wire that a layer with a reach may read, in 1/256 of a pixel.

        Returns
        -------
        int64 array, shape (n_wires, 2)
            For layer 0 of the inputs inside the margin, else of all `in_features` gates of the layer before.
        """
        columns = self.shape[2]
        pixel = self._read_inputs() // self.n_thresholds % (self.shape[1] * columns)
        places = np.stack(np.divmod(pixel, columns), axis=1) * PIXEL
        for before in range(layer):
            key = key_of_layer(seed, before, in_features, in_features)[0]
            pairs = _pair_wires(places, self.reach[before] * PIXEL, key, in_features)
            places = (places[pairs[:, 0]] + places[pairs[:, 1]]) // 2
        return places

    def _read_inputs(self) -> Pairs:
        """Inputs inside the margin, in rising order."""
        inner = slice(self.margin, -self.margin or None)
        inputs = np.arange(self.n_inputs).reshape(*self.shape, self.n_thresholds)
        return inputs[:, inner, inner].reshape(-1)


def _pair_wires(places: Pairs, side: int, layer_key: Words, n_gates: int) -> Pairs:
    """Positions in `places` that each gate of a layer reads, shape (n_gates, 2), the lower one first."""
    if len(places) == 1:
        return np.zeros((n_gates, 2), np.int64)
    found, n_found = [np.empty((0, 2), np.int64)], 0
    known = np.empty(0, np.int64)  # sorted
    for c in range(MAX_PASSES):
        pairs = _pair_once(places, side, layer_key, c)
        ids = pairs[:, 0] * len(places) + pairs[:, 1]
        at = np.searchsorted(known, ids)
        is_fresh = np.append(known, -1)[at] != ids
        fresh = np.argsort(ids[is_fresh])
        known = np.insert(known, at[is_fresh][fresh], ids[is_fresh][fresh])
        found.append(pairs[is_fresh] if MIN_FRESH * len(fresh) >= len(pairs) else pairs)
        n_found += len(found[-1])
        if n_found >= n_gates:
            break
    kept = np.concatenate(found)[: max(n_gates, 1)]
    gates = np.arange(n_gates, dtype=np.uint64)
    order = permute(np.repeat(mix(layer_key ^ np.uint64(3)), n_gates), gates, max(n_gates, 1))
    return kept[(order % np.uint64(len(kept))).astype(np.int64)]


def _pair_once(places: Pairs, side: int, layer_key: Words, c: int) -> Pairs:
    """Pass c: every wire, but an odd last one, paired with another one, mostly of its own square."""
    keys = mix(layer_key ^ np.arange(4 * c, 4 * c + 3, dtype=np.uint64))
    offset = (keys[:2] % np.uint64(side)).astype(np.int64)
    row, column = ((places + offset) // side).T
    wires = np.arange(len(places), dtype=np.uint64)
    rank = permute(np.repeat(keys[2], len(wires)), wires, len(wires))
    order = np.lexsort((rank, column, row))
    return np.sort(order[: len(order) // 2 * 2].reshape(-1, 2), axis=1)
