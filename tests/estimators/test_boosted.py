"""LogicClassifier and LogicRegressor: scikit-learn's own checks, stopping, weights, threads and parameters."""

import os
import signal
import threading
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.people import make_people
from support.tools import require_module

require_module("sklearn", "pip install -c constraints.txt scikit-learn")

from sklearn import exceptions
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris
from sklearn.ensemble import StackingClassifier
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.metrics import log_loss
from sklearn.model_selection import cross_val_score, train_test_split
from sklearn.utils.estimator_checks import parametrize_with_checks

from gatewise.boost import Boosting
from gatewise.estimators import ConvergenceWarning, LogicClassifier, LogicRegressor, boosted
from gatewise.estimators.boosted import count_threads

REPEATED = "rows are set aside, and a row of weight 2 and two equal rows are not set aside alike"
EXPECTED = {f"check_sample_weight_equivalence_on_{kind}_data": REPEATED for kind in ("dense", "sparse")}


@parametrize_with_checks([LogicClassifier(), LogicRegressor()], expected_failed_checks=lambda estimator: EXPECTED)
@pytest.mark.filterwarnings("ignore::gatewise.estimators.ConvergenceWarning")  # targets that are noise
def test_scikit_learns_checks(estimator: Any, check: Any) -> None:
    check(estimator)


def test_weights_are_repetitions_where_all_rows_are_learned_from(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(boosted, "Boosting", partial(Boosting, row_share=1.0, column_share=1.0))
    X, y = load_iris(return_X_y=True)
    weights = np.arange(len(y)) % 3
    options = {"early_stopping": False, "max_iter": 20}
    weighted = LogicClassifier(**options).fit(X, y, sample_weight=weights)
    repeated = LogicClassifier(**options).fit(np.repeat(X, weights, axis=0), np.repeat(y, weights))
    unlike = np.abs(weighted.predict_proba(X) - repeated.predict_proba(X)).max()
    assert unlike < 0.1  # thresholds are chosen by rows, not by weights


def test_interactions_among_noise_are_found() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(6000, 12))
    y = X[:, 3] * X[:, 7] > 0
    clf = LogicClassifier(random_state=0).fit(X[:4000], y[:4000])
    assert clf.score(X[4000:], y[4000:]) > 0.95


def test_small_regressions_do_not_overfit() -> None:
    X, y = load_diabetes(return_X_y=True)
    ours = cross_val_score(LogicRegressor(random_state=0), X, y, cv=5).mean()
    linear = cross_val_score(LinearRegression(), X, y, cv=5).mean()
    assert ours > linear - 0.12
    assert ours > 0.35


def test_probabilities_are_calibrated() -> None:
    X, y = load_breast_cancer(return_X_y=True)
    known, unknown, labels, truth = train_test_split(X, y, random_state=0)
    clf = LogicClassifier(random_state=0).fit(known, labels)
    assert log_loss(truth, clf.predict_proba(unknown)) < 0.2
    odds = clf.decision_function(unknown)
    np.testing.assert_allclose(1 / (1 + np.exp(-odds)), clf.predict_proba(unknown)[:, 1])
    np.testing.assert_allclose(np.exp(clf.predict_log_proba(unknown)), clf.predict_proba(unknown))
    three = LogicClassifier().fit(*load_iris(return_X_y=True))
    assert three.decision_function(load_iris().data).shape == (150, 3)


def test_threads_do_not_change_the_model() -> None:
    X, y = make_people(700)
    models = [LogicClassifier(random_state=0, n_jobs=n_jobs).fit(X, y).model_.to_bytes() for n_jobs in (1, 2, 5)]
    assert models[0] == models[1] == models[2]


def test_threads_as_scikit_learn_counts_them() -> None:
    n_cores = len(os.sched_getaffinity(0))
    assert [count_threads(n) for n in (None, -1, 1, 7)] == [n_cores, n_cores, 1, 7]
    assert count_threads(-n_cores - 5) == 1
    with pytest.raises(ValueError, match="n_jobs must not be 0"):
        LogicClassifier(n_jobs=0).fit([[0], [1]] * 10, [0, 1] * 10)


