"""LogicLayer: relaxed logic gates as a torch module, and how layers run together.

In: values in [0, 1], any leading dimensions; 0/1 of bool and integer types, too. Out: values in [0, 1], or sums per
group. `train()` is soft or sampled, `eval()` is hard: on 0/1 input it computes exactly the circuit that `discretize`
gives. Wiring is part of the state.
"""

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Any

import numpy as np
import torch
from numpy.typing import ArrayLike, NDArray
from torch import Tensor, nn

from gatewise.checks import MAX_SEED, as_integer
from gatewise.nn import functional, native
from gatewise.nn.parametrization import Parametrization, Softmax
from gatewise.nn.relaxation import Probabilistic, Relaxation
from gatewise.nn.sampling import Sampling, Soft
from gatewise.wiring import Wiring, random_wiring, warn_unread
from gatewise.wiring.layers import MAX_LAYER


class LogicLayer(nn.Module):
    """A layer of gates with two fixed inputs each and a learned operator.

    Parameters
    ----------
    in_features, out_features : int
    parametrization : Softmax or Light, optional
        The paper's softmax over all 16 gates by default.
    sampling : Soft, HardStraightThrough or Gumbel, optional
        Layers that share one `HardStraightThrough` adapt together.
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
    seed: Tensor

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
        super().__init__()
        if in_features < 1 or out_features < 1:
            raise ValueError(f"in_features and out_features must be at least 1, got {in_features} and {out_features}")
        self.in_features, self.out_features = in_features, out_features
        self.parametrization = parametrization or Softmax()
        self.sampling = sampling or Soft()
        self.relaxation = relaxation or Probabilistic()
        self.grad_factor = grad_factor
        position = as_integer("position", position, 0, MAX_LAYER)
        seed = draw_seed(generator) if seed is None else as_integer("seed", seed, 0, MAX_SEED)
        generator = generator or _seed_generator(seed, position)
        if callable(wiring):
            warn_unread(in_features, out_features)
            wiring = wiring(seed, position, in_features=in_features, out_features=out_features)
        for name, wires in zip("ab", _check_wires(wiring, in_features, out_features), strict=True):
            self.register_buffer(name, torch.from_numpy(wires))
        # The 64 bits of the seed as int64, which every version of torch can save.
        self.register_buffer("seed", torch.from_numpy(np.array([seed, position], np.uint64).view(np.int64)))
        self.weight = nn.Parameter(self.parametrization.initialize(out_features, generator))

    def forward(self, x: Tensor) -> Tensor:
        """x: (..., in_features) -> (..., out_features)."""
        if isinstance(self.relaxation, Probabilistic):
            return run_layers([self], x)
        if not isinstance(self.parametrization, Softmax):
            raise TypeError(f"parametrization must be Softmax for {self.relaxation}, got {self.parametrization}")
        x = _check_input(self, x)
        values = functional.scale_gradient(x.to(self.weight.dtype) if x.dtype == torch.bool else x, self.grad_factor)
        gates = self.relaxation.gates(values[..., self.a], values[..., self.b], self.parametrization.operators)
        probabilities = self.parametrization.probabilities(self.weight, self.sampling, self.training)
        return (gates * probabilities.T.to(gates.dtype)).sum(-1)

    def gates(self) -> NDArray[np.uint8]:
        """The gate id that every gate stands for, (out_features,)."""
        return self.parametrization.gates(self.weight)

    def extra_repr(self) -> str:
        """The shape, and the settings that are not the default."""
        return ", ".join([f"in_features={self.in_features}, out_features={self.out_features}", *self._settings()])

    def _settings(self) -> Iterator[str]:
        if self.parametrization.kind != Softmax().kind:
            yield f"parametrization={self.parametrization}"
        if not isinstance(self.sampling, Soft | nn.Module):  # modules are shown by torch
            yield f"sampling={self.sampling}"
        if self.relaxation != Probabilistic():
            yield f"relaxation={self.relaxation}"
        if self.grad_factor != 1.0:
            yield f"grad_factor={self.grad_factor}"

    def __setattr__(self, name: str, value: Any) -> None:
        if name == "sampling":  # may be a module or a value, which torch lets no module be replaced by
            self._modules.pop(name, None)
        super().__setattr__(name, value)

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name != "_stack"}


def draw_seed(generator: torch.Generator | None) -> int:
    """A seed from a generator, or from torch's global one.

    Examples
    --------
    >>> draw_seed(torch.Generator().manual_seed(0)) == draw_seed(torch.Generator().manual_seed(0))
    True
    """
    return int(torch.randint(torch.iinfo(torch.int64).max, (), generator=generator))


def check_tensor(name: str, value: object) -> None:
    """Raise TypeError for anything but a tensor.

    Examples
    --------
    >>> check_tensor("x", np.zeros(3))
    Traceback (most recent call last):
    TypeError: x must be a torch.Tensor, got numpy.ndarray; convert it by torch.as_tensor(x)
    """
    if not isinstance(value, Tensor):
        kind = f"{type(value).__module__}.{type(value).__name__}"
        raise TypeError(f"{name} must be a torch.Tensor, got {kind}; convert it by torch.as_tensor({name})")


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
    x = _check_input(layers[0], x)
    coefficients = _mix_layers(layers)
    grad_factors = tuple(layer.grad_factor for layer in layers)
    if x.device.type == "cpu" and coefficients.dtype == torch.float32 and x.dtype != torch.float64:
        rows = x if x.ndim == 2 else x.reshape(-1, x.shape[-1])
        y = native.run_stack(rows, coefficients, native_stack(layers, groups), grad_factors)
        return y if x.ndim == 2 else y.reshape(*x.shape[:-1], y.shape[-1])
    values = x.to(coefficients.dtype) if x.dtype == torch.bool else x
    wiring = [(layer.a, layer.b) for layer in layers]
    return functional.evaluate_layers(values, coefficients, wiring, groups=groups, grad_factors=grad_factors)


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
    parts = []
    for _, run in groupby(layers, lambda layer: (layer.parametrization.kind, layer.sampling, layer.training)):
        members = list(run)
        first, weights = members[0], [layer.weight for layer in members]
        parts.append(first.parametrization.coefficients(weights, first.sampling, first.training))
    return parts[0] if len(parts) == 1 else torch.cat(parts)


def _check_input(layer: LogicLayer, x: Tensor) -> Tensor:
    """x with the right number of features; integers become floats."""
    check_tensor("x", x)
    if x.ndim < 1 or x.shape[-1] != layer.in_features:
        raise ValueError(f"x must have {layer.in_features} features for {layer}, got shape {tuple(x.shape)}")
    if x.is_complex():
        raise TypeError(f"x must be real, Boolean or integer, got {x.dtype}")
    return x if x.is_floating_point() or x.dtype == torch.bool else x.to(layer.weight.dtype)


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


def _seed_generator(seed: int, position: int) -> torch.Generator:
    """A generator for the weights of the layer at that position, independent of those at others."""
    state = np.random.SeedSequence([seed, position]).generate_state(1, np.uint64)
    return torch.Generator().manual_seed(int(state[0]))
