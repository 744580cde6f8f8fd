"""ONNX nodes of a circuit: one operator for all gates of a kind in a level, on bools of shape (n_wires, n_rows).

In: tensors of input bits. Out: the tensor of the outputs.
Invariant: nodes number with levels and kinds of gates, not with gates; a wire is dropped after its last reader.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import onnx
from numpy.typing import ArrayLike, NDArray

from gatewise.circuit import N_CONSTANTS, Circuit, find_levels
from gatewise.gates import find_formula

OPERATORS = {"and": "And", "or": "Or", "xor": "Xor"}


class Graph:
    """Nodes and constants of an ONNX graph under construction; tensors are known by their names."""

    def __init__(self) -> None:
        self.nodes: list[onnx.NodeProto] = []
        self.constants: list[onnx.TensorProto] = []

    def add(self, operator: str, *tensors: str, output: str | None = None, **attributes: Any) -> str:
        """Append a node and return the name of its result."""
        result = output or f"/t{len(self.nodes)}"
        self.nodes.append(onnx.helper.make_node(operator, list(tensors), [result], **attributes))
        return result

    def constant(self, values: ArrayLike) -> str:
        """Append a constant tensor and return its name."""
        name = f"/c{len(self.constants)}"
        self.constants.append(onnx.numpy_helper.from_array(np.asarray(values), name))
        return name

    def gather(self, tensor: str, idx: ArrayLike) -> str:
        """Entries of the first axis."""
        return self.add("Gather", tensor, self.constant(np.asarray(idx, np.int64)), axis=0)

    def join(self, tensors: Sequence[str]) -> str:
        """Tensors one after the other along the first axis."""
        return tensors[0] if len(tensors) == 1 else self.add("Concat", *tensors, axis=0)


class State:
    """The wires that are alive, and the tensor that has a row for each."""

    def __init__(self, graph: Graph, n_wires: int) -> None:
        self._graph = graph
        self._row = np.full(n_wires, -1, np.int64)
        self._wires = np.empty(0, np.int64)
        self._tensor = ""

    def read(self, wires: NDArray[np.integer[Any]]) -> str:
        """A tensor of these wires' rows."""
        return self._graph.gather(self._tensor, self._row[wires])

    def advance(self, tensors: Sequence[str], wires: Sequence[NDArray[np.int64]], is_alive: NDArray[np.bool_]) -> None:
        """Drop the wires that are dead, then append tensors whose rows are `wires`."""
        kept = self._wires[is_alive[self._wires]]
        pieces = [*tensors]
        if len(kept):
            pieces.insert(0, self._tensor if len(kept) == len(self._wires) else self.read(kept))
        self._tensor = self._graph.join(pieces)
        self._wires = np.concatenate([kept, *wires])
        self._row[self._wires] = np.arange(len(self._wires))


def add_circuit(graph: Graph, circuit: Circuit, inputs: Sequence[tuple[str, NDArray[np.int64]]], n_rows: str) -> State:
    """Append the nodes of a circuit; outputs can be read from what is returned.

    Inputs are bool tensors, each with the inputs of the circuit that its rows are. `n_rows` is the tensor of the number
    of rows, int64, shape (1,).
    """
    levels = find_levels(N_CONSTANTS + circuit.n_inputs, circuit.a, circuit.b)
    last_reads = _find_last_reads(circuit, levels)
    state = State(graph, circuit.n_wires)
    shape = graph.add("Concat", graph.constant(np.array([N_CONSTANTS])), n_rows, axis=0)
    constants = graph.add("Expand", graph.constant([[False], [True]]), shape)
    tensors, wires = [constants], [np.arange(N_CONSTANTS)]
    for tensor, input_idx in inputs:
        tensors.append(tensor)
        wires.append(input_idx + N_CONSTANTS)
    state.advance(tensors, wires, last_reads > 0)
    first = N_CONSTANTS + circuit.n_inputs
    for level in range(1, int(levels.max()) + 1):
        own = np.flatnonzero(levels == level)
        kinds = circuit.gate[own - first]
        wires = [own[kinds == kind] for kind in np.unique(kinds)]
        tensors = [
            _add_gates(
                graph, int(circuit.gate[same[0] - first]), state, circuit.a[same - first], circuit.b[same - first]
            )
            for same in wires
        ]
        state.advance(tensors, wires, last_reads > level)
    return state


def _find_last_reads(circuit: Circuit, levels: NDArray[np.int64]) -> NDArray[np.int64]:
    """The highest level that reads each wire, 0 if nothing does; constants and outputs are read one level above all."""
    last = np.zeros(circuit.n_wires, np.int64)
    own = levels[N_CONSTANTS + circuit.n_inputs :]
    np.maximum.at(last, circuit.a, own)
    np.maximum.at(last, circuit.b, own)
    last[circuit.outputs] = last[:N_CONSTANTS] = levels.max() + 1
    return last


def _add_gates(graph: Graph, gate: int, state: State, a: NDArray[np.int32], b: NDArray[np.int32]) -> str:
    """Gates of one kind; constants and copies become rows of what they are."""
    formula = find_formula(gate)
    if formula.operator in OPERATORS:
        operands = [
            graph.add("Not", state.read(wires)) if flip else state.read(wires)
            for wires, flip in ((a, formula.flip_a), (b, formula.flip_b))
        ]
        result = graph.add(OPERATORS[formula.operator], *operands)
    else:
        result = state.read({"a": a, "b": b, "false": np.zeros_like(a)}[formula.operator])
    return graph.add("Not", result) if formula.flip else result
