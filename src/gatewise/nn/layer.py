"""LogicLayer: relaxed logic gates as a torch module, and how layers run together.

In: values in [0, 1], any leading dimensions; 0/1 of bool and integer types, too. Out: values in [0, 1], or sums per
group. `train()` is soft or sampled, `eval()` is hard: on 0/1 input it computes exactly the circuit that `discretize`
gives. Wiring is part of the state.
"""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import torch
from numpy.typing import ArrayLike, NDArray
from torch import Tensor, nn

from gatewise.nn import functional
from gatewise.nn.base import GateLayer, apply_on_bits, as_bits, check_input, settle_seed, without_autocast
from gatewise.nn.kernels import cuda, native, ops
from gatewise.nn.kernels.ops import Way, choose_way
from gatewise.nn.parametrization import Parametrization, Softmax
from gatewise.nn.relaxation import Probabilistic, Relaxation
from gatewise.nn.sampling import Bitwise, Sampling, Soft
from gatewise.wiring import Wiring, random_wiring, warn_unread


class LogicLayer(GateLayer):
    """A layer of gates with two fixed inputs each and a learned operator.

    Parameters
    ----------
    in_features, out_features : int
    parametrization : Softmax or Light, optional
        The paper's softmax over all 16 gates by default.
    sampling : Soft, HardStraightThrough, Gumbel or Bitwise, optional
        Layers share a `HardStraightThrough` or `Bitwise` to have one temperature.
    relaxation : Relaxation, optional
        Probabilistic, the paper's table, by default; others run in plain torch.
    wiring : `gatewise.wiring.random_wiring`, or another `gatewise.wiring.Wiring`, or two arrays
        Arrays hold the operands of each gate: integers in 0..in_features - 1, (out_features,) each.
    seed : int, optional
        Of wires and weights: layers with one seed, position and shape are equal. Drawn by default.
    position : int
        Of the layer in its network; layers of one seed and different positions get independent wires and weights.
    grad_factor : float
        Multiplies the gradient that goes on to the layer before; above 1 it helps deep networks.
    generator : torch.Generator, optional
        Draws the weights, and the seed if there is none. By default the weights follow from the seed, and a seed that
        is not given is drawn from torch's global generator.

    Examples
    --------
    >>> layer = LogicLayer(4, 8, seed=0)
    >>> layer(torch.rand(5, 4)).shape
    torch.Size([5, 8])
    >>> torch.equal(layer.weight, LogicLayer(4, 8, seed=0).weight)
    True
    """

    a: Tensor
    b: Tensor

    def __init__(
        self,
        in_features: int,
        out_features: int,
        *,
        parametrization: Parametrization | None = None,
        sampling: Sampling | None = None,
        relaxation: Relaxation | None = None,
        wiring: Wiring | tuple[ArrayLike, ArrayLike] = random_wiring,
        seed: int | None = None,
        position: int = 0,
        grad_factor: float = 1.0,
        generator: torch.Generator | None = None,
    ) -> None:
        seed, generator = settle_seed(seed, position, generator)
        super().__init__(
            in_features,
            out_features,
            parametrization=parametrization or Softmax(),
            sampling=sampling or Soft(),
            grad_factor=grad_factor,
            seed=seed,
            position=position,
            generator=generator,
        )
        self.relaxation = relaxation or Probabilistic()
        if callable(wiring):
            warn_unread(in_features, out_features)
            wiring = wiring(seed, position, in_features=in_features, out_features=out_features)
        for name, wires in zip("ab", _check_wires(wiring, in_features, out_features), strict=True):
            self.register_buffer(name, torch.as_tensor(wires))

    @without_autocast
    def forward(self, x: Tensor) -> Tensor:
        """x: (..., in_features) -> (..., out_features)."""
        if self.training and isinstance(self.sampling, Bitwise):
            values = as_bits(self, x)
            y = apply_on_bits(self, *(functional.read_wires(values, wires) for wires in self.wires()))
            return functional.round_gradient(y)
        if isinstance(self.relaxation, Probabilistic):
            return run_layers([self], x)
        if not isinstance(self.parametrization, Softmax):
            raise TypeError(f"parametrization must be Softmax for {self.relaxation}, got {self.parametrization}")
        x = check_input(self, x)
        values = functional.scale_gradient(x.to(self.weight.dtype) if x.dtype == torch.bool else x, self.grad_factor)
        a, b = (functional.read_wires(values, wires) for wires in self.wires())
        gates = self.relaxation.gates(a, b, self.parametrization.operators)
        probabilities = self.parametrization.probabilities(self.weight, self.sampling, self.training)
        return (gates * probabilities.T.to(gates.dtype)).sum(-1)

    def wires(self) -> tuple[Tensor, Tensor]:
        """The operands a and b of every gate, int32 (out_features,) each."""
        return self.a, self.b

    def _settings(self) -> Iterator[str]:
        if self.parametrization.kind != Softmax().kind:
            yield f"parametrization={self.parametrization}"
        if self.relaxation != Probabilistic():
            yield f"relaxation={self.relaxation}"
        yield from super()._settings()

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name != "_stack"}


