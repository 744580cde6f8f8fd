"""What a training step would move on a GPU, and how long that would take: estimates, since none was at hand.

Plain torch is counted: a step runs on the meta device, and every operator that is no view reads its inputs and writes
its outputs once. A fused step is what one that keeps all else in registers has to move at least. Times are bytes over
the bandwidths that makers publish, without launches, caches and waiting: a bound, not a measurement.
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
MIXTURES = (3 * N_OPERATORS + 2 * 4) * FLOAT  # per gate: logits twice, their gradient; coefficients, their gradient
# Per gate and row: a layer reads two operands and writes one output. Backward, the gradient of coefficients reads both
# operands and the output's gradient; that of a wire reads the gradient and the other operand of two pins for each gate,
# which is what a layer has on average, and is written once.
FUSED_FORWARD = 3 * FLOAT
FUSED_BACKWARD = (3 + 4 + 1) * FLOAT
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


def estimate_fused_step(widths: Sequence[int], *, rows: int) -> Step:
    """The least that kernels which fuse a layer would move, with three launches for a layer and two for all gates."""
    per_gate = rows * (FUSED_FORWARD + FUSED_BACKWARD) + MIXTURES + ADAM
    return Step(sum(widths) * per_gate, 3 * len(widths) + 2)


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
