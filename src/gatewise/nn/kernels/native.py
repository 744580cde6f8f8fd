"""The functions of `gatewise.nn.functional` by native kernels: on the CPU, in float32, whole stacks in one call.

In: samples, logits and the wiring of all layers. Out: the same tensors as in plain torch, up to rounding.
Gradients are native, too. Where the gradient itself is to be differentiated (``create_graph=True``), it is computed in
plain torch instead, which has gradients of every order.
"""

import weakref
from collections.abc import Sequence
from functools import cache, cached_property
from typing import Any

import numpy as np
import torch
from torch import Tensor

from gatewise import _native
from gatewise.nn import functional

Wires = tuple[tuple[Tensor, Tensor], ...]
MAX_CHAIN = 16  # calls that one backward goes through together


class Stack:
    """Layers that run in one call: their wiring, in torch and in native code, and how many groups are summed, or 0.

    Parameters
    ----------
    in_features : int
    wiring : pairs of int32 tensors on the CPU, (out_features,) each
        Operands of each layer's gates.
    groups : int

    Examples
    --------
    >>> wires = torch.tensor([0, 1], dtype=torch.int32), torch.tensor([1, 2], dtype=torch.int32)
    >>> Stack(3, (wires,), 0).n_outputs
    2
    """

    def __init__(self, in_features: int, wiring: Wires, groups: int) -> None:
        self.in_features, self.wiring, self.groups = in_features, wiring, groups
        self._joined: tuple[Stack, Stack] | None = None

    @property
    def n_outputs(self) -> int:
        """Columns of what the stack gives."""
        return self.groups or len(self.wiring[-1][0])

    @cached_property
    def native(self) -> _native.RelaxedStack:
        """The native twin."""
        layers = [(a.numpy(), b.numpy(), len(a)) for a, b in self.wiring]
        return _native.RelaxedStack(self.in_features, layers, self.groups)

    def after(self, below: "Stack") -> "Stack":
        """The stack of the layers below and these; the same object as long as `below` is."""
        if self._joined is None or self._joined[0] is not below:
            self._joined = below, Stack(below.in_features, below.wiring + self.wiring, self.groups)
        return self._joined[1]


class Passed:
    """A value that one stack gave and another was given, not kept alive."""

    def __init__(self, x: Tensor) -> None:
        self._ref, self._version = weakref.ref(x), x._version

    def is_held(self) -> bool:
        """Whether anybody still holds the value."""
        return self._ref() is not None

    def find(self) -> Tensor | None:
        """The value, if anybody still holds it; raises RuntimeError if it was changed."""
        x = self._ref()
        if x is not None and x._version != self._version:
            raise RuntimeError("x must stay as it was until the backward pass, got one that was modified in place")
        return x


@cache
def _pool(threads: int) -> _native.Pool:
    return _native.Pool(threads)


def current_pool() -> _native.Pool:
    """Native threads, as many as torch uses."""
    return _pool(torch.get_num_threads())


def run_stack(x: Tensor, coefficients: Tensor, stack: Stack, grad_factors: tuple[float, ...]) -> Tensor:
    """`functional.evaluate_layers` of a stack in one native call, forward and backward.

    Parameters
    ----------
    x : (n_rows, in_features)
        bool, float32 or half precision.
    coefficients : float32, (n_gates, 4)
        Of all layers, one after the other.
    stack : Stack
    grad_factors : floats, one per layer

    Returns
    -------
    (n_rows, n_outputs)
        In the precision of x, float32 for bool.
    """
    # What layers in a torch.nn.Sequential pass on is computed again by the backward pass of the last one, tile by tile,
    # as within a stack: several times faster than to store it and to go back through one layer after the other.
    before: Any = x.grad_fn
    below = _find_origin(x, before)
    if not 0 < len(below) <= MAX_CHAIN:
        return RunStack.apply(x, coefficients, stack, stack, grad_factors)
    return RunStack.apply(x, coefficients, stack, stack.after(before.whole), before.grad_factors + grad_factors, *below)


