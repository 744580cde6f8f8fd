"""What tables compute: the definition, in plain torch, on any device.

In: bits, and tables as entries from -1 to 1. Out: bits, with gradients that are those of a smooth function. Invariant:
the native steps equal these functions up to float32 rounding.
"""

from typing import Any

import torch
from torch import Tensor

SOFT = 0.25  # what a false input is softened to; a true one to 1 - SOFT


def read_tables(bits: Tensor, tables: Tensor) -> Tensor:
    """The values of tables at bits, straight through.

    A bit of the output is 1 where the entry that was read is positive. The gradient goes to that entry as if it were
    the output, and to the inputs as if the output were `interpolate` of the tables at 0.25 + 0.5 bits: the neighbors of
    the entry count, the less the more inputs differ (the extended finite difference of arXiv:2410.11112).

    Parameters
    ----------
    bits : (..., k, n)
        0 or 1, of the inputs of n tables.
    tables : (n, 2**k)
        Entries; the first input is the highest digit of an entry's number.

    Returns
    -------
    (..., n), 0 or 1

    Examples
    --------
    >>> bits = torch.tensor([[1.0], [1.0]], requires_grad=True)
    >>> tables = torch.tensor([[-1.0, -1.0, -1.0, 1.0]], requires_grad=True)  # both
    >>> y = read_tables(bits, tables)
    >>> y.backward()
    >>> y.tolist(), bits.grad.flatten().tolist(), tables.grad.tolist()
    ([1.0], [0.75, 0.75], [[0.0, 0.0, 0.0, 1.0]])
    """
    value: Tensor = _ReadTables.apply(bits, tables)
    return value


def interpolate(x: Tensor, tables: Tensor) -> Tensor:
    """The multilinear interpolation of tables: folded by one input after the other, in O(2**k).

    Parameters
    ----------
    x : (..., k, n)
        Any values; the interpolation meets the entries at 0 and 1.
    tables : (n, 2**k)

    Returns
    -------
    (..., n)

    Examples
    --------
    >>> interpolate(torch.tensor([[0.5], [0.5]]), torch.tensor([[0.0, 0.0, 0.0, 1.0]])).tolist()
    [0.25]
    """
    folded = tables.expand(*x.shape[:-2], *tables.shape)
    for each in x.unbind(-2):
        off, on = folded.chunk(2, -1)
        folded = off + each[..., None] * (on - off)
    return folded[..., 0]


def differentiate(tables: Tensor) -> Tensor:
    """The derivatives of `read_tables` by every input, at every entry.

    Parameters
    ----------
    tables : (n, 2**k)

    Returns
    -------
    (k, n, 2**k)

    Examples
    --------
    >>> differentiate(torch.tensor([[-1.0, -1.0, -1.0, 1.0]]))[0].tolist()  # the first input of "both"
    [[0.25, 0.75, 0.25, 0.75]]
    """
    k = tables.shape[1].bit_length() - 1
    cube = tables.unflatten(1, (2,) * k)
    return torch.stack([_derive(cube, by, k) for by in range(k)]).flatten(2)


def find_entries(bits: Tensor) -> Tensor:
    """The numbers of the entries that bits, (..., k, n), stand for: int64 (..., n).

    Examples
    --------
    >>> find_entries(torch.tensor([[1.0], [0.0]])).tolist()
    [2]
    """
    k = bits.shape[-2]
    digits = 2 ** torch.arange(k - 1, -1, -1, device=bits.device)
    return ((bits.detach() > 0).long() * digits[:, None]).sum(-2)


def _derive(cube: Tensor, by: int, k: int) -> Tensor:
    """The derivative by one input: the difference along its axis, blurred along the others."""
    for axis in range(1, k + 1):
        off, on = cube.unbind(axis)
        if axis == by + 1:
            pair = [(1 - 2 * SOFT) * (on - off)] * 2
        else:
            pair = [(1 - SOFT) * off + SOFT * on, SOFT * off + (1 - SOFT) * on]
        cube = torch.stack(pair, axis)
    return cube


class _ReadTables(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, bits: Tensor, tables: Tensor) -> Tensor:
        entry = find_entries(bits)
        ctx.save_for_backward(entry, tables)
        value = (_take(tables, entry) > 0).to(bits.dtype)
        return value if bits.device.type == "cpu" else value + 0 * bits.sum(-2)  # keeps the NaN of what is no bit

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor | None, Tensor | None]:
        entry, tables = ctx.saved_tensors
        grad = grads[0].to(tables.dtype)
        of_bits = of_tables = None
        if ctx.needs_input_grad[0]:
            slopes = torch.stack([_take(each, entry) for each in differentiate(tables)], -2)
            of_bits = (grad[..., None, :] * slopes).to(grads[0].dtype)
        if ctx.needs_input_grad[1]:
            n, size = tables.shape
            place = entry + size * torch.arange(n, device=entry.device)
            of_tables = tables.new_zeros(n * size).index_add(0, place.reshape(-1), grad.reshape(-1)).view(n, size)
        return of_bits, of_tables


def _take(tables: Tensor, entry: Tensor) -> Tensor:
    """The entries with these numbers, (..., n) of (n, 2**k)."""
    return tables[torch.arange(len(tables), device=entry.device), entry]
