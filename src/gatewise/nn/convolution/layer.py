"""LogicConv2d and LearnedConv2d: convolutions whose kernels are trees of gates.

In: feature maps of values in [0, 1], (..., channels, rows, columns). Out: maps, a channel for each tree. `train()` is
soft or sampled, `eval()` is hard: on 0/1 input it computes exactly the circuit that `discretize` gives.
"""

from collections.abc import Iterator
from typing import Any, Unpack

import numpy as np
import torch
from numpy.typing import ArrayLike, NDArray
from torch import Tensor

from gatewise.nn import functional
from gatewise.nn.base import make_parameter, without_autocast
from gatewise.nn.convolution.base import Convolution, Settings, name_layer
from gatewise.nn.learned import RESIDUAL, pick_places
from gatewise.nn.parametrization import NO_CONSTANTS, Parametrization, Residual, Softmax
from gatewise.nn.sampling import Bitwise, Sampling, Soft
from gatewise.wiring.taps import RandomTaps, TapCandidates, Taps
from gatewise.wiring.window import Pair


class LogicConv2d(Convolution):
    """A convolution of gates: every output channel is a full binary tree over a window of few input channels.

    A tree of depth 3 has eight leaves and seven gates. It is the same at every position; what lies around the maps
    reads 0.

    Parameters
    ----------
    in_channels, out_channels : int
    kernel_size : int or (rows, columns)
        Of the window, at most that of the padded maps.
    taps : RandomTaps, NearbyTaps, a function like them, or an array, optional
        What the leaves read, by default values of two channels. An array holds positions in a window,
        (channel * rows + row) * columns + column, of shape (2, out_channels * 2**(depth - 1)).

    Other Parameters
    ----------------
    depth : int, default 3
        Levels of gates; at depth 1 a tree is one gate with two taps.
    stride, padding : int or (rows, columns)
        As for `torch.nn.Conv2d`.
    parametrization : Softmax or Light, optional
        By default a softmax over all 16 gates that begins near the gate A, as deep trees need.
    sampling, seed, position, grad_factor, generator : optional
        As for `LogicLayer`.

    Examples
    --------
    >>> layer = LogicConv2d(3, 16, 3, depth=3, padding=1, seed=0)
    >>> layer(torch.rand(5, 3, 8, 8)).shape
    torch.Size([5, 16, 8, 8])
    >>> [tuple(weight.shape) for weight in layer.weights]
    [(16, 64), (16, 32), (16, 16)]
    """

    tap_idx: Tensor

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: int | Pair,
        *,
        taps: Taps | ArrayLike | None = None,
        **settings: Unpack[Settings],
    ) -> None:
        super().__init__(in_channels, out_channels, kernel_size, leaves=taps, **settings)

    def _defaults(self) -> tuple[Parametrization, Sampling]:
        return Softmax(initialization=Residual()), Soft()

    def _connect(self, leaves: Taps | ArrayLike | None, generator: torch.Generator) -> None:
        drawn = _draw(self, RandomTaps(min(2, self.in_channels)) if leaves is None else leaves)
        self.register_buffer("tap_idx", torch.as_tensor(_check_taps("taps", drawn, self, 2)))

    def taps(self) -> Tensor:
        """What the leaves read: int32 positions in a window, (2, n_gates of the first level)."""
        return self.tap_idx

    @without_autocast
    def forward(self, x: Tensor) -> Tensor:
        """x: (..., in_channels, rows, columns) -> (..., out_channels, rows after, columns after)."""
        columns = self._unfold(x)
        return self._run(x, *(columns.index_select(1, taps) for taps in self.tap_idx))


