"""discretize: from a trained module to the circuit that its `eval()` computes, and from its counts to its outputs."""

from torch import Tensor, nn

from gatewise.circuit import Circuit
from gatewise.nn.head import Affine
from gatewise.nn.layer import GroupSum, LogicLayer


def discretize(module: nn.Module) -> Circuit:
    """The circuit of a network, with every gate the most probable of its operators.

    Parameters
    ----------
    module : LogicNetwork, Sequential of LogicLayers, a GroupSum and a head, or a LogicLayer
        It is left as it was.

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
    layers, head, _ = _take_apart(module)
    arrays = [(layer.a.cpu().numpy(), layer.b.cpu().numpy(), layer.gates()) for layer in layers]
    return Circuit.from_layers(layers[0].in_features, arrays, head.groups if head else 1)


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
    layers, head, after = _take_apart(module)
    if head is None:
        raise ValueError("module must hold a GroupSum for its counts to have a meaning, got none")
    values = counts.float() / head.temperature(layers[-1].out_features) + head.beta
    for part in after:
        values = part(values)
    return values


def logic_layers(module: nn.Module) -> list[LogicLayer]:
    """The LogicLayers of a module, in order; raises as `discretize` does.

    Examples
    --------
    >>> from gatewise.nn import logic_network
    >>> [layer.out_features for layer in logic_layers(logic_network(4, [8, 6], groups=3))]
    [8, 6]
    """
    return _take_apart(module)[0]


def _take_apart(module: nn.Module) -> tuple[list[LogicLayer], GroupSum | None, list[nn.Module]]:
    parts = _flatten(module)
    after: list[nn.Module] = []
    while parts and isinstance(parts[-1], Affine):
        after.insert(0, parts.pop())
    head = parts.pop() if parts and isinstance(parts[-1], GroupSum) else None
    layers = []
    for position, part in enumerate(parts):
        if not isinstance(part, LogicLayer):
            got = f"{type(part).__name__} at {position}"
            raise TypeError(f"module must consist of LogicLayers, one GroupSum and a head at the end, got {got}")
        layers.append(part)
    if not layers:
        raise ValueError("module must hold at least one LogicLayer, got none")
    return layers, head if isinstance(head, GroupSum) else None, after


def _flatten(module: nn.Module) -> list[nn.Module]:
    if not isinstance(module, nn.Sequential):
        return [module]
    return [part for child in module for part in _flatten(child)]
