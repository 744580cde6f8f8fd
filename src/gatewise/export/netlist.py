"""Lowering: a circuit as gates that are false when both operands are, so that no back end needs a NOT.

In: a circuit. Out: a `Netlist` of its inputs and of the gates that its outputs depend on, without constants and copies.
Invariant: a node or its inverse is what the circuit's wire is, and the counts of the groups are the circuit's.
"""

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from gatewise.circuit import Circuit, find_levels
from gatewise.gates import coefficients, fold, invert_operands, negate, swap_operands

FALSE, TRUE = 0, 1
"""Literals of the constants, see `gatewise.gates.fold`; node i is variable i + 1, its literals 2 i + 2 and 2 i + 3."""

SLICE = 128
"""Outputs that a thread of a GPU counts; their number has eight digits."""


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

    def cut_levels(self) -> list[int]:
        """Of a sorted netlist, how many gates there are up to each level, from level 0, which has none."""
        level = self.levels()[self.n_inputs :]
        cuts: list[int] = np.searchsorted(level, np.arange(1, level.max(initial=0) + 2)).tolist()
        return cuts

    def reorder(self, order: NDArray[np.int64]) -> "Netlist":
        """The gates at these positions, in a topological order; nothing that is kept reads one that is left out."""
        old2new = np.full(self.n_nodes, -1, np.int64)
        old2new[: self.n_inputs] = np.arange(self.n_inputs)
        old2new[self.n_inputs + order] = self.n_inputs + np.arange(len(order))
        groups = tuple(Group(g.base, old2new[g.added], old2new[g.subtracted]) for g in self.groups)
        a, b = old2new[self.a[order]], old2new[self.b[order]]
        return Netlist(self.n_inputs, self.gate[order], a, b, groups)

    def sort(self) -> "Netlist":
        """The netlist with gates in order of level, operation and operands, and sorted groups.

        The first operand of each gate is the one with the higher number, which is of the level before.
        """
        level = self.levels()
        old2new = np.arange(self.n_nodes)
        order = [np.empty(0, np.int64)]
        n_done = self.n_inputs
        by_level = np.argsort(level[self.n_inputs :], kind="stable")
        cuts = np.searchsorted(level[self.n_inputs :][by_level], np.arange(1, level.max(initial=0) + 2))
        for idx in np.split(by_level, cuts)[1:-1]:
            a, b = old2new[self.a[idx]], old2new[self.b[idx]]
            operation = find_operations(np.where(a > b, self.gate[idx], swap_operands(self.gate[idx])))
            sorted_idx = idx[np.lexsort((np.minimum(a, b), np.maximum(a, b), operation))]
            old2new[self.n_inputs + sorted_idx] = np.arange(n_done, n_done + len(idx))
            n_done += len(idx)
            order.append(sorted_idx)
        ordered = self.reorder(np.concatenate(order))
        is_swapped = ordered.a < ordered.b
        return Netlist(
            ordered.n_inputs,
            np.where(is_swapped, swap_operands(ordered.gate), ordered.gate),
            np.maximum(ordered.a, ordered.b),
            np.minimum(ordered.a, ordered.b),
            tuple(Group(g.base, np.sort(g.added), np.sort(g.subtracted)) for g in ordered.groups),
        )


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
        folded = fold(gate, x, y)
        if folded is not None:
            literals.append(folded)
            continue
        gate = invert_operands(gate, x & 1, y & 1)
        is_inverted = gate >> 3
        literals.append(first + 2 * len(gates) + is_inverted)
        gates.append((negate(gate) if is_inverted else gate, x // 2 - 1, y // 2 - 1))
    outputs = np.array(literals, np.int64)[circuit.outputs]
    cuts = circuit.group_ptr.tolist()
    groups = tuple(_make_group(outputs[i:j]) for i, j in pairwise(cuts))
    columns = np.array(gates, np.int64).reshape(-1, 3)
    whole = Netlist(circuit.n_inputs, columns[:, 0].astype(np.uint8), columns[:, 1], columns[:, 2], groups)
    return whole.reorder(_find_live(whole))


def slice_groups(netlist: Netlist) -> list[tuple[int, int, int, int]]:
    """Pieces of what groups count, for a thread each: first position among `read_nodes`, number, group and sign.

    Examples
    --------
    >>> nand = Circuit(2, gate=[14], a=[2], b=[3], outputs=[4, 2, 3], group_ptr=[0, 1, 3])
    >>> slice_groups(lower(nand))
    [(0, 1, 0, -1), (1, 2, 1, 1)]
    """
    slices, first = [], 0
    for k, group in enumerate(netlist.groups):
        for nodes, sign in ((group.added, 1), (group.subtracted, -1)):
            starts = range(0, len(nodes), SLICE)
            slices += [(first + start, min(SLICE, len(nodes) - start), k, sign) for start in starts]
            first += len(nodes)
    return slices


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


def find_operations(gate: NDArray[np.uint8]) -> NDArray[np.int64]:
    """Of gates that are false when both operands are: whether a, b and ab are terms of the sum modulo 2, as bits."""
    terms = coefficients().astype(np.int64) & 1
    codes: NDArray[np.int64] = (terms[:, 1:] @ np.array([1, 2, 4]))[gate]
    return codes
