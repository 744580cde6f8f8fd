"""The head as gates: counts of groups as binary numbers, and the index of the largest.

In: a circuit whose head counts groups. Out: a circuit whose outputs are numbers, least significant bit first.
Invariant: the numbers are those of `gatewise.run.reference`; depth grows with the logarithm of a group's size.

Bits are added in pairs (x, x ^ y). A full adder that is given x ^ y takes four gates instead of five, and two of them
in a row give their carries as such a pair without a further gate (the MDFA block of Demenkov, Kojevnikov, Kulikov and
Yaroslavtsev, "New upper bounds on the Boolean circuit complexity of symmetric functions", 2010): 4.7 gates per bit.
"""

from collections import Counter
from collections.abc import Sequence
from typing import TypeAlias

import numpy as np

from gatewise.circuit import N_CONSTANTS, Circuit
from gatewise.gates import A_AND_NOT_B, AND, NOT_A, NOT_A_AND_B, OR, XOR, fold

Pair: TypeAlias = tuple[int, int]
"""Two bits x and y of one weight, as the wires x and x ^ y."""

Candidate: TypeAlias = tuple[list[int], list[int]]
"""Wires of a number, and of its index among the numbers that it was compared with."""


class CircuitBuilder:
    """A circuit to which gates are appended; gates that are equal to a constant or to an older wire are not.

    Examples
    --------
    >>> builder = CircuitBuilder(Circuit(2, gate=[], a=[], b=[], outputs=[], group_ptr=[0]))
    >>> builder.add(XOR, 2, 3), builder.add(AND, 2, 0), builder.add(AND, 2, 1)
    (4, 0, 2)
    >>> builder.build([[4], [0, 2]])
    Circuit(n_inputs=2, n_gates=1, n_outputs=3, n_groups=2)
    """

    def __init__(self, circuit: Circuit) -> None:
        self._n_inputs = circuit.n_inputs
        self._gate, self._a, self._b = circuit.gate.tolist(), circuit.a.tolist(), circuit.b.tolist()

    def add(self, gate: int, a: int, b: int) -> int:
        """The wire that carries the gate's output."""
        literal = fold(gate, *(wire if wire < N_CONSTANTS else 2 * wire for wire in (a, b)))
        if literal is None:
            return self._append(gate, a, b)
        if literal < N_CONSTANTS:
            return literal
        return self._append(NOT_A, literal >> 1, literal >> 1) if literal & 1 else literal >> 1

    def build(self, groups: Sequence[Sequence[int]]) -> Circuit:
        """The circuit, with groups of these wires for its outputs."""
        a, b = np.array(self._a, np.int32), np.array(self._b, np.int32)
        outputs = np.array([wire for group in groups for wire in group], np.int32)
        group_ptr = np.cumsum([0, *map(len, groups)], dtype=np.int32)
        return Circuit(self._n_inputs, np.array(self._gate, np.uint8), a, b, outputs, group_ptr)

    def _append(self, gate: int, a: int, b: int) -> int:
        self._gate.append(gate)
        self._a.append(a)
        self._b.append(b)
        return N_CONSTANTS + self._n_inputs + len(self._gate) - 1


def with_counts(circuit: Circuit) -> Circuit:
    """The circuit with the number of true outputs of each group in place of these outputs.

    Parameters
    ----------
    circuit : Circuit

    Returns
    -------
    Circuit
        Group k is the count of group k, least significant bit first, in as many bits as the group's size has.

    Examples
    --------
    >>> from gatewise.run.reference import evaluate_outputs
    >>> three = Circuit(3, gate=[], a=[], b=[], outputs=[2, 3, 4], group_ptr=[0, 3])
    >>> counting = with_counts(three)
    >>> evaluate_outputs(counting, [[0, 1, 0], [1, 1, 0], [1, 1, 1]]).astype(int).tolist()  # 1, 2, 3
    [[1, 0], [0, 1], [1, 1]]
    """
    builder = CircuitBuilder(circuit)
    return builder.build([_count(builder, group) for group in _list_groups(circuit)])


