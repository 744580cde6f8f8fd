"""Window: which values of an image's maps a kernel covers at each of its positions, and trees over them.

In: the shape of maps, (channels, rows, columns), and taps: positions in a window, which are counted as those in maps
are. Out: positions in the flattened maps, (channel * rows + row) * columns + column; one beyond the last stands for the
constant 0, which surrounds the maps.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from gatewise.checks import as_integer
from gatewise.wiring.layers import Operands

MAX_KERNEL = 2**10
MAX_DEPTH = 10

Shape: TypeAlias = tuple[int, int, int]
Pair: TypeAlias = tuple[int, int]


@dataclass(frozen=True, init=False)
class Window:
    """How a kernel moves over maps.

    Parameters
    ----------
    kernel_size : int or (rows, columns)
    stride : int or (rows, columns)
        From one position to the next.
    padding : int or (rows, columns)
        Zeros that are added on every side, fewer than the kernel has.

    Examples
    --------
    >>> window = Window(3, stride=2, padding=1)
    >>> window.count_positions((1, 28, 28))
    (14, 14)
    """

    kernel_size: Pair
    stride: Pair = (1, 1)
    padding: Pair = (0, 0)

    def __init__(self, kernel_size: int | Pair, stride: int | Pair = 1, padding: int | Pair = 0) -> None:
        kernel = _as_pair("kernel_size", kernel_size, 1, (MAX_KERNEL, MAX_KERNEL))
        object.__setattr__(self, "kernel_size", kernel)
        object.__setattr__(self, "stride", _as_pair("stride", stride, 1, (MAX_KERNEL, MAX_KERNEL)))
        object.__setattr__(self, "padding", _as_pair("padding", padding, 0, (kernel[0] - 1, kernel[1] - 1)))

    @property
    def n_values(self) -> int:
        """Values of a channel that a window covers."""
        return self.kernel_size[0] * self.kernel_size[1]

    def count_positions(self, shape: Sequence[int]) -> Pair:
        """Rows and columns of positions on maps of a shape; raises ValueError if the kernel is larger than they are."""
        padded = [side + 2 * padding for side, padding in zip(shape[1:], self.padding, strict=True)]
        if any(kernel > side for kernel, side in zip(self.kernel_size, padded, strict=True)):
            with_padding = f", {padded[0]} x {padded[1]} with padding" if any(self.padding) else ""
            rows, columns = self.kernel_size
            raise ValueError(
                f"kernel_size must be at most the maps of {shape[1]} x {shape[2]}{with_padding}, got {rows} x {columns}"
            )
        rows, columns = (
            (side - kernel) // stride + 1
            for side, kernel, stride in zip(padded, self.kernel_size, self.stride, strict=True)
        )
        return rows, columns

    def locate(self, taps: NDArray[np.int32], shape: Sequence[int]) -> NDArray[np.int32]:
        """What taps read at every position, int32 (n_taps, n_positions), positions row by row.

        Parameters
        ----------
        taps : int32 array, (n_taps,)
            One beyond the last value of the window reads the constant 0.
        shape : (channels, rows, columns)

        Examples
        --------
        >>> Window(2, padding=1).locate(np.array([0, 3]), (1, 1, 2)).tolist()
        [[2, 2, 2, 2, 0, 1], [0, 1, 2, 2, 2, 2]]
        """
        channels, rows, columns = shape
        channel, place = np.divmod(taps.astype(np.int64), self.n_values)
        down, right = np.divmod(place, self.kernel_size[1])
        n_down, n_right = self.count_positions(shape)
        row = down[:, None] + (np.arange(n_down) * self.stride[0] - self.padding[0])
        column = right[:, None] + (np.arange(n_right) * self.stride[1] - self.padding[1])
        has_row = (row >= 0) & (row < rows) & (channel < channels)[:, None]
        has_column = (column >= 0) & (column < columns)
        first = ((channel[:, None] * rows + row) * columns).astype(np.int32)
        wires = first[:, :, None] + column[:, None, :].astype(np.int32)
        np.copyto(wires, np.int32(channels * rows * columns), where=~(has_row[:, :, None] & has_column[:, None, :]))
        return wires.reshape(len(taps), -1)

    def unroll(self, taps: NDArray[np.int32], shape: Sequence[int], n_levels: int) -> Iterator[Operands]:
        """The operands of every gate of full binary trees at every position, level by level, leaves first.

        Gate g at position p is number g * n_positions + p of its level. Gate g of a level reads the gates 2g and 2g + 1
        of the level before, at its own position; those of the first level read the maps.

        Parameters
        ----------
        taps : int32 array, (2, n_gates)
            What the first level reads, operand a of all gates, then operand b.
        shape : (channels, rows, columns)
        n_levels : int

        Examples
        --------
        >>> [(a.tolist(), b.tolist()) for a, b in Window(2).unroll(np.array([[0, 1], [2, 3]]), (1, 2, 3), 2)]
        [([0, 1, 1, 2], [3, 4, 4, 5]), ([0, 1], [2, 3])]
        """
        a, b = (self.locate(each, shape) for each in taps)
        n_gates, n_positions = a.shape
        yield a.reshape(-1), b.reshape(-1)
        for _ in range(n_levels - 1):
            below = np.arange(n_gates * n_positions, dtype=np.int32).reshape(-1, 2, n_positions)
            yield below[:, 0].reshape(-1), below[:, 1].reshape(-1)
            n_gates //= 2


def pool_taps(window: Window, channels: int) -> tuple[NDArray[np.int32], int]:
    """Trees that read all values of a window, one for each channel: their taps, (2, n_gates), and their levels.

    Values are read in order, row by row; what a full tree has more of reads the constant 0.

    Examples
    --------
    >>> taps, n_levels = pool_taps(Window(2), 2)
    >>> taps.tolist(), n_levels
    ([[0, 2, 4, 6], [1, 3, 5, 7]], 2)
    """
    n_levels = max(1, (window.n_values - 1).bit_length())
    taps = np.full((channels, 1 << n_levels), channels * window.n_values, np.int32)
    taps[:, : window.n_values] = np.arange(channels * window.n_values, dtype=np.int32).reshape(channels, -1)
    return np.ascontiguousarray(taps.reshape(-1, 2).T), n_levels


def order_maps(shape: Sequence[int], n_thresholds: int) -> NDArray[np.int32]:
    """Which bit of a row each value of the maps is: rows hold the thresholds of a value together, maps are apart.

    Map c * n_thresholds + t holds threshold t of channel c. int32, (channels * n_thresholds * rows * columns,).

    Examples
    --------
    >>> order_maps((1, 1, 3), 2).tolist()
    [0, 2, 4, 1, 3, 5]
    """
    bits = np.arange(np.prod(shape) * n_thresholds, dtype=np.int32).reshape(*shape, n_thresholds)
    return bits.transpose(0, 3, 1, 2).reshape(-1)


def _as_pair(name: str, value: int | Pair, low: int, high: Pair) -> Pair:
    """Rows and columns, which one number stands for, too."""
    if isinstance(value, tuple | list):
        if len(value) != 2:
            raise ValueError(f"{name} must be an integer or (rows, columns), got {value!r:.60}")
        return as_integer(f"{name}[0]", value[0], low, high[0]), as_integer(f"{name}[1]", value[1], low, high[1])
    return as_integer(name, value, low, min(high)), as_integer(name, value, low, min(high))