def _find_origin(x: Tensor, before: Any) -> tuple[Tensor, ...]:
    """What x was computed from, and by which coefficients, if it is as layers gave it; else nothing."""
    if not isinstance(getattr(before, "whole", None), Stack) or before.whole.groups:
        return ()
    is_asked_for = x.retains_grad or x._backward_hooks or (before.passed is not None and before.passed.is_held())
    if is_asked_for or x.dtype != torch.float32:
        return ()
    try:
        return tuple(before.saved_tensors)
    except RuntimeError:  # a backward pass has freed them
        return ()


class RunStack(torch.autograd.Function):
    """See `run_stack`. The gradient of x goes through x, or, if x was given by a stack, to what that stack was given.

    The second way needs x no more, and it is taken if at the time of the backward pass nobody else holds x: then its
    gradient cannot be asked for. Both ways are exact. (Only a hook that x got after it was passed on, and outlives x,
    could tell: it is called with None.)
    """

    @staticmethod
    def forward(
        ctx: Any,
        x: Tensor,
        coefficients: Tensor,
        stack: Stack,
        whole: Stack,
        grad_factors: tuple[float, ...],
        *below: Tensor,
    ) -> Tensor:
        """below: what x came from, then the coefficients of all stacks it came through; `whole` has their wiring."""
        y = run(stack, x, coefficients)
        ctx.set_materialize_grads(False)
        ctx.save_for_backward(*(below or (x,)), coefficients)
        ctx.passed = Passed(x) if below else None
        ctx.stack, ctx.whole, ctx.grad_factors = stack, whole, grad_factors
        return y

    @staticmethod
    def backward(ctx: Any, grad_y: Tensor | None) -> tuple[Tensor | None, ...]:
        needs_x, _, _, _, _, *needs_below = ctx.needs_input_grad
        nothing = (None,) * len(needs_below)
        if grad_y is None:
            return None, None, None, None, None, *nothing
        origin, *before, coefficients = ctx.saved_tensors
        if ctx.passed is None:
            grad_x, (grad_own,) = run_backward(ctx.whole, ctx.grad_factors, origin, [coefficients], grad_y, needs_x)
            return grad_x, grad_own, None, None, None
        x = ctx.passed.find()
        if x is None:
            parts = [*before, coefficients]
            grad_x, grads = run_backward(ctx.whole, ctx.grad_factors, origin, parts, grad_y, needs_below[0])
            return None, grads[-1], None, None, None, grad_x, *grads[:-1]
        factors = ctx.grad_factors[-len(ctx.stack.wiring) :]
        grad_x, (grad_own,) = run_backward(ctx.stack, factors, x, [coefficients], grad_y, needs_x)
        return grad_x, grad_own, None, None, None, *nothing


def run(stack: Stack, x: Tensor, coefficients: Tensor) -> Tensor:
    """What `run_stack` gives, without gradients."""
    y = _feature_major(len(x), stack.n_outputs)
    stack.native.forward(_samples(x), _array(coefficients), _array(y), current_pool())
    return y if x.dtype == torch.bool else y.to(x.dtype)


def run_backward(
    stack: Stack,
    grad_factors: tuple[float, ...],
    x: Tensor,
    parts: list[Tensor],
    grad_y: Tensor,
    needs_x: bool,
) -> tuple[Tensor | None, list[Tensor | None]]:
    """Gradients of x, if it needs one, and of the coefficients, which are given in parts."""
    if torch.is_grad_enabled():  # the gradients are to be differentiated in turn
        views = [each.view_as(each) for each in (x, *parts)]
        values, joint = views[0].to(torch.float32), torch.cat(views[1:])
        y = functional.evaluate_layers(values, joint, stack.wiring, groups=stack.groups, grad_factors=grad_factors)
        first, *rest = _differentiate(y, views, grad_y.to(y.dtype))
        return first, rest
    coefficients = torch.cat(parts) if len(parts) > 1 else parts[0]
    grad_coefficients = torch.empty_like(coefficients)
    grad_x = _feature_major(*x.shape) if needs_x else None
    stack.native.backward(
        _samples(x),
        _array(coefficients),
        _samples(grad_y),
        _array(grad_coefficients),
        None if grad_x is None else _array(grad_x),
        current_pool(),
    )
    of_all = _multiply_by_depth(grad_coefficients, stack.wiring, grad_factors)
    if grad_x is not None:
        grad_x = (grad_x if of_all == 1.0 else grad_x * of_all).to(x.dtype)
    return grad_x, list(grad_coefficients.split([len(part) for part in parts]))


