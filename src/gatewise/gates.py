"""The 16 two-input logic gates: the one place that says what a gate means.

A gate's id is the paper's operator number, which is its truth table read 00, 01, 10, 11:
``out = gate >> (3 - 2a - b) & 1``. Everything else (names, tables, rules, native code) follows from that formula.
"""

from functools import cache
from itertools import product
from typing import NamedTuple, TypeVar

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


def invert_operands(gate: Bits, a: Bits, b: Bits) -> Bits:
    """The gate that means the same when operand a, if `a` is 1, and operand b, if `b` is 1, are inverted.

    Examples
    --------
    >>> NAMES[invert_operands(AND, 0, 1)], NAMES[invert_operands(AND, 1, 1)]
    ('A_AND_NOT_B', 'NOR')
    """
    gate = gate >> 2 * a & 0b0011 | gate << 2 * a & 0b1100
    inverted: Bits = gate >> b & 0b0101 | gate << b & 0b1010
    return inverted


def find_read_operands(gate: NDArray[np.uint8]) -> NDArray[np.bool_]:
    """Whether each gate depends on its operand a and on its operand b: bool, shape (2, n).

    Parameters
    ----------
    gate : uint8 array, shape (n,)

    Examples
    --------
    >>> find_read_operands(np.array([FALSE, AND, A, NOT_B], np.uint8)).tolist()
    [[False, True, True, False], [False, True, False, True]]
    """
    one, zero = np.ones_like(gate), np.zeros_like(gate)
    return np.stack([invert_operands(gate, one, zero) != gate, invert_operands(gate, zero, one) != gate])


def fold(gate: int, x: int, y: int) -> int | None:
    """The literal that a gate of two literals is equal to, or None if it depends on both.

    Literal 2v is variable v and 2v + 1 its inverse. Variable 0 is the constant false, so literals 0 and 1 are the
    constants.

    Examples
    --------
    >>> fold(AND, 6, 1), fold(XOR, 6, 7), fold(OR, 6, 8) is None  # v3 & 1 = v3; v3 ^ ~v3 = 1
    (6, 1, True)
    """
    gate = invert_operands(gate, x & 1, y & 1)
    x, y = x & -2, y & -2
    f00, f01, f10, f11 = gate >> 3, gate >> 2 & 1, gate >> 1 & 1, gate & 1
    if y == 0 or (f00, f10) == (f01, f11):
        return f00 if f00 == f10 else x ^ f00
    if x == 0 or (f00, f01) == (f10, f11):
        return f00 if f00 == f01 else y ^ f00
    if x == y:
        return f00 if f00 == f11 else x ^ f00
    return None


class Formula(NamedTuple):
    """A gate as an operator, one of false, a, b, and, or, xor; and whether its operands and its result are inverted."""

    operator: str
    flip_a: bool
    flip_b: bool
    flip: bool


@cache
def find_formula(gate: int) -> Formula:
    """The formula of a gate that has the fewest inverters.

    Examples
    --------
    >>> find_formula(A_AND_NOT_B)
    Formula(operator='and', flip_a=False, flip_b=True, flip=False)
    """
    operators = {"false": FALSE, "a": A, "b": B, "and": AND, "or": OR, "xor": XOR}
    for flip_a, flip_b, flip in sorted(product((False, True), repeat=3), key=sum):
        for name, plain in operators.items():
            if invert_operands(plain, int(flip_a), int(flip_b)) ^ 15 * flip == gate:
                return Formula(name, flip_a, flip_b, flip)
    raise AssertionError(f"gate {gate} has no formula")


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
