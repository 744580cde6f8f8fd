"""Gates appended to a circuit, constants folded on the way.

In: a circuit. Out: one that starts with the same gates and has more of them.
Invariant: a gate with a constant operand, or with one operand twice, is never appended, unless it is an inverter.
"""

from collections.abc import Sequence

import numpy as np

from gatewise.circuit import N_CONSTANTS, Circuit
from gatewise.gates import NOT_A, evaluate


class Growing:
    """A circuit under construction.

    Examples
    --------
    >>> grown = Growing(Circuit(2, gate=[], a=[], b=[], outputs=[], group_ptr=[0]))
    >>> grown.add(6, 2, 3), grown.add(1, 2, 0), grown.add(1, 2, 1)  # XOR; and AND with the constants
    (4, 0, 2)
    >>> grown.finish([[4], [0, 2]])
    Circuit(n_inputs=2, n_gates=1, n_outputs=3, n_groups=2)
    """

    def __init__(self, circuit: Circuit) -> None:
        self._n_inputs = circuit.n_inputs
        self._gate, self._a, self._b = circuit.gate.tolist(), circuit.a.tolist(), circuit.b.tolist()

    def add(self, gate: int, a: int, b: int) -> int:
        """The wire that carries the gate's output, an old one if the gate can be folded."""
        if a < N_CONSTANTS:
            return self._add_unary(evaluate(gate, a, 0), evaluate(gate, a, 1), b)
        if b < N_CONSTANTS:
            return self._add_unary(evaluate(gate, 0, b), evaluate(gate, 1, b), a)
        if a == b:
            return self._add_unary(evaluate(gate, 0, 0), evaluate(gate, 1, 1), a)
        return self._append(gate, a, b)

    def finish(self, groups: Sequence[Sequence[int]]) -> Circuit:
        """The circuit, with groups of these wires for its outputs."""
        a, b = np.array(self._a, np.int32), np.array(self._b, np.int32)
        outputs = np.array([wire for group in groups for wire in group], np.int32)
        group_ptr = np.cumsum([0, *map(len, groups)], dtype=np.int32)
        return Circuit(self._n_inputs, np.array(self._gate, np.uint8), a, b, outputs, group_ptr)

    def _add_unary(self, at_0: int, at_1: int, wire: int) -> int:
        """A wire that is `at_0` where the given one is false, else `at_1`."""
        if wire < N_CONSTANTS or at_0 == at_1:
            return at_1 if wire == 1 else at_0
        return wire if at_1 else self._append(NOT_A, wire, wire)

    def _append(self, gate: int, a: int, b: int) -> int:
        self._gate.append(gate)
        self._a.append(a)
        self._b.append(b)
        return N_CONSTANTS + self._n_inputs + len(self._gate) - 1
