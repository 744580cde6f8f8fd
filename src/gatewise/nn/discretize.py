"""discretize: from a trained module to the circuit that its `eval()` computes, and from its counts to its outputs.

In: a Sequential of layers of gates, a GroupSum and perhaps a head. Out: a `Circuit`; the head that reads its counts, in
torch or as a part of a `Model`. Invariant: circuit and head together give what ``module.eval()`` gives on 0/1 input.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from torch import Tensor, nn

from gatewise import heads
from gatewise.circuit import Circuit, CircuitBuilder
from gatewise.nn.architectures.stages import Stage, draw_stages, follow_shapes, is_stage, list_layers
from gatewise.nn.base import GateLayer, GateModule
from gatewise.nn.head import Affine, GroupSum, Logit
from gatewise.nn.learned import LearnedLayer
from gatewise.nn.lut import LutLayer
from gatewise.wiring import WIRINGS, AnyWiring, ImageWiring, LearnedWiring, SeededCandidates, SeededCircuit, Wiring


class Parts(NamedTuple):
    """What a network consists of: stages, then their sums, then heads of a regression; and the features of its ends."""

    stages: list[Stage]
    sums: GroupSum | None
    heads: list[Affine]
    in_features: int
    out_features: int

    @property
    def layers(self) -> list[GateModule | LutLayer]:
        """All that has gates or tables with weights, in order."""
        return [each for stage in self.stages for each in list_layers(stage)]

    @property
    def groups(self) -> int:
        """Groups of its outputs; all outputs are one group without a GroupSum."""
        return self.sums.groups if self.sums else 1

    @property
    def group_size(self) -> int:
        """Outputs in each group."""
        return self.out_features // self.groups


def take_apart(module: nn.Module) -> Parts:
    """The parts of a network that can be discretized.

    Parameters
    ----------
    module : LogicNetwork, Sequential of layers of gates, a GroupSum and a head, or such a layer
        Sequentials may be nested. Anything else is a TypeError that names the module and its place.

    Examples
    --------
    >>> from gatewise.nn import logic_network
    >>> parts = take_apart(logic_network(4, [8, 6], groups=3))
    >>> len(parts.layers), parts.out_features, parts.groups, parts.group_size
    (2, 6, 3, 2)
    """
    stages: list[Stage] = []
    sums: GroupSum | None = None
    after: list[Affine] = []
    for position, part in enumerate(_flatten(module)):
        if is_stage(part) and sums is None:
            stages.append(part)
        elif isinstance(part, GroupSum) and sums is None:
            sums = part
        elif isinstance(part, Affine) and sums is not None:
            after.append(part)
        else:
            got = f"{type(part).__name__} at {position}"
            raise TypeError(f"module must consist of layers of gates, one GroupSum and a head at the end, got {got}")
    if not any(list_layers(stage) for stage in stages):
        raise ValueError("module must hold at least one layer of gates, got none")
    n_inputs, *_, last = follow_shapes(stages)
    if not (isinstance(n_inputs, int) and isinstance(last, int)):
        raise ValueError(f"module must end in rows, got maps of {last}; put a torch.nn.Flatten behind them")
    if sums is not None:
        sums.check(last)
    return Parts(stages, sums, after, n_inputs, last)


def discretize(module: nn.Module) -> Circuit:
    """The circuit of a network, with every gate the most probable of its operators.

    Tables of a `LutLayer` become two-input gates; what a table does not depend on is not read.

    Parameters
    ----------
    module : LogicNetwork, Sequential of layers of gates, a GroupSum and a head, or such a layer
        It is left as it was. Convolutions begin with `FeatureMaps` and end in a `torch.nn.Flatten`.

    Returns
    -------
    Circuit
        Equal, bit for bit, to ``module.eval()`` on 0/1 input: its counts are the sums before tau, beta and the head,
        see `read_counts`. Without a GroupSum all outputs are one group.

    Examples
    --------
    >>> from gatewise.nn import logic_network
    >>> discretize(logic_network(4, [8, 6], groups=3, seed=0))
    Circuit(n_inputs=4, n_gates=14, n_outputs=6, n_groups=3)
    """
    parts = take_apart(module)
    builder = CircuitBuilder(parts.in_features)
    outputs = draw_stages(builder, parts.stages)
    return builder.build(outputs, parts.group_size * np.arange(parts.groups + 1))


def discretize_seeded(module: nn.Module, wiring: ImageWiring | None = None) -> SeededCircuit:
    """The circuit of a network whose wires came from one seed, in the form that stores the seed instead of the wires.

    Parameters
    ----------
    module : as for `discretize`
        Built by `logic_network`, or of layers with one seed and positions 0, 1, 2, ...
    wiring : NearbyWiring or ButterflyWiring, optional
        The one that the network was built with, if it was; random, unique and local wirings are recognized, and so are
        learned ones, whose candidates came from the seed.

    Returns
    -------
    SeededCircuit
        Expands to what `discretize` gives; for wires that are not the seed's, such as candidates that came in by
        `LearnedLayer.exchange` and were chosen, it is a ValueError that names the layer.

    Examples
    --------
    >>> from gatewise.nn import logic_network
    >>> net = logic_network(4, [8, 6], groups=3, seed=5)
    >>> discretize_seeded(net)
    SeededCircuit(n_inputs=4, layers=(8, 6), n_groups=3, seed=5, wiring='random')
    >>> discretize_seeded(net).expand() == discretize(net)
    True
    """
    parts = take_apart(module)
    layers: list[GateLayer] = []
    for position, stage in enumerate(parts.stages):
        if not isinstance(stage, GateLayer):
            got = f"{type(stage).__name__} at {position}"
            raise TypeError(f"module must consist of straight layers of gates, got {got}; use discretize")
        layers.append(stage)
    return _seed_layers(layers, parts.groups, wiring)


def _seed_layers(layers: Sequence[GateLayer], groups: int, wiring: ImageWiring | None) -> SeededCircuit:
    seed, _ = layers[0].seed_and_position()
    known = wiring or _find_learned(layers)
    fitting: dict[AnyWiring, Wiring] = {known: known} if known else dict(WIRINGS.items())
    for position, layer in enumerate(layers):
        tried = fitting
        fitting = {name: wire for name, wire in tried.items() if _is_wired(layer, wire, seed, position)}
        if not fitting:
            rule = f"the {' or '.join(map(str, tried))} wiring of seed {seed}"
            raise ValueError(f"layer {position} must have {rule}, got others in {layer}; use discretize")
    gates = [layer.gates() for layer in layers]
    return SeededCircuit(layers[0].in_features, gates, groups, seed, next(iter(fitting)))


def read_counts(module: nn.Module, counts: Tensor) -> Tensor:
    """What ``module.eval()`` gives for rows on which its circuit counts so many true outputs.

    Parameters
    ----------
    module : as for `discretize`, with a GroupSum
    counts : (n_rows, groups)
        Integers.

    Returns
    -------
    float32, (n_rows, groups)

    Examples
    --------
    >>> import torch
    >>> from gatewise.nn import logic_network
    >>> read_counts(logic_network(4, [8, 6], groups=3, tau=2.0), torch.tensor([[0, 1, 2]])).tolist()
    [[0.0, 0.5, 1.0]]
    """
    parts = take_apart(module)
    sums = _require_sums(parts)
    values = counts.float() / sums.temperature(parts.out_features) + sums.beta
    for head in parts.heads:
        values = head(values)
    return values


def make_head(module: nn.Module, labels: Sequence[heads.Label] | None = None) -> heads.Head:
    """The head of a `gatewise.Model` that reads the counts of a network's circuit as the network does.

    Parameters
    ----------
    module : as for `discretize`, with a GroupSum
    labels : sequence of str, int, float or bool, one per group, optional
        Of the classes, if the network ends in its sums; 0, 1, 2, ... by default.

    Returns
    -------
    gatewise.heads.Classes, Affine or Logit

    Examples
    --------
    >>> from gatewise.nn import logic_network
    >>> make_head(logic_network(4, [8, 6], groups=2, tau=2.0), ["no", "yes"])
    Classes(labels=('no', 'yes'), tau=2.0, group_size=3)
    """
    parts = take_apart(module)
    sums, size = _require_sums(parts), parts.group_size
    tau = sums.temperature(parts.out_features)
    if not parts.heads:
        names = tuple(range(parts.groups)) if labels is None else tuple(labels)
        if len(names) != parts.groups:
            raise ValueError(f"labels must be {parts.groups}, one per group, got {len(names)}")
        return heads.Classes(names, tau, size)
    if labels is not None:
        raise ValueError(f"labels must be None for a network that ends in {parts.heads[-1]}, got {labels!r:.80}")
    if len(parts.heads) > 1 or tau != size or sums.beta:
        raise ValueError(f"module must end in a GroupSum with tau {size} and beta 0 and one head, got {module}")
    (head,) = parts.heads
    made = heads.Logit if isinstance(head, Logit) else heads.Affine
    return made(tuple(head.scale.tolist()), tuple(head.offset.tolist()), size)


def _require_sums(parts: Parts) -> GroupSum:
    if parts.sums is None:
        raise ValueError("module must hold a GroupSum for its counts to have a meaning, got none")
    return parts.sums


def _find_learned(layers: Sequence[GateLayer]) -> LearnedWiring | None:
    """What the pins chose, if all layers chose among candidates of one kind, which may have been exchanged."""
    learned = [layer for layer in layers if isinstance(layer, LearnedLayer)]
    kinds = [layer.draw for layer in learned]
    if len(learned) != len(layers) or not isinstance(kinds[0], SeededCandidates) or kinds != kinds[:1] * len(kinds):
        return None
    return LearnedWiring(kinds[0], [layer.choices().cpu().numpy() for layer in learned])


def _is_wired(layer: GateLayer, wire: Wiring, seed: int, position: int) -> bool:
    found = wire(seed, position, in_features=layer.in_features, out_features=layer.out_features)
    return all(np.array_equal(own.cpu().numpy(), wires) for own, wires in zip(layer.wires(), found, strict=True))


def _flatten(module: nn.Module) -> list[nn.Module]:
    if not isinstance(module, nn.Sequential):
        return [module]
    return [part for child in module for part in _flatten(child)]
