"""Native steps of a network's layers, on floats or on bits: what `TrainStep` calls for each batch.

In: rows as arrays, a native loss, the settings of Adam. Out: the loss; weights and moments are changed in place.
The native twin holds the memory of the network's tensors and is made anew when the network gets others.
"""

import math
from collections.abc import Sequence
from typing import Any, cast

import numpy as np
import torch
from torch import Tensor

from gatewise import _native
from gatewise.nn.base import GateLayer, check_bits
from gatewise.nn.layer import LogicLayer, native_stack
from gatewise.nn.learned import LearnedLayer
from gatewise.nn.native import current_pool
from gatewise.nn.parametrization import Softmax
from gatewise.nn.sampling import Bitwise

Adam = tuple[float, float, float, float, int]  # learning rate, two betas, epsilon, step from 1
Moments = list[dict[str, tuple[Tensor, Tensor]]]  # first and second of each parameter, by name, layer by layer


def make_moments(layers: Sequence[GateLayer]) -> Moments:
    """Zeros for all parameters.

    Examples
    --------
    >>> [list(of_layer) for of_layer in make_moments([LogicLayer(4, 2), LearnedLayer(2, 2)])]
    [['weight'], ['weight', 'pins']]
    """
    return [
        {name: (torch.zeros_like(p.detach()), torch.zeros_like(p.detach())) for name, p in layer.named_parameters()}
        for layer in layers
    ]


class RelaxedSteps:
    """Steps on floats: `LogicLayer` with any sampling but `Bitwise`."""

    def __init__(self, layers: Sequence[LogicLayer], groups: int, moments: Moments) -> None:
        self._layers, self._groups, self._moments = layers, groups, moments
        self._native: tuple[tuple[object, ...], _native.TrainStep] | None = None

    def convert(self, x: Tensor) -> np.ndarray:
        """Rows as the kernels read them: bool or float32."""
        return (x if x.dtype in (torch.bool, torch.float32) else x.float()).numpy()

    def run(self, rows: np.ndarray, loss: _native.Loss, adam: Adam) -> float:
        """One step; gives the loss before it."""
        first = self._layers[0]
        # Straight from the parameters: attributes of modules are slow, and this runs at every step.
        weights: list[Any] = [layer._parameters["weight"] for layer in self._layers]
        logits, temperature, hard = first.sampling.prepare(weights)
        value, confidence = self._twin(weights).run(
            rows,
            loss,
            logits=None if logits is weights else [z.detach().numpy() for z in logits],
            temperature=temperature,
            hard=hard,
            adam=adam,
            pool=current_pool(),
        )
        first.sampling.observe(confidence, first.parametrization.n_parameters)
        return value

    def _twin(self, weights: list[Tensor]) -> _native.TrainStep:
        stack = native_stack(self._layers, self._groups).native
        factors = [layer.grad_factor for layer in self._layers]
        key = (stack, *factors, *[weight.data_ptr() for weight in weights])
        if self._native is None or self._native[0] != key:
            arrays = [w.detach().numpy() for w in weights]
            step = _native.TrainStep(
                stack, _operators(self._layers), arrays, *_weight_moments(self._moments), _scales(factors)
            )
            self._native = key, step
        return self._native[1]


class BitSteps:
    """Steps on bits: layers with one `Bitwise` sampling. Those whose weights require no gradient are frozen."""

    def __init__(self, layers: Sequence[GateLayer], groups: int, moments: Moments) -> None:
        self._layers, self._groups, self._moments = layers, groups, moments
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
        tensors: list[Any] = [each for layer in self._layers for each in _list_tensors(layer)]
        factors = [layer.grad_factor for layer in self._layers]
        frozen = [not cast(Tensor, layer._parameters["weight"]).requires_grad for layer in self._layers]
        # Wires and candidates are copied into the twin, so that it must also see when they change.
        versions = [each._version for each in tensors if not each.is_floating_point()]
        key = (*factors, *frozen, *versions, *[each.data_ptr() for each in tensors])
        if self._native is None or self._native[0] != key:
            self._native = key, self._make(factors, frozen)
        return self._native[1]

    def _make(self, factors: list[float], frozen: list[bool]) -> _native.BitStep:
        wires: list[Any] = []
        pins: list[Any] = []
        for layer, moments in zip(self._layers, self._moments, strict=True):
            is_learned = isinstance(layer, LearnedLayer)
            wires.append(None if is_learned else (*(each.numpy() for each in layer.wires()), layer.out_features))
            tensors = (layer.candidates, layer.pins, *moments["pins"]) if isinstance(layer, LearnedLayer) else ()
            pins.append(tuple(each.detach().numpy() for each in tensors) or None)
        first, second = _weight_moments(self._moments)
        return _native.BitStep(
            self._layers[0].in_features,
            wires=wires,
            pins=pins,
            n_groups=self._groups,
            gates=_operators(self._layers),
            weights=[layer.weight.detach().numpy() for layer in self._layers],
            first=first,
            second=second,
            scales=_scales(factors),
            frozen=frozen,
        )


def _list_tensors(layer: GateLayer) -> list[Any]:
    names = ("weight", "pins", "candidates", "a", "b")
    found = (layer._parameters.get(name, layer._buffers.get(name)) for name in names)
    return [tensor for tensor in found if tensor is not None]


def _operators(layers: Sequence[GateLayer]) -> np.ndarray:
    """What the rows of the weights belong to; none for `Light`, which has entries of truth tables instead."""
    parametrization = layers[0].parametrization
    return np.array(parametrization.operators if isinstance(parametrization, Softmax) else (), np.uint8)


def _weight_moments(moments: Moments) -> tuple[list[np.ndarray], list[np.ndarray]]:
    """First and second moments of the gates' weights."""
    pairs = [of_layer["weight"] for of_layer in moments]
    return [first.numpy() for first, _ in pairs], [second.numpy() for _, second in pairs]


def _scales(factors: list[float]) -> list[float]:
    """What the gradients of each layer are multiplied by: the factors of all layers above."""
    return [math.prod(factors[i + 1 :]) for i in range(len(factors))]
