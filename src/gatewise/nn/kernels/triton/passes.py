"""Forward, back and Adam for the layers of a network, on floats or on bits: what a step on CUDA consists of.

In: a batch's values, a function that gives the gradient of the sums, Adam's rates on the device. Out: weights and
moments, changed in place, and all that was read by its address, which a recorded graph must keep.
"""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, cast

import torch
from torch import Tensor

from gatewise.nn.kernels.triton import autograd, bit_layers, layers, mixtures, pins
from gatewise.nn.kernels.triton.plan import LayerPlan, device_of, find_readers
from gatewise.nn.layer import LogicLayer
from gatewise.nn.learned import LearnedLayer
from gatewise.nn.native_steps import Moments
from gatewise.nn.parametrization import Softmax

Differentiate = Callable[[Tensor], Tensor]
"""Sums, (groups, n_rows), to their gradient, which is 0 for rows that only fill up."""


class AdamSettings(NamedTuple):
    """What stays the same from step to step."""

    betas: tuple[float, float]
    eps: float


class RelaxedPass:
    """Layers with fixed wires on floats.

    Parameters
    ----------
    network : LogicLayers of equal settings
    groups : int
    moments : of Adam, layer by layer
    adam : AdamSettings
    activations : torch.float32 or torch.bfloat16
        What values and their gradients are stored in.
    """

    def __init__(
        self,
        network: Sequence[LogicLayer],
        groups: int,
        moments: Moments,
        *,
        adam: AdamSettings,
        activations: torch.dtype,
    ) -> None:
        self._layers, self._groups, self._adam, self._activations = network, groups, adam, activations
        self._first, self._second = ([of_layer["weight"][i] for of_layer in moments] for i in (0, 1))

    def make_values(self, n_rows: int) -> Tensor:
        """Memory for the rows of a batch."""
        first = self._layers[0]
        shape = first.in_features, -(-n_rows // 16) * 16
        return torch.zeros(shape, dtype=self._activations, device=first.weight.device)

    def fill(self, values: Tensor, x: Tensor) -> None:
        """Take rows in."""
        values[:, : len(x)].copy_(x.T)

    def step(self, values: Tensor, differentiate: Differentiate, rates: Tensor) -> Any:
        """Change the weights."""
        first = self._layers[0]
        weights = [layer.weight.detach() for layer in self._layers]
        logits, temperature, hard = first.sampling.prepare(weights)
        mixture = autograd.join(logits, list_operators(first), temperature)
        coefficients, confidence = mixtures.mix(mixture, hard=hard)
        wires = [layer.a for layer in self._layers], [layer.b for layer in self._layers]
        plans = autograd.find_plans(first.in_features, wires)
        *kept, last = layers.forward(plans, values, coefficients)
        grad = differentiate(last.unflatten(0, (self._groups, -1)).sum(1, dtype=torch.float32))
        grad_factors = [layer.grad_factor for layer in self._layers]
        parts, _ = layers.backward(plans, kept, coefficients, grad, grad_factors=grad_factors, needs_x=False)
        tables = mixtures.update(mixture, parts, mixtures.Adam(weights, self._first, self._second, rates, *self._adam))
        first.sampling.observe(confidence.double().mean(), first.parametrization.n_parameters)
        return mixture, plans, tables


class BitPass:
    """Layers on bits: gates and wires that are chosen, 32 rows to a word; gradients are those of mixtures.

    Gradients of the outputs of LogicLayers are stored in bfloat16, as `functional.round_gradient` rounds them.

    Parameters
    ----------
    network : LogicLayers and LearnedLayers that share one `Bitwise`
    groups, moments, adam : as for `RelaxedPass`
    """

    def __init__(
        self, network: Sequence[LogicLayer | LearnedLayer], groups: int, moments: Moments, *, adam: AdamSettings
    ) -> None:
        self._layers, self._groups, self._moments, self._adam = network, groups, moments, adam

    def make_values(self, n_rows: int) -> Tensor:
        """Memory for the rows of a batch: words."""
        first = self._layers[0]
        shape = first.in_features, -(-n_rows // bit_layers.WORD)
        return torch.zeros(shape, dtype=torch.int32, device=first.weight.device)

    def fill(self, values: Tensor, x: Tensor) -> None:
        """Pack rows."""
        bit_layers.pack_rows(x, values)

    def step(self, values: Tensor, differentiate: Differentiate, rates: Tensor) -> Any:
        """Change the weights."""
        first = self._layers[0]
        weights = [layer.weight.detach() for layer in self._layers]
        _, temperature, _ = first.sampling.prepare(weights)
        mixture = autograd.join(weights, list_operators(first), temperature)
        mixed, chosen = (mixtures.mix(mixture, hard=hard)[0] for hard in (False, True))
        plans = [plan_layer(layer) for layer in self._layers]
        words, widths = [values], [plan.n_gates for plan in plans]
        for plan, gates in zip(plans, chosen.split(widths), strict=True):
            words.append(bit_layers.forward(plan, words[-1], gates))
        grad = differentiate(bit_layers.count_groups(words[-1], self._groups)).to(self._kind(-1))
        parts, of_pins = self._go_back(plans, words, mixed, grad)
        moments = [[of_layer["weight"][i] for of_layer in self._moments] for i in (0, 1)]
        tables = mixtures.update(mixture, parts, mixtures.Adam(weights, moments[0], moments[1], rates, *self._adam))
        for i, pin_parts in of_pins.items():
            own, (mean, square) = cast(LearnedLayer, self._layers[i]).pins.detach(), self._moments[i]["pins"]
            adam = mixtures.Adam([own], [mean], [square], rates, *self._adam)
            pins.update(mixture.temperature, pin_parts, adam)
        return mixture, plans, tables

    def _go_back(
        self, plans: Sequence[LayerPlan], words: Sequence[Tensor], mixed: Tensor, grad: Tensor
    ) -> tuple[Tensor, dict[int, Tensor]]:
        """Parts of the gradients of coefficients, and of the pins of each layer that has them."""
        n_rows = grad.shape[1]
        parts, of_pins = layers.make_parts(mixed, n_rows), {}
        last, per_group = len(mixed), plans[-1].n_gates // len(grad)
        with device_of(parts):
            for i in reversed(range(len(plans))):
                plan, layer = plans[i], self._layers[i]
                gates = slice(last - plan.n_gates, last)
                sums = layers.Sums(parts[:, gates], per_group)
                below = grad.new_empty((plan.n_wires, n_rows), dtype=self._kind(i - 1)) if i else None
                options = {"into": below, "factor": layer.grad_factor}
                layers.backward_layer(plan, words[i], mixed[gates], grad, sums, **options)  # type: ignore[arg-type]
                if isinstance(layer, LearnedLayer):
                    given = plan, words[i], layer.candidates, mixed[gates], grad, per_group
                    of_pins[i] = pins.differentiate(*given)
                if below is not None:
                    last, per_group, grad = gates.start, 1, below
        return parts, of_pins

    def _kind(self, i: int) -> torch.dtype:
        """What gradients of the outputs of a layer are stored in."""
        return torch.bfloat16 if isinstance(self._layers[i], LogicLayer) else torch.float32


def list_operators(layer: LogicLayer | LearnedLayer) -> tuple[int, ...]:
    """What the rows of a layer's weights belong to.

    Examples
    --------
    >>> list_operators(LogicLayer(4, 2, parametrization=Softmax([1, 7])))
    (1, 7)
    """
    assert isinstance(layer.parametrization, Softmax)
    return tuple(layer.parametrization.operators)


def plan_layer(layer: LogicLayer | LearnedLayer) -> LayerPlan:
    """The plan of fixed wires, which is kept, or of those that pins choose now.

    Examples
    --------
    >>> plan_layer(LogicLayer(4, 2)).n_wires
    4
    """
    if isinstance(layer, LogicLayer):
        return autograd.find_plans(layer.in_features, ([layer.a], [layer.b]))[0]
    a, b = (wires.int() for wires in layer.wires())
    return LayerPlan(layer.in_features, a, b, find_readers(a, b, layer.in_features))
