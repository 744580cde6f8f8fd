"""What relaxed layers compute: the definition in plain torch, and the same by native kernels on the CPU.

In: samples, wiring and coefficients of (1, a, b, ab) per gate, or logits over operators. Out: tensors with gradients.
Invariant: the native functions equal the plain ones up to float32 rounding; on 0/1 samples and 0/1 choices, exactly.
"""

from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np
import torch
from torch import Tensor

from gatewise import _native
from gatewise.gates import coefficients as gate_coefficients


def evaluate_gates(x: Tensor, a: Tensor, b: Tensor, coefficients: Tensor) -> Tensor:
    """One layer, in plain torch, on any device.

    Parameters
    ----------
    x : (..., in_features)
    a, b : integer tensors, (out_features,)
        Operands of each gate.
    coefficients : (out_features, 4)
        Of 1, a, b and ab.

    Returns
    -------
    (..., out_features)
    """
    c0, c1, c2, c3 = coefficients.unbind(-1)
    xa, xb = x[..., a], x[..., b]
    return c0 + c1 * xa + xb * (c2 + c3 * xa)


def mix_gates(logits: Tensor, operators: Sequence[int], temperature: float = 1.0, *, hard: bool = False) -> Tensor:
    """Coefficients of gates that are mixtures of operators, in plain torch.

    Parameters
    ----------
    logits : (n_operators, out_features)
    operators : gate ids, one a row of `logits`
    temperature : float
        Of the softmax; with `hard`, of the softmax that gradients see.
    hard : bool
        Forward takes the operator with the largest logit, the lowest on ties; the gradient is the softmax's.

    Returns
    -------
    (out_features, 4)
    """
    table = torch.as_tensor(gate_coefficients()[list(operators)], dtype=logits.dtype, device=logits.device)
    return choose(logits, temperature, hard=hard).T @ table


def choose(logits: Tensor, temperature: float = 1.0, *, hard: bool = False) -> Tensor:
    """Softmax over the first axis; with `hard`, the largest alone, with the gradient of the softmax."""
    probabilities = (logits / temperature).softmax(0)
    if not hard:
        return probabilities
    chosen = torch.zeros_like(logits).scatter_(0, logits.argmax(0, keepdim=True), 1.0)
    return chosen + (probabilities - probabilities.detach())


@cache
def _pool(threads: int) -> _native.Pool:
    return _native.Pool(threads)


def current_pool() -> _native.Pool:
    """Native threads, as many as torch uses."""
    return _pool(torch.get_num_threads())


def _array(tensor: Tensor) -> np.ndarray:
    """The memory of a CPU tensor; numpy arrays reach native code faster than tensors do."""
    return tensor.detach().numpy()


def _samples(tensor: Tensor) -> np.ndarray:
    """The same, in float32 unless it is bool: kernels compute in float32 whatever the precision that is stored."""
    return _array(tensor if tensor.dtype in (torch.bool, torch.float32) else tensor.float())


def _feature_major(n_rows: int, n_features: int) -> Tensor:
    """Room for (n_rows, n_features) values, one feature after the other, as the kernels of the next layer read them."""
    return torch.empty(n_features, n_rows).T


class RunStack(torch.autograd.Function):
    """All layers of a stack in one native call, forward and backward."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, coefficients: Tensor, stack: _native.RelaxedStack, n_outputs: int) -> Tensor:
        """x: (n, in_features) bool, float32 or less; coefficients: (n_gates, 4) of all layers."""
        y = _feature_major(len(x), n_outputs)
        stack.forward(_samples(x), _array(coefficients), _array(y), current_pool())
        ctx.save_for_backward(x, coefficients)
        ctx.stack = stack
        return y if x.dtype == torch.bool else y.to(x.dtype)

    @staticmethod
    def backward(ctx: Any, grad_y: Tensor) -> tuple[Tensor | None, Tensor, None, None]:
        x, coefficients = ctx.saved_tensors
        grad_coefficients = torch.empty_like(coefficients)
        grad_x = _feature_major(*x.shape) if ctx.needs_input_grad[0] else None
        ctx.stack.backward(
            _samples(x),
            _array(coefficients),
            _samples(grad_y),
            _array(grad_coefficients),
            None if grad_x is None else _array(grad_x),
            current_pool(),
        )
        return None if grad_x is None else grad_x.to(x.dtype), grad_coefficients, None, None


class MixStack(torch.autograd.Function):
    """`mix_gates` of all layers of a stack in one native call; the second result is the mean largest probability."""

    @staticmethod
    def forward(
        ctx: Any, operators: np.ndarray, temperature: float, hard: bool, *logits: Tensor
    ) -> tuple[Tensor, float]:
        coefficients = torch.empty(sum(z.shape[1] for z in logits), 4)
        rows = [_array(z) for z in logits]
        confidence = _native.mix(rows, operators, temperature, hard, _array(coefficients), current_pool())
        ctx.save_for_backward(*logits)
        ctx.operators, ctx.temperature = operators, temperature
        return coefficients, confidence

    @staticmethod
    def backward(ctx: Any, grad_coefficients: Tensor, _: None) -> tuple[Tensor | None, ...]:
        logits = ctx.saved_tensors
        grads = [torch.empty_like(z) for z in logits]
        _native.mix_backward(
            [_array(z) for z in logits],
            ctx.operators,
            ctx.temperature,
            _array(grad_coefficients.contiguous()),
            [_array(grad) for grad in grads],
            current_pool(),
        )
        return None, None, None, *grads
