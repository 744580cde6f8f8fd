"""What a circuit means: a slow evaluator, one gate at a time, that everything else is tested against."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gatewise.circuit import N_CONSTANTS, Circuit
from gatewise.gates import evaluate


def evaluate_outputs(circuit: Circuit, rows: ArrayLike) -> NDArray[np.bool_]:
    """Every output bit of every row.

    Parameters
    ----------
    circuit : Circuit
    rows : bool array, shape (n_rows, n_inputs)

    Returns
    -------
    bool array, shape (n_rows, n_outputs)

    Examples
    --------
    >>> xor = Circuit(2, gate=[6], a=[2], b=[3], outputs=[4], group_ptr=[0, 1])
    >>> evaluate_outputs(xor, [[0, 0], [0, 1], [1, 0], [1, 1]]).ravel().astype(int).tolist()
    [0, 1, 1, 0]
    """
    inputs = np.asarray(rows, dtype=np.uint8)
    if inputs.ndim != 2 or inputs.shape[1] != circuit.n_inputs:
        raise ValueError(f"rows must have shape (n_rows, {circuit.n_inputs}), got {inputs.shape}")
    wires = np.zeros((circuit.n_wires, len(inputs)), np.uint8)
    wires[1] = 1
    wires[N_CONSTANTS : N_CONSTANTS + circuit.n_inputs] = inputs.T
    for i in range(circuit.n_gates):
        a, b = wires[circuit.a[i]], wires[circuit.b[i]]
        wires[N_CONSTANTS + circuit.n_inputs + i] = evaluate(circuit.gate[i], a, b)
    return wires[circuit.outputs].T.astype(bool)


def count_groups(circuit: Circuit, rows: ArrayLike) -> NDArray[np.int32]:
    """Number of true outputs in each group.

    Returns
    -------
    int32 array, shape (n_rows, n_groups)
    """
    outputs = evaluate_outputs(circuit, rows)
    ends = np.zeros((len(outputs), circuit.n_outputs + 1), np.int32)
    np.cumsum(outputs, axis=1, out=ends[:, 1:])
    counts: NDArray[np.int32] = np.diff(ends[:, circuit.group_ptr], axis=1)
    return counts


def classify(circuit: Circuit, rows: ArrayLike) -> NDArray[np.int32]:
    """Group with the highest count, ties to the lowest.

    Returns
    -------
    int32 array, shape (n_rows,)
    """
    classes: NDArray[np.int32] = count_groups(circuit, rows).argmax(axis=1).astype(np.int32)
    return classes
