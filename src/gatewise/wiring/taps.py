"""Taps from a seed: which values of its window each leaf of a tree of gates reads.

In: a seed, the position of a layer, its channels, its kernel and the depth of its trees. Out: the taps of the first
level of gates, as positions in a window, see `gatewise.wiring.window`; or candidates for them.
Invariant: equal arguments give equal taps, and no gate reads one tap twice.
"""

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from gatewise.checks import as_integer
from gatewise.wiring.layers import key_of_layer
from gatewise.wiring.permutation import Words, mix, permute
from gatewise.wiring.window import Pair

MAX_CHANNELS = 2**20
TAG_CHANNELS, TAG_PLACES, TAG_NEIGHBORS = range(3)


class Taps(Protocol):
    """Tells what the first level of gates reads: int32 (2, out_channels * 2**(depth - 1)), operands a, then b."""

    def __call__(
        self, seed: int, layer: int, *, in_channels: int, out_channels: int, kernel_size: Pair, depth: int
    ) -> NDArray[np.int32]:
        """The gates of a tree stand next to each other."""


@dataclass(frozen=True)
class WindowTaps:
    """Taps in windows of few channels.

    Channels are dealt out to the trees one after the other, in random order, so that all are read about equally often.

    Parameters
    ----------
    channels : int
        That a tree reads from, at most as many as come in.
    """

    channels: int = 2

    def __post_init__(self) -> None:
        object.__setattr__(self, "channels", as_integer("channels", self.channels, 1, MAX_CHANNELS))

    def __call__(
        self, seed: int, layer: int, *, in_channels: int, out_channels: int, kernel_size: Pair, depth: int
    ) -> NDArray[np.int32]:
        """Taps of a layer, int32 (2, out_channels * 2**(depth - 1)), or so many candidates for each; see `Taps`."""
        key, *_ = key_of_layer(seed, layer, in_channels, out_channels)
        chosen = deal_channels(key, in_channels, out_channels, self.channels)
        return _place(self._draw(key, out_channels, 1 << (depth - 1), kernel_size), chosen, kernel_size)

    def _draw(self, key: Words, n_trees: int, n_gates: int, kernel_size: Pair) -> NDArray[np.int64]:
        """Values of a window of the channels that a tree reads, (2, n_trees, n_gates), or (2, n_trees, n_gates, k)."""
        raise NotImplementedError(f"{type(self).__name__} must draw taps")


@dataclass(frozen=True)
class RandomTaps(WindowTaps):
    """Values drawn evenly from a window of few channels, no value twice before all were drawn.

    Parameters
    ----------
    channels : int
        That a tree reads from, at most as many as come in; they are dealt out to the trees one after the other.

    Examples
    --------
    >>> taps = RandomTaps(2)(7, 0, in_channels=4, out_channels=2, kernel_size=(3, 3), depth=3)
    >>> taps.shape, sorted({*(taps.reshape(2, 2, 4)[:, 0] // 9).ravel().tolist()})
    ((2, 8), [2, 3])
    """

    def _draw(self, key: Words, n_trees: int, n_gates: int, kernel_size: Pair) -> NDArray[np.int64]:
        return _draw_pairs(key, count_values(self.channels, kernel_size), n_trees, n_gates)


