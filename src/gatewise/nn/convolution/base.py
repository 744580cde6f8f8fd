"""Convolution: trees of gates that are the same at every position of a feature map.

In: the shape of trees and of their windows. Out: a module with a weight for each level of the trees, and the levels
written out for maps of a given shape: what native code and `discretize` read. How the leaves find what they read is up
to its classes, `LogicConv2d` and `LearnedConv2d`.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple, TypedDict

import numpy as np
import torch
from numpy.typing import ArrayLike, NDArray
from torch import Tensor, nn
from torch.nn.functional import unfold

from gatewise.checks import as_integer
from gatewise.nn import functional
from gatewise.nn.base import GateModule, check_bits, check_device, check_tensor, make_parameter, settle_seed
from gatewise.nn.parametrization import Parametrization
from gatewise.nn.sampling import Bitwise, Sampling
from gatewise.wiring.taps import MAX_CHANNELS, Taps
from gatewise.wiring.window import MAX_DEPTH, Pair, Shape, Window


class Level(NamedTuple):
    """Gates at every position, in order: gate g at position p is number g * n_positions + p.

    Parameters
    ----------
    weight : Parameter or None
        In the layout of the parametrization, one column for each gate, shared by all positions; None if all are OR.
    a, b : int32 arrays, (n_gates * n_positions,)
        Operands: positions in the flattened level before; one beyond its last wire stands for the constant 0.
    n_positions : int
    """

    weight: Tensor | None
    a: NDArray[np.int32]
    b: NDArray[np.int32]
    n_positions: int


class Settings(TypedDict, total=False):
    """What every convolution can be told by name, beside what its leaves read; see `LogicConv2d`."""

    depth: int
    stride: int | Pair
    padding: int | Pair
    parametrization: Parametrization | None
    sampling: Sampling | None
    seed: int | None
    position: int
    grad_factor: float
    generator: torch.Generator | None


class Convolution(GateModule):
    """Trees of gates with weights; see `LogicConv2d` for the parameters.

    Attributes
    ----------
    weights : ParameterList
        One for each level, leaves first: that of level j is of out_channels * 2**(depth - 1 - j) gates, those of a tree
        next to each other.
    """

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: int | Pair,
        *,
        leaves: Taps | ArrayLike | None,
        depth: int = 3,
        stride: int | Pair = 1,
        padding: int | Pair = 0,
        parametrization: Parametrization | None = None,
        sampling: Sampling | None = None,
        seed: int | None = None,
        position: int = 0,
        grad_factor: float = 1.0,
        generator: torch.Generator | None = None,
    ) -> None:
        seed, generator = settle_seed(seed, position, generator)
        window = Window(kernel_size, stride, padding)
        own = self._defaults()
        parametrization, sampling = parametrization or own[0], sampling or own[1]
        super().__init__(
            parametrization=parametrization, sampling=sampling, grad_factor=grad_factor, seed=seed, position=position
        )
        self.in_channels = as_integer("in_channels", in_channels, 1, MAX_CHANNELS)
        self.out_channels = as_integer("out_channels", out_channels, 1, MAX_CHANNELS)
        self.depth = as_integer("depth", depth, 1, MAX_DEPTH)
        self.window = window
        sizes = [self.out_channels << level for level in reversed(range(self.depth))]
        self.weights = nn.ParameterList(make_parameter(parametrization.initialize(n, generator)) for n in sizes)
        self._connect(leaves, generator)

    def _defaults(self) -> tuple[Parametrization, Sampling]:
        """What counts if none is given."""
        raise NotImplementedError(f"{type(self).__name__} must tell its parametrization and its sampling")

    def _connect(self, leaves: Taps | ArrayLike | None, generator: torch.Generator) -> None:
        """Keep what the leaves read, or choose from; draw what they learn."""
        raise NotImplementedError(f"{type(self).__name__} must tell what its leaves read")

    @property
    def kernel_size(self) -> Pair:
        """Rows and columns of the kernel."""
        return self.window.kernel_size

    @property
    def n_values(self) -> int:
        """Values of a window, all channels together."""
        return self.in_channels * self.window.n_values

    def taps(self) -> Tensor:
        """What the leaves read: int32 positions in a window, (2, n_gates of the first level)."""
        raise NotImplementedError(f"{type(self).__name__} must tell its taps")

    def gates(self) -> NDArray[np.uint8]:
        """The gate id that every gate stands for, level after level."""
        return np.concatenate([self.parametrization.gates(weight) for weight in self.weights])

    def shape_after(self, shape: Sequence[int]) -> Shape:
        """(channels, rows, columns) of what it gives for maps of a shape; ValueError for maps that it cannot read.

        Examples
        --------
        >>> from gatewise.nn import LogicConv2d
        >>> LogicConv2d(1, 8, 3, stride=2, padding=1, seed=0).shape_after((1, 28, 28))
        (8, 14, 14)
        """
        if len(shape) != 3 or shape[0] != self.in_channels:
            got = " x ".join(map(str, shape))
            raise ValueError(f"maps must have {self.in_channels} channels, rows and columns, got {got}, in {self}")
        try:
            return self.out_channels, *self.window.count_positions(shape)
        except ValueError as error:
            raise ValueError(f"{error}, in {self}") from None

    def unroll(self, shape: Sequence[int]) -> list[Level]:
        """The levels of the trees, written out for maps of a shape, leaves first.

        Parameters
        ----------
        shape : (channels, rows, columns)
            Of what comes in; the first level reads it flattened, in this order.

        Examples
        --------
        >>> from gatewise.nn import LogicConv2d
        >>> levels = LogicConv2d(1, 8, 3, depth=3, seed=0).unroll((1, 28, 28))
        >>> [(len(level.a), level.n_positions) for level in levels]
        [(21632, 676), (10816, 676), (5408, 676)]
        """
        _, rows, columns = self.shape_after(shape)
        wires = self.window.unroll(self.taps().cpu().numpy(), shape, self.depth)
        return [Level(weight, a, b, rows * columns) for weight, (a, b) in zip(self.weights, wires, strict=True)]

    def _run(self, x: Tensor, a: Tensor, b: Tensor) -> Tensor:
        """The trees of what their leaves read, (n, n_gates, n_positions) each, as maps with the leading sizes of x."""
        on_bits = self.training and isinstance(self.sampling, Bitwise)
        weights = list(self.weights)
        if on_bits:
            _, temperature, _ = self.sampling.prepare(weights)
            mixtures = [self.parametrization.relax(weight, temperature) for weight in weights]
        else:
            whole = self.parametrization.coefficients(weights, self.sampling, self.training)
            mixtures = [(part, part) for part in whole.split([weight.shape[1] for weight in weights])]
        for level in mixtures:
            mixed, chosen = (each.to(a.dtype)[:, None] for each in level)
            y = functional.apply_gates_on_bits(a, b, mixed, chosen) if on_bits else functional.apply_gates(a, b, mixed)
            a, b = y[:, 0::2], y[:, 1::2]
        return y.reshape(*x.shape[:-3], *self.shape_after(x.shape[-3:]))

    def _unfold(self, x: Tensor) -> Tensor:
        """The values of every window, (n, n_values, n_positions), with the layer's factor on their gradient."""
        check_tensor("x", x)
        if x.is_complex():
            raise TypeError(f"x must be real, Boolean or integer, got {x.dtype}")
        check_device(self.weights[0], x)
        self.shape_after(x.shape[-3:])
        if self.training and isinstance(self.sampling, Bitwise):
            x = check_bits(x)
        values = x if x.is_floating_point() else x.to(self.weights[0].dtype)
        values = functional.scale_gradient(values, self.grad_factor).reshape(-1, *x.shape[-3:])
        return unfold(values, self.kernel_size, padding=self.window.padding, stride=self.window.stride)

    def extra_repr(self) -> str:
        """The shape, and the settings that are not the default."""
        window = self.window
        shape = [f"{self.in_channels}, {self.out_channels}, kernel_size={window.kernel_size}, depth={self.depth}"]
        shape += [f"stride={window.stride}"] if window.stride != (1, 1) else []
        shape += [f"padding={window.padding}"] if window.padding != (0, 0) else []
        return ", ".join([*shape, *self._settings()])

    def _settings(self) -> Iterator[str]:
        yield f"parametrization={self.parametrization}"
        yield from super()._settings()


def name_layer(kind: str, in_channels: int, out_channels: int, window: Window) -> str:
    """How an error calls a layer that could not be made.

    Examples
    --------
    >>> name_layer("LogicConv2d", 3, 8, Window(3))
    'LogicConv2d(3, 8, kernel_size=(3, 3))'
    """
    return f"{kind}({in_channels}, {out_channels}, kernel_size={window.kernel_size})"
