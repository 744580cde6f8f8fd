"""The kernels as functions of torch's autograd.

In: rows, (n_rows, n_features), and the wires of all layers. Out: the same as in plain torch, up to rounding. Where the
gradient itself is to be differentiated, it is computed in plain torch instead, as that of `native` is.
"""

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from gatewise.nn import functional
from gatewise.nn.functional import Number
from gatewise.nn.kernels.triton import layers, mixtures
from gatewise.nn.kernels.triton.plan import LayerPlan, bring_numbers, fill_rows, plan_layers
from gatewise.nn.kernels.twins import Twins

Wires = tuple[Sequence[Tensor], Sequence[Tensor]]  # the operands a and b of each layer
_plans: Twins[list[LayerPlan]] = Twins()


def find_plans(in_features: int, wires: Wires) -> list[LayerPlan]:
    """Plans of layers, kept with their wires.

    Examples
    --------
    >>> wires = [torch.tensor([0], dtype=torch.int32)]
    >>> find_plans(2, (wires, wires)) is find_plans(2, (wires, wires))
    True
    """
    return _plans.find([*wires[0], *wires[1]], (in_features,), lambda: plan_layers(in_features, *wires))


def run(x: Tensor, coefficients: Tensor, wires: Wires, groups: int) -> tuple[Tensor, list[Tensor]]:
    """What layers give, in the precision of x or float32 for bool, and the values that each of them read."""
    *kept, last = layers.forward(find_plans(x.shape[1], wires), fill_rows(x, torch.float32), coefficients)
    return sum_groups(last, groups, x), kept


def evaluate(x: Tensor, coefficients: Tensor, wires: Wires, groups: int) -> Tensor:
    """What layers give, without gradients: no values are kept."""
    given = fill_rows(x, torch.float32), coefficients.detach().contiguous()
    return sum_groups(layers.evaluate(find_plans(x.shape[1], wires), *given), groups, x)


def sum_groups(values: Tensor, groups: int, x: Tensor) -> Tensor:
    """Values of a layer, (n_gates, n_rows), or sums over its groups, as rows like those of x.

    Examples
    --------
    >>> sum_groups(torch.ones(4, 16), 2, torch.ones(1, 3)).tolist()
    [[2.0, 2.0]]
    """
    y = values.unflatten(0, (groups, -1)).sum(1) if groups else values
    return y[:, : len(x)].T.to(torch.float32 if x.dtype == torch.bool else x.dtype)


def run_backward(
    kept: Sequence[Tensor],
    coefficients: Tensor,
    wires: Wires,
    grad_y: Tensor,
    grad_factors: Sequence[float],
    needs_x: bool,
) -> tuple[Tensor | None, Tensor]:
    """Gradients of x in float32, if it is needed, and of the coefficients; `kept` is what `run` gave."""
    plans, grad = find_plans(len(kept[0]), wires), fill_rows(grad_y, torch.float32)
    parts, grad_x = layers.backward(plans, kept, coefficients, grad, grad_factors=grad_factors, needs_x=needs_x)
    return None if grad_x is None else grad_x[:, : len(grad_y)].T, parts.sum(0)


class RunLayers(torch.autograd.Function):
    """`functional.evaluate_layers` by kernels."""

    @staticmethod
    def forward(
        ctx: Any, x: Tensor, coefficients: Tensor, wires: Wires, groups: int, grad_factors: tuple[float, ...]
    ) -> Tensor:
        """x: (n_rows, in_features)."""
        y, kept = run(x, coefficients.contiguous(), wires, groups)
        ctx.save_for_backward(x, coefficients, *kept)
        ctx.wires, ctx.groups, ctx.grad_factors = wires, groups, grad_factors
        return y

    @staticmethod
    def backward(ctx: Any, grad_y: Tensor) -> tuple[Tensor | None, ...]:
        x, coefficients, *kept = ctx.saved_tensors
        if torch.is_grad_enabled():
            views = [each.view_as(each) for each in (x, coefficients)]
            wiring = list(zip(*ctx.wires, strict=True))
            values = views[0].to(torch.float32)
            y = functional.evaluate_layers(values, views[1], wiring, groups=ctx.groups, grad_factors=ctx.grad_factors)
            return *differentiate(y, views, grad_y.to(y.dtype)), None, None, None
        given = coefficients.contiguous(), ctx.wires, grad_y, ctx.grad_factors, ctx.needs_input_grad[0]
        grad_x, grad = run_backward(kept, *given)
        return None if grad_x is None else grad_x.to(x.dtype), grad, None, None, None


class MixLayers(torch.autograd.Function):
    """`functional.mix_gates` of all layers by kernels; the second result is the mean largest probability."""

    @staticmethod
    def forward(
        ctx: Any, operators: tuple[int, ...], temperature: Number, hard: bool, *logits: Tensor
    ) -> tuple[Tensor, Tensor]:
        """logits: (n_operators, n_gates) of each layer, float32."""
        mixture = join(logits, operators, temperature)
        coefficients, confidence = mixtures.mix(mixture, hard=hard)
        ctx.save_for_backward(mixture.temperature, *logits)
        ctx.operators, ctx.hard = operators, hard
        mean = confidence.double().mean()
        ctx.mark_non_differentiable(mean)
        return coefficients, mean

    @staticmethod
    def backward(ctx: Any, grad_coefficients: Tensor, _: Tensor) -> tuple[Tensor | None, ...]:
        temperature, *logits = ctx.saved_tensors
        if torch.is_grad_enabled():
            views = [z.view_as(z) for z in logits]
            mixed = [functional.mix_gates(z, ctx.operators, temperature, hard=ctx.hard) for z in views]
            return None, None, None, *differentiate(torch.cat(mixed), views, grad_coefficients)
        return None, None, None, *mix_backward(logits, ctx.operators, temperature, grad_coefficients)


def join(logits: Sequence[Tensor], operators: Sequence[int], temperature: Number) -> mixtures.Mixture:
    """A mixture on the device of its logits, which kernels find one operator after the other."""
    device = logits[0].device
    if isinstance(temperature, Tensor):
        degree = temperature.to(device, non_blocking=True)
    else:
        degree = bring_numbers((temperature,), torch.float64, device)
    return mixtures.Mixture([z.contiguous() for z in logits], operators, degree)


def mix_backward(
    logits: Sequence[Tensor], operators: Sequence[int], temperature: Tensor, grad_coefficients: Tensor
) -> list[Tensor]:
    """Gradients of the logits."""
    return mixtures.mix_backward(join(logits, operators, temperature), grad_coefficients.contiguous()[None])


def differentiate(y: Tensor, inputs: Sequence[Tensor], grad_y: Tensor) -> list[Tensor | None]:
    """Gradients with a graph of their own, None for inputs that need none."""
    needed = [each for each in inputs if each.requires_grad]
    found = iter(torch.autograd.grad(y, needed, grad_y, create_graph=True))
    return [next(found) if each.requires_grad else None for each in inputs]
