"""Drop inputs that nothing reads.

In: any circuit. Out: the same circuit over fewer inputs, and which ones they are.
Invariant: every input that is left is an operand of a gate, or an output.
"""

import numpy as np
from numpy.typing import NDArray

from gatewise.circuit import N_CONSTANTS, Circuit


def drop_unread_inputs(circuit: Circuit) -> tuple[Circuit, NDArray[np.int64]]:
    """The circuit over the inputs that it reads.

    Returns
    -------
    circuit : Circuit
    input_idx : int64 array
        Positions of these inputs among all, in rising order.

    Examples
    --------
    >>> circuit, input_idx = drop_unread_inputs(Circuit(4, [6], a=[3], b=[5], outputs=[6], group_ptr=[0, 1]))
    >>> circuit.n_inputs, circuit.a.tolist(), circuit.b.tolist(), input_idx.tolist()
    (2, [2], [3], [1, 3])
    """
    is_kept = np.ones(circuit.n_wires, bool)
    is_kept[N_CONSTANTS : N_CONSTANTS + circuit.n_inputs] = False
    for wires in (circuit.a, circuit.b, circuit.outputs):
        is_kept[wires] = True
    old2new = (np.cumsum(is_kept) - 1).astype(np.int32)
    input_idx = np.flatnonzero(is_kept[N_CONSTANTS : N_CONSTANTS + circuit.n_inputs])
    a, b, outputs = old2new[circuit.a], old2new[circuit.b], old2new[circuit.outputs]
    return Circuit(len(input_idx), circuit.gate, a, b, outputs, circuit.group_ptr), input_idx
