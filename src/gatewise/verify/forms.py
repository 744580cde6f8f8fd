"""Forms: whole numbers that a circuit computes, as weighted sums of its outputs.

In: circuits of models, over the bits of one space. Out: one circuit, and for each form the weights of its outputs.
Invariant: outputs are different wires and no constants, and each has a weight in some form; the circuit is simplified.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from gatewise.circuit import N_CONSTANTS, Circuit
from gatewise.export.netlist import Netlist, lower
from gatewise.passes import simplify
from gatewise.run.engine import Engine

Numbers = NDArray[np.int64]


@dataclass(frozen=True)
class View:
    """A circuit as one of several in a question: it reads bits of the space, some of which are fixed for it alone.

    Parameters
    ----------
    circuit : Circuit
    inputs : int64 array, shape (n_inputs,)
        The bit of the space that each input of the circuit is.
    fixed : int8 array, shape (n_bits of the space,)
        0 or 1 where a bit is fixed, -1 elsewhere.
    """

    circuit: Circuit
    inputs: Numbers
    fixed: NDArray[np.int8]


@dataclass(frozen=True, eq=False)
class Forms:
    """Form k is ``weights[k] @ outputs + constants[k]``, outputs being those of the circuit, as 0 and 1.

    Parameters
    ----------
    circuit : Circuit
    weights : int64 array, shape (n_forms, n_outputs)
    constants : int64 array, shape (n_forms,)

    Examples
    --------
    >>> circuit = Circuit(2, gate=[6], a=[2], b=[3], outputs=[4, 4, 1, 2], group_ptr=[0, 3, 4])
    >>> counts = Forms.of([View(circuit, np.arange(2), np.full(2, -1, np.int8))], 2)
    >>> counts.weights.tolist(), counts.constants.tolist()
    ([[0, 2], [1, 0]], [1, 0])
    >>> counts.combine([[1, -1]], [5]).values(np.array([[0, 1], [1, 1]], bool)).tolist()
    [[8], [5]]
    """

    circuit: Circuit
    weights: Numbers
    constants: Numbers

    @classmethod
    def of(cls, views: Sequence[View], n_bits: int) -> "Forms":
        """The counts of all groups of all views, one form each, over the bits of a space."""
        circuit = join(views, n_bits)
        sizes = np.diff(circuit.group_ptr)
        wires, position = np.unique(circuit.outputs, return_inverse=True)
        weights = np.zeros((len(sizes), len(wires)), np.int64)
        np.add.at(weights, (np.repeat(np.arange(len(sizes)), sizes), position), 1)
        whole = replace_outputs(circuit, wires)
        return cls(whole, weights, np.zeros(len(sizes), np.int64))._compact()

    def combine(self, matrix: Sequence[Sequence[int]] | Numbers, constants: Sequence[int] | Numbers) -> "Forms":
        """Sums of multiples of these forms, plus constants; what no sum needs is dropped."""
        multiples = np.array(matrix, np.int64).reshape(-1, len(self.constants))
        shifted = multiples @ self.constants + np.array(constants, np.int64)
        return Forms(self.circuit, multiples @ self.weights, shifted)._compact()

    def fold(self, fixed: NDArray[np.int8]) -> "Forms":
        """The forms where some of the inputs are constants; -1 stands for the others."""
        return Forms(fix_inputs(self.circuit, fixed), self.weights, self.constants)._compact()

    def with_circuit(self, circuit: Circuit) -> "Forms":
        """The forms of an equivalent circuit."""
        return replace(self, circuit=circuit)._compact()

    @property
    def n_forms(self) -> int:
        """Number of forms."""
        return len(self.constants)

    def read_bits(self) -> Numbers:
        """The inputs that the circuit reads."""
        circuit = self.circuit
        wires = np.unique(np.concatenate([circuit.a, circuit.b, circuit.outputs]))
        is_input = (wires >= N_CONSTANTS) & (wires < N_CONSTANTS + circuit.n_inputs)
        read: Numbers = wires[is_input].astype(np.int64) - N_CONSTANTS
        return read

    def values(self, bits: NDArray[np.bool_]) -> Numbers:
        """The forms of rows of bits, (n_rows, n_forms)."""
        values: Numbers = self.outputs(bits).astype(np.int64) @ self.weights.T + self.constants
        return values

    def outputs(self, bits: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """The outputs that the forms add up, (n_rows, n_outputs)."""
        return self._engine.outputs(bits)

    @cached_property
    def _engine(self) -> Engine:
        return Engine(self.circuit)

    @cached_property
    def netlist(self) -> Netlist:
        """The circuit's gates over nodes, with a group for each output."""
        return lower(each_alone(self.circuit))

    def lows(self) -> Numbers:
        """What each form is at least, if its outputs could be anything."""
        lows: Numbers = np.minimum(self.weights, 0).sum(axis=1) + self.constants
        return lows

    def highs(self) -> Numbers:
        """What each form is at most, if its outputs could be anything."""
        highs: Numbers = np.maximum(self.weights, 0).sum(axis=1) + self.constants
        return highs

    def _compact(self) -> "Forms":
        """The same forms with a simplified circuit, of whose outputs none is constant, twice there, or without use."""
        used = np.flatnonzero(self.weights.any(axis=0))
        small = simplify(replace_outputs(self.circuit, self.circuit.outputs[used]))
        wires, position = np.unique(small.outputs, return_inverse=True)
        weights = np.zeros((self.n_forms, len(wires)), np.int64)
        np.add.at(weights.T, position, self.weights[:, used].T)
        constants = self.constants + weights[:, wires == 1].sum(axis=1)
        kept = (wires >= N_CONSTANTS) & weights.any(axis=0)
        if not kept.all():
            rest = replace_outputs(small, wires[kept])
            return replace(self, circuit=rest, weights=weights[:, kept], constants=constants)._compact()
        return replace(self, circuit=replace_outputs(small, wires), weights=weights, constants=constants)


