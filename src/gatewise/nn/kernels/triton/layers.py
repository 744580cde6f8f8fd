"""Layers by kernels: forward with all values kept, and backward through them.

In: values as `plan.fill_rows` gives them, coefficients of all layers, plans. Out: values of every layer, gradients.
"""

from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor

from gatewise.nn.kernels.triton import kernels
from gatewise.nn.kernels.triton.plan import LayerPlan, device_of

TILE_ROWS = 128  # of a program, four for a thread of a warp: a load of 128 bits
FORWARD_GATES, BACKWARD_WIRES, BACKWARD_GATES = 8, 4, 4  # of a program of four warps


def forward(plans: Sequence[LayerPlan], values: Tensor, coefficients: Tensor) -> list[Tensor]:
    """The values that each layer reads, and those of the last one, (n, n_rows) each.

    Parameters
    ----------
    plans : LayerPlans
    values : (in_features, n_rows)
        float32, or bfloat16, which is what all layers then keep.
    coefficients : float32, (n_gates, 4)
        Of all layers, one after the other.
    """
    found = [values]
    with device_of(values):
        for plan, own in zip(plans, coefficients.split([plan.n_gates for plan in plans]), strict=True):
            found.append(forward_layer(plan, found[-1], own))
    return found


def forward_layer(plan: LayerPlan, values: Tensor, coefficients: Tensor) -> Tensor:
    """The outputs of one layer, (n_gates, n_rows)."""
    n_rows = values.shape[1]
    y, tile = values.new_empty((plan.n_gates, n_rows)), choose_tile(n_rows)
    if n_rows:
        grid = cut(plan.n_gates, FORWARD_GATES), cut(n_rows, tile)
        kernels.forward_layer[grid](
            values, plan.a, plan.b, coefficients, y, plan.n_gates, n_rows, GATES=FORWARD_GATES, ROWS=tile
        )
    return y


def evaluate(plans: Sequence[LayerPlan], values: Tensor, coefficients: Tensor) -> Tensor:
    """The values of the last layer alone: two layers are in memory at any time."""
    with device_of(values):
        for plan, own in zip(plans, coefficients.split([plan.n_gates for plan in plans]), strict=True):
            values = forward_layer(plan, values, own)
    return values


def backward(
    plans: Sequence[LayerPlan],
    kept: Sequence[Tensor],
    coefficients: Tensor,
    grad: Tensor,
    *,
    grad_factors: Sequence[float],
    needs_x: bool,
) -> tuple[Tensor, Tensor | None]:
    """Gradients of the coefficients, in parts that are to be added up, and of the values that the first layer reads.

    Parameters
    ----------
    plans, coefficients : as for `forward`
    kept : what `forward` gave
    grad : (n, n_rows)
        Of the last layer's gates, or of sums over n equal groups of them; 0 for rows that fill up.
    grad_factors : floats, one per layer
        What the gradient that leaves the layer is multiplied by.
    needs_x : bool

    Returns
    -------
    parts : float32, (n_parts, n_gates, 4)
    grad_x : (in_features, n_rows), or None if it is not needed
    """
    n_rows = kept[0].shape[1]
    parts = make_parts(coefficients, n_rows)
    last, per_group = len(coefficients), plans[-1].n_gates // len(grad)
    with device_of(parts):
        for i in reversed(range(len(plans))):
            first = last - plans[i].n_gates
            target = torch.empty_like(kept[i]) if i or needs_x else None
            sums = Sums(parts[:, first:last], per_group)
            backward_layer(plans[i], kept[i], coefficients[first:last], grad, sums, into=target, factor=grad_factors[i])
            if target is None:
                return parts, None
            last, per_group, grad = first, 1, target
    return parts, grad


class Sums(NamedTuple):
    """Where the gradient of a layer's coefficients goes, in parts, and how many gates share a row of its gradient."""

    parts: Tensor
    per_group: int


def make_parts(coefficients: Tensor, n_rows: int) -> Tensor:
    """Room for a gradient of coefficients for each tile of rows; zeros if there are none.

    Examples
    --------
    >>> make_parts(torch.zeros(7, 4), 144).shape
    torch.Size([2, 7, 4])
    """
    shape = cut(n_rows, choose_tile(n_rows)), *coefficients.shape
    return coefficients.new_empty(shape) if n_rows else coefficients.new_zeros(1, *coefficients.shape)


def backward_layer(
    plan: LayerPlan, x: Tensor, coefficients: Tensor, grad: Tensor, sums: Sums, *, into: Tensor | None, factor: float
) -> None:
    """One layer back: parts of the gradient of its coefficients, and that of x, times a factor, into a tensor if given.

    Parameters
    ----------
    x : (n_wires, n_rows)
        Values, or packed bits, int32 (n_wires, n_rows / 32).
    """
    n_rows = grad.shape[1]
    tile, read = choose_tile(n_rows), kernels.read_bits if x.dtype == torch.int32 else kernels.read_floats
    tiles, size = cut(n_rows, tile), (sums.parts.stride(0), sums.per_group)
    if not n_rows:
        return
    if into is None:
        kernels.backward_gates[cut(plan.n_gates, BACKWARD_GATES), tiles](
            *(x, plan.a, plan.b, grad, sums.parts, *size, plan.n_gates, n_rows),
            READ=read,
            GATES=BACKWARD_GATES,
            ROWS=tile,
        )
    else:
        kernels.backward_layer[cut(plan.n_wires, BACKWARD_WIRES), tiles](
            *(x, coefficients, *plan.readers, grad, into, sums.parts, *size, factor, plan.n_wires, n_rows),
            READ=read,
            WIRES=BACKWARD_WIRES,
            ROWS=tile,
        )


def choose_tile(n_rows: int) -> int:
    """Rows of a program: a power of two.

    Examples
    --------
    >>> choose_tile(48), choose_tile(1024)
    (64, 128)
    """
    return min(TILE_ROWS, 1 << max(n_rows - 1, 1).bit_length())


def cut(n: int, size: int) -> int:
    """Pieces of `size` or less that make n.

    Examples
    --------
    >>> cut(9, 4)
    3
    """
    return -(-n // size)
