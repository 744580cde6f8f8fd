"""From a table's bits to a model: how many terms to grow, and the head that reads their sums.

In: a table as bits, and classes. Out: a `Model`.
Invariant: the head's scores are those that the terms were grown with.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from gatewise.boost.depth import find_deeper
from gatewise.boost.learner import Boosting, EncodedTable, Goal, Rows, Split
from gatewise.boost.sharpness import find_sharpness
from gatewise.boost.terms import Terms
from gatewise.circuit import Circuit
from gatewise.heads import Classes, Label
from gatewise.model import Model
from gatewise.passes import simplify

N_FOLDS = 5
MAX_FOLDED = 5_000
"""Rows up to which every row is validated in turn; of more rows, a part of them says enough."""

MAX_VALIDATED = 50_000
"""Rows that are validated at most, of one part."""

MIN_FOLDED = 2 * N_FOLDS
"""Fewer rows are not validated: a part of them says nothing."""

LEAST_GAIN = 1.0
"""Of the loss of all validated rows together, as much as Akaike's criterion asks of one number that is fitted: what is
less, terms that say nothing gain by chance."""

UNVALIDATED_TERMS = 100
NO_ROWS = np.zeros(0, np.uint32)


class Fitted(NamedTuple):
    """A model, its number of terms, and the mean loss of rows set aside after each term, if there were any.

    `boosting` is how its terms were grown, with what these rows chose.
    """

    model: Model
    n_terms: int
    losses: NDArray[np.float64]
    boosting: Boosting = Boosting()


class Chosen(NamedTuple):
    """Terms, the mean losses of rows that they were not grown on, and how they were grown, with what these rows chose.

    Its `sharpness` is a number.
    """

    terms: Terms
    losses: NDArray[np.float64]
    boosting: Boosting

    @property
    def sharpness(self) -> float:
        """Factor of the scores."""
        return self.boosting.sharpness or 1.0


def fit_classes(
    boosting: Boosting, table: EncodedTable, classes: NDArray[np.int64], labels: Sequence[Label], *, threads: int = 1
) -> Fitted:
    """Fit a model of two or more classes.

    Parameters
    ----------
    boosting : Boosting
    table : EncodedTable
    classes : int64 array, shape (n_rows,)
        Numbers of the rows' labels.
    labels : sequence
    threads : int
    """
    shares = np.bincount(classes, table.grown_weights, minlength=len(labels))
    logs = np.log(np.maximum(shares, 1e-3) / shares.sum())  # a class may have no rows that count
    is_binary = len(labels) == 2
    base = logs[1:] - logs[0] if is_binary else logs
    goal = Goal("logistic" if is_binary else "softmax", _as_float(classes[:, None]), _as_float(base))
    chosen = choose_terms(boosting, table, goal, threads)
    terms, losses, boosting = chosen
    constants = terms.offsets + np.rint(base / boosting.unit).astype(np.int64)
    circuit = simplify(terms.circuit())
    if is_binary:  # one score: the first class has constants only
        circuit = _prepend_group(circuit)
        constants = np.array([0, constants[0]])
    circuit = pad_groups(circuit, constants - constants.min())
    head = Classes(tuple(labels), 1 / (chosen.sharpness * boosting.unit), circuit.n_outputs // circuit.n_groups)
    return Fitted(Model.build(table.encoder, circuit, head), len(terms.bits), losses[1:], boosting)


def choose_terms(boosting: Boosting, table: EncodedTable, goal: Goal, threads: int) -> Chosen:
    """Grow terms on all rows, as many as rows gain from that were not grown on.

    The losses begin without terms. If rows are held out, the number is chosen by them alone.
    """
    order = np.random.default_rng(boosting.seed).permutation(table.rows)
    if table.held_out is not None:
        splits = [Split(order, table.held_out)]
    elif boosting.validation_fraction is None or len(order) < MIN_FOLDED:
        n_terms = boosting.max_terms if boosting.validation_fraction is None else UNVALIDATED_TERMS
        unvalidated = replace(boosting, max_terms=min(n_terms, boosting.max_terms))
        grown = unvalidated.grow(table, goal, [Split(order, NO_ROWS)], threads=threads)
        return Chosen(grown.terms, np.zeros(0), boosting)
    else:
        folds = make_splits(order, goal.targets[:, 0], boosting.validation_fraction)
        splits = [*folds, Split(order, NO_ROWS)]
    grown = boosting.grow(table, goal, splits, threads=threads)
    deeper = find_deeper(boosting, table, goal, splits, grown, threads=threads) if boosting.may_deepen else None
    if deeper is not None:
        boosting, grown = deeper, deeper.grow(table, goal, splits, threads=threads)
    validated = np.concatenate([split.validation for split in splits])
    gained = grown.losses[0] - grown.losses[grown.n_enough]
    if gained * len(validated) < boosting.enough * LEAST_GAIN:
        return Chosen(grown.terms.first(0), grown.losses, boosting)
    if boosting.sharpness is None and goal.loss in ("logistic", "softmax"):
        weights = None if table.weights is None else table.weights[validated]
        classes = goal.targets[validated, 0].astype(np.int64)
        boosting = replace(boosting, sharpness=find_sharpness(grown.scores, classes, weights))
    return Chosen(grown.terms.first(grown.n_enough), grown.losses, boosting)


def count_parts(n_rows: int, fraction: float) -> int:
    """Parts that rows are divided into: of `MAX_FOLDED` rows or fewer each is validated, of more only one.

    Examples
    --------
    >>> count_parts(400, 0.1), count_parts(20_000, 0.1), count_parts(900_000, 0.1)
    (5, 10, 18)
    """
    if n_rows <= MAX_FOLDED:
        return N_FOLDS
    return max(2, round(1 / fraction), -(-n_rows // MAX_VALIDATED))


def make_splits(order: Rows, targets: NDArray[np.float32], fraction: float) -> Iterator[Split]:
    """Parts of equal size that are validated in turn, or only one if there are many rows; each with all targets."""
    n_parts = count_parts(len(order), fraction)
    part = np.empty(len(order), np.int64)
    part[np.argsort(targets[order], kind="stable")] = np.arange(len(order)) % n_parts
    for k in range(n_parts if len(order) <= MAX_FOLDED else 1):
        yield Split(order[part != k], order[part == k])


def _as_float(values: NDArray[np.float64] | NDArray[np.int64]) -> NDArray[np.float32]:
    return np.ascontiguousarray(values, np.float32)


def _prepend_group(circuit: Circuit) -> Circuit:
    """The circuit with one more group before the others, which has no outputs."""
    group_ptr = np.concatenate([[0], circuit.group_ptr]).astype(np.int32)
    return Circuit(circuit.n_inputs, circuit.gate, circuit.a, circuit.b, circuit.outputs, group_ptr)


def pad_groups(circuit: Circuit, n_true: NDArray[np.int64]) -> Circuit:
    """The circuit with `n_true` constants in each group, and as many false ones as give all groups one size."""
    groups = np.split(circuit.outputs, circuit.group_ptr[1:-1])
    size = max(1, *(len(group) + n for group, n in zip(groups, n_true.tolist(), strict=True)))
    outputs = np.zeros((len(groups), size), np.int32)
    for row, group, n in zip(outputs, groups, n_true.tolist(), strict=True):
        row[: len(group)] = group
        row[len(group) : len(group) + n] = 1
    group_ptr = np.arange(len(groups) + 1, dtype=np.int32) * size
    return Circuit(circuit.n_inputs, circuit.gate, circuit.a, circuit.b, outputs.ravel(), group_ptr)
