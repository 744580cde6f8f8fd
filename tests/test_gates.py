"""The 16 gates: the paper's table, and what follows from it."""

import itertools
import operator

import numpy as np

from gatewise import gates

# The paper's table of operators: id, name here, and the output for operands 00, 01, 10, 11.
TABLE = """
0 FALSE 0000
1 AND 0001
2 A_AND_NOT_B 0010
3 A 0011
4 NOT_A_AND_B 0100
5 B 0101
6 XOR 0110
7 OR 0111
8 NOR 1000
9 XNOR 1001
10 NOT_B 1010
11 A_OR_NOT_B 1011
12 NOT_A 1100
13 NOT_A_OR_B 1101
14 NAND 1110
15 TRUE 1111
"""
PAIRS = [(0, 0), (0, 1), (1, 0), (1, 1)]


def test_gates_are_the_papers_operators() -> None:
    for line in TABLE.split("\n")[1:-1]:
        number, name, bits = line.split()
        assert gates.NAMES[int(number)] == name
        assert getattr(gates, name) == int(number)
        assert [gates.evaluate(int(number), a, b) for a, b in PAIRS] == [int(bit) for bit in bits]


def test_derived_gates() -> None:
    for gate in range(gates.N_GATES):
        for a, b in PAIRS:
            value = gates.evaluate(gate, a, b)
            assert gates.evaluate(gates.negate(gate), a, b) == 1 - value
            assert gates.evaluate(gates.swap_operands(gate), b, a) == value
            for flip_a, flip_b in PAIRS:
                inverted = gates.invert_operands(gate, flip_a, flip_b)
                assert gates.evaluate(inverted, a ^ flip_a, b ^ flip_b) == value


def test_folding_keeps_the_value_and_leaves_gates_of_two_variables_only() -> None:
    for gate, x, y in itertools.product(range(gates.N_GATES), range(6), range(6)):
        literal = gates.fold(gate, x, y)
        rows = [(0, *pair) for pair in PAIRS]  # values of the variables: the constant false, and two others
        values = [gates.evaluate(gate, row[x >> 1] ^ x & 1, row[y >> 1] ^ y & 1) for row in rows]
        if literal is None:
            assert values[:2] != values[2:]
            assert values[::2] != values[1::2]
        else:
            assert values == [row[literal >> 1] ^ literal & 1 for row in rows]


def test_formulas_have_as_few_inverters_as_can_be() -> None:
    found = [gates.find_formula(gate) for gate in range(gates.N_GATES)]
    assert [sum(formula[1:]) for formula in found] == [0, 0, 1, 0, 1, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1]
    operators = {"false": lambda a, b: 0, "a": lambda a, b: a, "b": lambda a, b: b}
    operators |= {"and": operator.and_, "or": operator.or_, "xor": operator.xor}
    for gate, formula in enumerate(found):
        for a, b in PAIRS:
            value = operators[formula.operator](a ^ formula.flip_a, b ^ formula.flip_b) ^ formula.flip
            assert value == gates.evaluate(gate, a, b)


def test_arrays_broadcast() -> None:
    gate = np.arange(16, dtype=np.uint8)[:, None]
    a, b = np.array(PAIRS, np.uint8).T
    table = gates.evaluate(gate, a, b)
    assert table.shape == (16, 4)
    assert (table @ [8, 4, 2, 1]).tolist() == list(range(16))


def test_read_operands_are_those_that_matter() -> None:
    found = gates.find_read_operands(np.arange(16, dtype=np.uint8))
    for gate in range(16):
        on_a = any(gates.evaluate(gate, 0, b) != gates.evaluate(gate, 1, b) for b in (0, 1))
        on_b = any(gates.evaluate(gate, a, 0) != gates.evaluate(gate, a, 1) for a in (0, 1))
        assert found[:, gate].tolist() == [on_a, on_b]