def replace_outputs(circuit: Circuit, wires: NDArray[np.int32]) -> Circuit:
    """The circuit with other outputs, in one group."""
    group_ptr = np.array([0, len(wires)], np.int32)
    return Circuit(circuit.n_inputs, circuit.gate, circuit.a, circuit.b, wires.astype(np.int32), group_ptr)


def each_alone(circuit: Circuit) -> Circuit:
    """The circuit with a group for each output."""
    group_ptr = np.arange(circuit.n_outputs + 1, dtype=np.int32)
    return Circuit(circuit.n_inputs, circuit.gate, circuit.a, circuit.b, circuit.outputs, group_ptr)


def fix_inputs(circuit: Circuit, fixed: NDArray[np.int8]) -> Circuit:
    """The circuit with constants in the place of inputs; -1 stands for the others.

    Examples
    --------
    >>> both = Circuit(2, gate=[1], a=[2], b=[3], outputs=[4], group_ptr=[0, 1])
    >>> fix_inputs(both, np.array([1, -1], np.int8)).a.tolist()
    [1]
    """
    wire = np.arange(circuit.n_wires, dtype=np.int32)
    own = wire[N_CONSTANTS : N_CONSTANTS + circuit.n_inputs]
    own[:] = np.where(fixed >= 0, fixed, own)
    a, b, outputs = wire[circuit.a], wire[circuit.b], wire[circuit.outputs]
    return Circuit(circuit.n_inputs, circuit.gate, a, b, outputs, circuit.group_ptr)


def join(views: Sequence[View], n_bits: int) -> Circuit:
    """One circuit over the bits of a space, with the groups of all views; it is not simplified.

    Examples
    --------
    >>> both = Circuit(2, gate=[1], a=[2], b=[3], outputs=[4], group_ptr=[0, 1])
    >>> free, swapped = np.full(2, -1, np.int8), np.array([1, 0])
    >>> join([View(both, np.arange(2), free), View(both, swapped, free)], 2).a.tolist()
    [2, 3]
    """
    parts: list[list[NDArray[np.int32]]] = [[], [], [], []]
    gates, n_gates, n_outputs = [], 0, 0
    for view in views:
        circuit = view.circuit
        wire = np.empty(circuit.n_wires, np.int32)
        wire[:N_CONSTANTS] = [0, 1]
        bits = view.inputs.astype(np.int32)
        own = wire[N_CONSTANTS : N_CONSTANTS + circuit.n_inputs]
        own[:] = np.where(view.fixed[bits] >= 0, view.fixed[bits], N_CONSTANTS + bits)
        first = N_CONSTANTS + n_bits + n_gates
        wire[N_CONSTANTS + circuit.n_inputs :] = np.arange(first, first + circuit.n_gates)
        ends = (circuit.group_ptr[1:] + n_outputs).astype(np.int32)
        for part, values in zip(parts, (wire[circuit.a], wire[circuit.b], wire[circuit.outputs], ends), strict=True):
            part.append(values)
        gates.append(circuit.gate)
        n_gates, n_outputs = n_gates + circuit.n_gates, n_outputs + circuit.n_outputs
    a, b, outputs, ends = (np.concatenate([np.empty(0, np.int32), *part]) for part in parts)
    group_ptr = np.concatenate([np.zeros(1, np.int32), ends])
    return Circuit(n_bits, np.concatenate([np.empty(0, np.uint8), *gates]), a, b, outputs, group_ptr)
