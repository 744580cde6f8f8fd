"""Clauses: a question as a formula in conjunctive normal form, which any solver reads.

In: forms that shall all be at least 0, and a region. Out: clauses over numbered variables, bits of the space first.
Invariant: an assignment that satisfies the clauses is a point of the region, and each such point has one.

A form is added up by the adders of the exports and compared with a constant; gates become clauses after Tseitin.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from gatewise.circuit import Circuit
from gatewise.export.counting import CircuitBuilder, with_counts
from gatewise.export.netlist import Netlist, lower
from gatewise.gates import AND, NOT_A, OR, evaluate
from gatewise.passes import simplify
from gatewise.verify.forms import Forms, each_alone, fix_inputs
from gatewise.verify.space import Region

Clause = list[int]


@dataclass(frozen=True, eq=False)
class Formula:
    """Clauses, and sums of literals that may be at most a number, which some solvers know without clauses.

    Parameters
    ----------
    n_variables : int
        Variable i + 1 is bit i of the space, for the first ones; those that no clause reads may have any value.
    clauses : list of list of int
        A literal is a variable, or its negative.
    at_most : list of (literals, number)
        Of so many literals so many may be true; empty if the clauses say it all.
    """

    n_variables: int
    clauses: list[Clause]
    at_most: list[tuple[list[int], int]]

    def to_dimacs(self, comments: Sequence[str] = ()) -> str:
        """The formula as a DIMACS file, for solvers and checkers of proofs.

        Examples
        --------
        >>> print(Formula(2, [[1, -2], [2]], []).to_dimacs(["a comment"]), end="")
        c a comment
        p cnf 2 2
        1 -2 0
        2 0
        """
        head = [*(f"c {text}" for text in comments), f"p cnf {self.n_variables} {len(self.clauses)}"]
        return "\n".join([*head, *(" ".join(map(str, [*clause, 0])) for clause in self.clauses), ""])


def make_formula(forms: Forms, region: Region, *, native: bool = False) -> Formula:
    """The formula of the points of a region where all forms are at least 0.

    Parameters
    ----------
    forms : Forms
    region : Region
    native : bool
        Whether a form whose weights are all 1 or -1 may be left to the solver to count.
    """
    fixed = region.fixed_bits()
    counted = [k for k in range(forms.n_forms) if native and set(np.abs(forms.weights[k]).tolist()) <= {0, 1}]
    added = [k for k in range(forms.n_forms) if k not in counted]
    circuit = fix_inputs(compare(forms, added, counted), fixed)
    netlist = lower(each_alone(simplify(circuit)))
    clauses = [clause for node in range(netlist.n_gates) for clause in _list_gate(netlist, node)]
    literals = [_read_output(netlist, k) for k in range(len(netlist.groups))]
    truths = literals[: len(added)]
    at_most = []
    outputs = literals[len(added) :]
    for k in counted:
        negated, n_true, bound = [], 0, int(forms.constants[k])
        for weight, literal in zip(forms.weights[k].tolist(), outputs, strict=True):
            if weight:  # what lowers the form: the inverse of an output of weight 1, an output of weight -1
                bound += max(weight, 0)
                lowering = -literal if weight > 0 else literal
                n_true += lowering == _ALWAYS
                negated += [lowering] * (abs(lowering) != _ALWAYS)
        at_most.append((negated, bound - n_true))
    clauses += [[] if truth == -_ALWAYS else [truth] for truth in truths if truth != _ALWAYS]
    clauses += [[] for _, bound in at_most if bound < 0]
    at_most = [(sorted_literals, bound) for sorted_literals, bound in at_most if 0 <= bound < len(sorted_literals)]
    clauses += list_region(region, fixed)
    return Formula(netlist.n_nodes, clauses, at_most)


def restrict(formula: Formula, region: Region, start: NDArray[np.int64], at_most: int) -> Formula:
    """The formula of those points that differ from `start` in at most so many columns.

    A new variable for each column is true where one of its bits differs.
    """
    clauses = list(formula.clauses)
    changed: list[int] = []
    first_new = max(formula.n_variables, region.space.n_bits) + 1
    for first, bits, at in zip(region.space.first_bit.tolist(), region.bits, start.tolist(), strict=False):
        free = np.flatnonzero((bits != bits[at]).any(axis=0)).tolist()
        if free:
            changed.append(first_new + len(changed))
            own = bits[at].tolist()
            clauses += [[first + i + 1 if own[i] else -(first + i + 1), changed[-1]] for i in free]
    sums = [*formula.at_most, (changed, at_most)] if at_most < len(changed) else formula.at_most
    return Formula(first_new + len(changed) - 1, clauses, sums)


_ALWAYS = 1 << 40
"""Stands for a literal that is always true; its negative for one that never is."""


def compare(forms: Forms, added: Sequence[int], counted: Sequence[int]) -> Circuit:
    """A circuit that says of each form of `added` whether it is at least 0, and then gives what is counted.

    An output of negative weight is counted where it is false: w x = |w| (1 - x) - |w|.
    """
    builder = CircuitBuilder(forms.circuit)
    wires = forms.circuit.outputs.tolist()
    inverse = {}
    for wire, weight in zip(wires, forms.weights.min(axis=0, initial=0).tolist(), strict=True):
        if weight < 0:
            inverse[wire] = builder.add(NOT_A, wire, wire)
    groups = []
    for k in added:
        pairs = zip(wires, forms.weights[k].tolist(), strict=True)
        groups.append([inverse[wire] if w < 0 else wire for wire, w in pairs for _ in range(abs(w))])
    counts = with_counts(builder.build([*groups, wires if counted else []]))
    numbers = [counts.outputs[i:j].tolist() for i, j in pairwise(counts.group_ptr.tolist())]
    builder = CircuitBuilder(counts)
    least = -forms.constants - np.minimum(forms.weights, 0).sum(axis=1)
    truths = [_exceed(builder, numbers[i], int(least[k])) for i, k in enumerate(added)]
    return builder.build([truths, wires if counted else []])


def _exceed(builder: CircuitBuilder, number: Sequence[int], least: int) -> int:
    """The wire that says whether a number, least significant bit first, is at least a constant."""
    if least <= 0:
        return 1
    if least >> len(number):
        return 0
    is_reached = 1
    for position, bit in enumerate(number):
        is_reached = builder.add(AND if least >> position & 1 else OR, bit, is_reached)
    return is_reached


def list_region(region: Region, fixed: NDArray[np.int8]) -> list[Clause]:
    """Clauses that hold just at the points of a region: fixed bits, and no pattern of bits that no choice has.

    Examples
    --------
    >>> from gatewise import Encoder
    >>> from gatewise.verify.space import Space
    >>> region = Space([Encoder.fit([[0], [1], [2]])]).region()
    >>> list_region(region, region.fixed_bits())  # x0 > 1.5 implies x0 > 0.5
    [[-2, 1]]
    """
    clauses = [[i + 1 if fixed[i] else -(i + 1)] for i in np.flatnonzero(fixed >= 0).tolist()]
    for first, column, bits in zip(
        region.space.first_bit[:-1].tolist(), region.space.columns, region.bits, strict=True
    ):
        free = np.flatnonzero(fixed[first : first + bits.shape[1]] < 0)
        patterns = np.unique(bits[:, free], axis=0)
        clauses += _list_column(patterns, [first + 1 + i for i in free.tolist()], column.bits[:, free])
    return clauses


def _list_column(patterns: NDArray[np.bool_], variables: list[int], whole: NDArray[np.bool_]) -> list[Clause]:
    """Clauses of a column: relations of two bits that hold in all of its cells, and the cells that are left out.

    All patterns of a column's cells are those that pairs of bits allow, as is seen for each kind: thermometers are
    chains of implications, categories exclude each other, and a missing value excludes all the others.
    """
    _, first, equal = np.unique(whole, axis=1, return_index=True, return_inverse=True)
    clauses = []
    for variable, other in zip(variables, (variables[first[k]] for k in equal.ravel().tolist()), strict=True):
        clauses += [[-variable, other], [variable, -other]] * (variable != other)
    alone = whole[:, first].astype(np.int64)
    both = alone.T @ alone
    is_below = (both == both.diagonal()[:, np.newaxis]) & ~np.eye(len(first), dtype=bool)  # i implies j
    is_nearest = is_below & ~((is_below.astype(np.int64) @ is_below) > 0)
    different = [variables[k] for k in first.tolist()]
    clauses += [[-different[i], different[j]] for i, j in np.argwhere(is_nearest).tolist()]
    clauses += [[-different[j], -different[i]] for i, j in np.argwhere(both == 0).tolist() if j <= i]
    allowed = {row.tobytes() for row in patterns}
    for pattern in np.unique(whole, axis=0):
        if pattern.tobytes() not in allowed:
            clauses.append([-v if bit else v for v, bit in zip(variables, pattern.tolist(), strict=True)])
    return clauses


def _read_output(netlist: Netlist, k: int) -> int:
    """The literal that output k is."""
    group = netlist.groups[k]
    if len(group.added):
        return int(group.added[0]) + 1
    if len(group.subtracted):
        return -int(group.subtracted[0]) - 1
    return _ALWAYS if group.base else -_ALWAYS


def _list_gate(netlist: Netlist, gate_idx: int) -> list[Clause]:
    """Clauses that hold just where a gate's variable is what its operands make of it.

    One clause for each row of the truth table; where the gate does not depend on an operand any more, a shorter one.
    """
    gate, a, b = int(netlist.gate[gate_idx]), int(netlist.a[gate_idx]) + 1, int(netlist.b[gate_idx]) + 1
    own = netlist.n_inputs + gate_idx + 1
    table = {(x, y): evaluate(gate, x, y) for x in (0, 1) for y in (0, 1)}
    clauses = []
    for x in (0, 1):
        if table[x, 0] == table[x, 1]:
            clauses.append([-a if x else a, own if table[x, 0] else -own])
        if table[0, x] == table[1, x]:
            clauses.append([-b if x else b, own if table[0, x] else -own])
    for (x, y), value in table.items():
        if table[x, 1 - y] != value and table[1 - x, y] != value:
            clauses.append([-a if x else a, -b if y else b, own if value else -own])
    return clauses