class LearnedConv2d(Convolution):
    """A convolution of gates whose leaves learn which values of their window they read.

    Parameters
    ----------
    in_channels, out_channels, kernel_size
        As for `LogicConv2d`.
    candidates : TapCandidates, a function like it, or an array, optional
        What the taps choose from; an array holds positions in a window, (2, out_channels * 2**(depth - 1), k).

    Other Parameters
    ----------------
    parametrization : Softmax or Light, optional
        By default a softmax over all gates but the constants that begins near the gate A.
    sampling : Bitwise, Soft, HardStraightThrough or Gumbel, optional
        `Bitwise` by default; layers share one to have one temperature.
    depth, stride, padding, seed, position, grad_factor, generator : optional
        As for `LogicConv2d`.

    Attributes
    ----------
    candidates : int32 tensor, (2, n_gates of the first level, k)
    pins : Parameter, of the same shape
        Logits of the candidates, from N(0, 1).

    Examples
    --------
    >>> layer = LearnedConv2d(3, 16, 3, depth=2, candidates=TapCandidates(2, k=4), seed=0)
    >>> layer(torch.rand(5, 3, 8, 8) > 0.5).shape, layer.pins.shape
    (torch.Size([5, 16, 6, 6]), torch.Size([2, 32, 4]))
    """

    candidates: Tensor

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: int | Pair,
        *,
        candidates: Taps | ArrayLike | None = None,
        **settings: Unpack[Settings],
    ) -> None:
        super().__init__(in_channels, out_channels, kernel_size, leaves=candidates, **settings)

    @property
    def k(self) -> int:
        """Candidates per tap."""
        return self.candidates.shape[-1]

    def _connect(self, leaves: Taps | ArrayLike | None, generator: torch.Generator) -> None:
        if leaves is None:
            n_channels = min(2, self.in_channels)
            leaves = TapCandidates(n_channels, min(8, n_channels * self.window.n_values))
        drawn = _check_taps("candidates", _draw(self, leaves), self, 3)
        self.register_buffer("candidates", torch.as_tensor(drawn))
        self.pins = make_parameter(torch.randn(*drawn.shape, generator=generator, device=generator.device))

    def _defaults(self) -> tuple[Parametrization, Sampling]:
        return Softmax(NO_CONSTANTS, initialization=Residual(RESIDUAL)), Bitwise()

    def taps(self) -> Tensor:
        """What the leaves read: int32 positions in a window, (2, n_gates of the first level).

        The most probable candidates, the first on ties. Operand b leaves out the tap of operand a if it has another.
        """
        return self._pick(self.pins)

    @without_autocast
    def forward(self, x: Tensor) -> Tensor:
        """x: (..., in_channels, rows, columns) -> (..., out_channels, rows after, columns after)."""
        columns = self._unfold(x)
        if not self.training:
            return self._run(x, *(columns.index_select(1, taps) for taps in self.taps()))
        (logits,), temperature, hard = self.sampling.prepare([self.pins])
        if not hard:
            pins = zip(self.candidates, logits, strict=True)
            return self._run(x, *(functional.mix_taps(columns, *pin, temperature) for pin in pins))
        chosen = zip(self._pick(logits), self.candidates, logits, strict=True)
        return self._run(x, *(functional.choose_taps(columns, *pin, temperature) for pin in chosen))

    def _pick(self, logits: Tensor) -> Tensor:
        return self.candidates.gather(-1, pick_places(self.candidates, logits)[..., None])[..., 0]

    def _settings(self) -> Iterator[str]:
        yield f"k={self.k}"
        yield from super()._settings()


def _draw(layer: Convolution, taps: Taps | ArrayLike) -> Any:
    """Taps or candidates, as given or drawn; errors name the layer."""
    if not callable(taps):
        return taps
    try:
        return taps(
            *layer.seed_and_position(),
            in_channels=layer.in_channels,
            out_channels=layer.out_channels,
            kernel_size=layer.kernel_size,
            depth=layer.depth,
        )
    except ValueError as error:
        raise ValueError(f"{error}, in {_name(layer)}") from None


def _check_taps(name: str, taps: ArrayLike, layer: Convolution, n_axes: int) -> NDArray[np.int32]:
    """A copy of taps or candidates, two for each gate of the first level."""
    array = np.asarray(taps)
    n_gates, n_values = layer.weights[0].shape[1], layer.n_values
    shape = f"(2, {n_gates})" if n_axes == 2 else f"(2, {n_gates}, k), k at least 1"
    if array.dtype.kind not in "iu" or array.ndim != n_axes or array.shape[:2] != (2, n_gates) or not array.size:
        got = f"{array.dtype} of shape {array.shape}, in {_name(layer)}"
        raise ValueError(f"{name} must be integers of shape {shape}, got {got}")
    wrong = np.argwhere((array < 0) | (array >= n_values))
    if len(wrong):
        got = f"{array[tuple(wrong[0])]} at operand {'ab'[wrong[0][0]]} of gate {wrong[0][1]}"
        raise ValueError(f"{name} must be in 0..{n_values - 1}, the values of a window, got {got}, in {_name(layer)}")
    return np.array(array, np.int32)


def _name(layer: Convolution) -> str:
    """How errors call a layer that is not complete yet."""
    return name_layer(type(layer).__name__, layer.in_channels, layer.out_channels, layer.window)
