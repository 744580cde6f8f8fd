"""Sweeping: gates that a solver proves equal become one.

In: a circuit, and optionally a region of the rows that it is given. Out: an equivalent circuit, on that region.
Invariant: two wires become one only if they are gates of one kind of the same wires, or a solver proved it; nothing
here relies on `gatewise.passes`, whose results it is used to prove.

Gates are taken in order of level. Those that agree on many random rows, or always differ, are compared by the solver,
which knows the gates before them as already made one: each proof is a small one (Kuehlmann and Krohm, "Equivalence
checking using cuts and heaps", 1997).
"""

from dataclasses import dataclass

import numpy as np

from gatewise.circuit import N_CONSTANTS, Circuit, find_levels
from gatewise.gates import NOT_A, evaluate, fold, invert_operands, swap_operands
from gatewise.verify.limits import Limit
from gatewise.verify.proving.clauses import list_region
from gatewise.verify.proving.sat import PROVING, require_solver
from gatewise.verify.space import Region

N_PATTERNS = 2048
N_REPRESENTATIVES = 4
"""How many different gates that agree on all patterns a gate is compared with."""

N_CONFLICTS = 200
"""How long a comparison may take: a gate that takes longer stays by itself."""

SEED = 0


@dataclass(frozen=True, eq=False)
class Swept:
    """What sweeping found.

    Parameters
    ----------
    circuit : Circuit
        Equivalent to the one that was swept.
    n_proved : int
        Pairs of gates that the solver proved equal.
    """

    circuit: Circuit
    n_proved: int


def sweep(circuit: Circuit, limit: Limit, region: Region | None = None) -> Swept:
    """Make gates one that a solver proves equal.

    Parameters
    ----------
    circuit : Circuit
    limit : Limit
        After it, gates are still made one that are of one kind and of the same wires.
    region : Region, optional
        Over a space whose bits the circuit's inputs are; all rows of bits by default.

    Examples
    --------
    >>> twice = Circuit(2, gate=[6, 7, 14, 1], a=[2, 2, 2, 5], b=[3, 3, 3, 6], outputs=[4, 7], group_ptr=[0, 2])
    >>> sweep(twice, Limit(10.0)).circuit.outputs.tolist()
    [4, 4]
    """
    sweeper = _Sweeper(circuit, limit, region)
    try:
        return sweeper.run()
    finally:
        sweeper.solver.delete()


