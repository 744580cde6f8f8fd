"""Wiring that knows where pixels are: fixed and random, but the first layers pair what lies close together.

In: the shape of an image. Out: a wiring as `gatewise.wiring` has them, for straight networks.
A gate lies halfway between what it reads. A layer with a reach cuts the image into squares of that side, at a random
offset, and pairs the wires within each square at random; then once more, at another offset, until it has its gates.
So every wire is read equally often, up to what is dropped because the same pair was there already.
"""

from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray

from gatewise.wiring import Operands, unique_wiring

Points = NDArray[np.float64]
MIN_FRESH = 0.2  # of the pairs of a pass: below that, nearly all pairs are taken, and repeated ones are let in


@dataclass(frozen=True)
class NearbyWiring:
    """Pairs of nearby wires in the first layers, `unique_wiring` in the others.

    Parameters
    ----------
    shape : (channels, height, width)
    n_thresholds : int
        Bits a value.
    reach : tuple of float
        Side of the squares in pixels, for the first layers.
    margin : int
        Pixels at each border that are not read.
    """

    shape: tuple[int, ...]
    n_thresholds: int
    reach: tuple[float, ...]
    margin: int = 0

    def __call__(self, seed: int, layer: int, *, in_features: int, out_features: int) -> Operands:
        """Operands of a layer's gates; the layers before it have `in_features` gates each."""
        if layer >= len(self.reach):
            return unique_wiring(seed, layer, in_features=in_features, out_features=out_features)
        pairs = _pair_nearby(self, seed, layer, in_features, out_features)
        if layer == 0:
            pairs = self._read_inputs()[pairs]
        return pairs[:, 0].astype(np.int32), pairs[:, 1].astype(np.int32)

    def place(self, seed: int, layer: int, width: int) -> Points:
        """Row and column of each wire that a layer reads."""
        if layer == 0:
            _, height, columns = self.shape
            pixel = self._read_inputs() // self.n_thresholds % (height * columns)
            return np.stack(np.divmod(pixel, columns), axis=1).astype(float)
        pairs = _pair_nearby(self, seed, layer - 1, width, width)
        points: Points = self.place(seed, layer - 1, width)[pairs].mean(axis=1)
        return points

    def _read_inputs(self) -> NDArray[np.int64]:
        """Inputs inside the margin."""
        inner = slice(self.margin, -self.margin or None)
        inputs = np.arange(np.prod(self.shape) * self.n_thresholds).reshape(*self.shape, self.n_thresholds)
        return inputs[:, inner, inner].reshape(-1)


@cache
def _pair_nearby(wiring: NearbyWiring, seed: int, layer: int, n_wires: int, n_gates: int) -> NDArray[np.int64]:
    """Wires that each gate of a layer reads, shape (n_gates, 2), in random order."""
    random = np.random.default_rng([seed, layer])
    points, reach = wiring.place(seed, layer, n_wires), wiring.reach[layer]
    found, taken, n_found = [], np.empty(0, np.int64), 0
    while n_found < n_gates:
        row, column = np.floor_divide(points + reach * random.random(2), reach).T
        order = np.lexsort((random.random(len(points)), column, row))
        pairs = np.sort(order[: len(order) // 2 * 2].reshape(-1, 2))
        keys = pairs[:, 0] * len(points) + pairs[:, 1]
        fresh = ~np.isin(keys, taken)
        if fresh.mean() < MIN_FRESH:
            fresh[:] = True
        found.append(pairs[fresh])
        taken, n_found = np.concatenate([taken, keys[fresh]]), n_found + int(fresh.sum())
    return random.permutation(np.concatenate(found)[:n_gates])