def with_largest(circuit: Circuit) -> Circuit:
    """The circuit with one more group: the index of the group that is the largest number, ties to the lowest.

    Parameters
    ----------
    circuit : Circuit
        Its groups are numbers, at least one, as `with_counts` makes them.

    Returns
    -------
    Circuit
        The last group is the index, least significant bit first, without bits if there is one number only.

    Examples
    --------
    >>> from gatewise.run.reference import evaluate_outputs
    >>> two = with_largest(Circuit(2, gate=[], a=[], b=[], outputs=[2, 3], group_ptr=[0, 1, 2]))
    >>> evaluate_outputs(two, [[0, 0], [0, 1], [1, 0], [1, 1]])[:, -1].astype(int).tolist()
    [0, 1, 0, 0]
    """
    if circuit.n_groups == 0:
        raise ValueError("circuit must have at least one group to find the largest, got 0")
    builder = CircuitBuilder(circuit)
    numbers = _list_groups(circuit)
    winners: list[Candidate] = [(number, []) for number in numbers]
    while len(winners) > 1:
        is_final = len(winners) == 2
        n = len(winners) // 2
        matches = zip(winners[: 2 * n : 2], winners[1 : 2 * n : 2], strict=True)
        winners = [_find_larger(builder, *match, is_final=is_final) for match in matches] + winners[2 * n :]
    n_bits = (len(numbers) - 1).bit_length()
    return builder.build([*numbers, _widen(winners[0][1], n_bits)])


def take_group(circuit: Circuit, group_idx: int) -> Circuit:
    """The circuit with the outputs of one group only; its gates stay.

    Examples
    --------
    >>> take_group(Circuit(2, gate=[], a=[], b=[], outputs=[2, 3], group_ptr=[0, 1, 2]), -1).outputs.tolist()
    [3]
    """
    return CircuitBuilder(circuit).build([_list_groups(circuit)[group_idx]])


def _list_groups(circuit: Circuit) -> list[list[int]]:
    """The output wires of each group."""
    return [group.tolist() for group in np.split(circuit.outputs, circuit.group_ptr[1:])[:-1]]


def _count(builder: CircuitBuilder, wires: list[int]) -> list[int]:
    """Wires of the number of true ones among `wires`; a wire that occurs m times is added once per bit of m."""
    multiplicity = Counter(wire for wire in wires if wire != 0)
    number: list[int] = []
    carried: list[int] = []
    pairs: list[Pair] = []
    for k in range(len(wires).bit_length()):
        own = [wire for wire, m in multiplicity.items() if m >> k & 1]
        bit, carried, pairs = _add_column(builder, own + carried, pairs)
        number.append(bit)
    return number


