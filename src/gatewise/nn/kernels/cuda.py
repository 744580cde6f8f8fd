"""The door to the kernels for CUDA: Triton is imported when the first tensor comes that they can take.

In: tensors on CUDA. Out: tensors there. Where there is no Triton, layers are plain torch, and nothing is imported.
"""

import os
from collections.abc import Sequence
from functools import cache
from importlib.util import find_spec

import torch
from torch import Tensor

OLDEST = 8, 0  # the compute capability that kernels are compiled for in tests
VARIABLE = "GATEWISE_TRITON"


@torch.compiler.assume_constant_result  # type: ignore[untyped-decorator]
def has_kernels(device: torch.device) -> bool:
    """Whether kernels run on a device: CUDA of compute capability 8.0 or later, and Triton is installed.

    With GATEWISE_TRITON=0 in the environment none do.

    Examples
    --------
    >>> has_kernels(torch.device("cpu"))
    False
    """
    return device.type == "cuda" and _is_able(device)


@cache
def _is_able(device: torch.device) -> bool:
    if os.environ.get(VARIABLE) == "0" or torch.version.hip or not torch.cuda.is_available():
        return False
    return find_spec("triton") is not None and torch.cuda.get_device_capability(device) >= OLDEST


def mix(logits: Sequence[Tensor], operators: Sequence[int], temperature: Tensor | float, hard: bool) -> list[Tensor]:
    """`ops.mix_gates` with gradients of any order."""
    from gatewise.nn.kernels.triton import autograd

    return list(autograd.MixLayers.apply(tuple(operators), temperature, hard, *logits))


def mix_backward(
    logits: Sequence[Tensor], operators: Sequence[int], temperature: Tensor, grad_coefficients: Tensor
) -> list[Tensor]:
    """`ops.mix_gates_backward`."""
    from gatewise.nn.kernels.triton import autograd

    return autograd.mix_backward(logits, operators, temperature, grad_coefficients)


def run_layers(
    x: Tensor, coefficients: Tensor, a: Sequence[Tensor], b: Sequence[Tensor], groups: int, factors: Sequence[float]
) -> Tensor:
    """`ops.evaluate_layers` with gradients of any order, for which values of layers are kept if there are any."""
    from gatewise.nn.kernels.triton import autograd

    wires = tuple(a), tuple(b)
    if not (torch.is_grad_enabled() and (x.requires_grad or coefficients.requires_grad)):
        return autograd.evaluate(x.detach(), coefficients, wires, groups)
    y: Tensor = autograd.RunLayers.apply(x, coefficients, wires, groups, tuple(factors))
    return y


def run_backward(
    x: Tensor,
    coefficients: Tensor,
    a: Sequence[Tensor],
    b: Sequence[Tensor],
    groups: int,
    factors: Sequence[float],
    grad_y: Tensor,
    needs_x: bool,
) -> tuple[Tensor | None, Tensor]:
    """`ops.evaluate_layers_backward`: values are computed again."""
    from gatewise.nn.kernels.triton import autograd

    _, kept = autograd.run(x, coefficients, (a, b), groups)
    return autograd.run_backward(kept, coefficients, (a, b), grad_y, factors, needs_x)
