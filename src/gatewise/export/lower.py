"""Lowering: a circuit as gates that are false when both operands are, so that no back end needs a NOT.

In: a circuit. Out: a `Netlist` of its inputs and of the gates that its outputs depend on, without constants and copies.
Invariant: a node or its inverse is what the circuit's wire is, and the counts of the groups are the circuit's.
"""

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from gatewise.circuit import Circuit, find_levels
from gatewise.gates import N_GATES, evaluate, negate

FALSE, TRUE = 0, 1
"""Literals of the constants; the literal of node i is 2 i + 2, of its inverse 2 i + 3."""


@dataclass(frozen=True, eq=False)
class Group:
    """What a group counts: ``base`` plus the true nodes of ``added`` minus the true nodes of ``subtracted``.

    An inverted output adds one to the base and its node to `subtracted`.
    """

    base: int
    added: NDArray[np.int64]
    subtracted: NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Netlist:
    """Gates over nodes, in topological order.

    Nodes 0 .. n_inputs - 1 are the inputs, then come the gates. Each gate is one of AND, A_AND_NOT_B, NOT_A_AND_B,
    XOR and OR, and its operands are two different nodes.

    Parameters
    ----------
    n_inputs : int
    gate : uint8 array, shape (n_gates,)
    a, b : int64 arrays, shape (n_gates,)
    groups : tuple of Group
    """

    n_inputs: int
    gate: NDArray[np.uint8]
    a: NDArray[np.int64]
    b: NDArray[np.int64]
    groups: tuple[Group, ...]

    @property
    def n_gates(self) -> int:
        """Number of gates."""
        return len(self.gate)

    @property
    def n_nodes(self) -> int:
        """Number of inputs and gates."""
        return self.n_inputs + self.n_gates

    def read_nodes(self) -> NDArray[np.int64]:
        """Nodes that the groups count, group by group, added ones first."""
        parts = [nodes for group in self.groups for nodes in (group.added, group.subtracted)]
        return np.concatenate([np.empty(0, np.int64), *parts])

    def levels(self) -> NDArray[np.int64]:
        """Level of each node: 0 for inputs, one more than the higher operand for gates."""
        return find_levels(self.n_inputs, self.a, self.b)

    def reorder(self, order: NDArray[np.int64]) -> "Netlist":
        """The same gates in another topological order, or some of them, if nothing reads the others.

        Parameters
        ----------
        order : int64 array
            Positions of gates among the gates.
        """
        old2new = np.full(self.n_nodes, -1, np.int64)
        old2new[: self.n_inputs] = np.arange(self.n_inputs)
        old2new[self.n_inputs + order] = self.n_inputs + np.arange(len(order))
        groups = tuple(Group(g.base, old2new[g.added], old2new[g.subtracted]) for g in self.groups)
        a, b = old2new[self.a[order]], old2new[self.b[order]]
        return Netlist(self.n_inputs, self.gate[order], a, b, groups)


def lower(circuit: Circuit) -> Netlist:
    """The netlist of a circuit.

    Examples
    --------
    >>> nand = Circuit(2, gate=[14, 12], a=[2, 4], b=[3, 0], outputs=[4, 5, 1], group_ptr=[0, 3])
    >>> netlist = lower(nand)
    >>> netlist.gate.tolist(), netlist.groups[0]
    ([1], Group(base=2, added=array([2]), subtracted=array([2])))
    """
    first = 2 * circuit.n_inputs + 2
    literals = list(range(0, first, 2))
    literals[:1] = [FALSE, TRUE]
    gates: list[tuple[int, int, int]] = []
    for gate, a, b in zip(circuit.gate.tolist(), circuit.a.tolist(), circuit.b.tolist(), strict=True):
        x, y = literals[a], literals[b]
        gate = _INVERTED[x & 1][y & 1][gate]
        x, y = x & -2, y & -2
        unary = _find_unary(gate, x, y)
        if unary is not None:
            literals.append(unary)
            continue
        is_inverted = gate >> 3
        literals.append(first + 2 * len(gates) + is_inverted)
        gates.append((negate(gate) if is_inverted else gate, x // 2 - 1, y // 2 - 1))
    outputs = np.array(literals, np.int64)[circuit.outputs]
    cuts = circuit.group_ptr.tolist()
    groups = tuple(_make_group(outputs[i:j]) for i, j in pairwise(cuts))
    columns = np.array(gates, np.int64).reshape(-1, 3)
    whole = Netlist(circuit.n_inputs, columns[:, 0].astype(np.uint8), columns[:, 1], columns[:, 2], groups)
    return whole.reorder(_find_live(whole))


def _find_unary(gate: int, x: int, y: int) -> int | None:
    """The literal that a gate of two literals, not inverted, is equal to; None if it needs both."""
    f00, f01, f10, f11 = _TRUTH[gate]
    if y == FALSE or (f00, f10) == (f01, f11):
        return _literal(f00, f10, x)
    if x == FALSE or (f00, f01) == (f10, f11):
        return _literal(f00, f01, y)
    if x == y:
        return _literal(f00, f11, x)
    return None


def _literal(at_false: int, at_true: int, literal: int) -> int:
    """The literal that has these values when another, not inverted, is false and true."""
    return at_false if at_false == at_true else literal ^ at_false


def _make_group(literals: NDArray[np.int64]) -> Group:
    nodes = literals[literals > TRUE]
    is_inverted = (nodes & 1).astype(bool)
    base = int((literals == TRUE).sum() + is_inverted.sum())
    return Group(base, nodes[~is_inverted] // 2 - 1, nodes[is_inverted] // 2 - 1)


def _find_live(netlist: Netlist) -> NDArray[np.int64]:
    """Gates that an output depends on."""
    live = np.zeros(netlist.n_nodes, bool)
    live[netlist.read_nodes()] = True
    is_live = live.tolist()
    operands = zip(reversed(netlist.a.tolist()), reversed(netlist.b.tolist()), strict=True)
    for node, (a, b) in zip(range(netlist.n_nodes - 1, netlist.n_inputs - 1, -1), operands, strict=True):
        if is_live[node]:
            is_live[a] = is_live[b] = True
    return np.flatnonzero(np.array(is_live[netlist.n_inputs :], bool))


_TRUTH = [[evaluate(gate, a, b) for a in (0, 1) for b in (0, 1)] for gate in range(N_GATES)]
"""By gate, its values at 00, 01, 10 and 11."""

_INVERTED = [
    [[_TRUTH.index([truth[i ^ 2 * a ^ b] for i in range(4)]) for truth in _TRUTH] for b in (0, 1)] for a in (0, 1)
]
"""By whether a and whether b is inverted, and by gate: the gate that means the same for the inverted operands."""
