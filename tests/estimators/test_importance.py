"""Importances: columns that matter have them, others none, and scikit-learn's selections read them."""

import numpy as np
import pandas as pd
import pytest
from support.people import make_people
from support.tools import require_module

require_module("sklearn", "pip install -c constraints.txt scikit-learn")

from sklearn.datasets import load_breast_cancer
from sklearn.exceptions import NotFittedError
from sklearn.feature_selection import RFE, SelectFromModel
from sklearn.inspection import permutation_importance

from gatewise import Encoder, LogicClassifier, LogicRegressor
from gatewise.estimators.importance import locate_bits
from gatewise.importance import take_bits

RNG = np.random.default_rng(0)


def test_columns_that_matter_have_the_importance() -> None:
    X = RNG.random((2000, 6))
    y = 3 * X[:, 4] + X[:, 1] + 0.1 * RNG.random(2000)
    reg = LogicRegressor(random_state=0, max_iter=200).fit(X[:1500], y[:1500])
    shares = reg.feature_importances_
    assert shares.sum() == pytest.approx(1)
    assert shares.argsort()[-2:].tolist() == [1, 4]
    assert shares[4] == pytest.approx(0.9, abs=0.03)  # 9 times the variance of the other
    rises = reg.permutation_importances(X[1500:], y[1500:], n_repeats=20)
    assert rises[4] == pytest.approx(2 * 9 / 12, rel=0.15)  # twice the variance that is lost
    ours = permutation_importance(reg, X[1500:], y[1500:], scoring="neg_mean_squared_error", n_repeats=20)
    np.testing.assert_allclose(rises, ours.importances_mean, atol=0.1)


def test_parts_of_a_date_are_permuted_together_and_columns_keep_their_places() -> None:
    when = np.datetime64("2026-01-01") + RNG.integers(0, 300, 1000).astype("m8[D]")
    X = pd.DataFrame({"noise": RNG.random(1000), "when": when, "same": 1, "n": RNG.random(1000)})
    y = (X["when"].dt.day_of_week >= 5) ^ (X["when"].dt.month > 6)
    clf = LogicClassifier(random_state=0).fit(X, y)
    assert clf.score(X, y) > 0.95
    assert clf.feature_importances_.shape == (4,)
    assert clf.feature_importances_.argmax() == 1
    assert clf.feature_importances_[2] == 0.0


def test_weights_and_labels_of_all_kinds() -> None:
    X, y = make_people(600)
    clf = LogicClassifier(random_state=0).fit(X, y, sample_weight=np.where(X["member"], 1.0, 0.0))
    assert clf.feature_importances_.argsort()[-2:].tolist() in ([0, 1], [1, 0])
    weights = np.where(X["job"] == "clerk", 1.0, 0.0)  # whose answer is always no
    rises = clf.permutation_importances(X, y, weights)
    assert rises[0] <= 0.05 < rises[1]
    labels = np.stack([X["age"] > 50, X["member"]], 1).astype(int)
    several = LogicClassifier(random_state=0).fit(X, labels)
    np.testing.assert_allclose(several.feature_importances_[1:3], 0, atol=0.01)
    assert (several.permutation_importances(X, labels)[[0, 3]] > 0.5).all()
    with pytest.raises(ValueError, match="eval_set must have labels that y has, got 'perhaps'"):
        clf.permutation_importances(X, np.where(y == "no", "no", "perhaps"))


def test_nothing_learned_has_no_importances() -> None:
    clf = LogicClassifier()
    with pytest.raises(NotFittedError):
        clf.feature_importances_  # noqa: B018
    assert not hasattr(clf, "feature_importances_")
    assert clf.fit([[1, 2], [1, 2]], [0, 1]).feature_importances_.tolist() == [0.0, 0.0]


def test_the_same_model_gives_the_same_numbers_whatever_the_threads() -> None:
    X, y = load_breast_cancer(return_X_y=True)
    first, second = (LogicClassifier(random_state=3, max_iter=40, n_jobs=n).fit(X, y) for n in (1, 3))
    np.testing.assert_array_equal(first.feature_importances_, second.feature_importances_)


def test_selections_of_scikit_learn() -> None:
    X, y = load_breast_cancer(return_X_y=True)
    clf = LogicClassifier(random_state=0, max_iter=30)
    rfe = RFE(clf, n_features_to_select=5, step=10).fit(X, y)
    assert rfe.score(X, y) > 0.93
    selected = SelectFromModel(clf).fit(X, y)
    assert 1 <= selected.get_support().sum() <= 15
    X = RNG.random((500, 5))
    rfe = RFE(LogicRegressor(random_state=0, max_iter=50), n_features_to_select=2).fit(X, X[:, 0] - X[:, 3])
    assert rfe.get_support().tolist() == [True, False, False, True, False]


def test_bits_are_found_again() -> None:
    X, _ = make_people()
    X["when"] = np.datetime64("2026-01-01") + RNG.integers(0, 9**9, len(X)).astype("m8[s]")
    encoder = Encoder.fit(X, max_thresholds=5)
    idx = np.sort(RNG.permutation(encoder.n_bits)[:12])
    np.testing.assert_array_equal(locate_bits(encoder, encoder.take(idx)), idx)
    rows = np.array([0, 63, 64, 200])
    planes = encoder.encode(X)
    np.testing.assert_array_equal(take_bits(planes, idx, rows), planes.unpack()[np.ix_(rows, idx)])
