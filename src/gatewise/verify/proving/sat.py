"""A SAT solver: whether a formula has an assignment, with a limit, an interrupt and a proof.

In: a `Formula`. Out: an assignment, or that there is none, or that time was up.
Invariant: the calling thread stays awake, so that Ctrl-C ends the solver, which works in a thread of its own.
"""

import threading
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gatewise.extras import require
from gatewise.verify.limits import Limit
from gatewise.verify.proving.clauses import Formula

COUNTING, PROVING = "gluecard4", "glucose4"
"""The solver that counts without clauses, and the one that writes proofs; both are Glucose 4."""

MAX_LITERALS = 30_000_000
"""Of a formula that is given to a solver: about a gigabyte of memory."""


@dataclass(frozen=True, eq=False)
class Solved:
    """What a solver said.

    Parameters
    ----------
    is_satisfiable : bool or None
        None if it did not end in time.
    bits : bool array or None
        The values of the variables, if there is an assignment.
    solver : str
    n_conflicts : int
    proof : list of str, or None
        Lines of a DRUP proof, if there is no assignment and a proof was asked for.
    """

    is_satisfiable: bool | None
    bits: NDArray[np.bool_] | None
    solver: str
    n_conflicts: int
    proof: list[str] | None = None


def require_solver() -> Any:
    """The module of solvers; raises ModuleNotFoundError, with the command that installs it."""
    return require("pysat.solvers", "verify", needed_by="gatewise.verify")


def solve(formula: Formula, limit: Limit, *, with_proof: bool = False) -> Solved:
    """Solve a formula.

    Parameters
    ----------
    formula : Formula
        For a proof, one without sums.
    limit : Limit
    with_proof : bool

    Examples
    --------
    >>> solve(Formula(2, [[1, 2], [-1]], []), Limit(10.0)).bits.tolist()
    [False, True]
    >>> solve(Formula(1, [[1], [-1]], []), Limit(10.0)).is_satisfiable
    False
    """
    name = COUNTING if formula.at_most and not with_proof else PROVING
    n_literals = sum(map(len, formula.clauses)) + sum(len(literals) for literals, _ in formula.at_most)
    if n_literals > MAX_LITERALS or limit.is_over():
        return Solved(None, None, name, 0)
    if [] in formula.clauses:
        return Solved(False, None, name, 0, ["0"] if with_proof else None)
    solver = require_solver().Solver(name=name, with_proof=with_proof)
    try:
        solver.append_formula(formula.clauses)
        for literals, number in formula.at_most:
            solver.add_atmost(lits=literals, k=number)
        answer = _run(solver, limit)
        bits = np.zeros(formula.n_variables, bool)
        for literal in (solver.get_model() or []) if answer else []:
            if 0 < literal <= formula.n_variables:
                bits[literal - 1] = True
        proof = solver.get_proof() if with_proof and answer is False else None
        return Solved(answer, bits if answer else None, name, solver.accum_stats()["conflicts"], proof)
    finally:
        solver.delete()


def _run(solver: Any, limit: Limit) -> bool | None:
    """Let the solver work until it knows, time is up, or this thread is interrupted."""
    answers: list[bool | None] = []
    is_done = threading.Event()

    def work() -> None:
        answers.append(solver.solve_limited(expect_interrupt=True))
        is_done.set()

    threading.Thread(target=work, name="gatewise-solver", daemon=True).start()
    try:
        is_done.wait(limit.left())
    finally:
        if not is_done.is_set():
            solver.interrupt()
        # Its memory may be freed only when it has stopped, whatever a second Ctrl-C says; that takes milliseconds. An
        # interrupted join would take the thread for ended.
        while not is_done.is_set():
            with suppress(KeyboardInterrupt):
                is_done.wait()
    return answers[0]