class MixStack(torch.autograd.Function):
    """`functional.mix_gates` of all layers in one native call; the second result is the mean largest probability."""

    @staticmethod
    def forward(
        ctx: Any, operators: tuple[int, ...], temperature: float, hard: bool, *logits: Tensor
    ) -> tuple[Tensor, float]:
        """logits: (n_operators, n_gates) of each layer, float32."""
        coefficients, confidence = mix(operators, temperature, hard, logits)
        ctx.save_for_backward(*logits)
        ctx.operators, ctx.temperature, ctx.hard = operators, temperature, hard
        return coefficients, confidence

    @staticmethod
    def backward(ctx: Any, grad_coefficients: Tensor, _: None) -> tuple[Tensor | None, ...]:
        logits = ctx.saved_tensors
        if torch.is_grad_enabled():
            views = [z.view_as(z) for z in logits]
            mixed = [functional.mix_gates(z, ctx.operators, ctx.temperature, hard=ctx.hard) for z in views]
            return None, None, None, *_differentiate(torch.cat(mixed), views, grad_coefficients)
        return None, None, None, *mix_backward(ctx.operators, ctx.temperature, logits, grad_coefficients)


def mix(operators: Sequence[int], temperature: float, hard: bool, logits: Sequence[Tensor]) -> tuple[Tensor, float]:
    """Coefficients, (n_gates, 4), of logits as for `MixStack`, and the mean largest probability; no gradients."""
    coefficients = torch.empty(sum(z.shape[1] for z in logits), 4)
    rows, ids = [_array(z) for z in logits], np.array(operators, np.uint8)
    confidence = _native.mix(rows, ids, temperature, hard, _array(coefficients), current_pool())
    return coefficients, confidence


def mix_backward(
    operators: Sequence[int], temperature: float, logits: Sequence[Tensor], grad_coefficients: Tensor
) -> list[Tensor]:
    """Gradients of the logits."""
    grads = [torch.empty_like(z) for z in logits]
    _native.mix_backward(
        [_array(z) for z in logits],
        np.array(operators, np.uint8),
        temperature,
        _array(grad_coefficients.contiguous()),
        [_array(grad) for grad in grads],
        current_pool(),
    )
    return grads


def _differentiate(y: Tensor, inputs: Sequence[Tensor], grad_y: Tensor) -> list[Tensor | None]:
    """Gradients with a graph of their own. The inputs are views made for this: nothing else leads to them."""
    needed = [each for each in inputs if each.requires_grad]
    found = iter(torch.autograd.grad(y, needed, grad_y, create_graph=True))
    return [next(found) if each.requires_grad else None for each in inputs]


def _multiply_by_depth(grad_coefficients: Tensor, wiring: Wires, grad_factors: tuple[float, ...]) -> float:
    """Multiply the gradients of each layer, in place, by the factors of the layers above; gives the product of all."""
    product = 1.0
    parts = grad_coefficients.split([len(a) for a, _ in wiring])
    for part, factor in zip(reversed(parts), reversed(grad_factors), strict=True):
        if product != 1.0:
            part *= product
        product *= factor
    return product


def _array(tensor: Tensor) -> np.ndarray:
    """The memory of a CPU tensor; numpy arrays reach native code faster than tensors do."""
    return tensor.detach().numpy()


def _samples(tensor: Tensor) -> np.ndarray:
    """The same, in float32 unless it is bool: kernels compute in float32 whatever the precision that is stored."""
    return _array(tensor if tensor.dtype in (torch.bool, torch.float32) else tensor.float())


def _feature_major(n_rows: int, n_features: int) -> Tensor:
    """Room for (n_rows, n_features) values, one feature after the other, as the kernels of the next layer read them."""
    return torch.empty_strided((n_rows, n_features), (1, n_rows))
