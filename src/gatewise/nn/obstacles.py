"""Whether native steps can train a network, and if not, why: the layer and the rule that it breaks."""

from collections.abc import Iterator, Sequence
from typing import Any, cast

import torch
from torch import Tensor, nn

from gatewise.nn.architectures.stages import follow_shapes
from gatewise.nn.base import GateLayer, GateModule
from gatewise.nn.convolution.layer import LearnedConv2d, LogicConv2d
from gatewise.nn.convolution.levels import list_names
from gatewise.nn.convolution.maps import FeatureMaps, OrPool2d
from gatewise.nn.head import GroupSum
from gatewise.nn.kernels import cuda
from gatewise.nn.layer import LogicLayer
from gatewise.nn.learned import LearnedLayer
from gatewise.nn.lut import LutLayer
from gatewise.nn.network import LogicNetwork, is_plain
from gatewise.nn.parametrization import Softmax
from gatewise.nn.relaxation import Probabilistic
from gatewise.nn.sampling import Bitwise

STAGES = (LogicLayer, LearnedLayer, FeatureMaps, LogicConv2d, LearnedConv2d, OrPool2d, nn.Flatten)


def find_obstacle(net: nn.Module) -> str | None:
    """Why native steps cannot train a network, as the rest of a sentence that begins with "net must"; None if they can.

    Examples
    --------
    >>> from gatewise.nn import Light, logic_network
    >>> find_obstacle(logic_network(4, [8], 2, parametrization=Light()))
    'have Softmax as the parametrization of every layer, got Light() at layer 0'
    """
    if type(net).forward not in (nn.Sequential.forward, LogicNetwork.forward):
        return f"be a LogicNetwork or Sequential, got {type(net).__name__}"
    parts = list(cast(nn.Sequential, net))
    if len(parts) < 2 or not is_plain(parts[-1], GroupSum):
        return f"hold layers of gates and a GroupSum at the end, got {type(parts[-1]).__name__ if parts else 'nothing'}"
    stages = parts[:-1]
    kinds, named = ((LutLayer,), "LutLayers") if isinstance(stages[0], LutLayer) else (STAGES, "layers of gates")
    for position, stage in enumerate(stages):
        if not any(is_plain(stage, kind) for kind in kinds):
            return f"hold {named} without hooks before the GroupSum, got {type(stage).__name__} at {position}"
    return _find_rule(stages) or _find_misfit(stages)


def _find_rule(stages: Sequence[Any]) -> str | None:
    """The first rule that a layer breaks."""
    layers: list[tuple[int, Any]] = [
        (position, stage) for position, stage in enumerate(stages) if isinstance(stage, GateModule | LutLayer)
    ]
    if not layers:
        return "hold layers of gates, got none"
    _, first = layers[0]
    unfit = _find_unfit(stages)
    if unfit:
        return unfit
    rules = _rules_of_tables if isinstance(first, LutLayer) else _rules
    for position, layer in layers:
        following = stages[position + 1] if position + 1 < len(stages) else None
        for holds, rule, got in rules(layer, first, following):
            if not holds:
                return f"have {rule}, got {got} at layer {position}"
    return None


def _find_unfit(stages: Sequence[Any]) -> str | None:
    """The first stage that steps on CUDA do not take, if the network is there."""
    devices = [parameter.device for stage in stages for parameter in stage.parameters()]
    if not (devices and cuda.has_kernels(devices[0])):
        return None
    for position, stage in enumerate(stages):
        if not isinstance(stage, LogicLayer | LearnedLayer):
            return f"hold LogicLayers or LearnedLayers on CUDA, got {type(stage).__name__} at {position}"
        if not isinstance(stage.parametrization, Softmax):
            return f"have Softmax as the parametrization of every layer on CUDA, got {stage.parametrization}"
        if not all(parameter.requires_grad for parameter in stage.parameters()):
            return f"hold layers on CUDA that are all trained, got one that requires no gradient at {position}"
    others = [device for device in devices if device != devices[0]]
    return f"be on one device, got {devices[0]} and {others[0]}" if others else None


def _find_misfit(stages: Sequence[Any]) -> str | None:
    """The first stage that cannot read what is before it."""
    try:
        last = follow_shapes(stages)[-1]
    except ValueError as error:
        return f"hold layers that fit together: {error}"
    return None if isinstance(last, int) else f"end in rows, got maps of {last}; put a torch.nn.Flatten behind them"


def _rules(layer: GateModule, first: GateModule, following: nn.Module | None) -> Iterator[tuple[bool, str, object]]:
    """What must hold for a layer, in words, and what it has instead."""
    softmax, on_bits = layer.parametrization, isinstance(layer.sampling, Bitwise)
    yield on_bits or isinstance(softmax, Softmax), "Softmax as the parametrization of every layer", softmax
    yield softmax.kind == first.parametrization.kind, "the same operators in every layer", softmax
    relaxation = layer.relaxation if isinstance(layer, LogicLayer) else Probabilistic()
    yield isinstance(relaxation, Probabilistic), "the probabilistic relaxation in every layer", relaxation
    own = f"a {layer.sampling} that is not that of layer 0"
    yield layer.sampling == first.sampling, "one sampling, which all layers share", own
    is_learned = isinstance(layer, LearnedLayer | LearnedConv2d)
    yield on_bits or not is_learned, f"Bitwise as the sampling of a {type(layer).__name__}", layer.sampling
    parameters = dict(layer.named_parameters())
    for name in list_names(layer):
        yield from _rules_of_parameter(name, parameters.get(name), on_bits)
    trained = {tensor.requires_grad for tensor in parameters.values()}
    together = "weight and pins" if is_learned else "weights"
    yield len(trained) == 1, f"{together} that are frozen together", "one of them that is not"
    if isinstance(layer, GateLayer) and isinstance(following, GateLayer):
        width = following.in_features
        yield width == layer.out_features, f"{width} gates for the layer after it", layer.out_features


def _rules_of_tables(
    layer: LutLayer, first: LutLayer, following: nn.Module | None
) -> Iterator[tuple[bool, str, object]]:
    """The same for a layer of tables."""
    yield from _rules_of_parameter("weight", layer._parameters.get("weight"), on_bits=True)
    if layer.pins is not None:
        own = f"a {layer.sampling} that is not that of layer 0"
        yield layer.sampling is first.sampling, "one sampling, which all layers that learn wires share", own
        yield from _rules_of_parameter("pins", layer.pins, on_bits=True)
        together = layer.weight.requires_grad == layer.pins.requires_grad
        yield together, "weight and pins that are frozen together", "one of them that is not"
    width = following.in_features if isinstance(following, LutLayer) else layer.out_features
    yield width == layer.out_features, f"{width} tables for the layer after it", layer.out_features


def _rules_of_parameter(name: str, tensor: Tensor | None, on_bits: bool) -> Iterator[tuple[bool, str, object]]:
    plural = name if name == "pins" else "weights"
    is_there = tensor is not None and (tensor.device.type == "cpu" or cuda.has_kernels(tensor.device))
    is_native = is_there and tensor is not None and tensor.dtype == torch.float32
    kind = "another tensor" if tensor is None else f"{tensor.dtype} on {tensor.device}"
    yield is_native, f"{plural} in float32 on the CPU", kind
    is_trained = on_bits or (tensor is not None and tensor.requires_grad)
    yield is_trained, f"{plural} that require a gradient", "one that does not"
