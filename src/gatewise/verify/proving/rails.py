"""Rails: bounds of forms over many regions at once, by the engine.

In: forms, and boxes: a range of choices for each column of a region. Out: what each form is at most in each box.
Invariant: no point of a box has a greater form than its bound; of a box of one point it is the form itself.

A wire becomes two: whether it can be true in the box, and whether it can be false. A gate of two such pairs is again
two gates, so the bounds of a circuit are the counts of another one, and the engine runs that on 64 boxes a word.
"""

import numpy as np
from numpy.typing import NDArray

from gatewise.bits import Planes
from gatewise.circuit import N_CONSTANTS, Circuit
from gatewise.export.counting import CircuitBuilder
from gatewise.gates import A_AND_NOT_B, AND, NOT_A_AND_B, OR, XOR
from gatewise.passes import drop_unread_inputs, simplify
from gatewise.run.engine import Engine
from gatewise.verify.forms import Forms
from gatewise.verify.space import Region

Numbers = NDArray[np.int64]
BLOCK = 1 << 14  # boxes whose bits are made at once


class Bounder:
    """Bounds of forms over boxes of a region.

    Parameters
    ----------
    forms : Forms
        Over the bits of the region's space.
    region : Region

    Examples
    --------
    >>> from gatewise import Encoder
    >>> from gatewise.verify.forms import View
    >>> from gatewise.verify.space import Space
    >>> region = Space([Encoder.fit([[0.0, 0.0], [1.0, 1.0]])]).region()
    >>> xor = Circuit(2, gate=[6], a=[2], b=[3], outputs=[4], group_ptr=[0, 1])
    >>> forms = Forms.of([View(xor, np.arange(2), np.full(2, -1, np.int8))], 2)
    >>> low, high = np.array([[0, 0], [0, 1], [1, 1]]), np.array([[1, 1], [0, 1], [1, 1]])
    >>> Bounder(forms, region).highs(low, high).tolist()
    [[1], [1], [0]]
    """

    def __init__(self, forms: Forms, region: Region) -> None:
        negative = np.minimum(forms.weights, 0).sum(axis=1)
        divisor = np.gcd.reduce(np.abs(forms.weights), axis=1) if forms.weights.shape[1] else np.ones(forms.n_forms)
        self._scale = np.maximum(divisor, 1).astype(np.int64)
        self._constants = forms.constants + negative
        circuit, used = drop_unread_inputs(simplify(make_rails(forms, self._scale)))
        self._engine = Engine(circuit)
        self._rails = used < forms.circuit.n_inputs, used % max(forms.circuit.n_inputs, 1)
        self._region = region
        columns = np.searchsorted(region.space.first_bit, self._rails[1], side="right") - 1
        self._parts = [
            (i, np.flatnonzero(columns == i), self._sums(i, columns == i)) for i in np.unique(columns).tolist()
        ]

    @property
    def n_gates(self) -> int:
        """Gates that the engine runs for each box."""
        return self._engine.circuit.n_gates

    def highs(self, low: Numbers, high: Numbers) -> Numbers:
        """What each form is at most, (n_boxes, n_forms); low and high choices, both included, (n_boxes, n_columns)."""
        pieces = [
            self._count(low[start : start + BLOCK], high[start : start + BLOCK])
            for start in range(0, max(len(low), 1), BLOCK)
        ]
        highs: Numbers = np.concatenate(pieces).astype(np.int64) * self._scale + self._constants
        return highs

    def values(self, points: Numbers) -> Numbers:
        """The forms at points, (n_points, n_forms)."""
        return self.highs(points, points)

    def _sums(self, i: int, is_own: NDArray[np.bool_]) -> NDArray[np.int32]:
        """Of the rails of a column, (n_choices + 1, n_rails): for how many of the first choices each one holds."""
        is_true, bit = self._rails[0][is_own], self._rails[1][is_own] - self._region.space.first_bit[i]
        holds = self._region.bits[i][:, bit] == is_true
        return np.concatenate([np.zeros((1, len(bit)), np.int32), np.cumsum(holds, axis=0, dtype=np.int32)])

    def _count(self, low: Numbers, high: Numbers) -> NDArray[np.int32]:
        rails = np.empty((len(low), self._engine.circuit.n_inputs), bool)
        for i, places, sums in self._parts:
            rails[:, places] = sums[high[:, i] + 1] > sums[low[:, i]]
        return self._engine.counts(rails if len(rails) else Planes.pack(rails))


def make_rails(forms: Forms, scale: Numbers) -> Circuit:
    """The circuit whose counts, times the scale of a form, are its bound less the sum of its negative weights.

    Its inputs are whether each bit can be true, and then whether each can be false.
    """
    netlist = forms.netlist
    n = netlist.n_inputs
    builder = CircuitBuilder(Circuit(2 * n, [], [], [], [], [0]))  # type: ignore[arg-type]
    can_be = list(range(N_CONSTANTS, N_CONSTANTS + n))
    can_fail = list(range(N_CONSTANTS + n, N_CONSTANTS + 2 * n))
    for gate, x, y in zip(netlist.gate.tolist(), netlist.a.tolist(), netlist.b.tolist(), strict=True):
        true, false = _bound_gate(builder, gate, (can_be[x], can_fail[x]), (can_be[y], can_fail[y]))
        can_be.append(true)
        can_fail.append(false)
    outputs = []
    for group in netlist.groups:  # each is one output, and none is constant
        is_plain = len(group.added) > 0
        node = int((group.added if is_plain else group.subtracted)[0])
        outputs.append((can_be[node], can_fail[node]) if is_plain else (can_fail[node], can_be[node]))
    groups: list[list[int]] = []
    for weights, divisor in zip(forms.weights.tolist(), scale.tolist(), strict=True):
        pairs = [(outputs[i][weight < 0], abs(weight) // divisor) for i, weight in enumerate(weights) if weight]
        groups.append([wire for wire, times in pairs for _ in range(times)])
    return builder.build(groups)


def _bound_gate(builder: CircuitBuilder, gate: int, x: tuple[int, int], y: tuple[int, int]) -> tuple[int, int]:
    """Whether a gate can be true, and whether it can be false, if its operands are independent of each other."""
    if gate == XOR:
        apart = builder.add(AND, x[0], y[1]), builder.add(AND, x[1], y[0])
        alike = builder.add(AND, x[0], y[0]), builder.add(AND, x[1], y[1])
        return builder.add(OR, *apart), builder.add(OR, *alike)
    if gate == OR:
        return builder.add(OR, x[0], y[0]), builder.add(AND, x[1], y[1])
    x = x[::-1] if gate == NOT_A_AND_B else x
    y = y[::-1] if gate == A_AND_NOT_B else y
    return builder.add(AND, x[0], y[0]), builder.add(OR, x[1], y[1])
