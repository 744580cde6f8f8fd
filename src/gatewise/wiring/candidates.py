"""Candidates from a seed: the wires among which the pins of a layer's gates learn to choose.

In: a seed, a layer's position, its two widths, and which draw it is. Out: the candidates of both pins of every gate, or
those at one place of each pin, in memory that does not grow with k. Another draw gives others in their place.
Invariant: part of the `.gw` format, see `docs/format.md`: equal arguments give equal candidates everywhere, forever.
"""

import math
from dataclasses import dataclass
from typing import Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from gatewise.checks import as_integer
from gatewise.wiring.layers import MAX_LAYER, as_image_shape, key_of_layer
from gatewise.wiring.permutation import Words, mix, permute

MAX_CANDIDATES = 2**20
CHUNK = 2**16  # candidates computed at a time, so that the intermediate words stay in a cache

Places: TypeAlias = NDArray[np.int32]


class Candidates(Protocol):
    """Tells the candidates of both pins of every gate of a layer, as int32 positions in the layer before it."""

    def __call__(
        self, seed: int, layer: int, *, in_features: int, out_features: int, draw: int = 0
    ) -> NDArray[np.int32]:
        """Candidates, int32 (2, out_features, k): pin a of all gates, then pin b; none twice for one pin."""


@dataclass(frozen=True)
class RandomCandidates:
    """Wires from everywhere, `k` for each pin, all different.

    Parameters
    ----------
    k : int
        Candidates per pin, at most as many as there are wires.

    Examples
    --------
    >>> RandomCandidates(3)(7, 0, in_features=6, out_features=2).shape
    (2, 2, 3)
    """

    k: int = 32

    def __post_init__(self) -> None:
        object.__setattr__(self, "k", as_integer("k", self.k, 1, MAX_CANDIDATES))

    def __call__(
        self, seed: int, layer: int, *, in_features: int, out_features: int, draw: int = 0
    ) -> NDArray[np.int32]:
        """Candidates of a layer, int32 (2, out_features, k); see `Candidates`."""
        key, n_wires, n_gates = key_of_layer(seed, layer, in_features, out_features)
        k = self.count(layer, n_wires)
        return _list(_pin_keys(key, draw, n_gates), k, n_wires).astype(np.int32)

    def count(self, layer: int, in_features: int) -> int:
        """Candidates of each pin of a layer."""
        _check_number(self.k, in_features, f"a layer of {in_features} inputs")
        return self.k

    def choose(self, seed: int, layer: int, places: Places, *, in_features: int) -> Places:
        """The candidate at one place of each pin, int32 (2, out_features); places are below `count`, (2, out_features).

        Examples
        --------
        >>> three = RandomCandidates(3)
        >>> found = three(7, 0, in_features=6, out_features=2)
        >>> bool((three.choose(7, 0, np.full((2, 2), 1), in_features=6) == found[:, :, 1]).all())
        True
        """
        key, n_wires, n_gates = key_of_layer(seed, layer, in_features, places.shape[1])
        return _take(_pin_keys(key, 0, n_gates), places, n_wires).astype(np.int32)


