"""For processes of their own in which Triton's kernels run on the CPU: memory, order and dispatch."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from unittest import mock

import torch

from gatewise.nn.kernels import cuda, ops


def fill_memory_with_nan() -> None:
    """Every new tensor holds NaN, or the largest integer, so that what a kernel leaves out is seen."""
    torch.use_deterministic_algorithms(True)
    assert torch.empty(3).isnan().all()


def reverse_grids() -> Any:
    """A context in which programs run from the last one to the first."""
    from triton.runtime import interpreter

    builder = interpreter.interpreter_builder
    place = builder.set_grid_idx

    def reverse(*index: int) -> None:
        place(*(n - 1 - i for n, i in zip(builder.grid_dim, index, strict=True)))

    return mock.patch.object(builder, "set_grid_idx", reverse)


@contextmanager
def take_cpu_for_cuda() -> Iterator[None]:
    """A context in which the dispatch believes that the kernels run on the CPU, and nothing else does."""
    no_others = mock.patch.object(ops, "_are_native", return_value=False)
    with no_others, mock.patch.object(cuda, "has_kernels", lambda device: device.type == "cpu"):
        yield