def test_noise_gives_one_answer_and_a_warning() -> None:
    rng = np.random.default_rng(0)
    X, y = rng.random((400, 2)), (rng.random(400) < 0.1).astype(int)
    for category in (exceptions.ConvergenceWarning, ConvergenceWarning):
        with pytest.warns(category, match="fit learned nothing: no term lowers the loss") as caught:
            clf = LogicClassifier(random_state=0).fit(X, y)
        assert [Path(each.filename) for each in caught] == [Path(__file__)]
    assert not clf.predict(X).any()
    assert clf.n_iter_ == clf.model_.circuit.n_gates == 0
    np.testing.assert_allclose(clf.predict_proba(X)[:, 1], y.mean(), atol=0.01)


def test_class_weights() -> None:
    rng = np.random.default_rng(0)
    X = rng.random((600, 2))
    y = (rng.random(600) < 0.2 * X[:, 0]).astype(int)  # rare, and rarely predicted
    plain = LogicClassifier(random_state=0).fit(X, y)
    balanced = LogicClassifier(random_state=0, class_weight="balanced").fit(X, y)
    by_rows = LogicClassifier(random_state=0).fit(X, y, sample_weight=np.where(y == 1, 9.0, 1.0))
    assert plain.predict(X).mean() < 0.1 < 0.25 < min(balanced.predict(X).mean(), by_rows.predict(X).mean())
    only_zeros = LogicClassifier().fit(X, y, sample_weight=1 - y)
    assert (only_zeros.predict(X).any(), only_zeros.classes_.tolist()) == (False, [0, 1])
    with pytest.raises(ValueError, match=r"at least one non-zero number|a row with a positive weight"):
        LogicClassifier().fit(X, y, sample_weight=np.zeros(600))


def test_stopping() -> None:
    X, y = load_breast_cancer(return_X_y=True)
    stopped = LogicClassifier(random_state=0).fit(X, y)
    gained = stopped.losses_[0] - stopped.losses_
    assert 0 < stopped.n_iter_ <= stopped.losses_.argmin() + 1 < 1000
    assert gained[stopped.n_iter_ - 1] > 0.98 * gained.max()
    fixed = LogicClassifier(early_stopping=False, max_iter=7).fit(X, y)
    assert (fixed.n_iter_, len(fixed.losses_), fixed.validated_) == (7, 0, False)
    assert LogicClassifier(max_iter=3).fit(X, y).n_iter_ <= 3
    tiny = LogicClassifier(random_state=0).fit([[0], [1], [1]], ["a", "b", "b"])
    assert tiny.predict([[0], [1]]).tolist() == ["a", "b"]


def test_in_the_company_of_other_estimators() -> None:
    X, y = load_breast_cancer(return_X_y=True)
    clf = LogicClassifier(random_state=0, max_iter=50)
    stacked = StackingClassifier([("logic", clf)], LogisticRegression(), cv=3)
    for estimator in (CalibratedClassifierCV(clf, cv=3), stacked):
        assert cross_val_score(estimator, X, y, cv=3).mean() > 0.92


def test_bad_parameters_are_named() -> None:
    X, y = make_people(50)
    wrong = {"depth": 7, "learning_rate": -1.0, "max_iter": 0, "max_bits": 1.5, "max_thresholds": 255}
    wrong |= {"validation_fraction": 2.0, "early_stopping": "maybe", "n_iter_no_change": 0, "class_weight": "even"}
    wrong |= {"l2_regularization": -1, "n_jobs": 1.5}
    for name, value in wrong.items():
        with pytest.raises(ValueError, match=f"The '{name}' parameter of LogicClassifier must be"):
            LogicClassifier(**{name: value}).fit(X, y)
    with pytest.raises(ValueError, match="categorical must name"):
        LogicClassifier(categorical=["jobs"]).fit(X, y)


def test_an_interrupt_ends_growing() -> None:
    rng = np.random.default_rng(0)
    X, y = rng.random((50_000, 30)), rng.random(50_000) < 0.5  # there is always something left to fit
    timer = threading.Timer(0.5, lambda: os.kill(os.getpid(), signal.SIGINT))
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        LogicClassifier(early_stopping=False, max_iter=1_000_000).fit(X, y)
    timer.join()
