"""Native steps of a network's layers, on floats or on bits: what `TrainStep` calls for each batch.

In: rows as arrays, a native loss, the settings of Adam. Out: the loss; weights and moments are changed in place.
The native twin holds the memory of the network's tensors and is made anew when the network gets others.
"""

import math
from collections.abc import Sequence
from typing import Any, cast

import numpy as np
import torch
from torch import Tensor, nn

from gatewise import _native
from gatewise.nn.architectures.stages import Stage, follow_shapes, list_gates
from gatewise.nn.base import GateLayer, GateModule, check_bits
from gatewise.nn.convolution.levels import Level, list_levels
from gatewise.nn.kernels.native import current_pool
from gatewise.nn.parametrization import Softmax
from gatewise.nn.sampling import Bitwise

Adam = tuple[float, float, float, float, int]  # learning rate, two betas, epsilon, step from 1
Moments = list[dict[str, tuple[Tensor, Tensor]]]  # first and second of each parameter, by name, layer by layer


def make_moments(layers: Sequence[nn.Module]) -> Moments:
    """Zeros for all parameters.

    Examples
    --------
    >>> from gatewise.nn import LearnedLayer, LogicLayer
    >>> [list(of_layer) for of_layer in make_moments([LogicLayer(4, 2), LearnedLayer(2, 2)])]
    [['weight'], ['weight', 'pins']]
    """
    return [
        {name: (torch.zeros_like(p.detach()), torch.zeros_like(p.detach())) for name, p in layer.named_parameters()}
        for layer in layers
    ]


class RelaxedSteps:
    """Steps on floats: layers with fixed wires and any sampling but `Bitwise`."""

    def __init__(self, stages: Sequence[Stage], groups: int, moments: Moments) -> None:
        self._stages, self._groups, self._moments = stages, groups, moments
        self._layers = [layer for stage in stages for layer in list_gates(stage)]
        self._native: tuple[tuple[object, ...], _native.TrainStep] | None = None

    def convert(self, x: Tensor) -> np.ndarray:
        """Rows as the kernels read them: bool or float32."""
        return (x if x.dtype in (torch.bool, torch.float32) else x.float()).numpy()

    def run(self, rows: np.ndarray, loss: _native.Loss, adam: Adam) -> float:
        """One step; gives the loss before it."""
        first = self._layers[0]
        weights = [weight for layer in self._layers for weight in _list_weights(layer)]
        logits, temperature, hard = first.sampling.prepare(weights)
        value, confidence = self._twin(weights).run(
            rows,
            loss,
            logits=None if logits is weights else [z.detach().numpy() for z in logits],
            temperature=float(temperature),
            hard=hard,
            adam=adam,
            pool=current_pool(),
        )
        first.sampling.observe(confidence, first.parametrization.n_parameters)
        return value

    def _twin(self, weights: list[Tensor]) -> _native.TrainStep:
        factors = [layer.grad_factor for layer in self._layers]
        key = make_key(self._layers, factors)
        if self._native is None or self._native[0] != key:
            levels = list_levels(self._stages)
            wiring = [(*level.wires, level.n_gates) for level in levels if level.wires is not None]
            inner = [level for level in levels if level.layer is not None]
            stack = _native.RelaxedStack(_count_inputs(self._stages), wiring, self._groups)
            step = _native.TrainStep(
                stack,
                _operators(self._layers),
                [weight.detach().numpy() for weight in weights],
                *_list_moments(self._layers, self._moments, inner),
                _scales(self._layers, factors, inner),
            )
            self._native = key, step
        return self._native[1]


