"""LogicLayer, GroupSum and LogicNetwork: relaxed logic gates as torch modules.

In: values in [0, 1], any leading dimensions. Out: the same, or sums per group. `train()` is soft or sampled, `eval()`
is hard: on 0/1 input it computes exactly the circuit that `discretize` gives. Wiring is part of the state.
"""

import copy
import math
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any, TypeGuard

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from gatewise import _native
from gatewise.nn import functional
from gatewise.nn.parametrization import Parametrization, Softmax
from gatewise.nn.relaxation import Probabilistic, Relaxation
from gatewise.nn.sampling import Sampling, Soft
from gatewise.wiring import random_wiring, warn_unread

Wiring = Callable[..., tuple[NDArray[np.int32], NDArray[np.int32]]]
MAX_SEED = 2**63 - 1


class LogicLayer(nn.Module):
    """A layer of gates with two fixed inputs each and a learned operator.

    Parameters
    ----------
    in_features, out_features : int
    parametrization : Softmax or Light, optional
        The paper's softmax over all 16 gates by default.
    sampling : Soft, HardStraightThrough or Gumbel, optional
        Layers that share one object adapt together.
    relaxation : Relaxation, optional
        Probabilistic, the paper's table, by default; others run in plain torch.
    wiring : `gatewise.wiring.random_wiring`, `unique_wiring` or `local_wiring`
    seed : (int, int), optional
        Seed and position that give the wiring; drawn from `generator` by default.
    grad_factor : float
        Multiplies the gradient that goes on to the layer before; above 1 it helps deep networks.
    generator : torch.Generator, optional

    Examples
    --------
    >>> layer = LogicLayer(4, 8, generator=torch.Generator().manual_seed(0))
    >>> layer(torch.rand(5, 4)).shape
    torch.Size([5, 8])
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
        wiring: Wiring = random_wiring,
        seed: tuple[int, int] | None = None,
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
        warn_unread(in_features, out_features)
        seed = seed or (int(torch.randint(MAX_SEED, (), generator=generator)), 0)
        a, b = wiring(*seed, in_features=in_features, out_features=out_features)
        self.register_buffer("a", torch.from_numpy(a))
        self.register_buffer("b", torch.from_numpy(b))
        self.register_buffer("seed", torch.tensor(seed))
        self.weight = nn.Parameter(self.parametrization.initialize(out_features, generator))

    def forward(self, x: Tensor) -> Tensor:
        """x: (..., in_features) -> (..., out_features)."""
        if isinstance(self.relaxation, Probabilistic):
            return _run([self], x)
        _check_width(self, x)
        if not isinstance(self.parametrization, Softmax):
            raise TypeError(f"parametrization must be Softmax for {self.relaxation}, got {self.parametrization}")
        values = x.to(self.weight.dtype) if x.dtype == torch.bool else x
        values = _scale_gradient(values, self.grad_factor)
        gates = self.relaxation.gates(values[..., self.a], values[..., self.b], self.parametrization.operators)
        probabilities = self.parametrization.probabilities(self.weight, self.sampling, self.training)
        return (gates * probabilities.T.to(gates.dtype)).sum(-1)

    def gates(self) -> NDArray[np.uint8]:
        """The gate id that every gate stands for, (out_features,)."""
        return self.parametrization.gates(self.weight)

    def extra_repr(self) -> str:
        return f"in_features={self.in_features}, out_features={self.out_features}"

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name != "_stack"}


class GroupSum(nn.Module):
    """Sums of equal consecutive groups of features, divided by tau, plus beta.

    Parameters
    ----------
    groups : int
        Classes, or outputs of a regression.
    tau : float, optional
        By default 1.42 sqrt(k) / (ln(groups - 1) + 0.7) for k features a group, which keeps the softmax of random
        networks well scaled; a single group has no such rule and needs a tau.
    beta : float

    Examples
    --------
    >>> GroupSum(2, tau=1.0)(torch.tensor([[1.0, 1.0, 0.0, 1.0]])).tolist()
    [[2.0, 1.0]]
    """

    def __init__(self, groups: int, tau: float | None = None, beta: float = 0.0) -> None:
        super().__init__()
        if groups < 1:
            raise ValueError(f"groups must be at least 1, got {groups}")
        if tau is not None and not tau > 0:
            raise ValueError(f"tau must be positive, got {tau}")
        if tau is None and groups == 1:
            raise ValueError("tau must be given for a single group, got None")
        self.groups, self.tau, self.beta = groups, tau, beta

    def temperature(self, features: int) -> float:
        """tau for that many features."""
        return self.tau or 1.42 * math.sqrt(features / self.groups) / (math.log(self.groups - 1) + 0.7)

    def check(self, features: int) -> None:
        """Raise ValueError unless the groups divide the features."""
        if features % self.groups:
            raise ValueError(f"groups must divide the {features} features, got {self.groups}")

    def forward(self, x: Tensor) -> Tensor:
        """x: (..., features) -> (..., groups)."""
        self.check(x.shape[-1])
        return x.unflatten(-1, (self.groups, -1)).sum(-1) / self.temperature(x.shape[-1]) + self.beta

    def get_extra_state(self) -> Tensor:
        """tau, 0 for the rule, and beta: what the `state_dict` holds of a head without weights."""
        return torch.tensor([self.tau or 0.0, self.beta], dtype=torch.float64)

    def set_extra_state(self, state: Tensor) -> None:
        """Take over what `get_extra_state` gave."""
        tau, self.beta = state.tolist()
        self.tau = tau or None

    def extra_repr(self) -> str:
        return f"groups={self.groups}, tau={self.tau}, beta={self.beta}"


class LogicNetwork(nn.Sequential):
    """LogicLayers and then a GroupSum, run in one native call where that is possible; a Sequential in all else."""

    def forward(self, x: Tensor) -> Tensor:
        """x: (..., in_features) -> (..., groups)."""
        *layers, head = self
        if not isinstance(head, GroupSum) or not can_share(layers):
            return super().forward(x)
        features = layers[-1].out_features
        head.check(features)
        return _run(layers, x, head.groups) / head.temperature(features) + head.beta


def logic_network(
    in_features: int,
    widths: Sequence[int],
    groups: int,
    *,
    tau: float | None = None,
    seed: int | None = None,
    generator: torch.Generator | None = None,
    **options: Any,
) -> LogicNetwork:
    """The paper's straight network: layers of the given widths, then the sums of the groups.

    Parameters
    ----------
    in_features : int
    widths : gates of each layer
    groups : int
    tau : float, optional
        See `GroupSum`.
    seed : int, optional
        Of the wiring of all layers; drawn from `generator` by default.
    generator : torch.Generator, optional
    **options
        For every `LogicLayer`; a sampling object is shared.

    Examples
    --------
    >>> net = logic_network(784, [8000] * 6, 10, tau=10.0, seed=0)
    >>> net(torch.rand(2, 784)).shape
    torch.Size([2, 10])
    """
    seed = int(torch.randint(MAX_SEED, (), generator=generator)) if seed is None else seed
    options = {"sampling": Soft()} | options
    layers: list[nn.Module] = []
    for layer_idx, (n_in, n_out) in enumerate(zip([in_features, *widths], widths, strict=False)):
        layers.append(LogicLayer(n_in, n_out, seed=(seed, layer_idx), generator=generator, **options))
    return LogicNetwork(*layers, GroupSum(groups, tau))


def with_sampling(module: nn.Module, sampling: Sampling) -> nn.Module:
    """A copy of a module whose layers draw their gates in another way, such as hard after soft training.

    Parameters
    ----------
    module : with LogicLayers
    sampling : Soft, HardStraightThrough or Gumbel
        Shared by all layers.

    Examples
    --------
    >>> from gatewise.nn import HardStraightThrough
    >>> with_sampling(logic_network(4, [8, 6], 3, seed=0), HardStraightThrough())[1].sampling
    HardStraightThrough()
    """
    copied = copy.deepcopy(module)
    for part in copied.modules():
        if isinstance(part, LogicLayer):
            part.sampling = sampling
    return copied


def _check_width(layer: LogicLayer, x: Tensor) -> None:
    if x.shape[-1] != layer.in_features:
        raise ValueError(f"x must have {layer.in_features} features for {layer}, got shape {tuple(x.shape)}")


def can_share(layers: Sequence[nn.Module]) -> TypeGuard[list[LogicLayer]]:
    """Whether the layers can be mixed and run together."""
    logic = [layer for layer in layers if isinstance(layer, LogicLayer)]
    kinds = {layer.parametrization.kind for layer in logic}
    settings = {(layer.sampling, layer.grad_factor, layer.training) for layer in logic}
    return (
        len(logic) == len(layers)
        and len(kinds) == len(settings) == 1
        and all(isinstance(layer.relaxation, Probabilistic) for layer in logic)
        and all(before.out_features == layer.in_features for before, layer in pairwise(logic))
    )


def _run(layers: Sequence[LogicLayer], x: Tensor, groups: int = 0) -> Tensor:
    """Probabilistic layers one after the other, and sums over groups if there are any."""
    first = layers[0]
    _check_width(first, x)
    weights = [layer.weight for layer in layers]
    coefficients = first.parametrization.coefficients(weights, first.sampling, first.training)
    factor = first.grad_factor
    if x.device.type == "cpu" and coefficients.dtype == torch.float32 and x.dtype != torch.float64:
        rows = _scale_gradient(x.reshape(-1, first.in_features), factor ** len(layers))
        stack = native_stack(layers, groups)
        n_outputs = groups or layers[-1].out_features
        y = functional.RunStack.apply(rows, _scale_by_depth(coefficients, layers, factor), stack, n_outputs)
        return y.reshape(*x.shape[:-1], n_outputs)
    values = x.to(coefficients.dtype) if x.dtype == torch.bool else x
    for layer, part in zip(layers, coefficients.split([layer.out_features for layer in layers]), strict=True):
        values = _scale_gradient(values, factor)
        values = functional.evaluate_gates(values, layer.a, layer.b, part.to(values.dtype))
    return values.unflatten(-1, (groups, -1)).sum(-1) if groups else values


def _scale_gradient(x: Tensor, factor: float) -> Tensor:
    """x, with a gradient that is multiplied by `factor`."""
    return x if factor == 1.0 or not x.requires_grad else x * factor + (x * (1 - factor)).detach()


def _scale_by_depth(coefficients: Tensor, layers: Sequence[LogicLayer], factor: float) -> Tensor:
    """A factor at every layer's input multiplies the gradient of a layer once for each layer above it."""
    if factor == 1.0:
        return coefficients
    parts = coefficients.split([layer.out_features for layer in layers])
    return torch.cat([_scale_gradient(part, factor**above) for above, part in enumerate(reversed(parts))][::-1])


def native_stack(layers: Sequence[LogicLayer], groups: int) -> _native.RelaxedStack:
    """The native twin of the wiring, kept with the first layer for as long as the wiring stays the same."""
    # Straight from the buffers: attributes of modules are slow, and this runs at every step.
    operands: list[Any] = [layer._buffers[name] for layer in layers for name in ("a", "b")]
    key = (groups, *map(id, operands), *[operand._version for operand in operands])
    kept = layers[0].__dict__.get("_stack")
    if kept is None or kept[0] != key:
        pairs = [(layer.a.numpy(), layer.b.numpy()) for layer in layers]
        stack = _native.RelaxedStack(layers[0].in_features, pairs, groups)
        # The operands are kept too, so that no other tensor can take over their ids.
        kept = layers[0].__dict__["_stack"] = (key, stack, operands)
    return kept[1]