def run_layers(layers: Sequence[LogicLayer], x: Tensor, groups: int = 0) -> Tensor:
    """Layers of the probabilistic relaxation one after the other, and sums over groups if there are any.

    Parameters
    ----------
    layers : LogicLayers
        Each reads the one before.
    x : (..., in_features)
    groups : int
        Of equal size; 0 for none.

    Returns
    -------
    (..., groups), or (..., out_features) of the last layer

    Examples
    --------
    >>> layers = [LogicLayer(4, 8, seed=0), LogicLayer(8, 6, seed=0, position=1)]
    >>> run_layers(layers, torch.rand(5, 4), groups=2).shape
    torch.Size([5, 2])
    """
    x = check_input(layers[0], x)
    coefficients = _mix_layers(layers)
    grad_factors = tuple(layer.grad_factor for layer in layers)
    way = choose_way([coefficients], x)
    if way is Way.PLAIN:
        values = x.to(coefficients.dtype) if x.dtype == torch.bool else x
        wiring = [(layer.a, layer.b) for layer in layers]
        return functional.evaluate_layers(values, coefficients, wiring, groups=groups, grad_factors=grad_factors)
    rows = x if x.ndim == 2 else x.reshape(-1, x.shape[-1])
    if way is Way.NATIVE:
        y = native.run_stack(rows, coefficients, native_stack(layers, groups), grad_factors)
    else:
        run = cuda.run_layers if way is Way.TRITON else ops.evaluate_layers
        a, b = [layer.a for layer in layers], [layer.b for layer in layers]
        y = run(rows, coefficients, a, b, groups, list(grad_factors))
    return y if x.ndim == 2 else y.reshape(*x.shape[:-1], y.shape[-1])


def native_stack(layers: Sequence[LogicLayer], groups: int) -> native.Stack:
    """The native twin of the wiring, kept with the first layer for as long as the wiring stays the same."""
    # Straight from the buffers: attributes of modules are slow, and this runs at every step.
    operands: list[Any] = [layer._buffers[name] for layer in layers for name in ("a", "b")]
    key = (groups, *map(id, operands), *[operand._version for operand in operands])
    kept = layers[0].__dict__.get("_stack")
    if kept is None or kept[0] != key:
        # The stack holds the operands, so that no other tensor can take over their ids.
        wiring = tuple(zip(operands[::2], operands[1::2], strict=True))
        kept = layers[0].__dict__["_stack"] = key, native.Stack(layers[0].in_features, wiring, groups)
    return kept[1]


def _mix_layers(layers: Sequence[LogicLayer]) -> Tensor:
    """Coefficients of the gates of all layers; neighbors with equal settings are mixed together."""
    runs: list[list[LogicLayer]] = []
    for layer in layers:  # not `itertools.groupby`, whose keys compilers do not follow
        if runs and _is_mixed_as(layer, runs[-1][0]):
            runs[-1].append(layer)
        else:
            runs.append([layer])
    parts = [
        run[0].parametrization.coefficients([layer.weight for layer in run], run[0].sampling, run[0].training)
        for run in runs
    ]
    return parts[0] if len(parts) == 1 else torch.cat(parts)


def _is_mixed_as(layer: LogicLayer, other: LogicLayer) -> bool:
    if layer.parametrization.kind != other.parametrization.kind or layer.training != other.training:
        return False
    mine, theirs = layer.sampling, other.sampling
    if isinstance(mine, nn.Module) and isinstance(theirs, nn.Module):
        return mine.temperature is theirs.temperature  # exporters make two objects of a module that has two owners
    return mine == theirs


def _check_wires(wiring: Any, in_features: int, out_features: int) -> list[NDArray[np.int32]]:
    """Copies of the operands a and b of each gate."""
    try:
        arrays = [np.asarray(wires) for wires in wiring]
        shapes = [(array.dtype.kind, array.shape) for array in arrays]
    except (TypeError, ValueError) as error:
        raise TypeError(f"wiring must be a function or two integer arrays, got {wiring!r:.80}") from error
    if len(arrays) != 2 or any(kind not in "iu" or shape != (out_features,) for kind, shape in shapes):
        got = " and ".join(f"{array.dtype} of shape {array.shape}" for array in arrays) or "none"
        raise ValueError(
            f"wiring must be two integer arrays of shape ({out_features},), one operand per gate, got {got}"
        )
    for name, array in zip("ab", arrays, strict=True):
        wrong = np.flatnonzero((array < 0) | (array >= in_features))
        if len(wrong):
            got = f"{name} = {array[wrong[0]]} at gate {wrong[0]}"
            raise ValueError(f"wiring must be in 0..{in_features - 1}, the inputs of the layer, got {got}")
    return [np.array(array, np.int32) for array in arrays]
