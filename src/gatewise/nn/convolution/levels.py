"""What native steps run of a network: levels of outputs, from the bits of a row to what the groups sum up.

In: the stages of a network. Out: their levels in order. Invariant: a level reads only the one before it, flattened as
rows are; where a stage begins with `FeatureMaps`, the order of its maps is that of the wires.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from gatewise.nn.architectures.stages import Stage, follow_shapes
from gatewise.nn.base import GateLayer, GateModule
from gatewise.nn.convolution.base import Convolution
from gatewise.nn.convolution.base import Level as MapLevel
from gatewise.nn.convolution.layer import LearnedConv2d
from gatewise.nn.convolution.maps import FeatureMaps, OrPool2d
from gatewise.nn.learned import LearnedLayer
from gatewise.wiring.window import order_maps


class Level(NamedTuple):
    """Outputs that read the level before.

    Parameters
    ----------
    layer : LogicLayer, LearnedLayer, LogicConv2d or None
        Whose gates they are; None: they are the larger of their operands.
    name : str
        Of the weight among the layer's parameters.
    n_gates : int
        Shared by as many consecutive outputs each.
    wires : int32 arrays (a, b) or None
        Operands of each output; one beyond the last wire stands for the constant 0. None: they are learned.
    candidates : int32 array, (2, n_gates, k), or None
        Wires among which learned ones choose; or, with a window, its values.
    window : int32 array, (n_values, n_positions), or None
        The wires of a window's values at each position.
    """

    layer: GateModule | None
    name: str
    n_gates: int
    wires: tuple[NDArray[np.int32], NDArray[np.int32]] | None
    candidates: NDArray[np.int32] | None = None
    window: NDArray[np.int32] | None = None

    @property
    def weight(self) -> Tensor:
        """The weight of the level's gates."""
        assert self.layer is not None
        return self.layer.get_parameter(self.name)

    def reorder(self, order: NDArray[np.int32]) -> "Level":
        """The same level, reading wire order[i] where it read wire i."""
        if self.wires is not None:
            return self._replace(wires=(order[self.wires[0]], order[self.wires[1]]))
        if self.window is not None:
            return self._replace(window=order[self.window])
        return self._replace(candidates=None if self.candidates is None else order[self.candidates])


def list_levels(stages: Sequence[Stage]) -> list[Level]:
    """The levels of all stages.

    Examples
    --------
    >>> from torch import nn
    >>> from gatewise.nn import LogicConv2d, LogicLayer
    >>> maps, trees = FeatureMaps((28, 28)), LogicConv2d(1, 8, 5, depth=2, seed=0)
    >>> levels = list_levels([maps, trees, OrPool2d(2), nn.Flatten(), LogicLayer(1152, 600, seed=0)])
    >>> [(level.name, level.n_gates) for level in levels]
    [('weights.0', 16), ('weights.1', 8), ('', 0), ('', 0), ('weight', 600)]
    """
    levels: list[Level] = []
    order: NDArray[np.int32] | None = None
    for stage, shape in zip(stages, follow_shapes(stages), strict=False):
        if isinstance(stage, FeatureMaps):
            maps = order_maps(stage.shape, stage.n_thresholds)
            order = np.append(maps, np.int32(len(maps)))
        own: list[Level] = []
        if isinstance(stage, GateLayer):
            own = [_level_of_rows(stage)]
        elif isinstance(stage, Convolution | OrPool2d) and isinstance(shape, tuple):
            own = list(_levels_of_maps(stage, stage.unroll(shape)))
            if isinstance(stage, LearnedConv2d):
                window = stage.window.locate(np.arange(stage.n_values, dtype=np.int32), shape)
                own[0] = own[0]._replace(wires=None, candidates=stage.candidates.numpy(), window=window)
        if own and order is not None:
            own[0], order = own[0].reorder(order), None
        levels += own
    return levels


def list_names(layer: GateModule) -> list[str]:
    """What a layer's parameters are called: the weights of its gates, level by level, and then its pins, if any.

    Examples
    --------
    >>> from gatewise.nn import LogicConv2d
    >>> list_names(LogicConv2d(1, 8, 5, depth=2)), list_names(LearnedLayer(4, 2))
    (['weights.0', 'weights.1'], ['weight', 'pins'])
    """
    weights = [f"weights.{i}" for i in range(layer.depth)] if isinstance(layer, Convolution) else ["weight"]
    return [*weights, *["pins"] * isinstance(layer, LearnedLayer | LearnedConv2d)]


def _level_of_rows(layer: GateLayer) -> Level:
    if isinstance(layer, LearnedLayer):
        return Level(layer, "weight", layer.out_features, None, layer.candidates.numpy())
    a, b = (wires.numpy() for wires in layer.wires())
    return Level(layer, "weight", layer.out_features, (a, b))


def _levels_of_maps(stage: Convolution | OrPool2d, unrolled: Sequence[MapLevel]) -> Iterator[Level]:
    for i, (weight, a, b, n_positions) in enumerate(unrolled):
        if weight is None or isinstance(stage, OrPool2d):
            yield Level(None, "", 0, (a, b))
        else:
            yield Level(stage, f"weights.{i}", len(a) // n_positions, (a, b))
