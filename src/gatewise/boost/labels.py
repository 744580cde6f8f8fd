"""Several yes-or-no labels per row: terms for each of them, and one circuit for all.

In: a table as bits, and 0/1 labels. Out: a `Model` whose values are the labels' logarithms of odds.
Invariant: a value is above 0 just where the label is more probable than not.
"""

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gatewise.boost.fit import Fitted, choose_terms, pad_groups
from gatewise.boost.learner import Boosting, EncodedTable, Goal
from gatewise.boost.terms import Terms
from gatewise.heads import Affine
from gatewise.model import Model
from gatewise.passes import simplify

LEAST_SHARE = 1e-6
"""Rows of a label that no row, or every row, has would give it infinite odds."""


def fit_labels(boosting: Boosting, table: EncodedTable, labels: NDArray[Any], *, threads: int = 1) -> Fitted:
    """Fit a model of several labels.

    Parameters
    ----------
    boosting : Boosting
        Its limits hold for each label.
    table : EncodedTable
    labels : 0/1 array, shape (n_rows, n_labels)
    threads : int

    Returns
    -------
    Fitted
        Its losses are sums over the labels; a label that has enough terms keeps its last loss.
    """
    boosting = replace(boosting, may_deepen=False)  # terms of all labels have as many questions
    base = find_odds(np.average(labels, axis=0, weights=table.grown_weights))
    chosen = []
    for column, odds in zip(labels.T, base.tolist(), strict=True):
        targets = np.ascontiguousarray(column[:, np.newaxis], np.float32)
        goal = Goal("logistic", targets, np.array([odds], np.float32))
        chosen.append(choose_terms(boosting, table, goal, threads))
    terms = join_terms([each.terms for each in chosen])
    circuit = pad_groups(simplify(terms.circuit()), np.zeros(len(base), np.int64))
    group_size = circuit.n_outputs // circuit.n_groups
    sharpness = np.array([each.sharpness for each in chosen])
    scale = sharpness * boosting.unit * group_size
    offset = sharpness * (base + boosting.unit * terms.offsets)
    head = Affine(tuple(scale.tolist()), tuple(offset.tolist()), group_size)
    losses = _sum_curves([each.losses for each in chosen])[1:]
    return Fitted(Model.build(table.encoder, circuit, head), len(terms.bits), losses, boosting)


def find_odds(shares: NDArray[np.floating[Any]]) -> NDArray[np.float64]:
    """Logarithms of odds, which are finite.

    Examples
    --------
    >>> find_odds(np.array([0.0, 0.5, 0.75])).round(2).tolist()
    [-13.82, 0.0, 1.1]
    """
    inner = np.clip(np.asarray(shares, np.float64), LEAST_SHARE, 1 - LEAST_SHARE)
    odds: NDArray[np.float64] = np.log(inner / (1 - inner))
    return odds


def join_terms(parts: list[Terms]) -> Terms:
    """Terms of one score each as terms that add to one score of several.

    Examples
    --------
    >>> one = Terms(2, np.array([[1]], np.int32), np.array([[[0], [3]]], np.int32))
    >>> join_terms([one, one]).values.tolist()
    [[[0, 0], [3, 0]], [[0, 0], [0, 3]]]
    """
    values = []
    for k, part in enumerate(parts):
        wide = np.zeros((*part.values.shape[:2], len(parts)), np.int32)
        wide[:, :, k] = part.values[:, :, 0]
        values.append(wide)
    return Terms(parts[0].n_inputs, np.concatenate([part.bits for part in parts]), np.concatenate(values))


def _sum_curves(curves: list[NDArray[np.float64]]) -> NDArray[np.float64]:
    """Sums of losses, each of which stays where it ends."""
    n = max(map(len, curves))
    total = np.zeros(n)
    for curve in curves:  # all of them are empty if no rows were validated
        total[: len(curve)] += curve
        total[len(curve) :] += curve[-1:]
    return total
