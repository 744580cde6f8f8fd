"""The native kernels as operators of torch: what compilers, exporters and other tools see of a layer.

In: tensors on any device. Out: new tensors, with gradients, shapes that are known beforehand, and float32 under
autocast. On the CPU the operators are `gatewise.nn.kernels.native`, on CUDA `gatewise.nn.kernels.cuda`, elsewhere
`gatewise.nn.functional`; `choose_way` tells when layers call them.
"""

from collections.abc import Sequence
from enum import Enum
from typing import Any

import torch
from torch import Tensor, nn
from torch.utils._python_dispatch import is_in_torch_dispatch_mode

from gatewise import _native
from gatewise.nn import functional
from gatewise.nn.kernels import cuda, native, plain
from gatewise.nn.kernels.twins import Twins


class Way(Enum):
    """A way to run layers."""

    NATIVE = "native kernels, with gradients that go through many layers at once"
    TRITON = "kernels in Triton, with gradients of each call"
    OPERATOR = "operators of torch that stand for kernels"
    PLAIN = "plain torch"


def choose_way(weights: Sequence[Tensor], x: Tensor | None = None) -> Way:
    """The way for layers of some weights, on samples if there are any.

    Kernels read memory of the CPU, or of CUDA, in float32. Where torch records instead of computing, as compilers do,
    operators stand for them. Transforms of `torch.func` see plain torch, which has derivatives of any kind.

    Examples
    --------
    >>> choose_way([torch.zeros(1)]).name, choose_way([torch.zeros(1, device="meta")]).name
    ('NATIVE', 'PLAIN')
    """
    is_native = _are_native(weights, x)
    if not (is_native or _are_for_triton(weights, x)) or is_transforming():
        return Way.PLAIN
    if torch.compiler.is_compiling() or is_in_torch_dispatch_mode():
        return Way.OPERATOR
    given = [*weights, *([] if x is None else [x])]
    if not all(type(each) in (Tensor, nn.Parameter) for each in given):
        return Way.OPERATOR
    return Way.NATIVE if is_native else Way.TRITON


def is_transforming() -> bool:
    """Whether a transform of `torch.func` is at work, to which tensors have no values and state must not change.

    Examples
    --------
    >>> is_transforming(), torch.func.vmap(lambda x: x * is_transforming())(torch.ones(2)).tolist()
    (False, [1.0, 1.0])
    """
    return torch._C._are_functorch_transforms_active()


def _are_native(weights: Sequence[Tensor], x: Tensor | None = None) -> bool:
    """Whether kernels read them: weights on the CPU in float32, samples in this or a lower precision."""
    of_weights = all(each.device.type == "cpu" and each.dtype == torch.float32 for each in weights)
    return of_weights and (x is None or (x.device.type == "cpu" and x.dtype != torch.float64))


def _are_for_triton(weights: Sequence[Tensor], x: Tensor | None = None) -> bool:
    """The same for kernels in Triton."""
    given = [*weights, *([] if x is None else [x])]
    of_weights = all(each.dtype == torch.float32 for each in weights)
    return of_weights and given[-1].dtype != torch.float64 and all(cuda.has_kernels(each.device) for each in given)


@torch.library.custom_op("gatewise::mix_gates", mutates_args=())
def mix_gates(logits: list[Tensor], operators: list[int], temperature: Tensor, hard: bool) -> tuple[Tensor, Tensor]:
    """`functional.mix_gates` of all layers, (n_gates, 4), and the mean largest probability, in float64.

    Parameters
    ----------
    logits : (n_operators, n_gates) of each layer
    operators : gate ids
    temperature : tensor of one number
    hard : bool

    Examples
    --------
    >>> mix_gates([torch.zeros(2, 1)], [0, 15], torch.tensor(1.0), False)[0].tolist()
    [[0.5, 0.0, 0.0, 0.0]]
    """
    if _are_native(logits):
        coefficients, confidence = native.mix(operators, float(temperature), hard, _lay_out(logits))
        return coefficients, torch.tensor(confidence, dtype=torch.float64)
    if _are_for_triton(logits):
        coefficients, seen = cuda.mix([z.detach() for z in logits], operators, temperature, hard)
        return coefficients, seen
    mixed = [functional.mix_gates(z, operators, temperature, hard=hard) for z in logits]
    return torch.cat(mixed), torch.cat([z.softmax(0).amax(0) for z in logits]).mean().double()


