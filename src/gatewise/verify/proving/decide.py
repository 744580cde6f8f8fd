"""The cascade: bounds, then search, then a solver, until a question is decided or its time is up.

In: forms and a region. Out: a point where all forms are at least 0, or that there is none.
Invariant: every method gives the same answer, if it gives one.
"""

from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from gatewise.verify.forms import Forms
from gatewise.verify.limits import Limit
from gatewise.verify.proving.clauses import make_formula
from gatewise.verify.proving.sat import COUNTING, PROVING, require_solver, solve
from gatewise.verify.proving.search import Search
from gatewise.verify.space import Region

Numbers = NDArray[np.int64]
Method: TypeAlias = Literal["auto", "search", "sat", "sat with adders"]
METHODS = ("auto", "search", "sat", "sat with adders")
SEARCH_SHARE, LEAST_SECONDS = 0.4, 1.0
"""What part of its time the cascade searches before it starts a solver, and how long at least."""

MAX_GATES = 2_000_000
"""Gates of a circuit that is given to a solver or to the search, which bounds memory."""


@dataclass(frozen=True, eq=False)
class Decision:
    """A point where all forms are at least 0, or None; and how that was found out.

    Parameters
    ----------
    is_decided : bool
    point : int64 array or None
        Its positions among the choices of the region.
    solver : str
        ``"bounds"``, ``"search"`` or the name of a solver.
    n_gates : int
        Of the circuit that was left of the question.
    """

    is_decided: bool
    point: Numbers | None
    solver: str
    n_gates: int


def check_method(method: str) -> None:
    """Raise unless it is a method, and there is a solver if it needs one."""
    if method not in METHODS:
        raise ValueError(f"method must be one of {', '.join(METHODS)}, got {method!r:.60}")
    if method != "search":
        require_solver()


def decide(forms: Forms, region: Region, limit: Limit, method: Method = "auto") -> Decision:
    """Look for a point of a region where all forms are at least 0.

    Examples
    --------
    >>> from gatewise import Circuit, Encoder
    >>> from gatewise.verify.forms import View
    >>> from gatewise.verify.space import Space
    >>> region = Space([Encoder.fit([[0.0, 0.0], [1.0, 1.0]])]).region()
    >>> xor = Circuit(2, gate=[6], a=[2], b=[3], outputs=[4], group_ptr=[0, 1])
    >>> forms = Forms.of([View(xor, np.arange(2), np.full(2, -1, np.int8))], 2)
    >>> [decide(forms.combine([[1]], [-least]), region, Limit(9.0)).point is None for least in (1, 2)]
    [False, True]
    """
    forms = forms.fold(region.fixed_bits())
    n_gates = forms.circuit.n_gates
    if (forms.highs() < 0).any():
        return Decision(True, None, "bounds", n_gates)
    if (forms.lows() >= 0).all():
        return Decision(True, np.zeros(len(region.sizes), np.int64), "bounds", n_gates)
    if n_gates > MAX_GATES:
        return Decision(False, None, "bounds", n_gates)
    if method in ("auto", "search"):
        share = limit if method == "search" else limit.part(SEARCH_SHARE, LEAST_SECONDS)
        found = Search(forms, region, goal=0).run(share)
        if found.is_complete or method == "search":
            return Decision(found.is_complete, found.point, "search", n_gates)
    return _solve(forms, region, limit, native=method != "sat with adders")


def _solve(forms: Forms, region: Region, limit: Limit, *, native: bool) -> Decision:
    formula = make_formula(forms, region, native=native)
    solved = solve(formula, limit)
    name = COUNTING if formula.at_most else PROVING
    if solved.bits is None:
        return Decision(solved.is_satisfiable is not None, None, name, forms.circuit.n_gates)
    return Decision(True, find_point(solved.bits, region), name, forms.circuit.n_gates)


def find_point(bits: NDArray[np.bool_], region: Region) -> Numbers:
    """The point of a region with these bits of the space; bits that nothing reads may be any."""
    pairs = zip(region.space.first_bit[:-1].tolist(), region.bits, strict=True)
    equal = [(own == bits[first : first + own.shape[1]]).all(axis=1) for first, own in pairs]
    assert all(each.any() for each in equal), "the solver must give a point of the region"
    return np.array([int(each.argmax()) for each in equal], np.int64)
