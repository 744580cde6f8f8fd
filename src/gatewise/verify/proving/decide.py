"""The cascade: bounds, then search, then a solver, until a question is decided or its time is up.

In: forms and a region. Out: a point where all forms are at least 0, or that there is none.
Invariant: every method gives the same answer, if it gives one.
"""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from gatewise.verify.forms import Forms
from gatewise.verify.limits import Limit
from gatewise.verify.proving.clauses import make_formula, restrict
from gatewise.verify.proving.found import Found
from gatewise.verify.proving.sat import require_solver, solve
from gatewise.verify.proving.search import Search
from gatewise.verify.proving.subsets import Subsets
from gatewise.verify.proving.tables import Tables
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


@dataclass(frozen=True, eq=False)
class Change:
    """A point that others may differ from in at most so many columns."""

    start: Numbers
    at_most: int


def decide(
    forms: Forms, region: Region, limit: Limit, method: Method = "auto", change: Change | None = None
) -> Decision:
    """Look for a point of a region where all forms are at least 0.

    Parameters
    ----------
    forms : Forms
    region : Region
    limit : Limit
    method : Method
    change : Change, optional
        Restricts the point further.

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
        point = np.zeros(len(region.sizes), np.int64) if change is None else change.start
        return Decision(True, point, "bounds", n_gates)
    if n_gates > MAX_GATES:
        return Decision(False, None, "bounds", n_gates)
    if method in ("auto", "search"):
        share = limit if method == "search" else limit.part(SEARCH_SHARE, LEAST_SECONDS)
        found = find_best(forms, region, share, goal=0) if change is None else _change(forms, region, share, change)
        if found.is_complete or method == "search":
            return Decision(found.is_complete, found.point, "search", n_gates)
    formula = make_formula(forms, region, native=method != "sat with adders")
    if change is not None:
        formula = restrict(formula, region, change.start, change.at_most)
    solved = solve(formula, limit)
    found_point = None if solved.bits is None else find_point(solved.bits, region)
    return Decision(solved.is_satisfiable is not None, found_point, solved.solver, n_gates)


def find_best(forms: Forms, region: Region, limit: Limit, *, goal: int | None) -> Found:
    """Search a region for a point where the least form is greatest, or at least the goal: by tables if there are."""
    tables = Tables.of(forms, region)
    if tables is None:
        return Search(forms, region, goal=goal).run(limit)
    return tables.search(np.zeros(len(region.sizes), np.int64), region.sizes - 1, goal=goal, limit=limit)


@dataclass(frozen=True, eq=False)
class Decider:
    """Decides one question about many boxes of a region, which share their tables.

    Parameters
    ----------
    forms : Forms
    whole : Region
    method : Method
    """

    forms: Forms
    whole: Region
    method: Method

    def decide(self, low: Numbers, high: Numbers, limit: Limit) -> Decision:
        """Look for a point of a box of the region where all forms are at least 0, as a point of the region."""
        if self._tables is not None:
            share = limit if self.method == "search" else limit.part(SEARCH_SHARE, LEAST_SECONDS)
            found = self._tables.search(low, high, goal=0, limit=share)
            if found.is_complete or self.method == "search":
                return Decision(found.is_complete, found.point, "search", self.forms.circuit.n_gates)
        region = self.whole
        for i in np.flatnonzero((low > 0) | (high < self.whole.sizes - 1)).tolist():
            region = region.at(i, range(int(low[i]), int(high[i]) + 1))
        decision = decide(self.forms, region, limit, self.method if self._tables is None else "sat")
        return decision if decision.point is None else replace(decision, point=decision.point + low)

    @cached_property
    def _tables(self) -> Tables | None:
        return Tables.of(self.forms, self.whole) if self.method in ("auto", "search") else None


def _change(forms: Forms, region: Region, limit: Limit, change: Change) -> Found:
    """Look at sets of columns, small ones first."""
    subsets = Subsets(forms, region, change.start)
    value = int(subsets.start_values.min())
    if value >= 0:
        return Found(change.start, True, value, value, 1)
    if not subsets.can_any(change.at_most):
        return Found(None, True, value, -1, 1)
    point = subsets.climb(change.at_most, limit)
    if point is not None:
        return Found(point, True, 0, 0, subsets.n_boxes)
    is_complete = True
    for size in range(1, min(change.at_most, len(subsets.columns)) + 1):
        for chosen in subsets.candidates(size, limit):
            found = subsets.find(chosen, limit)
            if found.point is not None:
                return found
            is_complete &= found.is_complete
    return Found(None, is_complete and not limit.is_over(), -1, -1, subsets.n_boxes)


def find_point(bits: NDArray[np.bool_], region: Region) -> Numbers:
    """The point of a region with these bits of the space; bits that nothing reads may be any."""
    pairs = zip(region.space.first_bit[:-1].tolist(), region.bits, strict=True)
    equal = [(own == bits[first : first + own.shape[1]]).all(axis=1) for first, own in pairs]
    assert all(each.any() for each in equal), "the solver must give a point of the region"
    return np.array([int(each.argmax()) for each in equal], np.int64)
