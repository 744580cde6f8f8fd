"""Butterfly wiring: wires are paired at distances that are powers of two, so that few layers connect everything.

`docs/format.md` specifies it. The first layer pairs neighboring bits of an image, along columns and rows, at distances
1, 2, 4, ...; each later layer pairs gates at the distances of its own stage and of the stages after it.
"""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gatewise.checks import as_integer
from gatewise.wiring.layers import Operands, as_image_shape, key_of_layer
from gatewise.wiring.permutation import Words, mix

MAX_INPUTS = 2**20

Offset = tuple[int, int, int, int]  # in channels, rows, columns, thresholds


@dataclass(frozen=True)
class ButterflyWiring:
    """Pairs at distances that are powers of two; called as `random_wiring` is.

    Two thresholds of one pixel are never paired: one of them says nothing that the other does not.

    Parameters
    ----------
    shape : (channels, rows, columns)
        Of an image, as for `Encoder.images`. For rows of another kind: (1, 1, number of bits).
    n_thresholds : int
        Bits per value; an image has at most 2**20 bits.

    Examples
    --------
    >>> wiring = ButterflyWiring((1, 4, 4), 1)
    >>> a, b = wiring(7, 0, in_features=16, out_features=16)
    >>> sorted(zip(a.tolist(), b.tolist()))[:3]
    [(0, 1), (1, 2), (2, 3)]
    """

    shape: tuple[int, ...]
    n_thresholds: int = 1

    def __post_init__(self) -> None:
        object.__setattr__(self, "shape", as_image_shape(self.shape))
        object.__setattr__(self, "n_thresholds", as_integer("n_thresholds", self.n_thresholds, 1, MAX_INPUTS))
        if self.n_inputs > MAX_INPUTS:
            raise ValueError(f"shape and n_thresholds must make at most {MAX_INPUTS} inputs, got {self.n_inputs}")

    @property
    def n_inputs(self) -> int:
        """Bits of an image."""
        return math.prod(self.shape) * self.n_thresholds

    def __call__(self, seed: int, layer: int, *, in_features: int, out_features: int) -> Operands:
        """Operands of a layer's gates, int32 arrays of shape (out_features,); see `random_wiring`."""
        key, n_wires, n_gates = key_of_layer(seed, layer, in_features, out_features)
        if layer == 0 and n_wires != self.n_inputs:
            raise ValueError(f"in_features must be {self.n_inputs} for images of {self}, got {n_wires}")
        a, b = np.empty(n_gates, np.int32), np.empty(n_gates, np.int32)
        for stage, start in enumerate(range(0, n_gates, n_wires)):
            wires = _reorder(key, stage, n_wires)[: n_gates - start]
            a[start : start + n_wires] = wires
            other = self._step(wires, stage) if layer == 0 else (wires + _stride(layer - 1 + stage, n_wires)) % n_wires
            b[start : start + n_wires] = other
        return a, b

    def _step(self, wires: NDArray[np.int64], stage: int) -> NDArray[np.int64]:
        """The input that each input is paired with at a stage of the first layer."""
        offsets = self._offsets()
        size = (*self.shape, self.n_thresholds)
        places = np.unravel_index(wires, size)
        moved = [
            (place + step) % side for place, step, side in zip(places, offsets[stage % len(offsets)], size, strict=True)
        ]
        return np.ravel_multi_index(moved, size)

    def _offsets(self) -> list[Offset]:
        """Steps from an input to its neighbors: near ones first, then other channels, then other thresholds."""
        channels, rows, columns = self.shape
        strides = [2**e for e in range((max(rows, columns) - 1).bit_length())]
        near: list[Offset] = []
        for stride in strides:
            near += [(0, 0, stride, 0)] if stride < columns else []
            near += [(0, stride, 0, 0)] if stride < rows else []
        near += [(step, 0, 0, 0) for step in range(1, channels)]
        if columns > 1:
            near += [(0, 0, 1, step) for step in range(1, self.n_thresholds)]
        return near or [(0, 0, 0, 0)]


def _stride(stage: int, n_wires: int) -> int:
    """The distance of a stage: 1, 2, 4, ... and again from 1 when it would reach all wires."""
    return 1 << stage % max(1, (n_wires - 1).bit_length())


def _reorder(key: Words, stage: int, n_wires: int) -> NDArray[np.int64]:
    """The wires in the order i -> (factor * i + first) % n_wires, the factor without a common divisor with n_wires."""
    words = mix(key ^ np.arange(2 * stage, 2 * stage + 2, dtype=np.uint64)) % np.uint64(n_wires)
    factor, first = (int(word) for word in words)
    while math.gcd(factor, n_wires) != 1:
        factor += 1
    return (np.arange(n_wires, dtype=np.int64) * factor + first) % n_wires