@mix_gates.register_fake
def _shape_mixed(logits: list[Tensor], operators: list[int], temperature: Tensor, hard: bool) -> tuple[Tensor, Tensor]:
    first = logits[0]
    return first.new_empty(sum(z.shape[1] for z in logits), 4), first.new_empty((), dtype=torch.float64)


@torch.library.custom_op("gatewise::mix_gates_backward", mutates_args=())
def mix_gates_backward(
    logits: list[Tensor], operators: list[int], temperature: Tensor, grad_coefficients: Tensor
) -> list[Tensor]:
    """Gradients of the logits, those of the mixture even where the largest was taken.

    Examples
    --------
    >>> mix_gates_backward([torch.zeros(2, 1)], [0, 15], torch.tensor(1.0), torch.ones(1, 4))[0].tolist()
    [[-0.25], [0.25]]
    """
    if _are_native(logits):
        return native.mix_backward(operators, float(temperature), _lay_out(logits), grad_coefficients)
    if _are_for_triton(logits):
        return cuda.mix_backward(logits, operators, temperature, grad_coefficients)
    grads = grad_coefficients.split([z.shape[1] for z in logits])
    pairs = zip(logits, grads, strict=True)
    return [plain.differentiate_mixture(z, operators, temperature, grad).contiguous() for z, grad in pairs]


@mix_gates_backward.register_fake
def _shape_mixed_backward(
    logits: list[Tensor], operators: list[int], temperature: Tensor, grad_coefficients: Tensor
) -> list[Tensor]:
    return [z.new_empty(z.shape) for z in logits]


def _keep_mixed(ctx: Any, inputs: tuple[Any, ...], output: tuple[Tensor, Tensor]) -> None:
    logits, ctx.operators, temperature, ctx.hard = inputs
    ctx.save_for_backward(temperature, *logits)


def _differentiate_mixed(ctx: Any, grad_coefficients: Tensor, _: Tensor) -> tuple[Any, ...]:
    temperature, *logits = ctx.saved_tensors
    return mix_gates_backward(logits, ctx.operators, temperature, grad_coefficients), None, None, None


mix_gates.register_autograd(_differentiate_mixed, setup_context=_keep_mixed)


@torch.library.custom_op("gatewise::evaluate_layers", mutates_args=())
def evaluate_layers(
    x: Tensor, coefficients: Tensor, a: list[Tensor], b: list[Tensor], groups: int, grad_factors: list[float]
) -> Tensor:
    """`functional.evaluate_layers` of rows, (n_rows, in_features), in the precision of x; float32 for bool.

    Examples
    --------
    >>> wires = [torch.tensor([0], dtype=torch.int32)]
    >>> evaluate_layers(torch.ones(1, 2), torch.ones(1, 4), wires, wires, 0, [1.0]).tolist()
    [[4.0]]
    """
    if _are_native([coefficients], x):
        return native.run(_find_stack(x, a, b, groups), x, coefficients)
    values = x.to(coefficients.dtype) if x.dtype == torch.bool else x
    if _are_for_triton([coefficients], x):
        y = cuda.run_layers(x.detach(), coefficients.detach(), a, b, groups, grad_factors)
        return _store_features_first(y, values.dtype)
    wiring = list(zip(a, b, strict=True))
    y = functional.evaluate_layers(values, coefficients, wiring, groups=groups, grad_factors=grad_factors)
    return _store_features_first(y, values.dtype)


@evaluate_layers.register_fake
def _shape_evaluated(
    x: Tensor, coefficients: Tensor, a: list[Tensor], b: list[Tensor], groups: int, grad_factors: list[float]
) -> Tensor:
    kind = coefficients.dtype if x.dtype == torch.bool else x.dtype
    return _make_room(x, groups or a[-1].shape[0], kind)


@torch.library.custom_op("gatewise::evaluate_layers_backward", mutates_args=())
def evaluate_layers_backward(
    x: Tensor,
    coefficients: Tensor,
    a: list[Tensor],
    b: list[Tensor],
    groups: int,
    grad_factors: list[float],
    grad_y: Tensor,
    needs_x: bool,
) -> tuple[Tensor, Tensor]:
    """Gradients of x, which is empty unless it is needed, and of the coefficients.

    Examples
    --------
    >>> wires = [torch.tensor([0], dtype=torch.int32)]
    >>> grads = evaluate_layers_backward(
    ...     torch.ones(1, 2), torch.ones(1, 4), wires, wires, 0, [1.0], torch.ones(1, 1), True
    ... )
    >>> [grad.tolist() for grad in grads]
    [[[3.0, 0.0]], [[1.0, 1.0, 1.0, 1.0]]]
    """
    if _are_native([coefficients], x):
        stack = _find_stack(x, a, b, groups)
        with torch.no_grad():
            grad_x, (grad,) = native.run_backward(stack, tuple(grad_factors), x, [coefficients], grad_y, needs_x)
        assert grad is not None
    elif _are_for_triton([coefficients], x):
        grad_x, grad = cuda.run_backward(x, coefficients, a, b, groups, grad_factors, grad_y, needs_x)
    else:
        values = x.to(coefficients.dtype) if x.dtype == torch.bool else x
        wiring = list(zip(a, b, strict=True))
        given = values, coefficients, wiring, grad_y
        grad_x, grad = plain.differentiate_layers(*given, groups=groups, grad_factors=grad_factors)
    if not needs_x or grad_x is None:
        return x.new_empty(0), grad
    return _store_features_first(grad_x, x.dtype), grad


