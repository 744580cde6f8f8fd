"""The 16 gates: the paper's table, and what follows from it."""

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


def test_arrays_broadcast() -> None:
    gate = np.arange(16, dtype=np.uint8)[:, None]
    a, b = np.array(PAIRS, np.uint8).T
    table = gates.evaluate(gate, a, b)
    assert table.shape == (16, 4)
    assert (table @ [8, 4, 2, 1]).tolist() == list(range(16))
