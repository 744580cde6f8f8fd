"""Levels of a circuit: when its wires are computed, and when they are read for the last time.

In: a circuit. Out: int arrays with one entry a wire.
"""

import numpy as np
from numpy.typing import NDArray

from gatewise.circuit import N_CONSTANTS, Circuit


def find_levels(circuit: Circuit) -> NDArray[np.int64]:
    """Gates on the longest way from an input to each wire; 0 for constants and inputs.

    Examples
    --------
    >>> find_levels(Circuit(2, gate=[1, 6], a=[2, 4], b=[3, 2], outputs=[5], group_ptr=[0, 1])).tolist()
    [0, 0, 0, 0, 1, 2]
    """
    level = [0] * (N_CONSTANTS + circuit.n_inputs)
    for a, b in zip(circuit.a.tolist(), circuit.b.tolist(), strict=True):
        level.append(1 + max(level[a], level[b]))
    return np.array(level, np.int64)


def find_last_reads(circuit: Circuit, levels: NDArray[np.int64]) -> NDArray[np.int64]:
    """The highest level that reads each wire, 0 if nothing does; outputs are read one level above all.

    Examples
    --------
    >>> circuit = Circuit(2, gate=[1, 6], a=[2, 4], b=[3, 2], outputs=[5], group_ptr=[0, 1])
    >>> find_last_reads(circuit, find_levels(circuit)).tolist()
    [0, 0, 2, 1, 2, 3]
    """
    last = np.zeros(circuit.n_wires, np.int64)
    own = levels[N_CONSTANTS + circuit.n_inputs :]
    np.maximum.at(last, circuit.a, own)
    np.maximum.at(last, circuit.b, own)
    last[circuit.outputs] = levels.max() + 1
    return last