def _add_column(builder: CircuitBuilder, singles: list[int], pairs: list[Pair]) -> tuple[int, list[int], list[Pair]]:
    """The sum of bits of one weight: its last bit, and its carries into the next weight, single and in pairs."""
    carry_pairs: list[Pair] = []
    while (n_bits := len(singles) + 2 * len(pairs)) > 3:
        n = max(1, n_bits // 5)
        singles, pairs = _arrange(builder, singles + [0] * (n_bits == 4), pairs, n)
        sums = []
        for i in range(n):
            total, carry_pair = _add_five(builder, singles[i], pairs[2 * i], pairs[2 * i + 1])
            sums.append(total)
            carry_pairs.append(carry_pair)
        singles, pairs = singles[n:] + sums, pairs[2 * n :]
    if n_bits > 1:
        pair, rest = (pairs[0], singles) if pairs else (_pair(builder, *singles[:2]), singles[2:])
        total, carry = _add_three(builder, rest[0] if rest else 0, pair)
        return total, [carry], carry_pairs
    return singles[0] if singles else 0, [], carry_pairs


def _arrange(builder: CircuitBuilder, singles: list[int], pairs: list[Pair], n: int) -> tuple[list[int], list[Pair]]:
    """The same bits, at least n of them single and 2n in pairs; those that are so already come first."""
    n_split = max(0, (n - len(singles) + 1) // 2)
    n_pair = max(0, 2 * n - len(pairs))
    split = [wire for x, x_xor_y in pairs[len(pairs) - n_split :] for wire in (x, builder.add(XOR, x, x_xor_y))]
    paired = [_pair(builder, singles[2 * i], singles[2 * i + 1]) for i in range(n_pair)]
    return singles[2 * n_pair :] + split, pairs[: len(pairs) - n_split] + paired


def _pair(builder: CircuitBuilder, x: int, y: int) -> Pair:
    return x, builder.add(XOR, x, y)


def _add_three(builder: CircuitBuilder, z: int, pair: Pair) -> tuple[int, int]:
    """Sum and carry of x + y + z.

    With s = x ^ y ^ z, the carry is (x ^ y | x ^ z) ^ s: if the three are equal, the OR is 0 and the carry is s; if
    they differ, the OR is 1, and the carry is 1 just where two of them are true, which is where s is 0.
    """
    x, x_xor_y = pair
    if z == 0:
        return x_xor_y, builder.add(A_AND_NOT_B, x, x_xor_y)
    total = builder.add(XOR, x_xor_y, z)
    differ = builder.add(OR, x_xor_y, builder.add(XOR, x, z))
    return total, builder.add(XOR, differ, total)


def _add_five(builder: CircuitBuilder, z: int, first: Pair, second: Pair) -> tuple[int, Pair]:
    """Sum of z and two pairs, and the pair of carries (c, c ^ d), by eight gates.

    The first adder gives s = z ^ p and c = e ^ s, where p = x ^ y and e = p | x ^ z. The second would give
    d = (q | v ^ s) ^ t, where q = v ^ w and t = s ^ q; so c ^ d = e ^ (q | v ^ s) ^ q = e ^ (~q & (v ^ s)).
    """
    x, p = first
    v, q = second
    s = builder.add(XOR, p, z)
    e = builder.add(OR, p, builder.add(XOR, x, z))
    c = builder.add(XOR, e, s)
    t = builder.add(XOR, q, s)
    rest = builder.add(NOT_A_AND_B, q, builder.add(XOR, v, s))
    return t, (c, builder.add(XOR, e, rest))


def _find_larger(builder: CircuitBuilder, left: Candidate, right: Candidate, *, is_final: bool) -> Candidate:
    """The larger of two, the left one if they are equal; after the last comparison only its index is needed."""
    n_bits, n_index = (max(map(len, parts)) for parts in zip(left, right, strict=True))
    x, y = _widen(left[0], n_bits), _widen(right[0], n_bits)
    differ = [builder.add(XOR, *bits) for bits in zip(x, y, strict=True)]
    is_right = 0  # whether the right one is larger, judged by the bits so far
    for x_bit, y_bit, differ_bit in zip(x, y, differ, strict=True):
        above = builder.add(NOT_A_AND_B, x_bit, y_bit)
        is_right = builder.add(OR, above, builder.add(A_AND_NOT_B, is_right, differ_bit))
    number = [] if is_final else _choose(builder, is_right, x, differ)
    i, j = _widen(left[1], n_index), _widen(right[1], n_index)
    index = _choose(builder, is_right, i, [builder.add(XOR, *bits) for bits in zip(i, j, strict=True)])
    return number, [*index, is_right]


def _choose(builder: CircuitBuilder, is_right: int, left: list[int], differ: list[int]) -> list[int]:
    """The bits on the right if `is_right`, else those on the left; `differ` says where the two are not equal."""
    return [builder.add(XOR, bit, builder.add(AND, is_right, other)) for bit, other in zip(left, differ, strict=True)]


def _widen(bits: list[int], n: int) -> list[int]:
    return bits + [0] * (n - len(bits))
