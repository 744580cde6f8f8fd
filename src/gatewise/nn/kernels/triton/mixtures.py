"""Mixtures of all layers by kernels: coefficients, gradients of logits, and steps of Adam.

In: logits, float32 and contiguous, (n_operators, n_gates) of each layer; the temperature as a tensor of one number on
their device. Out: tensors there.
"""

from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor

from gatewise.nn import functional
from gatewise.nn.kernels.triton import mixing
from gatewise.nn.kernels.triton.layers import cut
from gatewise.nn.kernels.triton.plan import device_of, list_addresses, list_ends

GATES = 64  # of a program of four warps, with all of their operators in registers


class Mixture(NamedTuple):
    """Logits of layers, the operators that they belong to, and the temperature of their softmax."""

    logits: Sequence[Tensor]
    operators: Sequence[int]
    temperature: Tensor

    @property
    def n_gates(self) -> int:
        """Gates of all layers."""
        return sum(z.shape[1] for z in self.logits)

    def grid(self) -> tuple[int, int]:
        """Programs for the gates of the widest layer, and for each layer."""
        return max(cut(z.shape[1], GATES) for z in self.logits), len(self.logits)

    def arguments(self) -> tuple[Tensor, ...]:
        """What all kernels read first."""
        ends = list_ends([z.shape[1] for z in self.logits], self.logits[0].device)
        table = functional.coefficient_table(self.operators, self.logits[0])
        return list_addresses(self.logits), ends, table, self.temperature

    def sizes(self) -> dict[str, int]:
        """Constants of all kernels."""
        room = 1 << max(len(self.operators) - 1, 1).bit_length()
        return {"n_operators": len(self.operators), "OPERATORS": room, "GATES": GATES}


def mix(mixture: Mixture, *, hard: bool) -> tuple[Tensor, Tensor]:
    """Coefficients, (n_gates, 4), and the largest probability of each gate at temperature 1, (n_gates,)."""
    like = mixture.logits[0]
    coefficients, confidence = like.new_empty(mixture.n_gates, 4), like.new_empty(mixture.n_gates)
    with device_of(like):
        mixing.mix[mixture.grid()](*mixture.arguments(), coefficients, confidence, HARD=hard, **mixture.sizes())
    return coefficients, confidence


def mix_backward(mixture: Mixture, parts: Tensor) -> list[Tensor]:
    """Gradients of the logits for parts of the gradient of the coefficients, (n_parts, n_gates, 4)."""
    grads = [torch.empty_like(z) for z in mixture.logits]
    given = (*mixture.arguments(), parts, len(parts), parts.stride(0), list_addresses(grads))
    with device_of(parts):
        mixing.mix_backward[mixture.grid()](*given, **mixture.sizes())
    return grads


class Adam(NamedTuple):
    """What Adam changes and how: tensors of each layer like the logits, and what `update` multiplies by.

    `rates` are two numbers on the device: the learning rate over the first correction, 1 - beta1^t, and the root of the
    second one, 1 - beta2^t.
    """

    weights: Sequence[Tensor]
    first: Sequence[Tensor]
    second: Sequence[Tensor]
    rates: Tensor
    betas: tuple[float, float]
    eps: float


def update(mixture: Mixture, parts: Tensor, adam: Adam) -> tuple[Tensor, ...]:
    """A step of Adam with the gradients that `mix_backward` would give; gives the tables that kernels have read."""
    tables = [list_addresses(each) for each in (adam.weights, adam.first, adam.second)]
    given = mixture.arguments()
    size, shares = (len(parts), parts.stride(0)), [1 - beta for beta in adam.betas]
    with device_of(parts):
        mixing.update[mixture.grid()](*given, parts, *size, *tables, adam.rates, *shares, adam.eps, **mixture.sizes())
    return *given, *tables
