"""Rows that are held out: they choose the number of terms, and nothing else."""

from dataclasses import replace

import numpy as np
import pytest

from gatewise import Encoder
from gatewise.boost import Boosting, EncodedTable, fit_classes, fit_values
from gatewise.boost.held_out import hold_out, join_targets
from gatewise.boost.learner import Goal, Split

RNG = np.random.default_rng(0)
X = RNG.random((700, 3))
Y = (X[:, 0] + 0.3 * RNG.random(700) > 0.6).astype(np.int64)
ENCODER = Encoder.fit(X[:500])
TABLE = EncodedTable(ENCODER, ENCODER.encode(X[:500]))
BOTH = hold_out(TABLE, ENCODER.encode(X[500:]))
TARGETS = join_targets(TABLE, Y[:500], Y[500:])


def test_terms_are_those_that_the_other_rows_alone_give() -> None:
    fitted = fit_classes(Boosting(patience=20), BOTH, TARGETS, ["a", "b"])
    alone = replace(fitted.boosting, max_terms=fitted.n_terms, validation_fraction=None)
    assert fitted.model == fit_classes(alone, TABLE, Y[:500], ["a", "b"]).model
    assert fitted.boosting.sharpness is not None
    assert 0 < fitted.n_terms <= len(fitted.losses)


def test_losses_are_those_of_the_rows_that_are_held_out() -> None:
    fitted = fit_classes(Boosting(max_terms=1, learning_rate=1.0, sharpness=1.0), BOTH, TARGETS, ["a", "b"])
    shares = fitted.model.predict_proba(X[500:])[np.arange(200), Y[500:]]
    assert fitted.losses[0] == pytest.approx(-np.log(shares).mean(), abs=0.01)
    values = fit_values(Boosting(max_terms=3), BOTH, TARGETS[:, np.newaxis].astype(float))
    errors = np.square(values.model.predict(X[500:]) - Y[500:]) / Y[:500].var()
    assert values.losses[values.n_terms - 1] == pytest.approx(errors.mean(), abs=0.01)


def test_weights_of_rows_that_are_held_out_count() -> None:
    weights = np.arange(200) % 3.0
    weighted = hold_out(TABLE, ENCODER.encode(X[500:]), weights)
    assert weighted.held_out.tolist() == [512 + i for i in range(200) if i % 3]
    split = Split(weighted.rows, weighted.held_out)
    goal = Goal("logistic", TARGETS[:, np.newaxis].astype(np.float32), np.array([0.5], np.float32))
    losses = np.log1p(np.exp(np.where(Y[500:] > 0, -0.5, 0.5)))
    settings = Boosting(max_terms=1)
    assert settings.grow(weighted, goal, [split]).losses[0] == pytest.approx(np.average(losses, weights=weights))
    soft = Goal("softmax", goal.targets, np.array([0.0, 0.5], np.float32))
    assert settings.grow(weighted, soft, [split]).losses[0] == pytest.approx(np.average(losses, weights=weights))
    squared = Goal("squared", goal.targets, np.array([0.5], np.float32))
    assert settings.grow(weighted, squared, [split]).losses[0] == pytest.approx(0.25)