@dataclass(frozen=True)
class NearbyTaps(WindowTaps):
    """Pairs of values that lie at most `reach` pixels apart, drawn from a window of few channels.

    Parameters
    ----------
    channels : int
        That a tree reads from, dealt out as by `RandomTaps`.
    reach : int
        Largest distance of the two taps of a gate, along rows and along columns.

    Examples
    --------
    >>> a, b = NearbyTaps(1)(7, 0, in_channels=1, out_channels=50, kernel_size=(5, 5), depth=1)
    >>> int(abs(a // 5 - b // 5).max()), int(abs(a % 5 - b % 5).max()), bool((a == b).any())
    (1, 1, False)
    """

    reach: int = 1

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "reach", as_integer("reach", self.reach, 0, MAX_CHANNELS))

    def _draw(self, key: Words, n_trees: int, n_gates: int, kernel_size: Pair) -> NDArray[np.int64]:
        n_values = count_values(self.channels, kernel_size)
        if self.channels == 1 and self.reach == 0:
            raise ValueError("reach must be at least 1 for taps in one channel, got 0")
        first, _ = _draw_pairs(key, n_values, n_trees, n_gates)
        return np.stack([first, self._draw_neighbors(key, first, kernel_size)])

    def _draw_neighbors(self, key: Words, first: NDArray[np.int64], kernel_size: Pair) -> NDArray[np.int64]:
        """Another value near each value, all of them equally likely."""
        rows, columns = kernel_size
        channel, row, column = np.unravel_index(first, (self.channels, rows, columns))
        top, left = np.maximum(row - self.reach, 0), np.maximum(column - self.reach, 0)
        height = np.minimum(row + self.reach, rows - 1) - top + 1
        width = np.minimum(column + self.reach, columns - 1) - left + 1
        own = (channel * height + row - top) * width + column - left
        words = mix(_own_keys(key, TAG_NEIGHBORS, first.size)).reshape(first.shape)
        n_others = self.channels * height * width - 1
        drawn: NDArray[np.int64] = (words % n_others.astype(np.uint64)).astype(np.int64)
        drawn += drawn >= own
        channel, place = np.divmod(drawn, height * width)
        found: NDArray[np.int64] = (channel * rows + top + place // width) * columns + left + place % width
        return found


@dataclass(frozen=True)
class TapCandidates(WindowTaps):
    """Candidates for taps that are learned: `k` values for each operand, all different, from a window of few channels.

    Parameters
    ----------
    channels : int
        That a tree reads from, dealt out as by `RandomTaps`.
    k : int
        Candidates for each operand, at least 2 and at most as many as the window has values.

    Examples
    --------
    >>> TapCandidates(2, k=4)(7, 0, in_channels=4, out_channels=2, kernel_size=(3, 3), depth=3).shape
    (2, 8, 4)
    """

    k: int = 8

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "k", as_integer("k", self.k, 2, MAX_CHANNELS))

    def _draw(self, key: Words, n_trees: int, n_gates: int, kernel_size: Pair) -> NDArray[np.int64]:
        n_values = count_values(self.channels, kernel_size)
        if self.k > n_values:
            raise ValueError(f"k must be at most {n_values}, the values of a window, got {self.k}")
        n_pins = 2 * n_trees * n_gates
        keys = np.repeat(_own_keys(key, TAG_PLACES, n_pins), self.k)
        places = permute(keys, np.tile(np.arange(self.k, dtype=np.uint64), n_pins), n_values).astype(np.int64)
        return places.reshape(2, n_trees, n_gates, self.k)


def deal_channels(key: Words, in_channels: int, out_channels: int, n_each: int) -> NDArray[np.int64]:
    """The channels that each tree reads, all different, (out_channels, n_each); all are read about equally often.

    Examples
    --------
    >>> deal_channels(np.array([7], np.uint64), 4, 4, 2).tolist()
    [[1, 0], [2, 3], [1, 3], [0, 2]]
    """
    if n_each > in_channels:
        raise ValueError(f"channels must be at most {in_channels}, as many as come in, got {n_each}")
    first = n_each * np.arange(out_channels, dtype=np.uint64)
    deal, _ = np.divmod(first, np.uint64(in_channels))
    # A tree that begins in one deal ends in it, so that no channel comes twice.
    slots = first[:, None] + np.arange(n_each, dtype=np.uint64)
    _, places = np.divmod(slots.reshape(-1), np.uint64(in_channels))
    keys = np.repeat(mix(mix(key ^ np.uint64(TAG_CHANNELS)) ^ deal), n_each)
    return permute(keys, places, in_channels).astype(np.int64).reshape(out_channels, n_each)


def count_values(channels: int, kernel_size: Pair) -> int:
    """Values of a window; raises ValueError unless there are two for a gate to read.

    Examples
    --------
    >>> count_values(2, (3, 3))
    18
    """
    n_values = channels * kernel_size[0] * kernel_size[1]
    if n_values < 2:
        raise ValueError("kernel_size and channels must make a window of at least 2 values, got 1 x 1 in one channel")
    return n_values


def _draw_pairs(key: Words, n_values: int, n_trees: int, n_gates: int) -> NDArray[np.int64]:
    """Two values for each gate of each tree, (2, n_trees, n_gates): pairs of a permutation, then of another one."""
    tree = np.arange(n_trees, dtype=np.uint64)[:, None]
    deal, pair = np.divmod(np.arange(n_gates, dtype=np.uint64), np.uint64(n_values // 2))
    keys = np.broadcast_to(mix(mix(mix(key ^ np.uint64(TAG_PLACES)) ^ tree) ^ deal), (n_trees, n_gates)).reshape(-1)
    first = np.broadcast_to(2 * pair, (n_trees, n_gates)).reshape(-1)
    drawn = [permute(keys.copy(), first + np.uint64(side), n_values).astype(np.int64) for side in (0, 1)]
    return np.stack(drawn).reshape(2, n_trees, n_gates)


def _place(values: NDArray[np.int64], chosen: NDArray[np.int64], kernel_size: Pair) -> NDArray[np.int32]:
    """Positions in a window of all channels, of values in windows of the chosen ones; the trees one after the other."""
    n_values = kernel_size[0] * kernel_size[1]
    channel, place = np.divmod(values, n_values)
    tree = np.arange(len(chosen)).reshape(-1, *[1] * (values.ndim - 2))
    placed: NDArray[np.int32] = (chosen[tree, channel] * n_values + place).astype(np.int32)
    return placed.reshape(2, -1, *values.shape[3:])


def _own_keys(key: Words, tag: int, n: int) -> Words:
    """A key for each of n things."""
    return mix(mix(key ^ np.uint64(tag)) ^ np.arange(n, dtype=np.uint64))