class _Sweeper:
    """Literals of the new circuit: 2 v and 2 v + 1 for variable v and its inverse, variable 0 being false."""

    def __init__(self, circuit: Circuit, limit: Limit, region: Region | None) -> None:
        self._circuit, self._limit = circuit, limit
        self._n = circuit.n_inputs
        self.solver = require_solver().Solver(name=PROVING)
        patterns = _draw(self._n, region)
        self._mask = (1 << N_PATTERNS) - 1
        self._signature = [0, *patterns]
        if region is not None:
            self.solver.append_formula(list_region(region, region.fixed_bits()))
        self._gates: list[tuple[int, int, int]] = []
        self._built: dict[tuple[int, int, int], int] = {}
        self._alike: dict[int, list[int]] = {}
        for variable in range(self._n + 1):
            self._alike.setdefault(self._normal(2 * variable), []).append(variable)
        self._n_proved = 0

    def run(self) -> Swept:
        circuit = self._circuit
        first = N_CONSTANTS + self._n
        literals = np.zeros(circuit.n_wires, np.int64)
        literals[1] = 1
        literals[N_CONSTANTS:first] = 2 * np.arange(1, self._n + 1)
        order = np.argsort(find_levels(first, circuit.a, circuit.b)[first:], kind="stable")
        rows = zip(
            order.tolist(),
            circuit.gate[order].tolist(),
            circuit.a[order].tolist(),
            circuit.b[order].tolist(),
            strict=True,
        )
        for at, gate, a, b in rows:
            literals[first + at] = self._add(gate, int(literals[a]), int(literals[b]))
        return Swept(self._write(literals[circuit.outputs].tolist()), self._n_proved)

    def _add(self, gate: int, x: int, y: int) -> int:
        """The literal of a gate: an older one if it is the same."""
        folded = fold(gate, x, y)
        if folded is not None:
            return folded
        gate, x, y = _turn(invert_operands(gate, x & 1, y & 1), x & -2, y & -2)
        is_inverted = gate >> 3
        key = (gate ^ 15 if is_inverted else gate, x, y)
        if key not in self._built:
            self._built[key] = self._compare(key)
        return self._built[key] ^ is_inverted

    def _compare(self, key: tuple[int, int, int]) -> int:
        """The literal of a new gate, after looking for an older one that it is equal to."""
        gate, x, y = key
        variable = self._n + 1 + len(self._gates)
        self._gates.append(key)
        self._signature.append(_simulate(gate, self._signature[x >> 1], self._signature[y >> 1], self._mask))
        for clause in _list_gate(gate, variable, x >> 1, y >> 1):
            self.solver.add_clause(clause)
        alike = self._alike.setdefault(self._normal(2 * variable), [])
        for other in alike[:N_REPRESENTATIVES]:
            literal = 2 * other + ((self._signature[variable] ^ self._signature[other]) & 1)
            if not self._limit.is_over() and self._is_equal(variable, literal):
                self._n_proved += 1
                return literal
        alike.append(variable)
        return 2 * variable

    def _is_equal(self, variable: int, literal: int) -> bool:
        """Whether the solver proves a variable equal to a literal; it learns that then."""
        other = -(literal >> 1) if literal & 1 else literal >> 1
        differences = (
            [[variable]]
            if literal == 0
            else [[-variable]]
            if literal == 1
            else [[variable, -other], [-variable, other]]
        )
        for assumed in differences:
            self.solver.conf_budget(N_CONFLICTS)
            if self.solver.solve_limited(assumptions=assumed) is not False:
                return False
        for assumed in differences:
            self.solver.add_clause([-each for each in assumed])
        return True

    def _normal(self, literal: int) -> int:
        """Values on all patterns, inverted if the first one is true."""
        signature = self._signature[literal >> 1]
        return signature ^ self._mask if signature & 1 else signature

    def _write(self, outputs: list[int]) -> Circuit:
        """The gates as a circuit, with inverters for outputs that are inverted."""
        first = N_CONSTANTS + self._n
        gates = np.array(self._gates, np.int64).reshape(-1, 3)
        wire = np.concatenate([[0], np.arange(N_CONSTANTS, first + len(gates))])
        inverted = sorted({literal >> 1 for literal in outputs if literal & 1 and literal > 1})
        place = {variable: first + len(gates) + i for i, variable in enumerate(inverted)}
        wires = [
            literal if literal < 2 else place[literal >> 1] if literal & 1 else int(wire[literal >> 1])
            for literal in outputs
        ]
        own = wire[np.array(inverted, np.int64)]
        gate = np.concatenate([gates[:, 0], np.full(len(inverted), NOT_A)]).astype(np.uint8)
        a, b = (np.concatenate([wire[gates[:, k] >> 1], own]).astype(np.int32) for k in (1, 2))
        return Circuit(self._n, gate, a, b, np.array(wires, np.int32), self._circuit.group_ptr)


def _turn(gate: int, x: int, y: int) -> tuple[int, int, int]:
    """The same gate with its operands in rising order."""
    return (gate, x, y) if x <= y else (swap_operands(gate), y, x)


def _draw(n_inputs: int, region: Region | None) -> list[int]:
    """Values of each input on random rows, one bit a row: rows of the region, or coins of all kinds."""
    rng = np.random.default_rng(SEED)
    if region is None:
        bits = rng.random((N_PATTERNS, n_inputs)) < rng.choice([0.1, 0.5, 0.5, 0.9], (N_PATTERNS, 1))
    else:
        points = rng.integers(0, region.sizes, (N_PATTERNS, len(region.sizes)))
        bits = region.bits_at(points)
    packed = np.packbits(bits.T, axis=1, bitorder="little")
    return [int.from_bytes(row.tobytes(), "little") for row in packed]


def _simulate(gate: int, x: int, y: int, mask: int) -> int:
    """A gate on all patterns at once; it is false when both operands are."""
    value = 0
    for a, b in ((0, 1), (1, 0), (1, 1)):
        if evaluate(gate, a, b):
            value |= (x if a else ~x) & (y if b else ~y)
    return value & mask


def _list_gate(gate: int, own: int, a: int, b: int) -> list[list[int]]:
    """Clauses that hold just where a variable is what the gate makes of two others."""
    rows = [(x, y, evaluate(gate, x, y)) for x in (0, 1) for y in (0, 1)]
    return [[-a if x else a, -b if y else b, own if value else -own] for x, y, value in rows]
