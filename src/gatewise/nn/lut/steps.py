"""Native steps of layers of tables: what `TrainStep` calls for each batch.

In: rows as arrays, a native loss, the settings of Adam. Out: the loss; entries, pins and moments are changed in place.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from torch import Tensor

from gatewise import _native
from gatewise.nn.base import check_bits
from gatewise.nn.kernels.native import current_pool
from gatewise.nn.lut.layer import LutLayer
from gatewise.nn.native_steps import Adam, Moments, scale_gradients


class TableSteps:
    """Steps on bits; layers whose entries require no gradient are frozen."""

    def __init__(self, layers: Sequence[LutLayer], groups: int, moments: Moments) -> None:
        self._layers, self._groups, self._moments = layers, groups, moments
        self._native: tuple[tuple[object, ...], _native.TableStep] | None = None

    def convert(self, x: Tensor) -> np.ndarray:
        """Rows as the kernels read them: bool, the bits of a row together."""
        check_bits(x)
        return x.bool().contiguous().numpy()

    def run(self, rows: np.ndarray, loss: _native.Loss, adam: Adam) -> float:
        """One step; gives the loss before it."""
        temperature = float(self._layers[0].sampling.temperature)
        return self._twin().run(rows, loss, temperature=temperature, adam=adam, pool=current_pool())

    def _twin(self) -> _native.TableStep:
        names = ("weight", "pins", "candidates", "fixed")
        tensors: list[Any] = [getattr(layer, name) for layer in self._layers for name in names]
        tensors = [tensor for tensor in tensors if tensor is not None]
        factors = [layer.grad_factor for layer in self._layers]
        frozen = [not layer.weight.requires_grad for layer in self._layers]
        # Wires and candidates are copied into the twin, so that it must also see when they change.
        versions = [each._version for each in tensors if not each.is_floating_point()]
        key = (*factors, *frozen, *versions, *[each.data_ptr() for each in tensors])
        if self._native is None or self._native[0] != key:
            self._native = key, self._make(factors, frozen)
        return self._native[1]

    def _make(self, factors: list[float], frozen: list[bool]) -> _native.TableStep:
        entries, pins = [], []
        for layer, moments in zip(self._layers, self._moments, strict=True):
            entries.append(_as_arrays(layer.weight, *moments["weight"]))
            pins.append(_as_arrays(layer.candidates, layer.pins, *moments["pins"]) if "pins" in moments else None)
        return _native.TableStep(
            self._layers[0].in_features,
            entries=entries,
            wires=[None if layer.fixed is None else layer.fixed.numpy() for layer in self._layers],
            pins=pins,
            n_groups=self._groups,
            scales=scale_gradients(factors),
            frozen=frozen,
        )


def _as_arrays(*tensors: Tensor | None) -> tuple[np.ndarray, ...]:
    return tuple(tensor.detach().numpy() for tensor in tensors if tensor is not None)
