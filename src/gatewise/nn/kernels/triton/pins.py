"""Learned wires by kernels: gradients of pins for all of their candidates, and Adam fused with their softmax.

In: words as of `bits`, candidates and logits, (2, n_gates, k), pin a of all gates and then pin b. Out: parts of
gradients, (n_parts, 2, n_gates, k), or logits changed in place.
"""

import torch
from torch import Tensor

from gatewise.nn.kernels.triton import bits, mixing
from gatewise.nn.kernels.triton.layers import choose_tile, cut
from gatewise.nn.kernels.triton.mixtures import Adam
from gatewise.nn.kernels.triton.plan import LayerPlan, device_of

GATES, PINS = 4, 32  # of a program


def differentiate(
    plan: LayerPlan, x: Tensor, candidates: Tensor, coefficients: Tensor, grad: Tensor, per_group: int
) -> Tensor:
    """Parts of the gradient of what the softmax of each pin gives to its candidates, (n_parts, 2, n_gates, k).

    Parameters
    ----------
    x : words
    grad : (n, n_rows)
        As for `layers.backward`.
    """
    n_rows, k = grad.shape[1], candidates.shape[-1]
    tile = choose_tile(n_rows)
    parts = coefficients.new_empty((cut(n_rows, tile), *candidates.shape))
    with device_of(x):
        bits.backward_pins[cut(plan.n_gates, GATES), len(parts), 2](
            *(x, plan.a, plan.b, candidates, coefficients, grad, parts, per_group, plan.n_gates, n_rows, k),
            GATES=GATES,
            ROWS=tile,
        )
    return parts


def update(temperature: Tensor, parts: Tensor, adam: Adam) -> None:
    """A step of Adam on the pins of the only layer that `adam` has."""
    (weights,), (first,), (second,) = adam.weights, adam.first, adam.second
    *pins, k = weights.shape
    n_pins = torch.Size(pins).numel()
    shares = [1 - beta for beta in adam.betas]
    with device_of(parts):
        mixing.update_pins[(cut(n_pins, PINS),)](
            *(weights, temperature, parts, len(parts), first, second, adam.rates, *shares, adam.eps, n_pins, k),
            PINS=PINS,
            CANDIDATES=1 << max(k - 1, 1).bit_length(),
        )
