"""From a table's bits to a model: how many terms to grow, and the head that reads their sums.

In: a table as bits, and classes or values. Out: a `Model`.
Invariant: the head's scores are those that the terms were grown with.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from gatewise.boost.held_out import find_base_loss
from gatewise.boost.learner import Boosting, EncodedTable, Goal, Rows
from gatewise.boost.terms import Terms
from gatewise.circuit import Circuit
from gatewise.heads import Affine, Classes, Label
from gatewise.model import Model
from gatewise.passes import simplify

N_FOLDS = 5
MAX_FOLDED = 5_000
"""Rows up to which every row is validated in turn; of more rows, a part of them says enough."""

MIN_FOLDED = 2 * N_FOLDS
"""Fewer rows are not validated: a part of them says nothing."""

ENOUGH = 0.998
"""Share of the largest gain for which no more terms are grown."""

UNVALIDATED_TERMS = 100
NO_ROWS = np.zeros(0, np.uint32)


class Fitted(NamedTuple):
    """A model, its number of terms, and the mean loss of rows set aside after each term, if there were any."""

    model: Model
    n_terms: int
    losses: NDArray[np.float64]


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
    entropy = -float(shares @ logs) / shares.sum()
    terms, losses = choose_terms(boosting, table, goal, entropy, threads)
    constants = terms.offsets + np.rint(base / boosting.unit).astype(np.int64)
    circuit = simplify(terms.circuit())
    if is_binary:  # one score: the first class has constants only
        circuit = _prepend_group(circuit)
        constants = np.array([0, constants[0]])
    circuit = pad_groups(circuit, constants - constants.min())
    head = Classes(tuple(labels), 1 / boosting.unit, circuit.n_outputs // circuit.n_groups)
    return Fitted(Model.build(table.encoder, circuit, head), len(terms.bits), losses)


def fit_values(boosting: Boosting, table: EncodedTable, values: NDArray[np.float64], *, threads: int = 1) -> Fitted:
    """Fit a model of values, shape (n_rows, n_outputs)."""
    mean = np.average(values, axis=0, weights=table.grown_weights)
    deviation = np.sqrt(np.average(np.square(values - mean), axis=0, weights=table.grown_weights))
    deviation = np.where(deviation > 0, deviation, 1.0)
    goal = Goal("squared", _as_float((values - mean) / deviation), np.zeros(len(mean), np.float32))
    terms, losses = choose_terms(boosting, table, goal, float(len(mean)), threads)
    circuit = pad_groups(simplify(terms.circuit()), np.zeros(len(mean), np.int64))
    group_size = circuit.n_outputs // circuit.n_groups
    scale = deviation * boosting.unit * group_size
    offset = mean + deviation * boosting.unit * terms.offsets
    head = Affine(tuple(scale.tolist()), tuple(offset.tolist()), group_size)
    return Fitted(Model.build(table.encoder, circuit, head), len(terms.bits), losses)


def choose_terms(
    boosting: Boosting, table: EncodedTable, goal: Goal, base_loss: float, threads: int
) -> tuple[Terms, NDArray[np.float64]]:
    """Grow as many terms as rows that were not grown on gain from, and then as many from all rows.

    `base_loss` is the mean loss without terms; if none of them lowers it, there are none. If rows are held out, the
    number is chosen by them alone.
    """
    order = np.random.default_rng(boosting.seed).permutation(table.rows)
    n_terms, losses = boosting.max_terms, np.zeros(0)
    if table.held_out is not None:
        grown = boosting.grow(table, goal, order, table.held_out, threads=threads)
        return grown.terms.take(_find_enough(grown.losses, find_base_loss(table, goal))), grown.losses
    if boosting.validation_fraction is not None and len(order) >= MIN_FOLDED:
        splits = _split(order, goal.targets[:, 0], boosting.validation_fraction)
        curves = [boosting.grow(table, goal, *split, threads=threads).losses for split in splits]
        losses = _average(curves)
        n_terms = _find_enough(losses, base_loss)
    elif boosting.validation_fraction is not None:
        n_terms = min(n_terms, UNVALIDATED_TERMS)
    whole = replace(boosting, max_terms=n_terms)
    return whole.grow(table, goal, order, NO_ROWS, threads=threads).terms, losses


def _find_enough(losses: NDArray[np.float64], base_loss: float) -> int:
    """The least number of terms that lowers the loss nearly as far as the best number does."""
    gained = base_loss - np.append(base_loss, losses)
    return int(np.argmax(gained >= ENOUGH * gained.max()))


def _split(order: Rows, targets: NDArray[np.float32], fraction: float) -> Iterator[tuple[Rows, Rows]]:
    """Parts of equal size that are validated in turn, or only one if there are many rows; each with all targets."""
    n_parts = max(2, round(1 / fraction)) if len(order) > MAX_FOLDED else N_FOLDS
    part = np.empty(len(order), np.int64)
    part[np.argsort(targets[order], kind="stable")] = np.arange(len(order)) % n_parts
    for k in range(n_parts if len(order) <= MAX_FOLDED else 1):
        yield order[part != k], order[part == k]


def _average(curves: Sequence[NDArray[np.float64]]) -> NDArray[np.float64]:
    """Mean of losses; where a curve ends, it was rising, and is taken to stay as it is."""
    n = max(map(len, curves))
    extended = [np.pad(curve, (0, n - len(curve)), mode="edge") for curve in curves if len(curve)]
    return np.mean(extended, axis=0) if extended else np.zeros(0)


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
