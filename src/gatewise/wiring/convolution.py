"""ConvolutionalCircuit: trees of gates that are shared by all positions of an image, and a circuit that reads them.

In: geometry, taps and gate ids of each stage, each gate once. Out: the same circuit with every position written out, on
demand. Invariant: a ``ConvolutionalCircuit`` that exists can be expanded, and always expands to the same `Circuit`.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TypeAlias, cast

import numpy as np
from numpy.typing import NDArray

from gatewise.checks import as_integer
from gatewise.circuit import MAX_WIRES, N_CONSTANTS, Circuit, CircuitBuilder
from gatewise.gates import N_GATES, OR
from gatewise.wiring.layers import as_image_shape
from gatewise.wiring.seeded import SeededCircuit
from gatewise.wiring.window import MAX_DEPTH, Shape, Window, order_maps, pool_taps

Level: TypeAlias = tuple[NDArray[np.uint8], NDArray[np.int32], NDArray[np.int32]]
"""Gate ids, and operands as positions in the flattened maps, or level, before; one beyond the last is constant 0."""


@dataclass(frozen=True, eq=False)
class SharedTrees:
    """A convolution: every output channel is a full binary tree of gates, the same at all positions.

    Parameters
    ----------
    window : Window
    taps : int32 array, (2, n_gates of the first level)
        What the leaves read: positions in a window of all channels, operand a of all gates, then operand b.
    gates : sequence of uint8 arrays
        Gate ids of each level, leaves first, the gates of a tree next to each other; a level has half as many gates as
        the one before, and the last one has a gate for each output channel.

    Examples
    --------
    >>> edges = SharedTrees(Window(2), taps=[[0, 1], [3, 2]], gates=[[6, 6], [7]])
    >>> edges
    SharedTrees(Window(kernel_size=(2, 2), stride=(1, 1), padding=(0, 0)), channels=1, depth=2)
    >>> edges.shape_after((1, 28, 28))
    (1, 27, 27)
    """

    window: Window
    taps: NDArray[np.int32]
    gates: Sequence[NDArray[np.uint8]]

    def __post_init__(self) -> None:
        gates = tuple(_freeze(f"gates[{i}]", level, np.uint8, N_GATES) for i, level in enumerate(self.gates))
        if not 1 <= len(gates) <= MAX_DEPTH or not gates[-1].size:
            raise ValueError(f"gates must have 1 to {MAX_DEPTH} levels, the last not empty, got {len(gates)} levels")
        sizes = [gate.size for gate in gates]
        expected = [sizes[-1] << i for i in reversed(range(len(gates)))]
        if sizes != expected or any(gate.ndim != 1 for gate in gates):
            raise ValueError(f"gates must be halved from level to level, {expected}, got {sizes}")
        taps = _freeze("taps", self.taps, np.int32, MAX_WIRES)
        if taps.shape != (2, sizes[0]):
            raise ValueError(f"taps must be of shape (2, {sizes[0]}), two for each gate, got {taps.shape}")
        object.__setattr__(self, "taps", taps)
        object.__setattr__(self, "gates", gates)

    @property
    def n_gates(self) -> int:
        """Gates that are stored, each of which stands at every position."""
        return sum(map(len, self.gates))

    def shape_after(self, shape: Sequence[int]) -> Shape:
        """(channels, rows, columns) of what it gives for maps of a shape."""
        n_values = shape[0] * self.window.n_values
        if n_values < 2 or self.taps.max() >= n_values:
            raise ValueError(f"taps must be below {n_values}, two or more values of a window, got {self.taps.max()}")
        return len(self.gates[-1]), *self.window.count_positions(shape)

    def count_gates(self, shape: Sequence[int]) -> int:
        """Gates at all positions."""
        _, rows, columns = self.shape_after(shape)
        return self.n_gates * rows * columns

    def unroll(self, shape: Sequence[int]) -> Iterator[Level]:
        """Levels of gates at all positions, gate g at position p at place g * n_positions + p."""
        _, rows, columns = self.shape_after(shape)
        wires = self.window.unroll(self.taps, shape, len(self.gates))
        for gate, (a, b) in zip(self.gates, wires, strict=True):
            yield np.repeat(gate, rows * columns), a, b

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, SharedTrees):
            return NotImplemented
        return self._parts() == other._parts()

    def __hash__(self) -> int:
        return hash(self._parts())

    def __repr__(self) -> str:
        return f"SharedTrees({self.window}, channels={len(self.gates[-1])}, depth={len(self.gates)})"

    def __reduce__(self) -> tuple[type["SharedTrees"], tuple[object, ...]]:
        # Through the constructor, so that the arrays of copies are as frozen as the original's.
        return SharedTrees, (self.window, self.taps, self.gates)

    def _parts(self) -> tuple[Window, int, bytes, bytes]:
        return self.window, len(self.gates), self.taps.tobytes(), np.concatenate(self.gates).tobytes()


@dataclass(frozen=True)
class OrPooling:
    """The OR of every window, channel by channel.

    Examples
    --------
    >>> OrPooling(Window(2, stride=2)).shape_after((16, 28, 28))
    (16, 14, 14)
    """

    window: Window

    @property
    def n_gates(self) -> int:
        """Gates that are stored."""
        return 0

    def shape_after(self, shape: Sequence[int]) -> Shape:
        """(channels, rows, columns) of what it gives for maps of a shape."""
        return shape[0], *self.window.count_positions(shape)

    def count_gates(self, shape: Sequence[int]) -> int:
        """Gates at all positions."""
        channels, rows, columns = self.shape_after(shape)
        _, n_levels = pool_taps(self.window, 1)
        return ((1 << n_levels) - 1) * channels * rows * columns

    def unroll(self, shape: Sequence[int]) -> Iterator[Level]:
        """Levels of gates at all positions; see `SharedTrees.unroll`."""
        taps, n_levels = pool_taps(self.window, shape[0])
        for a, b in self.window.unroll(taps, shape, n_levels):
            yield np.full(len(a), OR, np.uint8), a, b


SharedStage: TypeAlias = SharedTrees | OrPooling


@dataclass(frozen=True, eq=False)
class ConvolutionalCircuit:
    """A circuit of images in its smallest form: gates that stand at every position are held once.

    Parameters
    ----------
    shape : (channels, rows, columns)
        Of an image.
    n_thresholds : int
        Bits per value, as for `Encoder.images`; each becomes a map of its own.
    stages : sequence of SharedTrees and OrPooling
        The first reads the maps of the image, each other one those of the stage before.
    dense : Circuit or SeededCircuit
        Reads the maps of the last stage: channels, rows, columns. Its groups are those of the whole.

    Examples
    --------
    >>> edges = SharedTrees(Window(2), taps=[[0], [3]], gates=[[6]])
    >>> dense = SeededCircuit(169, gates=[[6, 1] * 100], n_groups=10, seed=0)
    >>> circuit = ConvolutionalCircuit((1, 28, 28), 1, [edges, OrPooling(Window(2, stride=2))], dense)
    >>> circuit
    ConvolutionalCircuit(shape=(1, 28, 28), n_thresholds=1, stages=2, n_gates=1436, n_groups=10)
    >>> circuit.expand()
    Circuit(n_inputs=784, n_gates=1436, n_outputs=200, n_groups=10)
    """

    shape: tuple[int, ...]
    n_thresholds: int
    stages: Sequence[SharedStage]
    dense: Circuit | SeededCircuit

    def __post_init__(self) -> None:
        shape = as_image_shape(self.shape)
        n_thresholds = as_integer("n_thresholds", self.n_thresholds, 1, MAX_WIRES)
        object.__setattr__(self, "shape", shape)
        object.__setattr__(self, "n_thresholds", n_thresholds)
        object.__setattr__(self, "stages", tuple(self.stages))
        for i, stage in enumerate(self.stages):
            if not isinstance(stage, SharedTrees | OrPooling):
                raise TypeError(f"stages[{i}] must be SharedTrees or OrPooling, got {type(stage).__name__}")
        if not isinstance(self.dense, Circuit | SeededCircuit):
            raise TypeError(f"dense must be a Circuit or a SeededCircuit, got {type(self.dense).__name__}")
        self._check()

    @property
    def n_inputs(self) -> int:
        """Bits of an image."""
        return math.prod(self.shape) * self.n_thresholds

    @property
    def n_groups(self) -> int:
        """Groups of outputs."""
        return self.dense.n_groups

    @property
    def n_gates(self) -> int:
        """Gates at all positions."""
        counts = [stage.count_gates(shape) for stage, shape in zip(self.stages, self._list_shapes(), strict=False)]
        return sum(counts) + self.dense.n_gates

    @property
    def n_stored(self) -> int:
        """Gates that are held."""
        return sum(stage.n_gates for stage in self.stages) + self.dense.n_gates

    def expand(self) -> Circuit:
        """The same circuit with every gate at every position written out.

        Examples
        --------
        >>> both = SharedTrees(Window((1, 2)), taps=[[0], [1]], gates=[[1]])
        >>> dense = Circuit(2, [], [], [], outputs=[2, 3], group_ptr=[0, 2])
        >>> print(ConvolutionalCircuit((1, 1, 3), 1, [both], dense).expand().to_text())
        circuit 3 inputs, 2 gates, 2 outputs, 1 groups
        w5 = AND w2 w3
        w6 = AND w3 w4
        group 0: w5 w6
        <BLANKLINE>
        """
        builder = CircuitBuilder(self.n_inputs)
        wires = builder.inputs[order_maps(self.shape, self.n_thresholds)]
        for stage, shape in zip(self.stages, self._list_shapes(), strict=False):
            wires = add_levels(builder, stage.unroll(shape), wires)
        dense = self.dense.expand() if isinstance(self.dense, SeededCircuit) else self.dense
        return builder.build(builder.append(dense, wires), dense.group_ptr)

    def clear_unread(self) -> "ConvolutionalCircuit":
        """The same function, with nothing to store for what no output depends on; see `SeededCircuit.clear_unread`."""
        if isinstance(self.dense, Circuit):
            return self
        return ConvolutionalCircuit(self.shape, self.n_thresholds, self.stages, self.dense.clear_unread())

    def _check(self) -> None:
        """Raise ValueError unless the stages fit together."""
        last = self._list_shapes()[-1]
        if math.prod(last) != self.dense.n_inputs:
            raise ValueError(f"dense must read {math.prod(last)} inputs, maps of {last}, got {self.dense.n_inputs}")
        n_wires = N_CONSTANTS + self.n_inputs + self.n_gates
        if n_wires > MAX_WIRES:
            raise ValueError(f"wires must number at most {MAX_WIRES}, got {n_wires}")

    def _list_shapes(self) -> list[Shape]:
        """Of what each stage reads, and of what the dense circuit does."""
        channels, rows, columns = self.shape
        shapes = [(channels * self.n_thresholds, rows, columns)]
        for i, stage in enumerate(self.stages):
            try:
                shapes.append(stage.shape_after(shapes[-1]))
            except ValueError as error:
                raise ValueError(f"{error}, in stages[{i}]") from None
        return shapes

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ConvolutionalCircuit):
            return NotImplemented
        return self._parts() == other._parts()

    def __hash__(self) -> int:
        return hash(self._parts())

    def __repr__(self) -> str:
        size = f"shape={self.shape}, n_thresholds={self.n_thresholds}, stages={len(self.stages)}"
        return f"ConvolutionalCircuit({size}, n_gates={self.n_gates}, n_groups={self.n_groups})"

    def _parts(self) -> tuple[object, ...]:
        return self.shape, self.n_thresholds, self.stages, self.dense


CompactCircuit: TypeAlias = SeededCircuit | ConvolutionalCircuit
"""Circuits that are not written out: they follow from fewer numbers, and files can hold those."""


def add_levels(builder: CircuitBuilder, levels: Iterator[Level], wires: NDArray[np.int32]) -> NDArray[np.int32]:
    """Add levels of gates, each of which reads the one before; gives the wires of the last.

    Parameters
    ----------
    builder : CircuitBuilder
    levels : Iterator of gate ids and operands
        An operand is a position among the wires, or gates, before; one beyond the last reads the constant 0.
    wires : int32 array
        What the first level reads.

    Examples
    --------
    >>> builder = CircuitBuilder(2)
    >>> one, both = np.array([0, 2]), np.array([1, 1])  # AND of both inputs, OR of 0 and the second
    >>> add_levels(builder, iter([(np.array([1, 7]), one, both)]), builder.inputs).tolist()
    [4, 5]
    """
    for gate, a, b in levels:
        places = np.append(wires, np.int32(0))
        wires = builder.add(gate, places[a], places[b])
    return wires


def _freeze(name: str, values: object, dtype: type, end: int) -> NDArray[np.generic]:
    """A read-only copy of integers in 0..end - 1."""
    array = np.asarray(values)
    if array.dtype.kind not in "iu":
        raise ValueError(f"{name} must hold integers, got dtype {array.dtype}")
    if array.size and not (array.min() >= 0 and array.max() < end):
        raise ValueError(f"{name} must be in 0..{end - 1}, got {array.min()}..{array.max()}")
    frozen = cast(NDArray[np.generic], array.astype(dtype))
    frozen.flags.writeable = False
    return frozen
