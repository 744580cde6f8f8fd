"""Circuit: a Boolean circuit as frozen numpy arrays.

In: arrays, or layers of (a, b, gate). Out: a validated, immutable value that every other module consumes.
Invariant: a ``Circuit`` that exists is well formed and stays so, because its arrays are read-only and the constructor
validates them, also those of a pickle.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gatewise.gates import N_GATES, NAMES
from gatewise.notebook import make_figure, make_table

if TYPE_CHECKING:
    from matplotlib.figure import Figure

N_CONSTANTS = 2
MAX_WIRES = 2**31 - 1
Layer = tuple[ArrayLike, ArrayLike, ArrayLike]
Wires = NDArray[np.int32]
Arrays = tuple[NDArray[np.uint8], Wires, Wires, Wires, Wires]
Scalar = TypeVar("Scalar", np.uint8, np.int32)


@dataclass(frozen=True, eq=False)
class Circuit:
    """A topologically ordered list of two-input gates, with outputs counted in groups.

    Wires are numbered: 0 is constant false, 1 is constant true, then the inputs, then the gates. Gate ``i`` drives
    wire ``2 + n_inputs + i`` and reads wires below its own. Group ``k`` of the head counts the wires
    ``outputs[group_ptr[k]:group_ptr[k + 1]]``. A gate's id is its truth table, see `gatewise.gates`.

    Parameters
    ----------
    n_inputs : int
    gate : uint8 array, shape (n_gates,)
        Gate ids 0..15.
    a, b : int32 arrays, shape (n_gates,)
        Operand wires.
    outputs : int32 array, shape (n_outputs,)
        Output wires; a constant or an input may be an output.
    group_ptr : int32 array, shape (n_groups + 1,)
        Offsets into ``outputs``, from 0 to ``n_outputs``.

    Examples
    --------
    >>> half_adder = Circuit(2, gate=[6, 1], a=[2, 2], b=[3, 3], outputs=[4, 5], group_ptr=[0, 1, 2])
    >>> half_adder
    Circuit(n_inputs=2, n_gates=2, n_outputs=2, n_groups=2)
    """

    n_inputs: int
    gate: NDArray[np.uint8]
    a: NDArray[np.int32]
    b: NDArray[np.int32]
    outputs: NDArray[np.int32]
    group_ptr: NDArray[np.int32]

    def __post_init__(self) -> None:
        object.__setattr__(self, "n_inputs", _as_count("n_inputs", self.n_inputs))
        object.__setattr__(self, "gate", _freeze("gate", self.gate, np.uint8))
        for name in ("a", "b", "outputs", "group_ptr"):
            object.__setattr__(self, name, _freeze(name, getattr(self, name), np.int32))
        self.validate()

    @classmethod
    def from_layers(cls, n_inputs: int, layers: Sequence[Layer], n_groups: int) -> "Circuit":
        """Build a circuit from straight layers; outputs are the last layer, in equal consecutive groups.

        Parameters
        ----------
        n_inputs : int
        layers : sequence of (a, b, gate)
            Operand indices refer to the previous layer, for the first layer to the inputs.
        n_groups : int
            Must divide the width of the last layer.

        Examples
        --------
        >>> Circuit.from_layers(3, [([0, 1], [1, 2], [1, 7]), ([0], [1], [6])], n_groups=1)
        Circuit(n_inputs=3, n_gates=3, n_outputs=1, n_groups=1)
        """
        n_inputs, n_groups = _as_count("n_inputs", n_inputs), _as_count("n_groups", n_groups)
        first, width = N_CONSTANTS, n_inputs
        gates, operands_a, operands_b = [np.empty(0, np.uint8)], [np.empty(0, np.int32)], [np.empty(0, np.int32)]
        for layer_idx, (a, b, gate) in enumerate(layers):
            gates.append(_freeze(f"gate of layer {layer_idx}", gate, np.uint8))
            operands_a.append(_read_layer(f"a of layer {layer_idx}", a, width) + np.int32(first))
            operands_b.append(_read_layer(f"b of layer {layer_idx}", b, width) + np.int32(first))
            first, width = first + width, len(gates[-1])
            if not width == len(operands_a[-1]) == len(operands_b[-1]):
                raise ValueError(f"layer {layer_idx} must have as many gates as operands a and b")
        if n_groups == 0 or width % n_groups:
            raise ValueError(f"n_groups must divide the last layer's {width} gates, got {n_groups}")
        outputs = np.arange(first, first + width, dtype=np.int32)
        group_ptr = np.arange(n_groups + 1, dtype=np.int32) * np.int32(width // n_groups)
        gate, a, b = np.concatenate(gates), np.concatenate(operands_a), np.concatenate(operands_b)
        return cls(n_inputs, gate, a, b, outputs, group_ptr)

    @property
    def n_gates(self) -> int:
        """Number of gates."""
        return len(self.gate)

    @property
    def n_wires(self) -> int:
        """Number of wires: constants, inputs and gates."""
        return N_CONSTANTS + self.n_inputs + self.n_gates

    @property
    def n_outputs(self) -> int:
        """Number of outputs, all groups together."""
        return len(self.outputs)

    @property
    def n_groups(self) -> int:
        """Number of groups that the head counts."""
        return len(self.group_ptr) - 1

    @property
    def arrays(self) -> Arrays:
        """The arrays, in the order of the constructor."""
        return self.gate, self.a, self.b, self.outputs, self.group_ptr

    @cached_property
    def n_levels(self) -> int:
        """Gates on the longest way from an input to a gate."""
        return int(find_levels(N_CONSTANTS + self.n_inputs, self.a, self.b).max())

    def count_gates(self) -> NDArray[np.int64]:
        """How many gates of each kind each level has, (n_levels, 16).

        Examples
        --------
        >>> half_adder = Circuit(2, gate=[6, 1], a=[2, 2], b=[3, 3], outputs=[4, 5], group_ptr=[0, 1, 2])
        >>> half_adder.count_gates()[:, [1, 6]].tolist()  # AND and XOR
        [[1, 1]]
        """
        n_sources = N_CONSTANTS + self.n_inputs
        levels = find_levels(n_sources, self.a, self.b)[n_sources:]
        kinds = np.zeros((int(levels.max(initial=0)), N_GATES), np.int64)
        np.add.at(kinds, (levels - 1, self.gate), 1)
        return kinds

    def plot(self) -> "Figure":
        """Gates of each level by kind, as a matplotlib figure; notebooks show it, and ``savefig`` writes it.

        `Model.report` shows single gates and what they read.
        """
        kinds = self.count_gates()
        if not len(kinds):
            raise ValueError("circuit must have gates to be plotted, got none")
        figure = make_figure((8, 4.5), needed_by="Circuit.plot")
        axes, levels, left = figure.subplots(), np.arange(1, len(kinds) + 1), np.zeros(len(kinds), np.int64)
        for gate in np.flatnonzero(kinds.sum(axis=0)).tolist():
            axes.barh(levels, kinds[:, gate], left=left, label=NAMES[gate])
            left += kinds[:, gate]
        axes.set(title=f"{self.n_gates:,} gates", xlabel="gates", ylabel="level")
        axes.set_yticks(levels[:: 1 + len(levels) // 20])
        axes.invert_yaxis()
        figure.legend(loc="outside right center", fontsize="small")
        return figure

    def _repr_html_(self) -> str:
        """A table of sizes, which notebooks show."""
        kinds = np.bincount(self.gate, minlength=N_GATES)
        listed = ", ".join(f"{kinds[gate]:,} {NAMES[gate]}" for gate in np.argsort(-kinds).tolist() if kinds[gate])
        sizes = {"inputs": self.n_inputs, "gates": self.n_gates, "levels": self.n_levels}
        sizes |= {"outputs": self.n_outputs, "groups": self.n_groups}
        return make_table("gatewise.Circuit", sizes | {"kinds": listed})

    def validate(self) -> None:
        """Raise ValueError, naming the first offender, unless the circuit is well formed."""
        if not len(self.gate) == len(self.a) == len(self.b):
            raise ValueError(
                f"gate, a and b must have equal lengths, got {len(self.gate)}, {len(self.a)} and {len(self.b)}"
            )
        if self.n_wires > MAX_WIRES:
            raise ValueError(f"wires must number at most {MAX_WIRES}, got {self.n_wires}")
        _reject_first(self.gate >= N_GATES, "gate", self.gate, "below 16")
        own = np.arange(N_CONSTANTS + self.n_inputs, self.n_wires, dtype=np.int32)
        for name, operand in (("a", self.a), ("b", self.b)):
            _reject_first((operand < 0) | (operand >= own), name, operand, "a wire below the gate's own")
        in_range = (self.outputs >= 0) & (self.outputs < self.n_wires)
        _reject_first(~in_range, "outputs", self.outputs, f"a wire in 0..{self.n_wires - 1}")
        ptr = self.group_ptr
        if len(ptr) < 1 or ptr[0] != 0 or ptr[-1] != self.n_outputs or np.any(np.diff(ptr) < 0):
            raise ValueError(
                f"group_ptr must rise from 0 to the number of outputs {self.n_outputs}, got {ptr[:20].tolist()}"
            )

    def to_text(self) -> str:
        """Complete text form, one gate a line: two circuits are equal when their texts are.

        Examples
        --------
        >>> print(Circuit(2, gate=[6], a=[2], b=[3], outputs=[4, 1], group_ptr=[0, 2]).to_text())
        circuit 2 inputs, 1 gates, 2 outputs, 1 groups
        w4 = XOR w2 w3
        group 0: w4 w1
        <BLANKLINE>
        """
        lines = [
            f"circuit {self.n_inputs} inputs, {self.n_gates} gates, {self.n_outputs} outputs, {self.n_groups} groups"
        ]
        rows = zip(self.gate.tolist(), self.a.tolist(), self.b.tolist(), strict=True)
        for wire, (gate, a, b) in enumerate(rows, N_CONSTANTS + self.n_inputs):
            lines.append(f"w{wire} = {NAMES[gate]} w{a} w{b}")
        for k in range(self.n_groups):
            wires = self.outputs[self.group_ptr[k] : self.group_ptr[k + 1]].tolist()
            lines.append(f"group {k}:" + "".join(f" w{wire}" for wire in wires))
        return "\n".join(lines) + "\n"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Circuit):
            return NotImplemented
        names = ("gate", "a", "b", "outputs", "group_ptr")
        return self.n_inputs == other.n_inputs and all(
            np.array_equal(getattr(self, name), getattr(other, name)) for name in names
        )

    def __hash__(self) -> int:
        return hash((self.n_inputs, self.gate.tobytes(), self.a.tobytes(), self.b.tobytes(), self.outputs.tobytes()))

    def __copy__(self) -> "Circuit":
        return self

    def __deepcopy__(self, memo: dict[int, object]) -> "Circuit":
        return self

    def __reduce__(self) -> tuple[type["Circuit"], tuple[object, ...]]:
        # Through the constructor, because arrays come out of a pickle writable and unchecked.
        return Circuit, (self.n_inputs, *self.arrays)

    def __repr__(self) -> str:
        names = ("n_inputs", "n_gates", "n_outputs", "n_groups")
        return f"Circuit({', '.join(f'{name}={getattr(self, name)}' for name in names)})"


class CircuitBuilder:
    """A circuit that is put together layer by layer, each of which may read any wires that are there.

    Parameters
    ----------
    n_inputs : int

    Attributes
    ----------
    n_wires : int
        So far; the next gate drives the wire of this number.

    Examples
    --------
    >>> builder = CircuitBuilder(2)
    >>> either = builder.add([7], builder.inputs[:1], builder.inputs[1:])
    >>> print(builder.build(either, [0, 1]).to_text())
    circuit 2 inputs, 1 gates, 1 outputs, 1 groups
    w4 = OR w2 w3
    group 0: w4
    <BLANKLINE>
    """

    def __init__(self, n_inputs: int) -> None:
        self._n_inputs = _as_count("n_inputs", n_inputs)
        self.n_wires = N_CONSTANTS + self._n_inputs
        self._gates, self._a, self._b = [np.empty(0, np.uint8)], [np.empty(0, np.int32)], [np.empty(0, np.int32)]

    @property
    def inputs(self) -> Wires:
        """The wires of the inputs, (n_inputs,)."""
        return np.arange(N_CONSTANTS, N_CONSTANTS + self._n_inputs, dtype=np.int32)

    def add(self, gate: ArrayLike, a: Wires, b: Wires) -> Wires:
        """Add gates that read these wires, (n_gates,) each; gives the wires that they drive."""
        gates = np.asarray(gate, np.uint8)
        first, self.n_wires = self.n_wires, self.n_wires + len(gates)
        if self.n_wires > MAX_WIRES:
            raise ValueError(f"wires must number at most {MAX_WIRES}, got {self.n_wires}")
        self._gates.append(gates)
        self._a.append(a)
        self._b.append(b)
        return np.arange(first, self.n_wires, dtype=np.int32)

    def append(self, circuit: Circuit, wires: Wires) -> Wires:
        """Add the gates of a circuit whose inputs are these wires, (n_inputs,); gives the wires of its outputs."""
        if len(wires) != circuit.n_inputs:
            raise ValueError(f"wires must be {circuit.n_inputs}, the inputs of the circuit, got {len(wires)}")
        driven = np.arange(self.n_wires, self.n_wires + circuit.n_gates, dtype=np.int32)
        places = np.concatenate([np.arange(N_CONSTANTS, dtype=np.int32), wires, driven])
        self.add(circuit.gate, places[circuit.a], places[circuit.b])
        return places[circuit.outputs]

    def build(self, outputs: Wires, group_ptr: ArrayLike) -> Circuit:
        """The circuit with these outputs; see `Circuit` for both."""
        gate, a, b = np.concatenate(self._gates), np.concatenate(self._a), np.concatenate(self._b)
        return Circuit(self._n_inputs, gate, a, b, outputs, np.asarray(group_ptr))


def find_levels(n_sources: int, a: NDArray[np.integer[Any]], b: NDArray[np.integer[Any]]) -> NDArray[np.int64]:
    """Gates on the longest way to each wire, 0 for sources, which come first.

    Parameters
    ----------
    n_sources : int
        Constants and inputs.
    a, b : int arrays, shape (n_gates,)
        Operands of the gates, in topological order.

    Examples
    --------
    >>> find_levels(2, np.array([0, 2]), np.array([1, 0])).tolist()
    [0, 0, 1, 2]
    """
    level = [0] * n_sources
    for x, y in zip(a.tolist(), b.tolist(), strict=True):
        level.append(1 + max(level[x], level[y]))
    return np.array(level, np.int64)


def _as_count(name: str, value: int) -> int:
    count = int(value)
    if count != value or count < 0:
        raise ValueError(f"{name} must be a non-negative integer, got {value!r}")
    return count


def _read_layer(name: str, operands: ArrayLike, width: int) -> NDArray[np.int32]:
    """Operands of one layer, checked against the width of the layer they read."""
    wires = _freeze(name, operands, np.int32)
    bad = (wires < 0) | (wires >= width)
    _reject_first(bad, name, wires, f"in 0..{width - 1} (the width of what it reads)")
    return wires


def _freeze(name: str, values: ArrayLike, dtype: type[Scalar]) -> NDArray[Scalar]:
    """A read-only one-dimensional copy with `dtype`; refuses values that do not survive the conversion."""
    array = np.asarray(values)
    if array.ndim != 1:
        raise ValueError(f"{name} must be one-dimensional, got shape {array.shape}")
    if array.size and array.dtype.kind not in "iub":
        raise ValueError(f"{name} must hold integers, got dtype {array.dtype}")
    frozen: NDArray[Scalar] = array.astype(dtype)
    if array.dtype != frozen.dtype and not np.array_equal(array, frozen):
        at = int(np.flatnonzero(array != frozen)[0])
        raise ValueError(f"{name}[{at}] must fit {np.dtype(dtype)}, got {array[at]}")
    frozen.flags.writeable = False
    return frozen


def _reject_first(bad: NDArray[np.bool_], name: str, values: NDArray[Scalar], rule: str) -> None:
    if bad.any():
        at = int(np.argmax(bad))
        array, *where = name.split(" ", 1)
        raise ValueError(f"{' '.join([f'{array}[{at}]', *where])} must be {rule}, got {values[at]}")