@evaluate_layers_backward.register_fake
def _shape_evaluated_backward(
    x: Tensor,
    coefficients: Tensor,
    a: list[Tensor],
    b: list[Tensor],
    groups: int,
    grad_factors: list[float],
    grad_y: Tensor,
    needs_x: bool,
) -> tuple[Tensor, Tensor]:
    return _make_room(x, x.shape[1], x.dtype) if needs_x else x.new_empty(0), coefficients.new_empty(coefficients.shape)


def _keep_evaluated(ctx: Any, inputs: tuple[Any, ...], output: Tensor) -> None:
    x, coefficients, a, b, ctx.groups, ctx.grad_factors = inputs
    ctx.save_for_backward(x, coefficients, *a, *b)


def _differentiate_evaluated(ctx: Any, grad_y: Tensor) -> tuple[Any, ...]:
    x, coefficients, *wires = ctx.saved_tensors
    half, needs_x = len(wires) // 2, ctx.needs_input_grad[0]
    settings = wires[:half], wires[half:], ctx.groups, ctx.grad_factors
    grad_x, grad = evaluate_layers_backward(x, coefficients, *settings, grad_y, needs_x)
    return grad_x if needs_x else None, grad, [None] * half, [None] * half, None, None


evaluate_layers.register_autograd(_differentiate_evaluated, setup_context=_keep_evaluated)

for _kind in ("cpu", "cuda"):  # sums of many bits are not exact in halves
    mix_gates.register_autocast(_kind, torch.float32)
    evaluate_layers.register_autocast(_kind, torch.float32)


# The next two are for state that is read and then written. Compilers of torch 2.13 take float64 numbers on the CPU for
# numbers of Python: they remove writes as if those had no effect, and a clone together with what it keeps.


@torch.library.custom_op("gatewise::read_number", mutates_args=())
def read_number(tensor: Tensor) -> Tensor:
    """A copy of a number, which stays as it is when another one is written.

    Examples
    --------
    >>> read_number(torch.tensor(1.0))
    tensor(1.)
    """
    return tensor.clone()


@read_number.register_fake
def _shape_read(tensor: Tensor) -> Tensor:
    return tensor.new_empty(tensor.shape)


@torch.library.custom_op("gatewise::write_number", mutates_args={"tensor"})
def write_number(tensor: Tensor, value: Tensor) -> None:
    """Write a number into a tensor of one number.

    Examples
    --------
    >>> tensor = torch.tensor(1.0)
    >>> write_number(tensor, torch.tensor(2.0))
    >>> tensor
    tensor(2.)
    """
    tensor.copy_(value)


_twins: Twins[_native.RelaxedStack] = Twins()


def _find_stack(x: Tensor, a: Sequence[Tensor], b: Sequence[Tensor], groups: int) -> native.Stack:
    """The stack of some wires, whose native twin is kept for as long as the first of them lives and none changes."""
    stack = native.Stack(x.shape[1], tuple(zip(a, b, strict=True)), groups)
    stack.native = _twins.find([*a, *b], (x.shape[1], groups), lambda: stack.native)
    return stack


def _lay_out(tensors: Sequence[Tensor]) -> list[Tensor]:
    return [each.contiguous() for each in tensors]


def _make_room(x: Tensor, n_features: int, kind: torch.dtype) -> Tensor:
    """Rows as those of x, one feature after the other, as kernels write them."""
    return x.new_empty_strided((x.shape[0], n_features), (1, x.shape[0]), dtype=kind)


def _store_features_first(y: Tensor, kind: torch.dtype) -> Tensor:
    stride = (1, y.shape[0])
    return y if y.dtype == kind and y.stride() == stride else _make_room(y, y.shape[1], kind).copy_(y)
