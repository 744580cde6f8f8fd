"""The 16 gates by the operators of other languages, derived from `gatewise.gates`.

In: a gate's id. Out: a `Formula`, the one with the fewest inverters.
"""

from collections.abc import Callable
from functools import cache
from itertools import product
from typing import NamedTuple

from gatewise.gates import evaluate

OPERATORS: dict[str, Callable[[int, int], int]] = {
    "false": lambda a, b: 0,
    "a": lambda a, b: a,
    "b": lambda a, b: b,
    "and": lambda a, b: a & b,
    "or": lambda a, b: a | b,
    "xor": lambda a, b: a ^ b,
}


class Formula(NamedTuple):
    """An operator of `OPERATORS`, and whether its operands and its result are inverted."""

    operator: str
    flip_a: bool
    flip_b: bool
    flip: bool


@cache
def find_formula(gate: int) -> Formula:
    """How to write a gate.

    Examples
    --------
    >>> find_formula(2)
    Formula(operator='and', flip_a=False, flip_b=True, flip=False)
    """
    candidates = sorted(product((False, True), repeat=3), key=sum)
    for flip_a, flip_b, flip in candidates:
        for name, operator in OPERATORS.items():
            rows = product((0, 1), repeat=2)
            if all(operator(a ^ flip_a, b ^ flip_b) ^ flip == evaluate(gate, a, b) for a, b in rows):
                return Formula(name, flip_a, flip_b, flip)
    raise AssertionError(f"gate {gate} has no formula")
