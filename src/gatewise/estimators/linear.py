"""Linear models of bits as circuits: of very many columns of which a row has few, as words of a text.

In: a table as bits, and classes, labels or values. Out: a `Model` whose terms read one bit each.
Invariant: the strength of the penalty is chosen by rows that weights are not learned from, with weights that are
rounded as in the circuit.
"""

from dataclasses import dataclass, replace
from typing import Any, ClassVar, Protocol

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.preprocessing import normalize

from gatewise.boost import Boosting, EncodedTable, Fitted
from gatewise.boost.fit import pad_groups
from gatewise.boost.labels import find_odds
from gatewise.boost.terms import Terms
from gatewise.circuit import Circuit
from gatewise.heads import Affine, Classes, Head, Label
from gatewise.model import Model
from gatewise.passes import simplify

MAX_WEIGHT = 2**12
BITS_AT_ONCE = 64
"""Planes that are unpacked at a time."""

MIN_SPLIT = 20
"""Fewer rows are not split: the middle one of the strengths is taken."""

VALIDATED = 5
"""One row in so many is set aside."""


class Task(Protocol):
    """What is learned: how weights are fitted, what a score costs, and the head that reads the scores."""

    strengths: ClassVar[tuple[float, ...]]
    unit: ClassVar[float]  # what 1 in a rounded weight adds to a score

    def fit(
        self, features: Any, targets: NDArray[Any], weights: NDArray[Any] | None, strength: float
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Weights, (n_scores, n_features), and base of the scores."""

    def loss(self, scores: NDArray[np.float64], targets: NDArray[Any], weights: NDArray[Any] | None) -> float:
        """Mean loss."""

    def head(self, circuit: Circuit, base: NDArray[np.float64]) -> tuple[Circuit, Head]:
        """The circuit with groups of one size, and the head that adds the base."""


@dataclass(frozen=True)
class ClassTask:
    """Classes by a softmax; two of them by one score."""

    labels: tuple[Label, ...]
    strengths: ClassVar[tuple[float, ...]] = (1.0, 4.0, 16.0)
    unit: ClassVar[float] = 1 / 16

    def fit(
        self, features: Any, targets: NDArray[Any], weights: NDArray[Any] | None, strength: float
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Weights, (n_scores, n_features), and base of the scores; classes without rows get none."""
        found = LogisticRegression(C=strength, max_iter=200, tol=1e-3).fit(features, targets, sample_weight=weights)
        if len(self.labels) == 2:
            return found.coef_, found.intercept_
        coefficients = np.zeros((len(self.labels), features.shape[1]))
        base = np.full(len(self.labels), found.intercept_.min() - np.log(len(features.indptr)))
        if len(found.classes_) == 2:  # of more, of which the others have no rows
            coefficients[found.classes_[1]], base[found.classes_] = found.coef_[0], [0.0, found.intercept_[0]]
        else:
            coefficients[found.classes_], base[found.classes_] = found.coef_, found.intercept_
        return coefficients, base

    def loss(self, scores: NDArray[np.float64], targets: NDArray[Any], weights: NDArray[Any] | None) -> float:
        """Mean negative logarithm of the probabilities."""
        if len(self.labels) == 2:
            return float(
                np.average(np.logaddexp(0, np.where(targets > 0, -scores[:, 0], scores[:, 0])), weights=weights)
            )
        logs = scores - np.logaddexp.reduce(scores, axis=1, keepdims=True)
        return -float(np.average(logs[np.arange(len(targets)), targets], weights=weights))

    def head(self, circuit: Circuit, base: NDArray[np.float64]) -> tuple[Circuit, Head]:
        """The circuit with constants that are the base."""
        constants = np.rint(base / self.unit).astype(np.int64)
        if len(self.labels) == 2:
            group_ptr = np.concatenate([[0], circuit.group_ptr]).astype(np.int32)
            circuit = Circuit(circuit.n_inputs, circuit.gate, circuit.a, circuit.b, circuit.outputs, group_ptr)
            constants = np.append(0, constants)
        circuit = pad_groups(circuit, constants - constants.min())
        return circuit, Classes(self.labels, 1 / self.unit, circuit.n_outputs // circuit.n_groups)


class LabelTask:
    """Several yes-or-no labels, each by a score of its own."""

    strengths: ClassVar[tuple[float, ...]] = (1.0, 4.0, 16.0)
    unit: ClassVar[float] = 1 / 16

    def fit(
        self, features: Any, targets: NDArray[Any], weights: NDArray[Any] | None, strength: float
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Weights, (n_labels, n_features), and base; a label that all rows have, or none, has no weights."""
        base = find_odds(np.average(targets, axis=0, weights=weights))
        coefficients = np.zeros((targets.shape[1], features.shape[1]))
        for k, column in enumerate(targets.T):
            if column.min() < column.max():
                one = ClassTask((0, 1)).fit(features, column, weights, strength)
                coefficients[k], base[k] = one[0][0], one[1][0]
        return coefficients, base

    def loss(self, scores: NDArray[np.float64], targets: NDArray[Any], weights: NDArray[Any] | None) -> float:
        """Mean over the rows, summed over the labels."""
        losses = np.logaddexp(0, np.where(targets > 0, -scores, scores)).sum(axis=1)
        return float(np.average(losses, weights=weights))

    def head(self, circuit: Circuit, base: NDArray[np.float64]) -> tuple[Circuit, Head]:
        """Values that are logarithms of odds."""
        circuit = pad_groups(circuit, np.zeros(len(base), np.int64))
        group_size = circuit.n_outputs // circuit.n_groups
        return circuit, Affine((self.unit * group_size,) * len(base), tuple(base.tolist()), group_size)


@dataclass(frozen=True)
class ValueTask:
    """Values by ridge regression, in standard deviations from the mean."""

    mean: NDArray[np.float64]
    deviation: NDArray[np.float64]
    strengths: ClassVar[tuple[float, ...]] = (1.0, 10.0, 100.0)
    unit: ClassVar[float] = 1 / 256

    def fit(
        self, features: Any, targets: NDArray[Any], weights: NDArray[Any] | None, strength: float
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Weights, (n_outputs, n_features), and base."""
        scaled = (targets - self.mean) / self.deviation
        found = Ridge(alpha=strength, solver="sparse_cg").fit(features, scaled, sample_weight=weights)
        return np.atleast_2d(found.coef_), np.atleast_1d(found.intercept_)

    def loss(self, scores: NDArray[np.float64], targets: NDArray[Any], weights: NDArray[Any] | None) -> float:
        """Mean squared error in variances, summed over the outputs."""
        errors = np.square(scores - (targets.reshape(scores.shape) - self.mean) / self.deviation).sum(axis=1)
        return float(np.average(errors, weights=weights))

    def head(self, circuit: Circuit, base: NDArray[np.float64]) -> tuple[Circuit, Head]:
        """Values in their own unit."""
        circuit = pad_groups(circuit, np.zeros(len(base), np.int64))
        group_size = circuit.n_outputs // circuit.n_groups
        scale = self.deviation * self.unit * group_size
        return circuit, Affine(tuple(scale.tolist()), tuple((self.mean + self.deviation * base).tolist()), group_size)


class Bits:
    """Bits as sparse features, each of which few rows have, or else few lack.

    Parameters
    ----------
    table : EncodedTable
    unit : float
        What 1 in a rounded weight adds to a score.
    is_normal : bool
        Whether the rarer bits weigh more, and rows have length 1, as is good for words of texts; scores are then those
        of rows of median length.
    """

    def __init__(self, table: EncodedTable, unit: float, *, is_normal: bool) -> None:
        self.unit = unit
        self.rows = table.rows
        bits, self.is_rare = _unpack_rare(table, self.rows)
        n_rows = np.asarray(bits[self.rows].sum(axis=0)).ravel()
        rarity = np.log((1 + len(self.rows)) / (1 + n_rows)) + 1.0
        self.scale = rarity if is_normal else np.ones_like(rarity)
        weighed = (bits @ sp.diags(self.scale)).tocsr()
        lengths = np.sqrt(np.asarray(weighed.multiply(weighed).sum(axis=1)).ravel())
        self.features = normalize(weighed) if is_normal else weighed
        known = lengths[self.rows]
        self.length = float(np.median(known[known > 0])) if is_normal and known.any() else 1.0
        self.bits = bits

    def round_weights(self, coefficients: NDArray[np.float64], factor: float) -> NDArray[np.int32]:
        """Whole weights of the bits, (n_bits, n_scores), in units."""
        weights = np.rint(coefficients * self.scale * (factor / self.length / self.unit)).T
        return np.clip(weights, -MAX_WEIGHT, MAX_WEIGHT).astype(np.int32)

    def scores(self, weights: NDArray[np.int32], base: NDArray[np.float64], rows: NDArray[Any]) -> NDArray[np.float64]:
        """Scores of some rows."""
        scores: NDArray[np.float64] = self.bits[rows] @ (weights * self.unit) + base
        return scores

    def terms(self, weights: NDArray[np.int32]) -> Terms:
        """A term for each bit that has a weight."""
        used = np.flatnonzero(weights.any(axis=1))
        values = np.zeros((len(used), 2, weights.shape[1]), np.int32)
        values[np.arange(len(used)), self.is_rare[used].astype(np.int64)] = weights[used]
        return Terms(len(weights), used[:, np.newaxis].astype(np.int32), values)


def fit_linear(table: EncodedTable, task: Task, targets: NDArray[Any], *, seed: int) -> Fitted:
    """Fit a circuit that adds a weight for each bit.

    Parameters
    ----------
    table : EncodedTable
        If rows are held out, the strength of the penalty is chosen by them, else by a fifth of the rows.
    task : ClassTask, LabelTask or ValueTask
    targets : array
        What the task takes.
    seed : int
        Of the rows that are set aside.

    Returns
    -------
    Fitted
        Its terms are the bits that have a weight, its losses the one of the strength that was chosen.
    """
    bits = Bits(table, task.unit, is_normal=not isinstance(task, ValueTask))

    def fit(rows: NDArray[Any], strength: float) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        return task.fit(bits.features[rows], targets[rows], _take(table.weights, rows), strength)

    training, validation = _split(table, seed)
    strength, factor, losses = task.strengths[1], 1.0, np.zeros(0)
    if len(validation):
        tried = []
        for each in task.strengths:
            coefficients, base = fit(training, each)
            for scaled in (1.0,) if isinstance(task, ValueTask) else (0.5, 0.7, 1.0, 1.4, 2.0):
                scores = bits.scores(bits.round_weights(coefficients, scaled), base, validation)
                loss = task.loss(scores, targets[validation], _take(table.weights, validation))
                tried.append((loss, each, scaled))
        loss, strength, factor = min(tried)
        losses = np.array([loss])
    coefficients, base = fit(bits.rows, strength)
    weights = bits.round_weights(coefficients, factor)
    terms = bits.terms(weights)
    circuit, head = task.head(simplify(terms.circuit()), base + task.unit * terms.offsets)
    return Fitted(Model.build(table.encoder, circuit, head), len(terms.bits), losses, Boosting(n_questions=1))


def _split(table: EncodedTable, seed: int) -> tuple[NDArray[Any], NDArray[Any]]:
    rows = table.rows
    if table.held_out is not None:
        return rows, table.held_out
    if len(rows) < MIN_SPLIT:
        return rows, rows[:0]
    order = np.random.default_rng(seed).permutation(rows)
    n = len(order) // VALIDATED
    return np.sort(order[n:]), np.sort(order[:n])


def _unpack_rare(table: EncodedTable, rows: NDArray[Any]) -> tuple[Any, NDArray[np.bool_]]:
    """Bits of all rows as a sparse matrix, inverted where most rows have them; and where they are not inverted."""
    parts, is_rare = [], []
    for first in range(0, len(table.planes.words), BITS_AT_ONCE):
        planes = replace(table.planes, words=table.planes.words[first : first + BITS_AT_ONCE])
        dense = planes.unpack()
        rare = dense[rows].mean(axis=0) <= 0.5
        parts.append(sp.csc_matrix(dense == rare, dtype=np.float64))
        is_rare.append(rare)
    return sp.hstack(parts, format="csr"), np.concatenate(is_rare)


def _take(weights: NDArray[Any] | None, rows: NDArray[Any]) -> NDArray[Any] | None:
    return None if weights is None else weights[rows]
