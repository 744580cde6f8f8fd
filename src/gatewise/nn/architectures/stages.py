"""What reads what in a network of layers, maps and rows, and the circuit that it stands for.

In: the modules of a network between its input and its sums. Out: the shape that each of them reads, or an error that
names the first that cannot read what is before it; and the wires of the last, drawn in a circuit.
"""

import math
from collections.abc import Iterator, Sequence
from typing import TypeAlias, TypeGuard

import numpy as np
from numpy.typing import NDArray
from torch import nn

from gatewise.circuit import CircuitBuilder
from gatewise.gates import OR
from gatewise.nn.architectures.anchored import Anchored
from gatewise.nn.base import GateLayer, GateModule
from gatewise.nn.convolution.base import Convolution
from gatewise.nn.convolution.maps import FeatureMaps, OrPool2d
from gatewise.nn.lut.layer import LutLayer
from gatewise.wiring.convolution import Level, add_levels
from gatewise.wiring.window import Shape, order_maps

Stage: TypeAlias = GateLayer | LutLayer | Anchored | FeatureMaps | Convolution | OrPool2d | nn.Flatten
Reads: TypeAlias = int | Shape
"""Features of a row, or (channels, rows, columns) of maps."""

FLATTENED = ((1, -1), (-3, -1))  # start and end of what leads from maps to rows


def is_stage(module: nn.Module) -> TypeGuard[Stage]:
    """Whether a module can stand between the input and the sums of a network.

    Examples
    --------
    >>> is_stage(nn.Flatten()), is_stage(nn.Linear(3, 3))
    (True, False)
    """
    return isinstance(module, Stage)


def list_layers(stage: Stage) -> list[GateModule | LutLayer]:
    """What has gates or tables with weights in a stage.

    Examples
    --------
    >>> len(list_layers(nn.Flatten())), len(list_layers(LutLayer(8, 4, k=3)))
    (0, 1)
    """
    if isinstance(stage, Anchored):
        return [*stage.list_layers()]
    return [stage] if isinstance(stage, GateModule | LutLayer) else []


def list_gates(stage: Stage) -> list[GateModule]:
    """What has gates with weights in a stage.

    Examples
    --------
    >>> list_gates(nn.Flatten()), list_gates(LutLayer(8, 4, k=3))
    ([], [])
    """
    return [layer for layer in list_layers(stage) if isinstance(layer, GateModule)]


def follow_shapes(stages: Sequence[Stage]) -> list[Reads]:
    """What each stage reads, and what the last one gives; raises ValueError where these do not fit.

    Examples
    --------
    >>> from gatewise.nn import LogicConv2d, LogicLayer
    >>> stages = [FeatureMaps((28, 28)), LogicConv2d(1, 8, 5), OrPool2d(2), nn.Flatten(), LogicLayer(1152, 600)]
    >>> follow_shapes(stages)
    [784, (1, 28, 28), (8, 24, 24), (8, 12, 12), 1152, 600]
    """
    first = stages[0]
    if not isinstance(first, GateLayer | LutLayer | Anchored | FeatureMaps):
        got = f"{type(first).__name__} at 0"
        raise ValueError(f"module must begin with FeatureMaps or a layer that reads rows, got {got}")
    shapes: list[Reads] = [first.in_features]
    for position, stage in enumerate(stages):
        try:
            shapes.append(_shape_after(stage, shapes[-1]))
        except ValueError as error:
            raise ValueError(f"{error}, at {position}") from None
    return shapes


def draw_stages(builder: CircuitBuilder, stages: Sequence[Stage]) -> NDArray[np.int32]:
    """Add the gates of all stages to a circuit; gives the wires of what the last one gives, flattened.

    Examples
    --------
    >>> builder = CircuitBuilder(4)
    >>> draw_stages(builder, [FeatureMaps((2, 2)), OrPool2d(2)]).tolist()  # after the OR of each row
    [8]
    """
    wires = builder.inputs
    for stage, shape in zip(stages, follow_shapes(stages), strict=False):
        if isinstance(stage, FeatureMaps):
            wires = wires[order_maps(stage.shape, stage.n_thresholds)]
        elif isinstance(stage, GateLayer):
            wires = _add_layer(builder, stage, wires)
        elif isinstance(stage, LutLayer):
            made = stage.expand(wires, n_wires=builder.n_wires)
            builder.add(made.gate, made.a, made.b)
            wires = made.outputs
        elif isinstance(stage, Anchored):
            anchor = wires
            for i, layer in enumerate(stage.list_layers()):
                wires = _add_layer(builder, layer, np.concatenate([wires, anchor]) if i else anchor)
        elif isinstance(stage, Convolution | OrPool2d) and isinstance(shape, tuple):
            wires = add_levels(builder, _list_levels(stage, shape), wires)
    return wires


def _shape_after(stage: Stage, shape: Reads) -> Reads:
    """What a stage gives for what it reads."""
    if isinstance(stage, Convolution | OrPool2d):
        if isinstance(shape, int):
            raise ValueError(f"{stage} must read maps, as FeatureMaps gives, got rows of {shape}")
        return stage.shape_after(shape)
    if isinstance(stage, nn.Flatten):
        if isinstance(shape, int) or (stage.start_dim, stage.end_dim) not in FLATTENED:
            raise ValueError(f"{stage} must be Flatten(1) or Flatten(-3) of maps, got it after {_describe(shape)}")
        return math.prod(shape)
    if isinstance(shape, tuple):
        raise ValueError(f"{stage} must read rows, got {_describe(shape)}; put a torch.nn.Flatten before it")
    if shape != stage.in_features:
        raise ValueError(f"{stage} must read {stage.in_features} features, got {shape}")
    return stage.maps_shape if isinstance(stage, FeatureMaps) else stage.out_features


def _describe(shape: Reads) -> str:
    return f"rows of {shape}" if isinstance(shape, int) else f"maps of {' x '.join(map(str, shape))}"


def _add_layer(builder: CircuitBuilder, layer: GateLayer, wires: NDArray[np.int32]) -> NDArray[np.int32]:
    a, b = (wires[each.cpu().numpy()] for each in layer.wires())
    return builder.add(layer.gates(), a, b)


def _list_levels(stage: Convolution | OrPool2d, shape: Shape) -> Iterator[Level]:
    """The levels of a stage with the ids of their gates."""
    for weight, a, b, n_positions in stage.unroll(shape):
        if weight is None or isinstance(stage, OrPool2d):
            yield np.full(len(a), OR, np.uint8), a, b
        else:
            yield np.repeat(stage.parametrization.gates(weight), n_positions), a, b
