"""Several yes-or-no labels per row: learned, predicted, scored and saved."""

import numpy as np
import pytest
from support.tools import require_module

require_module("sklearn", "pip install -c constraints.txt scikit-learn")

from scipy.sparse import csr_matrix
from sklearn.datasets import make_multilabel_classification
from sklearn.metrics import f1_score
from sklearn.model_selection import cross_val_score
from sklearn.multioutput import MultiOutputClassifier

from gatewise import LogicClassifier, Model

X, Y = make_multilabel_classification(n_samples=800, n_features=12, n_classes=4, random_state=0)


def test_labels_are_learned_as_well_as_by_a_classifier_each() -> None:
    clf = LogicClassifier(random_state=0).fit(X[:600], Y[:600])
    predicted = clf.predict(X[600:])
    assert (predicted.shape, predicted.dtype, clf.classes_.tolist()) == ((200, 4), np.int64, [0, 1, 2, 3])
    each = MultiOutputClassifier(LogicClassifier(random_state=0)).fit(X[:600], Y[:600])
    ours, theirs = (f1_score(Y[600:], answers, average="micro") for answers in (predicted, each.predict(X[600:])))
    assert ours == pytest.approx(theirs, abs=0.01)
    assert ours > 0.65
    shares = clf.predict_proba(X[600:])
    np.testing.assert_array_equal(shares > 0.5, predicted)
    np.testing.assert_allclose(np.log(shares / (1 - shares)), clf.decision_function(X[600:]))
    np.testing.assert_allclose(np.exp(clf.predict_log_proba(X)), clf.predict_proba(X))
    assert clf.score(X[600:], Y[600:]) == (predicted == Y[600:]).all(axis=1).mean()
    assert cross_val_score(LogicClassifier(random_state=0), X, Y, cv=3, scoring="f1_micro").mean() > 0.65


def test_the_model_answers_in_logarithms_of_odds() -> None:
    clf = LogicClassifier(random_state=0, max_iter=30).fit(X, Y)
    loaded = Model.from_bytes(clf.model_.to_bytes())
    np.testing.assert_array_equal(loaded.predict(X) > 0, clf.predict(X) > 0)


def test_kinds_of_y() -> None:
    small = LogicClassifier(random_state=0, max_iter=10)
    expected = small.fit(X, Y).model_
    for y in (Y.astype(bool), Y.astype(float), csr_matrix(Y), Y.tolist()):
        assert small.fit(X, y).model_ == expected
    assert small.fit(X, Y[:, :1].ravel()).predict(X).shape == (800,)
    with pytest.warns(UserWarning, match="A column-vector y was passed"):
        assert small.fit(X, Y[:, :1]).predict(X).shape == (800,)
    given = small.fit(X[:600], Y[:600], eval_set=(X[600:], Y[600:]))
    assert given.plan_.validation == "eval_set"


def test_labels_that_do_not_vary() -> None:
    same = np.tile([0, 1], (len(X), 1))
    assert LogicClassifier().fit(X, same).predict(X[:2]).tolist() == [[0, 1]] * 2
    part = np.stack([Y[:, 0], np.zeros(len(X), int)], 1)
    assert not LogicClassifier(max_iter=10).fit(X, part).predict(X)[:, 1].any()


def test_what_labels_cannot_be() -> None:
    with pytest.raises(ValueError, match="MultiOutputClassifier fits a classifier for each column"):
        LogicClassifier().fit(X, Y + np.arange(4))
    with pytest.raises(ValueError, match="class_weight must be None for several labels"):
        LogicClassifier(class_weight="balanced").fit(X, Y)
    with pytest.raises(ValueError, match="eval_set must have targets like y"):
        LogicClassifier().fit(X[:600], Y[:600], eval_set=(X[600:], Y[600:, :2]))
