"""Layers by kernels: forward with all values kept, and backward through them.

In: values as `plan.fill_rows` gives them, coefficients of all layers, plans. Out: values of every layer, gradients.
"""

from collections.abc import Sequence

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
    found, n_rows, first = [values], values.shape[1], 0
    tile = choose_tile(n_rows)
    with device_of(values):
        for plan in plans:
            y = values.new_empty((plan.n_gates, n_rows))
            own = coefficients[first : first + plan.n_gates]
            if n_rows:
                grid = cut(plan.n_gates, FORWARD_GATES), cut(n_rows, tile)
                kernels.forward_layer[grid](
                    found[-1], plan.a, plan.b, own, y, plan.n_gates, n_rows, GATES=FORWARD_GATES, ROWS=tile
                )
            found.append(y)
            first += plan.n_gates
    return found


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
    n_gates, n_rows = len(coefficients), kept[0].shape[1]
    tile = choose_tile(n_rows)
    n_tiles = cut(n_rows, tile)
    parts = coefficients.new_empty((n_tiles, n_gates, 4)) if n_rows else coefficients.new_zeros((1, n_gates, 4))
    last, per_group = n_gates, plans[-1].n_gates // len(grad)
    with device_of(parts):
        for i in reversed(range(len(plans))):
            plan, x = plans[i], kept[i]
            first = last - plan.n_gates
            own, own_parts = coefficients[first:last], parts[:, first:last]
            size = (parts.stride(0), per_group)
            last, per_group = first, 1
            if not i and not needs_x:
                grid = cut(plan.n_gates, BACKWARD_GATES), n_tiles
                if n_rows:
                    kernels.backward_gates[grid](
                        *(x, plan.a, plan.b, grad, own_parts, *size, plan.n_gates, n_rows),
                        GATES=BACKWARD_GATES,
                        ROWS=tile,
                    )
                return parts, None
            grad_x = torch.empty_like(x)
            if n_rows:
                kernels.backward_layer[cut(plan.n_wires, BACKWARD_WIRES), n_tiles](
                    *(x, own, *plan.readers, grad, grad_x, own_parts, *size, grad_factors[i], plan.n_wires, n_rows),
                    WIRES=BACKWARD_WIRES,
                    ROWS=tile,
                )
            grad = grad_x
    return parts, grad


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
