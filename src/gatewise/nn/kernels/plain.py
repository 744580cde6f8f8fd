"""Gradients of `gatewise.nn.functional` as formulas: for operators where there are no kernels, on any device.

In: what the functions were given, and the gradients of what they gave. Out: gradients of logits, coefficients, rows.
Operators run below autograd, which cannot be asked there.
"""

from collections.abc import Sequence

import torch
from torch import Tensor

from gatewise.nn import functional
from gatewise.nn.functional import Number


def differentiate_mixture(logits: Tensor, operators: Sequence[int], temperature: Number, grad: Tensor) -> Tensor:
    """The gradient of the logits of `functional.mix_gates`, (n_operators, n_gates), for that of coefficients.

    Examples
    --------
    >>> differentiate_mixture(torch.zeros(2, 1), [0, 15], 1.0, torch.ones(1, 4)).tolist()
    [[-0.25], [0.25]]
    """
    shares = functional.choose(logits, temperature)
    of_shares = functional.coefficient_table(operators, logits) @ grad.T.to(logits.dtype)
    return shares * (of_shares - (shares * of_shares).sum(0)) / temperature


def differentiate_layers(
    x: Tensor,
    coefficients: Tensor,
    wiring: Sequence[tuple[Tensor, Tensor]],
    grad_y: Tensor,
    *,
    groups: int,
    grad_factors: Sequence[float],
) -> tuple[Tensor, Tensor]:
    """The gradients of the rows and of the coefficients of `functional.evaluate_layers`, for that of its sums.

    Examples
    --------
    >>> wires = [(torch.tensor([0]), torch.tensor([1]))]
    >>> x, coefficients = torch.tensor([[0.5, 1.0]]), torch.ones(1, 4)
    >>> grads = differentiate_layers(x, coefficients, wires, torch.ones(1, 1), groups=0, grad_factors=[1.0])
    >>> [grad.tolist() for grad in grads]
    [[[2.0, 1.5]], [[1.0, 0.5, 1.0, 0.5]]]
    """
    values = x.T.contiguous()  # features first, as in `functional.evaluate_layers`
    parts = coefficients.T[..., None].split([len(a) for a, _ in wiring], 1)
    operands, widths = [], []
    for (a, b), (c0, c1, c2, c3) in zip(wiring, parts, strict=True):
        left, right = values.index_select(0, a), values.index_select(0, b)
        operands.append((left, right))
        widths.append(len(values))
        values = torch.addcmul(c0 + c1 * left, right, c2 + c3 * left)
    grad = grad_y.T.to(values.dtype)
    grad = grad.repeat_interleave(len(values) // groups, 0) if groups else grad
    found = []
    for i in reversed(range(len(parts))):
        (a, b), (_, c1, c2, c3), (left, right) = wiring[i], parts[i], operands[i]
        of_left = grad * left
        found.append(torch.stack([grad.sum(1), of_left.sum(1), (grad * right).sum(1), (of_left * right).sum(1)], 1))
        below = grad.new_zeros(widths[i], grad.shape[1])
        below.index_add_(0, a, grad * (c1 + c3 * right)).index_add_(0, b, grad * (c2 + c3 * left))
        grad = below * grad_factors[i]
    return grad.T, torch.cat(found[::-1])
