"""What kernels need of wires and of tensors before they start: who reads a wire, addresses, and rows that fill up.

In: wires and values of one device. Out: tensors there. Nothing here waits for the device.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

import torch
from torch import Tensor

ROWS = 16  # what the number of rows is filled up to a multiple of: without it loads of 128 bits are gone


class Readers(NamedTuple):
    """The pins that read each wire: `edges`, 2 * gate + pin, and the wires of the gates' other pins.

    Those of wire w are at starts[w] to starts[w + 1], in the order of their numbers.
    """

    starts: Tensor
    edges: Tensor
    others: Tensor


@dataclass(frozen=True)
class LayerPlan:
    """One layer: its wires in both directions, int32."""

    n_wires: int
    a: Tensor
    b: Tensor
    readers: Readers

    @property
    def n_gates(self) -> int:
        """Gates of the layer."""
        return len(self.a)


def find_readers(a: Tensor, b: Tensor, n_wires: int) -> Readers:
    """The inverse of wires a and b, int32 (n_gates,) each, which read one of n_wires.

    Examples
    --------
    >>> a, b = torch.tensor([1, 1], dtype=torch.int32), torch.tensor([0, 1], dtype=torch.int32)
    >>> [each.tolist() for each in find_readers(a, b, 3)]
    [[0, 1, 4, 4], [1, 0, 2, 3], [1, 0, 1, 1]]
    """
    operands = torch.stack([a, b], 1).flatten()
    order = torch.argsort(operands, stable=True)
    wires = torch.arange(n_wires + 1, dtype=operands.dtype, device=a.device)
    starts = torch.searchsorted(operands.index_select(0, order), wires, out_int32=True)
    return Readers(starts, order.int(), operands.index_select(0, order ^ 1))


def plan_layers(in_features: int, a: Sequence[Tensor], b: Sequence[Tensor]) -> list[LayerPlan]:
    """Plans of layers that follow each other.

    Examples
    --------
    >>> wires = [torch.tensor([0, 1, 1], dtype=torch.int32)] * 2
    >>> [(layer.n_wires, layer.n_gates) for layer in plan_layers(2, wires, wires)]
    [(2, 3), (3, 3)]
    """
    widths = [in_features, *map(len, a)]
    layers = zip(widths[:-1], a, b, strict=True)
    return [LayerPlan(n, left, right, find_readers(left, right, n)) for n, left, right in layers]


@lru_cache(maxsize=256)
def bring_numbers(numbers: tuple[float, ...], dtype: torch.dtype, device: torch.device) -> Tensor:
    """Numbers as a tensor on a device, kept: each copy to a device takes some microseconds.

    Examples
    --------
    >>> bring_numbers((1, 2), torch.int32, torch.device("cpu")).tolist()
    [1, 2]
    """
    with torch.inference_mode(False):
        return torch.tensor(numbers, dtype=dtype, device="cpu").to(device, non_blocking=True)


def list_addresses(tensors: Sequence[Tensor]) -> Tensor:
    """Where the memory of contiguous tensors begins, int64, on their device.

    Examples
    --------
    >>> x = torch.zeros(2)
    >>> list_addresses([x]).item() == x.data_ptr()
    True
    """
    return bring_numbers(tuple(each.data_ptr() for each in tensors), torch.int64, tensors[0].device)


def list_ends(widths: Sequence[int], device: torch.device) -> Tensor:
    """The number of gates up to and with each layer, int32.

    Examples
    --------
    >>> list_ends([3, 4], torch.device("cpu")).tolist()
    [3, 7]
    """
    ends, total = [], 0
    for width in widths:
        total += width
        ends.append(total)
    return bring_numbers(tuple(ends), torch.int32, device)


def fill_rows(x: Tensor, kind: torch.dtype) -> Tensor:
    """Rows (n_rows, n_features) feature by feature, filled up with rows of 0 to a multiple of 16.

    Examples
    --------
    >>> fill_rows(torch.ones(3, 2), torch.float32).shape
    torch.Size([2, 16])
    """
    n_rows, n_features = x.shape
    values = x.new_zeros((n_features, -(-n_rows // ROWS) * ROWS), dtype=kind)
    values[:, :n_rows].copy_(x.T)
    return values


@contextmanager
def device_of(x: Tensor) -> Iterator[None]:
    """Make the device of x the current one, on which Triton starts kernels."""
    if x.device.type == "cuda":
        with torch.cuda.device(x.device):
            yield
    else:
        yield