@dataclass(frozen=True)
class NearbyCandidates:
    """Bits of nearby pixels in the first layer, wires from everywhere in the others.

    The gates of the first layer are spread evenly over the image. Both pins of a gate choose from one square window,
    all channels and thresholds of it; windows at the border are moved inside.

    Parameters
    ----------
    shape : (channels, rows, columns)
        Of an image, as for `Encoder.images`.
    n_thresholds : int
        Bits per value.
    radius : int
        A window has a side of 2 * radius + 1 pixels.
    k : int
        Candidates per pin, at most as many as a window has bits.

    Examples
    --------
    >>> nearby = NearbyCandidates((1, 28, 28), 1, radius=4, k=32)
    >>> found = nearby(7, 0, in_features=784, out_features=10)
    >>> int((found // 28).max(2).max(0).max() - (found // 28).min(2).min(0).min()) < 28
    True
    """

    shape: tuple[int, ...]
    n_thresholds: int = 1
    radius: int = 4
    k: int = 32

    def __post_init__(self) -> None:
        object.__setattr__(self, "shape", as_image_shape(self.shape))
        for name, least in (("n_thresholds", 1), ("radius", 0), ("k", 1)):
            object.__setattr__(self, name, as_integer(name, getattr(self, name), least, MAX_CANDIDATES))
        _check_number(self.k, math.prod(self._window), f"a window of {' x '.join(map(str, self._window))} bits")

    @property
    def n_inputs(self) -> int:
        """Bits of an image."""
        return math.prod(self.shape) * self.n_thresholds

    @property
    def _window(self) -> tuple[int, int, int, int]:
        """Channels, rows, columns and thresholds of a window."""
        channels, rows, columns = self.shape
        side = 2 * self.radius + 1
        return channels, min(side, rows), min(side, columns), self.n_thresholds

    def __call__(
        self, seed: int, layer: int, *, in_features: int, out_features: int, draw: int = 0
    ) -> NDArray[np.int32]:
        """Candidates of a layer, int32 (2, out_features, k); see `Candidates`."""
        if layer > 0:
            everywhere = self._everywhere(in_features)
            return everywhere(seed, layer, in_features=in_features, out_features=out_features, draw=draw)
        key, n_wires, n_gates = key_of_layer(seed, layer, in_features, out_features)
        k = self.count(layer, n_wires)
        return self._move(key, _list(_pin_keys(key, draw, n_gates), k, math.prod(self._window)))

    def count(self, layer: int, in_features: int) -> int:
        """Candidates of each pin of a layer."""
        if layer > 0:
            return self._everywhere(in_features).k
        if in_features != self.n_inputs:
            raise ValueError(f"in_features must be {self.n_inputs} for images of {self}, got {in_features}")
        return self.k

    def choose(self, seed: int, layer: int, places: Places, *, in_features: int) -> Places:
        """The candidate at one place of each pin; see `RandomCandidates.choose`."""
        if layer > 0:
            return self._everywhere(in_features).choose(seed, layer, places, in_features=in_features)
        key, _, n_gates = key_of_layer(seed, layer, in_features, places.shape[1])
        return self._move(key, _take(_pin_keys(key, 0, n_gates), places, math.prod(self._window)))

    def _everywhere(self, in_features: int) -> RandomCandidates:
        """Those of the layers after the first."""
        return RandomCandidates(min(self.k, in_features))

    def _move(self, key: Words, values: NDArray[np.int64]) -> Places:
        """The inputs that positions in the windows of the gates, (2, n_gates) or (2, n_gates, k), stand for."""
        channel, row, column, threshold = np.unravel_index(values, self._window)
        each = (-1, *[1] * (values.ndim - 2))
        top, left = (corner.reshape(each) for corner in self._place(key, values.shape[1]))
        pixel = (row + top) * self.shape[2] + column + left
        wires = (channel * self.shape[1] * self.shape[2] + pixel) * self.n_thresholds + threshold
        return wires.astype(np.int32)

    def _place(self, key: Words, n_gates: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The top row and left column of each gate's window, around pixels that are dealt out evenly."""
        _, rows, columns = self.shape
        deal, pixel = np.divmod(np.arange(n_gates, dtype=np.uint64), np.uint64(rows * columns))
        center = permute(mix(mix(key) ^ deal), pixel, rows * columns).astype(np.int64)
        _, height, width, _ = self._window
        top = np.clip(center // columns - height // 2, 0, rows - height)
        left = np.clip(center % columns - width // 2, 0, columns - width)
        return top, left


@dataclass(frozen=True)
class AllInputs:
    """Every wire is a candidate: for few inputs.

    Examples
    --------
    >>> AllInputs()(7, 0, in_features=3, out_features=1).tolist()
    [[[0, 1, 2]], [[0, 1, 2]]]
    """

    def __call__(
        self, seed: int, layer: int, *, in_features: int, out_features: int, draw: int = 0
    ) -> NDArray[np.int32]:
        """Candidates of a layer, int32 (2, out_features, in_features); see `Candidates`."""
        _, n_wires, n_gates = key_of_layer(seed, layer, in_features, out_features)
        k = self.count(layer, n_wires)
        return np.tile(np.arange(k, dtype=np.int32), (2, n_gates, 1))

    def count(self, layer: int, in_features: int) -> int:
        """Candidates of each pin of a layer."""
        _check_number(in_features, MAX_CANDIDATES, "a pin")
        return in_features

    def choose(self, seed: int, layer: int, places: Places, *, in_features: int) -> Places:
        """The places themselves; see `RandomCandidates.choose`."""
        return np.array(places, np.int32)


SeededCandidates: TypeAlias = RandomCandidates | NearbyCandidates | AllInputs
"""Those that a file can hold, by their kind and their numbers."""


def _pin_keys(key: Words, draw: int, n_gates: int) -> Words:
    """A key for every pin, (2 * n_gates,): pin a of all gates, then pin b."""
    draw = as_integer("draw", draw, 0, MAX_LAYER)
    return mix(mix(key ^ np.uint64(draw << 32)) ^ np.arange(2 * n_gates, dtype=np.uint64))


def _take(keys: Words, places: Places, n_values: int) -> NDArray[np.int64]:
    """The number below n_values at one place of each pin, (2, n_gates)."""
    values = permute(keys, places.reshape(-1).astype(np.uint64), n_values)
    return values.reshape(places.shape).astype(np.int64)


def _list(keys: Words, k: int, n_values: int) -> NDArray[np.int64]:
    """The numbers below n_values at the first k places of each pin, all different, (2, n_gates, k)."""
    chosen = np.empty((len(keys), k), np.int64)
    places = np.arange(k, dtype=np.uint64)
    rows = max(1, CHUNK // k)
    for start in range(0, len(keys), rows):
        part = keys[start : start + rows]
        values = permute(np.repeat(part, k), np.tile(places, len(part)), n_values)
        chosen[start : start + rows] = values.reshape(-1, k).astype(np.int64)
    return chosen.reshape(2, -1, k)


def _check_number(k: int, most: int, of: str) -> None:
    if k > most:
        raise ValueError(f"k must be at most {most} for {of}, got {k}")
