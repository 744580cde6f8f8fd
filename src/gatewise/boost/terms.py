"""Terms: a sum of small tables of whole numbers, and the circuit that adds them up.

In: for each term, a few bits that it reads, and a value for every combination of them. Out: scores, or a circuit whose
groups count them.
Invariant: the circuit's counts are the sums of the terms' values, but for an offset that is the same for every row.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gatewise.circuit import N_CONSTANTS, Circuit
from gatewise.gates import A_AND_NOT_B, AND, NOT_A, OR, XOR


@dataclass(frozen=True, eq=False)
class Terms:
    """A sum of terms. Each reads a few bits and adds a whole number to every score.

    Parameters
    ----------
    n_inputs : int
        Bits per row.
    bits : int32 array, shape (n_terms, n_questions)
        The bits that a term reads; the first is the lowest digit of the cell's number.
    values : int32 array, shape (n_terms, 2**n_questions, n_scores)
        What a term adds, for each cell.

    Examples
    --------
    >>> xor = Terms(2, np.array([[0, 1]]), np.array([[[0], [3], [3], [0]]]))
    >>> xor.scores(np.array([[0, 0], [1, 0], [1, 1]], bool)).tolist()
    [[0], [3], [0]]
    >>> xor.circuit().outputs.tolist()  # the gate three times
    [4, 4, 4]
    """

    n_inputs: int
    bits: NDArray[np.int32]
    values: NDArray[np.int32]

    @property
    def n_scores(self) -> int:
        """Scores that every term adds to."""
        return int(self.values.shape[2])

    def scores(self, rows: NDArray[np.bool_]) -> NDArray[np.int64]:
        """Sums of the terms' values, (n_rows, n_scores), for rows of bits."""
        digits = 1 << np.arange(self.bits.shape[1])
        sums = np.zeros((len(rows), self.n_scores), np.int64)
        for bits, values in zip(self.bits, self.values, strict=True):
            sums += values[rows[:, bits] @ digits]
        return sums

    def first(self, n: int) -> "Terms":
        """The first `n` terms."""
        return Terms(self.n_inputs, self.bits[:n], self.values[:n])

    @property
    def offsets(self) -> NDArray[np.int64]:
        """What the counts of the circuit lack, (n_scores,): the sum of the least values of all terms."""
        least: NDArray[np.int64] = self.values.min(axis=1).sum(axis=0, dtype=np.int64)
        return least

    def circuit(self) -> Circuit:
        """A circuit with a group for each score; an output of weight m is m times in it."""
        builder = _Builder(self.n_inputs)
        groups: list[list[int]] = [[] for _ in range(self.n_scores)]
        for bits, values in zip(self.bits.tolist(), self.values, strict=True):
            wires = tuple(N_CONSTANTS + bit for bit in bits)
            above = values - values.min(axis=0)
            for group, column in zip(groups, above.T.tolist(), strict=True):
                for digit in range(max(column).bit_length()):
                    wire = builder.add_table(wires, tuple(value >> digit & 1 for value in column))
                    group.extend([wire] * ((wire != 0) << digit))
        return builder.build(groups)


class _Builder:
    """Gates for tables of several wires; equal tables of equal wires are built once."""

    def __init__(self, n_inputs: int) -> None:
        self._n_inputs = n_inputs
        self._gates: list[tuple[int, int, int]] = []
        self._built: dict[tuple[object, ...], int] = {}

    def add_table(self, wires: tuple[int, ...], table: tuple[int, ...]) -> int:
        """The wire that is table[i] where the wires are the digits of i, the first one the lowest.

        The table is split by its last wire w into the halves f and g for w = 0 and w = 1: it is f if they are equal,
        f XOR w if they are inverse, and otherwise w AND g OR f AND NOT w, of which constants leave a part.
        """
        if 1 not in table:
            return 0
        if 0 not in table:
            return 1
        key = (wires, table)
        if key not in self._built:
            self._built[key] = self._add_halves(wires[:-1], wires[-1], table)
        return self._built[key]

    def _add_halves(self, wires: tuple[int, ...], last: int, table: tuple[int, ...]) -> int:
        middle = len(table) // 2
        f_table, g_table = table[:middle], table[middle:]
        f = self.add_table(wires, f_table)
        if f_table == g_table:
            return f
        if all(x != y for x, y in zip(f_table, g_table, strict=True)):
            return last if f == 0 else self._add(NOT_A, last, last) if f == 1 else self._add(XOR, f, last)
        g = self.add_table(wires, g_table)
        if f == 0:
            return self._add(AND, last, g)
        if g == 0:
            return self._add(A_AND_NOT_B, f, last)
        if g == 1:
            return self._add(OR, last, f)
        without = self._add(NOT_A, last, last) if f == 1 else self._add(A_AND_NOT_B, f, last)
        return self._add(OR, self._add(AND, last, g), without)

    def _add(self, gate: int, a: int, b: int) -> int:
        key = (gate, a, b)
        if key not in self._built:
            self._built[key] = N_CONSTANTS + self._n_inputs + len(self._gates)
            self._gates.append(key)
        return self._built[key]

    def build(self, groups: list[list[int]]) -> Circuit:
        gates = np.array(self._gates, np.int32).reshape(-1, 3)
        outputs = np.array([wire for group in groups for wire in group], np.int32)
        group_ptr = np.cumsum([0, *map(len, groups)], dtype=np.int32)
        return Circuit(self._n_inputs, gates[:, 0].astype(np.uint8), gates[:, 1], gates[:, 2], outputs, group_ptr)
