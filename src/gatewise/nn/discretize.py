"""discretize: from a trained module to the circuit that its `eval()` computes."""

from torch import nn

from gatewise.circuit import Circuit
from gatewise.nn.layer import GroupSum, LogicLayer


def discretize(module: nn.Module) -> Circuit:
    """The circuit of a network, with every gate the most probable of its operators.

    Parameters
    ----------
    module : LogicNetwork, Sequential of LogicLayers and a GroupSum, or a LogicLayer
        It is left as it was.

    Returns
    -------
    Circuit
        Equal, bit for bit, to ``module.eval()`` on 0/1 input: its counts are the sums before tau and beta. Without a
        GroupSum all outputs are one group.

    Examples
    --------
    >>> from gatewise.nn import logic_network
    >>> discretize(logic_network(4, [8, 6], groups=3, seed=0))
    Circuit(n_inputs=4, n_gates=14, n_outputs=6, n_groups=3)
    """
    parts = list(module) if isinstance(module, nn.Sequential) else [module]
    head = parts.pop() if parts and isinstance(parts[-1], GroupSum) else None
    n_groups = head.groups if isinstance(head, GroupSum) else 1
    layers = []
    for position, part in enumerate(parts):
        if not isinstance(part, LogicLayer):
            got = f"{type(part).__name__} at {position}"
            raise TypeError(f"module must consist of LogicLayers and one GroupSum at the end, got {got}")
        layers.append(part)
    if not layers:
        raise ValueError("module must hold at least one LogicLayer, got none")
    arrays = [(layer.a.cpu().numpy(), layer.b.cpu().numpy(), layer.gates()) for layer in layers]
    return Circuit.from_layers(layers[0].in_features, arrays, n_groups)
