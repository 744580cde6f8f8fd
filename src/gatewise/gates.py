"""The 16 two-input logic gates: the one place that says what a gate means.

A gate's id is the paper's operator number, which is its truth table read 00, 01, 10, 11:
``out = gate >> (3 - 2a - b) & 1``. Everything else (names, tables, rules, native code) follows from that formula.
"""

from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

Bits = TypeVar("Bits", int, np.ndarray)

N_GATES = 16

NAMES = (
    "FALSE", "AND", "A_AND_NOT_B", "A", "NOT_A_AND_B", "B", "XOR", "OR",
    "NOR", "XNOR", "NOT_B", "A_OR_NOT_B", "NOT_A", "NOT_A_OR_B", "NAND", "TRUE",
)  # fmt: skip
"""Names by id; ``FALSE, AND, ... = range(16)`` below gives the ids by name."""

FALSE, AND, A_AND_NOT_B, A, NOT_A_AND_B, B, XOR, OR = range(8)
NOR, XNOR, NOT_B, A_OR_NOT_B, NOT_A, NOT_A_OR_B, NAND, TRUE = range(8, 16)


def evaluate(gate: Bits, a: Bits, b: Bits) -> Bits:
    """Apply gates to operands that are 0 or 1; broadcasts over arrays.

    Examples
    --------
    >>> [evaluate(XOR, a, b) for a in (0, 1) for b in (0, 1)]
    [0, 1, 1, 0]
    """
    value: Bits = gate >> (3 - 2 * a - b) & 1
    return value


def negate(gate: Bits) -> Bits:
    """The gate whose output is inverted.

    Examples
    --------
    >>> NAMES[negate(AND)]
    'NAND'
    """
    return gate ^ 15


def swap_operands(gate: Bits) -> Bits:
    """The gate that means the same when its operands are exchanged.

    Examples
    --------
    >>> NAMES[swap_operands(A_AND_NOT_B)]
    'NOT_A_AND_B'
    """
    return gate & 0b1001 | gate >> 1 & 0b0010 | gate << 1 & 0b0100


def coefficients() -> NDArray[np.float64]:
    """The coefficients of 1, a, b and ab in the multilinear extension of every gate: float64, shape (16, 4).

    The extension is the one polynomial of degree 1 in each operand that equals the gate on {0, 1}²: the probability
    that the gate is true when its operands are independent and true with probabilities a and b. These are the
    real-valued operators of the paper's table.

    Examples
    --------
    >>> coefficients()[XOR]  # a + b - 2ab
    array([ 0.,  1.,  1., -2.])
    """
    gate = np.arange(N_GATES)
    f00, f01, f10, f11 = (evaluate(gate, np.array(a), np.array(b)) for a in (0, 1) for b in (0, 1))
    return np.stack([f00, f10 - f00, f01 - f00, f00 - f01 - f10 + f11], axis=1).astype(np.float64)
