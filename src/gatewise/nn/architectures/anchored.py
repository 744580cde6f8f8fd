"""Anchored: layers that read the layer before them and the input of the network, so that depth pays.

In: values in [0, 1], any leading dimensions. Out: those of the last layer. No gate is further from the input than from
the layer before it, and with weights that begin near the gate A a layer begins as the one before it.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from gatewise.checks import MAX_SEED, as_integer
from gatewise.nn.base import GateLayer, draw_seed
from gatewise.nn.head import GroupSum
from gatewise.nn.layer import LogicLayer
from gatewise.nn.parametrization import Residual, Softmax
from gatewise.wiring.layers import Operands, key_of_layer
from gatewise.wiring.permutation import mix, permute


class Anchored(nn.Module):
    """Layers of gates of which each but the first reads the one before it and the input of the first, in this order.

    Parameters
    ----------
    *layers : LogicLayer or LearnedLayer
        The first has as many inputs as the whole; each other one as many as that and the gates of the layer before.

    Examples
    --------
    >>> net = Anchored(LogicLayer(4, 8, seed=0), LogicLayer(8 + 4, 6, seed=0, position=1))
    >>> net(torch.rand(5, 4)).shape
    torch.Size([5, 6])
    """

    def __init__(self, *layers: GateLayer) -> None:
        super().__init__()
        if not layers:
            raise ValueError("layers must be at least one, got none")
        for i, layer in enumerate(layers):
            if not isinstance(layer, GateLayer):
                raise TypeError(f"layers must be layers of gates, got {type(layer).__name__} at {i}")
            expected = layers[0].in_features + (layers[i - 1].out_features if i else 0)
            if layer.in_features != expected:
                rule = "the gates of the layer before and the inputs of the first"
                raise ValueError(f"in_features must be {expected} at layer {i}, {rule}, got {layer.in_features}")
        self.layers = nn.ModuleList(layers)

    def list_layers(self) -> list[GateLayer]:
        """The layers in order."""
        return [layer for layer in self.layers if isinstance(layer, GateLayer)]

    @property
    def in_features(self) -> int:
        """Inputs of the first layer."""
        return self.list_layers()[0].in_features

    @property
    def out_features(self) -> int:
        """Gates of the last layer."""
        return self.list_layers()[-1].out_features

    def forward(self, x: Tensor) -> Tensor:
        """x: (..., in_features) -> (..., out_features)."""
        first, *others = self.layers
        y = first(x)
        for layer in others:
            y = layer(torch.cat([y, x.to(y.dtype)], -1))
        return y


def anchored_wiring(seed: int, layer: int, *, n_inputs: int, in_features: int, out_features: int) -> Operands:
    """Operands of a layer after the first of `Anchored`: gate i reads gate i before it, and an input.

    Layers of one width together read the inputs evenly: each is dealt out once before any comes again.

    Parameters
    ----------
    seed, layer : as for `gatewise.wiring.random_wiring`
    n_inputs : int
        That the first layer reads.
    in_features, out_features : int
        Of this layer; it reads the gates of the layer before it, and then the inputs.

    Examples
    --------
    >>> a, b = anchored_wiring(7, 1, n_inputs=4, in_features=8, out_features=4)
    >>> a.tolist(), sorted(b.tolist())
    ([0, 1, 2, 3], [4, 5, 6, 7])
    """
    key, _, n_gates = key_of_layer(seed, 0, in_features, out_features)
    n_before = in_features - n_inputs
    pins = np.arange(layer * n_gates, (layer + 1) * n_gates, dtype=np.uint64)
    deal, place = np.divmod(pins, np.uint64(n_inputs))
    a = np.arange(n_gates, dtype=np.int32) % np.int32(n_before)
    return a, permute(mix(key ^ deal), place, n_inputs).astype(np.int32) + np.int32(n_before)


def anchored_network(
    in_features: int,
    widths: Sequence[int],
    groups: int,
    *,
    tau: float | None = None,
    seed: int | None = None,
    generator: torch.Generator | None = None,
    **options: Any,
) -> nn.Sequential:
    """A deep network whose gates each read a gate of the layer before and one input, then the sums of the groups.

    Accuracy rises with depth where that of layers that read only each other falls.

    Parameters
    ----------
    in_features : int
    widths : gates of each layer
    groups : int
    tau, seed, generator
        As for `logic_network`.
    **options
        For every `LogicLayer`; by default it begins near the gate A.

    Examples
    --------
    >>> net = anchored_network(784, [2000] * 12, 10, tau=10.0, seed=0)
    >>> net(torch.rand(2, 784)).shape
    torch.Size([2, 10])
    """
    seed = draw_seed(generator) if seed is None else as_integer("seed", seed, 0, MAX_SEED)
    generator = generator or torch.Generator().manual_seed(seed)
    options = {"parametrization": Softmax(initialization=Residual()), **options}
    layers: list[LogicLayer] = []
    for position, width in enumerate(widths):
        n_in = in_features + (widths[position - 1] if position else 0)
        own: dict[str, Any] = {"seed": seed, "position": position, "generator": generator, **options}
        if position:
            sizes = {"in_features": n_in, "out_features": width}
            own["wiring"] = anchored_wiring(seed, position, n_inputs=in_features, **sizes)
        layers.append(LogicLayer(n_in, width, **own))
    return nn.Sequential(Anchored(*layers), GroupSum(groups, tau))