class BitSteps:
    """Steps on bits: layers with one `Bitwise` sampling. Those whose weights require no gradient are frozen."""

    def __init__(self, stages: Sequence[Stage], groups: int, moments: Moments) -> None:
        self._stages, self._groups, self._moments = stages, groups, moments
        self._layers = [layer for stage in stages for layer in list_gates(stage)]
        self._native: tuple[tuple[object, ...], _native.BitStep] | None = None

    def convert(self, x: Tensor) -> np.ndarray:
        """Rows as the kernels read them: bool, the bits of a row together."""
        check_bits(x)
        return x.bool().contiguous().numpy()

    def run(self, rows: np.ndarray, loss: _native.Loss, adam: Adam) -> float:
        """One step; gives the loss before it."""
        temperature = float(cast(Bitwise, self._layers[0].sampling).temperature)
        return self._twin().run(rows, loss, temperature=temperature, adam=adam, pool=current_pool())

    def _twin(self) -> _native.BitStep:
        factors = [layer.grad_factor for layer in self._layers]
        frozen = [not _list_weights(layer)[0].requires_grad for layer in self._layers]
        key = (*frozen, *make_key(self._layers, factors))
        if self._native is None or self._native[0] != key:
            self._native = key, self._make(factors, frozen)
        return self._native[1]

    def _make(self, factors: list[float], frozen: list[bool]) -> _native.BitStep:
        levels = list_levels(self._stages)
        operators = _operators(self._layers)
        nothing = np.empty((len(operators) or 4, 0), np.float32)  # the weights of a maximum
        first, second = _list_moments(self._layers, self._moments, levels)
        return _native.BitStep(
            _count_inputs(self._stages),
            wires=[None if level.wires is None else (*level.wires, level.n_gates) for level in levels],
            pins=[self._pins(level) for level in levels],
            windows=[level.window for level in levels],
            n_groups=self._groups,
            gates=operators,
            weights=[nothing if level.layer is None else level.weight.detach().numpy() for level in levels],
            first=[nothing if each is None else each for each in first],
            second=[nothing if each is None else each for each in second],
            scales=_scales(self._layers, factors, levels),
            frozen=[level.layer is None or frozen[self._layers.index(level.layer)] for level in levels],
            rounded=[level.wires is not None and isinstance(level.layer, GateLayer) for level in levels],
        )

    def _pins(self, level: Level) -> tuple[np.ndarray, ...] | None:
        if level.layer is None or level.candidates is None:
            return None
        moments = self._moments[self._layers.index(level.layer)]["pins"]
        tensors = (level.layer.get_parameter("pins"), *moments)
        return (np.ascontiguousarray(level.candidates), *(each.detach().numpy() for each in tensors))


def make_key(layers: Sequence[GateModule], factors: list[float]) -> tuple[object, ...]:
    """What a native twin depends on. Wires are copied into it, so that it must also see when they change.

    Examples
    --------
    >>> from gatewise.nn import LogicLayer
    >>> layer = LogicLayer(4, 2)
    >>> make_key([layer], [1.0]) == make_key([layer], [1.0]), make_key([layer], [1.0]) == make_key([layer], [2.0])
    (True, False)
    """
    # Straight from the parameters: attributes of modules are slow, and this runs at every step.
    tensors: list[Any] = [each for layer in layers for each in _list_tensors(layer)]
    versions = [each._version for each in tensors if not each.is_floating_point()]
    return (*factors, *versions, *[each.data_ptr() for each in tensors])


def _list_weights(layer: GateModule) -> list[Any]:
    """The weights of a layer's gates, level by level."""
    weight = layer._parameters.get("weight")
    return [weight] if weight is not None else list(cast(Any, layer._modules["weights"])._parameters.values())


def _list_tensors(layer: GateModule) -> list[Any]:
    names = ("pins", "candidates", "a", "b", "tap_idx")
    found = (layer._parameters.get(name, layer._buffers.get(name)) for name in names)
    return [*_list_weights(layer), *(tensor for tensor in found if tensor is not None)]


def _count_inputs(stages: Sequence[Stage]) -> int:
    return cast(int, follow_shapes(stages)[0])


def _operators(layers: Sequence[GateModule]) -> np.ndarray:
    """What the rows of the weights belong to; none for `Light`, which has entries of truth tables instead."""
    parametrization = layers[0].parametrization
    return np.array(parametrization.operators if isinstance(parametrization, Softmax) else (), np.uint8)


def _list_moments(
    layers: Sequence[GateModule], moments: Moments, levels: Sequence[Level]
) -> tuple[list[Any], list[Any]]:
    """First and second moments of the gates' weights, level by level; None for maxima."""
    found: list[Any] = [
        (None, None) if level.layer is None else moments[layers.index(level.layer)][level.name] for level in levels
    ]
    first, second = ([None if each is None else each.numpy() for each in column] for column in zip(*found, strict=True))
    return first, second


def scale_gradients(factors: list[float]) -> list[float]:
    """What the gradients of each layer are multiplied by: the factors of all layers above.

    Examples
    --------
    >>> scale_gradients([1.0, 2.0, 3.0])
    [6.0, 3.0, 1.0]
    """
    return [math.prod(factors[i + 1 :], start=1.0) for i in range(len(factors))]


def _scales(layers: Sequence[GateModule], factors: list[float], levels: Sequence[Level]) -> list[float]:
    """The same for each level: the scale of its layer."""
    scales = scale_gradients(factors)
    return [1.0 if level.layer is None else scales[layers.index(level.layer)] for level in levels]
