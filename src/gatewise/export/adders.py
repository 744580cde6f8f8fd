"""The head as gates: counts of groups as binary numbers, and the index of the largest.

In: a circuit whose head counts groups. Out: a circuit whose outputs are numbers, least significant bit first.
Invariant: the numbers are those of `gatewise.run.reference`; depth grows with the logarithm of a group's size.

Bits are added in pairs (x, x ^ y). A full adder that is given x ^ y takes four gates instead of five, and two of them
in a row give their carries as such a pair without a gate more (the MDFA block of Demenkov, Kojevnikov, Kulikov and
Yaroslavtsev, "New upper bounds on the Boolean circuit complexity of symmetric functions", 2010): 4.7 gates a bit.
"""

from collections import Counter
from typing import TypeAlias

import numpy as np

from gatewise.circuit import Circuit
from gatewise.export.growing import Growing
from gatewise.gates import A_AND_NOT_B, AND, NOT_A_AND_B, OR, XOR

Pair: TypeAlias = tuple[int, int]
"""Two bits x and y of one weight, as the wires x and x ^ y."""

Entrant: TypeAlias = tuple[list[int], list[int]]
"""Wires of a number, and of its index among the numbers that it was compared with."""


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
    grown = Growing(circuit)
    groups = np.split(circuit.outputs, circuit.group_ptr[1:-1]) if circuit.n_groups else []
    return grown.finish([_count(grown, group.tolist()) for group in groups])


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
    grown = Growing(circuit)
    numbers = [group.tolist() for group in np.split(circuit.outputs, circuit.group_ptr[1:-1])]
    winners: list[Entrant] = [(number, []) for number in numbers]
    while len(winners) > 1:
        is_final = len(winners) == 2
        n = len(winners) // 2
        matches = zip(winners[: 2 * n : 2], winners[1 : 2 * n : 2], strict=True)
        winners = [_play(grown, *match, is_final=is_final) for match in matches] + winners[2 * n :]
    n_bits = (len(numbers) - 1).bit_length()
    index = winners[0][1]
    return grown.finish([*numbers, index + [0] * (n_bits - len(index))])


def take_group(circuit: Circuit, group_idx: int) -> Circuit:
    """The circuit with the outputs of one group only; its gates stay.

    Examples
    --------
    >>> take_group(Circuit(2, gate=[], a=[], b=[], outputs=[2, 3], group_ptr=[0, 1, 2]), -1).outputs.tolist()
    [3]
    """
    wires = circuit.outputs[circuit.group_ptr[:-1][group_idx] : circuit.group_ptr[1:][group_idx]]
    return Growing(circuit).finish([wires.tolist()])


def _count(grown: Growing, wires: list[int]) -> list[int]:
    """Wires of the number of true ones among `wires`; a wire that comes m times is added once for each bit of m."""
    multiplicity = Counter(wire for wire in wires if wire != 0)
    number: list[int] = []
    carried: list[int] = []
    pairs: list[Pair] = []
    for k in range(len(wires).bit_length()):
        own = [wire for wire, m in multiplicity.items() if m >> k & 1]
        bit, carried, pairs = _add_column(grown, own + carried, pairs)
        number.append(bit)
    return number


