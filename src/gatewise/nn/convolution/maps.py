"""FeatureMaps and OrPool2d: the layers around convolutions that have no weights.

In: rows of bits, or maps (..., channels, rows, columns) of values in [0, 1]. Out: maps. `torch.nn.Flatten` leads from
maps to the layers of gates that read rows.
"""

import math
from collections.abc import Sequence

import torch
from torch import Tensor, nn
from torch.nn.functional import max_pool2d

from gatewise.checks import as_integer
from gatewise.nn.base import check_tensor
from gatewise.nn.convolution.base import Level
from gatewise.wiring.layers import as_image_shape
from gatewise.wiring.taps import MAX_CHANNELS
from gatewise.wiring.window import Pair, Shape, Window, pool_taps


class FeatureMaps(nn.Module):
    """Rows of bits as maps, one for each threshold of each channel.

    Parameters
    ----------
    shape : (channels, rows, columns) or (rows, columns)
        Of an image.
    n_thresholds : int
        Bits per value. Both as for `Encoder.images`, which lays out the rows that are read.

    Examples
    --------
    >>> maps = FeatureMaps((1, 2, 2), n_thresholds=3)
    >>> row = torch.tensor([1, 1, 0, 1, 0, 0, 0, 0, 0, 1, 1, 1])  # four pixels, three bits each
    >>> maps(row).tolist()
    [[[1, 1], [0, 1]], [[1, 0], [0, 1]], [[0, 0], [0, 1]]]
    """

    def __init__(self, shape: Sequence[int], n_thresholds: int = 1) -> None:
        super().__init__()
        self.shape = as_image_shape((1, *shape) if len(shape) == 2 else tuple(shape))
        self.n_thresholds = as_integer("n_thresholds", n_thresholds, 1, MAX_CHANNELS)

    @property
    def in_features(self) -> int:
        """Bits of a row."""
        return math.prod(self.shape) * self.n_thresholds

    @property
    def maps_shape(self) -> Shape:
        """(maps, rows, columns) of what it gives."""
        channels, rows, columns = self.shape
        return channels * self.n_thresholds, rows, columns

    def forward(self, x: Tensor) -> Tensor:
        """x: (..., in_features) -> (..., channels * n_thresholds, rows, columns)."""
        check_tensor("x", x)
        if x.ndim < 1 or x.shape[-1] != self.in_features:
            raise ValueError(f"x must have {self.in_features} features for {self}, got shape {tuple(x.shape)}")
        return x.unflatten(-1, (*self.shape, self.n_thresholds)).movedim(-1, -3).flatten(-4, -3)

    def extra_repr(self) -> str:
        return f"{self.shape}, n_thresholds={self.n_thresholds}"


class OrPool2d(nn.Module):
    """The largest value of every window: in a circuit, the OR of its bits.

    The gradient goes to the largest value, to the first of equals, row by row, also when training on bits.

    Parameters
    ----------
    kernel_size : int or (rows, columns)
    stride : int or (rows, columns), optional
        By default the kernel's size. What lies beyond the last whole window is left out.

    Examples
    --------
    >>> OrPool2d(2)(torch.tensor([[[0.0, 1.0, 0.0, 0.0], [0.0, 0.0, 0.0, 0.0]]])).tolist()
    [[[1.0, 0.0]]]
    """

    def __init__(self, kernel_size: int | Pair = 2, stride: int | Pair | None = None) -> None:
        super().__init__()
        self.window = Window(kernel_size, kernel_size if stride is None else stride)

    def shape_after(self, shape: Sequence[int]) -> Shape:
        """(channels, rows, columns) of what it gives for maps of a shape; ValueError if the kernel is larger.

        Examples
        --------
        >>> OrPool2d(2).shape_after((16, 9, 8))
        (16, 4, 4)
        """
        if len(shape) != 3:
            got = " x ".join(map(str, shape))
            raise ValueError(f"maps must have channels, rows and columns, got {got}, in {self}")
        try:
            return shape[0], *self.window.count_positions(shape)
        except ValueError as error:
            raise ValueError(f"{error}, in {self}") from None

    def unroll(self, shape: Sequence[int]) -> list[Level]:
        """Levels of ORs for maps of a shape; see `LogicConv2d.unroll`.

        A window is a full binary tree over its values in order, row by row, filled up with constants 0 at the end.

        Examples
        --------
        >>> [(level.weight, len(level.a)) for level in OrPool2d(2).unroll((16, 8, 8))]
        [(None, 512), (None, 256)]
        """
        channels, rows, columns = self.shape_after(shape)
        taps, n_levels = pool_taps(self.window, channels)
        wires = self.window.unroll(taps, shape, n_levels)
        return [Level(None, a, b, rows * columns) for a, b in wires]

    def forward(self, x: Tensor) -> Tensor:
        """x: (..., channels, rows, columns) -> (..., channels, rows after, columns after)."""
        check_tensor("x", x)
        shape = self.shape_after(x.shape[-3:])
        values = x if x.is_floating_point() else x.to(torch.get_default_dtype())
        pooled = max_pool2d(values.reshape(-1, *x.shape[-3:]), self.window.kernel_size, self.window.stride)
        return pooled.reshape(*x.shape[:-3], *shape)

    def extra_repr(self) -> str:
        kernel, stride = self.window.kernel_size, self.window.stride
        return f"{kernel}" if kernel == stride else f"{kernel}, stride={stride}"
