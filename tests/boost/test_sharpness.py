"""Sharpness: the factor of scores that rows ask for which they were not learned from."""

import numpy as np
import pytest
from scipy.optimize import minimize_scalar

from gatewise import Encoder
from gatewise.boost import Boosting, EncodedTable, fit_classes
from gatewise.boost.labels import fit_labels
from gatewise.boost.learner import Goal, Split
from gatewise.boost.sharpness import LEAST, MOST, find_sharpness

RNG = np.random.default_rng(5)


def mean_loss(factor: float, scores: np.ndarray, classes: np.ndarray, weights: np.ndarray) -> float:
    logs = factor * (scores if scores.shape[1] > 1 else np.hstack([0 * scores, scores]))
    return float(np.average(np.logaddexp.reduce(logs, 1) - logs[np.arange(len(logs)), classes], weights=weights))


@pytest.mark.parametrize("n_scores", [1, 3])
@pytest.mark.parametrize("true_factor", [0.3, 1.0, 4.0])
def test_the_factor_has_the_least_loss(n_scores: int, true_factor: float) -> None:
    scores = RNG.normal(size=(20_000, n_scores))
    noise = RNG.gumbel(size=(20_000, max(n_scores, 2)))
    logs = true_factor * (scores if n_scores > 1 else np.hstack([0 * scores, scores]))
    classes = (logs + noise).argmax(1)
    weights = RNG.random(20_000)
    factor = find_sharpness(scores.astype(np.float32), classes, weights)
    assert factor == pytest.approx(true_factor, rel=0.1)
    best = minimize_scalar(lambda log: mean_loss(np.exp(log), scores, classes, weights), bounds=(-3, 3))
    assert mean_loss(factor, scores, classes, weights) == pytest.approx(best.fun, abs=1e-6)


def test_rows_that_are_all_right_leave_a_doubt() -> None:
    scores = np.where(np.arange(100) % 2, 1.0, -1.0)[:, np.newaxis]
    factor = find_sharpness(scores, np.arange(100) % 2, None)
    assert 1 / (1 + np.exp(factor)) == pytest.approx(1 / 202, rel=0.01)  # half of one more row among them
    wrong = find_sharpness(scores, 1 - np.arange(100) % 2, None)
    assert wrong == pytest.approx(LEAST, rel=0.01)
    assert LEAST < factor < MOST


def test_models_are_as_sure_as_they_deserve() -> None:
    X = RNG.random((3000, 4))
    classes = (X[:, 0] + X[:, 1] + X[:, 2] > 1.5).astype(np.int64)
    encoder = Encoder.fit(X[:2000])
    table = EncodedTable(encoder, encoder.encode(X[:2000]))
    few = Boosting(max_terms=30)
    fitted = fit_classes(few, table, classes[:2000], ["a", "b"])
    plain = fit_classes(Boosting(max_terms=30, sharpness=1.0), table, classes[:2000], ["a", "b"])
    assert fitted.boosting.sharpness is not None
    assert fitted.boosting.sharpness > 1.2
    assert fitted.model.circuit == plain.model.circuit
    rows, answers = np.arange(1000), classes[2000:]
    losses = [-np.log(each.model.predict_proba(X[2000:])[rows, answers]).mean() for each in (fitted, plain)]
    assert losses[0] < 0.9 * losses[1]
    labels = np.stack([classes, 1 - classes], 1)
    odds = fit_labels(few, table, labels[:2000]).model.scores(X[2000:])
    np.testing.assert_array_equal(odds[:, 0] > 0, fitted.model.predict(X[2000:]) == "b")
    assert np.logaddexp(0, np.where(answers, -odds[:, 0], odds[:, 0])).mean() == pytest.approx(losses[0], abs=0.02)


def test_scores_of_validated_rows_are_those_of_the_terms() -> None:
    X = RNG.random((700, 3))
    classes = (X[:, 0] > 0.5).astype(int) + (X[:, 1] > 0.7)
    encoder = Encoder.fit(X, max_thresholds=20)
    table = EncodedTable(encoder, encoder.encode(X))
    goal = Goal("softmax", classes[:, np.newaxis].astype(np.float32), np.array([0.1, 0.2, -0.3], np.float32))
    rows = RNG.permutation(700).astype(np.uint32)
    split = Split(rows[:500], rows[500:])
    settings = Boosting(max_terms=60, patience=60)
    grown = settings.grow(table, goal, [split])
    assert 5 < grown.n_enough < 60
    gained = grown.losses[0] - grown.losses
    assert grown.n_enough == np.argmax(gained >= settings.enough * gained.max())
    found = grown.terms.first(grown.n_enough).scores(encoder.transform(X[split.validation]))
    np.testing.assert_allclose(grown.scores, settings.unit * found + goal.base, atol=1e-4)
    twice = settings.grow(table, goal, [split, Split(rows[200:], rows[:200])], threads=2)
    assert twice.scores.shape == (400, 3)
    assert settings.grow(table, goal, [Split(rows, rows[:0])]).scores.shape == (0, 3)