def _add_column(grown: Growing, singles: list[int], pairs: list[Pair]) -> tuple[int, list[int], list[Pair]]:
    """The sum of bits of one weight: its last bit, and its carries into the next, alone and in pairs."""
    carry_pairs: list[Pair] = []
    while (n_bits := len(singles) + 2 * len(pairs)) > 3:
        n = max(1, n_bits // 5)
        singles, pairs = _arrange(grown, singles + [0] * (n_bits == 4), pairs, n)
        sums = []
        for i in range(n):
            total, carry_pair = _add_five(grown, singles[i], pairs[2 * i], pairs[2 * i + 1])
            sums.append(total)
            carry_pairs.append(carry_pair)
        singles, pairs = singles[n:] + sums, pairs[2 * n :]
    if n_bits > 1:
        pair, rest = (pairs[0], singles) if pairs else (_pair(grown, *singles[:2]), singles[2:])
        total, carry = _add_pair(grown, rest[0] if rest else 0, pair)
        return total, [carry], carry_pairs
    return singles[0] if singles else 0, [], carry_pairs


def _arrange(grown: Growing, singles: list[int], pairs: list[Pair], n: int) -> tuple[list[int], list[Pair]]:
    """The same bits, at least n of them alone and 2n in pairs, those first that were there."""
    n_split = max(0, (n - len(singles) + 1) // 2)
    n_pair = max(0, 2 * n - len(pairs))
    split = [wire for pair in pairs[len(pairs) - n_split :] for wire in _split(grown, pair)]
    paired = [_pair(grown, singles[2 * i], singles[2 * i + 1]) for i in range(n_pair)]
    return singles[2 * n_pair :] + split, pairs[: len(pairs) - n_split] + paired


def _pair(grown: Growing, x: int, y: int) -> Pair:
    return x, grown.add(XOR, x, y)


def _split(grown: Growing, pair: Pair) -> list[int]:
    return [pair[0], grown.add(XOR, *pair)]


def _add_pair(grown: Growing, z: int, pair: Pair) -> tuple[int, int]:
    """Sum and carry of z + x + y: the carry is true where not all three are equal, but for one true of three."""
    x, x_xor_y = pair
    if z == 0:
        return x_xor_y, grown.add(A_AND_NOT_B, x, x_xor_y)
    total = grown.add(XOR, x_xor_y, z)
    differ = grown.add(OR, x_xor_y, grown.add(XOR, x, z))
    return total, grown.add(XOR, differ, total)


def _add_five(grown: Growing, z: int, first: Pair, second: Pair) -> tuple[int, Pair]:
    """Sum of z and two pairs, and the pair of carries (c, c ^ d), by eight gates.

    The first adder gives s = z ^ p and c = e ^ s, where p = x ^ y and e = p | x ^ z. The second would give
    d = (q | v ^ s) ^ t, where q = v ^ w and t = s ^ q; so c ^ d = e ^ (q | v ^ s) ^ q = e ^ (~q & (v ^ s)).
    """
    x, p = first
    v, q = second
    s = grown.add(XOR, p, z)
    e = grown.add(OR, p, grown.add(XOR, x, z))
    c = grown.add(XOR, e, s)
    t = grown.add(XOR, q, s)
    rest = grown.add(NOT_A_AND_B, q, grown.add(XOR, v, s))
    return t, (c, grown.add(XOR, e, rest))


def _play(grown: Growing, left: Entrant, right: Entrant, *, is_final: bool) -> Entrant:
    """The larger of two, the left one if equal; of the winner of the final the index only."""
    n_bits, n_index = (max(map(len, parts)) for parts in zip(left, right, strict=True))
    x, y = _widen(left[0], n_bits), _widen(right[0], n_bits)
    differ = [grown.add(XOR, *bits) for bits in zip(x, y, strict=True)]
    wins = 0  # the right one, judged by the bits so far
    for x_bit, y_bit, differ_bit in zip(x, y, differ, strict=True):
        above = grown.add(NOT_A_AND_B, x_bit, y_bit)
        wins = grown.add(OR, above, grown.add(A_AND_NOT_B, wins, differ_bit))
    number = [] if is_final else _choose(grown, wins, x, differ)
    i, j = _widen(left[1], n_index), _widen(right[1], n_index)
    index = _choose(grown, wins, i, [grown.add(XOR, *bits) for bits in zip(i, j, strict=True)])
    return number, [*index, wins]


def _choose(grown: Growing, wins: int, left: list[int], differ: list[int]) -> list[int]:
    """The bits on the left, changed where the sides differ if the right one wins."""
    return [grown.add(XOR, bit, grown.add(AND, wins, change)) for bit, change in zip(left, differ, strict=True)]


def _widen(bits: list[int], n: int) -> list[int]:
    return bits + [0] * (n - len(bits))
