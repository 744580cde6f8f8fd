"""Files of a question and its proof, which programs of others check: DIMACS and DRUP.

In: forms and a region. Out: NAME.cnf, the formula, and if it has no assignment NAME.drup, a proof of that.
Invariant: a file is written whole or not at all, and a proof only beside its formula.
"""

from gatewise.extras import require
from gatewise.store.files import replace_file
from gatewise.verify.forms import Forms
from gatewise.verify.limits import Limit
from gatewise.verify.proving.clauses import Formula, make_formula, restrict
from gatewise.verify.proving.decide import Change, Decision, find_point
from gatewise.verify.proving.sat import solve
from gatewise.verify.space import Region


def write_proof(forms: Forms, region: Region, limit: Limit, change: Change | None, path: str) -> Decision:
    """Decide by a solver alone, and write the formula and its proof to files that begin with a path."""
    forms = forms.fold(region.fixed_bits())
    formula = make_formula(forms, region)
    if change is not None:
        formula = spell_out(restrict(formula, region, change.start, change.at_most))
    names = [name for column in region.space.columns for name in [column.name] * column.bits.shape[1]]
    comments = [f"{i + 1} is a bit of column {name!r}" for i, name in enumerate(names)]
    solved = solve(formula, limit, with_proof=True)
    replace_file(f"{path}.cnf", formula.to_dimacs(comments).encode())
    if solved.proof is not None:
        replace_file(f"{path}.drup", "\n".join([*solved.proof, ""]).encode())
    point = None if solved.bits is None else find_point(solved.bits, region)
    return Decision(solved.is_satisfiable is not None, point, solved.solver, forms.circuit.n_gates)


def spell_out(formula: Formula) -> Formula:
    """The formula with clauses in the place of sums, by sequential counters.

    Examples
    --------
    >>> spell_out(Formula(2, [], [([1, 2], 1)])).clauses
    [[-1, -2]]
    """
    encode = require("pysat.card", "verify", needed_by="gatewise.verify").CardEnc.atmost
    clauses, n_variables = list(formula.clauses), formula.n_variables
    for literals, number in formula.at_most:
        counted = encode(lits=literals, bound=number, top_id=n_variables, encoding=1)
        clauses += counted.clauses
        n_variables = max(n_variables, counted.nv)
    return Formula(n_variables, clauses, [])
