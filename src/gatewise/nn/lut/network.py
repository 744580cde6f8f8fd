"""lut_network: layers of tables in a row with sums at the end."""

from collections.abc import Sequence
from itertools import pairwise

import torch
from torch import nn

from gatewise.checks import MAX_SEED, as_integer
from gatewise.nn.base import draw_seed
from gatewise.nn.head import GroupSum
from gatewise.nn.lut.layer import LutLayer
from gatewise.nn.sampling import Bitwise
from gatewise.wiring import Candidates


def lut_network(
    in_features: int,
    widths: Sequence[int],
    groups: int,
    *,
    k: int = 6,
    tau: float | None = None,
    candidates: Candidates | Sequence[Candidates | None] | None = None,
    sampling: Bitwise | None = None,
    grad_factor: float = 1.0,
    seed: int | None = None,
    generator: torch.Generator | None = None,
) -> nn.Sequential:
    """A straight network of lookup tables: layers of the given widths, then the sums of the groups.

    Parameters
    ----------
    in_features : int
    widths : tables of each layer
    groups : int
    k : int
        Inputs of every table, 3..6.
    tau : float, optional
        See `GroupSum`.
    candidates : RandomCandidates, NearbyCandidates, AllInputs, or a function like them, optional
        Of the pins of the first layer; the others have fixed wires. A sequence holds those of each layer, None for
        fixed wires.
    sampling, grad_factor, seed, generator
        As for `LutLayer`; all layers share them.

    Examples
    --------
    >>> from gatewise.wiring import NearbyCandidates
    >>> net = lut_network(784, [500, 100], 10, candidates=NearbyCandidates((1, 28, 28)), seed=0)
    >>> net(torch.rand(2, 784) > 0.5).shape, net[1].pins is None
    (torch.Size([2, 10]), True)
    """
    seed = draw_seed(generator) if seed is None else as_integer("seed", seed, 0, MAX_SEED)
    generator = generator or torch.Generator().manual_seed(seed)
    sampling = sampling or Bitwise()
    if candidates is None or callable(candidates):
        candidates = [candidates, *[None] * (len(widths) - 1)]
    if len(candidates) != len(widths):
        raise ValueError(f"candidates must be those of {len(widths)} layers, got {len(candidates)}")
    layers: list[nn.Module] = []
    for position, (n_in, n_out) in enumerate(pairwise([in_features, *widths])):
        layer = LutLayer(
            n_in,
            n_out,
            k,
            candidates=candidates[position],
            sampling=sampling,
            seed=seed,
            position=position,
            grad_factor=grad_factor,
            generator=generator,
        )
        layers.append(layer)
    return nn.Sequential(*layers, GroupSum(groups, tau))
