"""What a training step would move on a GPU, and how long that would take: estimates, since none was at hand.

Plain torch is counted: a step runs on the meta device, and every operator that is no view reads its inputs and writes
its outputs once. A fused step is what the kernels in Triton request, by formulas that a test compares with what their
interpreter loads and stores. Times are bytes over the bandwidths that makers publish, without launches, caches and
waiting: a bound, not a measurement.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

from gatewise.nn import logic_network

BANDWIDTHS = {"A6000": 768e9, "A100": 2039e9, "H100": 3350e9}  # bytes per second of memory: RTX, SXM 80 GB, SXM
FLOAT = 4  # bytes
N_OPERATORS = 16
ADAM = 7 * FLOAT * N_OPERATORS  # per gate: reads weight, gradient, two moments; writes all but the gradient
TILE_ROWS = 128  # of a program of the kernels
# Per gate and row: a layer reads two operands and writes one output. Backward, a wire reads its own value and writes
# its gradient; for each of the two pins that read it, which is what a layer has on average, it reads the gradient and
# the other operand of their gate, and has all that the gradient of the gate's coefficients needs. The first layer has
# only the latter, of three values.
FUSED_FORWARD = 3 * FLOAT
FUSED_BACKWARD = (2 + 2 * 2) * FLOAT
FUSED_BACKWARD_FIRST = 3 * FLOAT
# Per gate and tile of rows: forward, two wires and four coefficients; backward, two places in the list of pins and for
# each of two pins itself, the other wire and two coefficients, and the sums of four products; first, two wires, sums.
TILE_FORWARD = 6 * FLOAT
TILE_BACKWARD = (2 + 2 * 4 + 4) * FLOAT
TILE_BACKWARD_FIRST = 6 * FLOAT
FLOPS_FORWARD = 6  # (c0 + c1 a) + b (c2 + c3 a)
FLOPS_BACKWARD = 15  # three products and four sums for coefficients, four and four for operands


@dataclass(frozen=True)
class Step:
    """What a step moves: bytes of memory, and operators that are started one by one."""

    n_bytes: int
    n_launches: int

    def milliseconds(self) -> dict[str, float]:
        """The estimated time on each card, if memory were the only limit."""
        return {card: float(f"{1e3 * self.n_bytes / speed:.2g}") for card, speed in BANDWIDTHS.items()}


def count_plain_step(in_features: int, widths: Sequence[int], groups: int, *, rows: int) -> Step:
    """A soft step by plain torch, counted operator by operator, and Adam's by formula.

    Parameters
    ----------
    in_features, widths, groups
        Of the network, as for `logic_network`.
    rows : int
        Of a batch.
    """
    with torch.device("meta"):
        net = logic_network(in_features, widths, groups, seed=0)
        x = torch.empty(rows, in_features, dtype=torch.bool)
    with _Counter() as counter:
        net(x).sum().backward()
    return Step(counter.n_bytes + sum(widths) * ADAM, counter.n_launches + 1)


def count_layers(widths: Sequence[int], *, rows: int) -> int:
    """What the kernels of layers request, forward and backward, if a layer has as many wires as gates."""
    tiles = -(-rows // TILE_ROWS)
    first = rows * (FUSED_FORWARD + FUSED_BACKWARD_FIRST) + tiles * (TILE_FORWARD + TILE_BACKWARD_FIRST)
    others = rows * (FUSED_FORWARD + FUSED_BACKWARD) + tiles * (TILE_FORWARD + TILE_BACKWARD)
    return widths[0] * first + sum(widths[1:]) * others


def count_mixtures(widths: Sequence[int], *, rows: int) -> int:
    """What the kernels of mixtures request: coefficients of logits, and Adam, fused with the gradient of the logits."""
    tiles = -(-rows // TILE_ROWS)
    mix = (N_OPERATORS + 4 + 1) * FLOAT  # and the largest probability
    update = (3 * N_OPERATORS + 4 * tiles + 4 * N_OPERATORS) * FLOAT  # logits and weights, sums, moments
    return sum(widths) * (mix + update)


def estimate_fused_step(widths: Sequence[int], *, rows: int) -> Step:
    """A step by the kernels in Triton, with two launches for a layer and two for all gates."""
    return Step(count_layers(widths, rows=rows) + count_mixtures(widths, rows=rows), 2 * len(widths) + 2)


class _Counter(TorchDispatchMode):
    def __init__(self) -> None:
        super().__init__()
        self.n_bytes = self.n_launches = 0

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        result = func(*args, **(kwargs or {}))
        if not func.is_view and "detach" not in func.name():
            read = [each for each in tree_leaves((args, kwargs or {})) if isinstance(each, Tensor)]
            written = [each for each in tree_leaves(result) if isinstance(each, Tensor)]
            self.n_bytes += sum(each.numel() * each.element_size() for each in [*read, *written])
            self.n_launches += 1
        return result
