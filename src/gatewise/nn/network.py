"""LogicNetwork and logic_network: layers in a row with sums at the end, run in one call where that is possible.

In: values in [0, 1], any leading dimensions. Out: one score per group. A network of layers computes what the same
layers compute in a `torch.nn.Sequential`.
"""

import copy
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any, TypeGuard, TypeVar

import torch
from torch import Tensor, nn

from gatewise.checks import MAX_SEED, as_integer
from gatewise.nn.base import GateLayer, GateModule, draw_seed, without_autocast
from gatewise.nn.head import GroupSum
from gatewise.nn.layer import LogicLayer, run_layers
from gatewise.nn.learned import LearnedLayer
from gatewise.nn.relaxation import Probabilistic
from gatewise.nn.sampling import Bitwise, Sampling
from gatewise.wiring import Candidates

Kind = TypeVar("Kind", bound=nn.Module)
HOOKS = ("_forward_hooks", "_forward_pre_hooks", "_backward_hooks", "_backward_pre_hooks")


class LogicNetwork(nn.Sequential):
    """LogicLayers and then a GroupSum, run in one native call where that is possible; a Sequential in all else.

    Examples
    --------
    >>> net = LogicNetwork(LogicLayer(4, 8), LogicLayer(8, 6), GroupSum(2))
    >>> net(torch.rand(5, 4)).shape
    torch.Size([5, 2])
    """

    @without_autocast
    def forward(self, x: Tensor) -> Tensor:
        """x: (..., in_features) -> (..., groups)."""
        *layers, head = self
        if not (is_plain(head, GroupSum) and can_run_together(layers)):
            return super().forward(x)
        features = layers[-1].out_features
        head.check(features)
        return run_layers(layers, x, head.groups) / head.temperature(features) + head.beta


def logic_network(
    in_features: int,
    widths: Sequence[int],
    groups: int,
    *,
    tau: float | None = None,
    candidates: Candidates | None = None,
    seed: int | None = None,
    generator: torch.Generator | None = None,
    **options: Any,
) -> LogicNetwork:
    """A straight network, as the paper's: layers of the given widths, then the sums of the groups.

    Parameters
    ----------
    in_features : int
    widths : gates of each layer
    groups : int
    tau : float, optional
        See `GroupSum`.
    candidates : RandomCandidates, NearbyCandidates, AllInputs, or a function like them, optional
        With them the gates learn which wires they read: the layers are `LearnedLayer`, which share one `Bitwise`
        sampling unless another is given.
    seed : int, optional
        Of wires and weights of all layers: networks with one seed and one shape are equal. Drawn by default.
    generator : torch.Generator, optional
        Draws the weights, and the seed if there is none. By default the weights follow from the seed, and a seed that
        is not given is drawn from torch's global generator.
    **options
        For every `LogicLayer`, or `LearnedLayer`; a sampling object is shared.

    Examples
    --------
    >>> net = logic_network(784, [8000] * 6, 10, tau=10.0, seed=0)
    >>> net(torch.rand(2, 784)).shape
    torch.Size([2, 10])
    >>> from gatewise.wiring import NearbyCandidates
    >>> logic_network(784, [4000, 4000], 10, candidates=NearbyCandidates((1, 28, 28)), seed=0)[1].k
    32
    """
    make: Callable[..., GateLayer] = LogicLayer
    if candidates is not None:
        make, options = LearnedLayer, {"candidates": candidates, "sampling": Bitwise(), **options}
    seed = draw_seed(generator) if seed is None else as_integer("seed", seed, 0, MAX_SEED)
    generator = generator or torch.Generator().manual_seed(seed)
    layers: list[nn.Module] = []
    for position, (n_in, n_out) in enumerate(pairwise([in_features, *widths])):
        layers.append(make(n_in, n_out, seed=seed, position=position, generator=generator, **options))
    return LogicNetwork(*layers, GroupSum(groups, tau))


def with_sampling(module: nn.Module, sampling: Sampling) -> nn.Module:
    """A copy of a module whose layers draw their gates in another way, such as hard after soft training.

    Parameters
    ----------
    module : Module with layers of gates
    sampling : Soft, HardStraightThrough, Gumbel or Bitwise
        Shared by all layers.

    Examples
    --------
    >>> from gatewise.nn import HardStraightThrough
    >>> with_sampling(logic_network(4, [8, 6], 3, seed=0), HardStraightThrough())[1].sampling
    HardStraightThrough()
    """
    copied = copy.deepcopy(module)
    for part in copied.modules():
        if isinstance(part, GateModule):
            part.sampling = sampling
    return copied


def can_run_together(layers: Sequence[nn.Module]) -> TypeGuard[list[LogicLayer]]:
    """Whether `run_layers` gives what the layers give one after the other, hooks included.

    Examples
    --------
    >>> can_run_together([LogicLayer(4, 8), LogicLayer(8, 6)]), can_run_together([LogicLayer(4, 8), GroupSum(2)])
    (True, False)
    """
    return (
        bool(layers)
        and all(is_plain(layer, LogicLayer) and isinstance(layer.relaxation, Probabilistic) for layer in layers)
        and not any(layer.training and isinstance(layer.sampling, Bitwise) for layer in layers)
        and all(before.out_features == layer.in_features for before, layer in pairwise(layers))
    )


def is_plain(module: nn.Module, kind: type[Kind]) -> TypeGuard[Kind]:
    """Whether a module is of that kind and nothing was added to it: neither another `forward` nor hooks.

    Examples
    --------
    >>> is_plain(LogicLayer(4, 8), LogicLayer), is_plain(LogicLayer(4, 8), GroupSum)
    (True, False)
    """
    is_kind = isinstance(module, kind) and type(module).forward is kind.forward
    return is_kind and not any(module.__dict__[hooks] for hooks in HOOKS)
