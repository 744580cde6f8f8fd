"""discretize_shared: from a trained network with convolutions to a circuit that holds every shared gate once.

In: a network as for `discretize`. Out: a `ConvolutionalCircuit`. Invariant: it expands to what `discretize` gives.
"""

from collections.abc import Sequence

import numpy as np
from torch import nn

from gatewise.circuit import Circuit, CircuitBuilder
from gatewise.nn.architectures.stages import Stage
from gatewise.nn.convolution.base import Convolution
from gatewise.nn.convolution.maps import FeatureMaps, OrPool2d
from gatewise.nn.discretize import Parts, discretize, discretize_seeded, take_apart
from gatewise.wiring import ConvolutionalCircuit, ImageWiring, OrPooling, SeededCircuit, SharedTrees


def discretize_shared(module: nn.Module, wiring: ImageWiring | None = None) -> ConvolutionalCircuit:
    """The circuit of a network of convolutions, in the form that stores shared gates once.

    Parameters
    ----------
    module : as for `discretize`
        It begins with `FeatureMaps`; behind its `Flatten` there may be layers of gates.
    wiring : as for `discretize_seeded`
        Of these layers. If their wires do not follow from one seed, they are stored one by one.

    Returns
    -------
    ConvolutionalCircuit
        Expands to what `discretize` gives.

    Examples
    --------
    >>> from gatewise.nn import FeatureMaps, GroupSum, LogicConv2d, LogicLayer, OrPool2d
    >>> trees = LogicConv2d(1, 8, 5, depth=2, seed=0)
    >>> dense = LogicLayer(1152, 600, seed=0)
    >>> net = nn.Sequential(FeatureMaps((28, 28)), trees, OrPool2d(2), nn.Flatten(), dense, GroupSum(10))
    >>> circuit = discretize_shared(net)
    >>> circuit.n_gates, circuit.n_stored
    (17880, 624)
    >>> circuit.expand() == discretize(net)
    True
    """
    parts = take_apart(module)
    first, *others = parts.stages
    if not isinstance(first, FeatureMaps):
        raise TypeError(f"module must begin with FeatureMaps to have shared gates, got {type(first).__name__} at 0")
    stages: list[SharedTrees | OrPooling] = []
    dense: list[Stage] = []
    for stage in others:
        if isinstance(stage, Convolution):
            gates = [stage.parametrization.gates(weight) for weight in stage.weights]
            stages.append(SharedTrees(stage.window, stage.taps().cpu().numpy(), gates))
        elif isinstance(stage, OrPool2d):
            stages.append(OrPooling(stage.window))
        elif not isinstance(stage, nn.Flatten):
            dense.append(stage)
    return ConvolutionalCircuit(first.shape, first.n_thresholds, stages, _make_dense(parts, dense, wiring))


def _make_dense(parts: Parts, dense: Sequence[Stage], wiring: ImageWiring | None) -> Circuit | SeededCircuit:
    """What reads the maps: with the seed of its wires where they have one."""
    if not dense:
        builder = CircuitBuilder(parts.out_features)
        return builder.build(builder.inputs, parts.group_size * np.arange(parts.groups + 1))
    own = nn.Sequential(*dense, *([parts.sums] if parts.sums else []))
    try:
        return discretize_seeded(own, wiring)
    except (TypeError, ValueError):
        return discretize(own)
