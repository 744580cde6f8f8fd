"""Very wide tables: columns are screened, and sparse ones are never dense."""

import numpy as np
import pytest
import scipy.sparse as sp
from support.tools import require_module

require_module("sklearn", "pip install -c constraints.txt scikit-learn")

from sklearn.linear_model import LogisticRegression, Ridge

from gatewise import Encoder, LogicClassifier, LogicRegressor, Model
from gatewise.estimators.screen import MAX_COLUMNS, rate_columns, screen

RNG = np.random.default_rng(0)
N_WORDS = 6_000


def make_texts(n_rows: int, n_classes: int = 5) -> tuple[sp.csr_matrix, np.ndarray]:
    """Counts of words, each of which is a little more frequent in one class."""
    rng = np.random.default_rng(7)
    y = rng.integers(0, n_classes, n_rows)
    frequent = 1 / np.arange(20, 20 + N_WORDS)
    topics = np.where(np.arange(N_WORDS) % n_classes == np.arange(n_classes)[:, np.newaxis], 2.5, 1.0) * frequent
    topics /= topics.sum(axis=1, keepdims=True)
    return sp.csr_matrix(np.stack([rng.multinomial(60, topics[label]) for label in y]).astype(np.float64)), y


TEXTS, TOPICS = make_texts(900)


def test_words_of_texts_are_learned_nearly_as_by_logistic_regression() -> None:
    clf = LogicClassifier(random_state=0).fit(TEXTS[:700], TOPICS[:700])
    linear = LogisticRegression(max_iter=300).fit(TEXTS[:700], TOPICS[:700])
    assert clf.score(TEXTS[700:], TOPICS[700:]) > linear.score(TEXTS[700:], TOPICS[700:]) - 0.04
    assert (clf.plan_.n_columns, clf.plan_.n_validated, clf.n_iter_) == (N_WORDS, 140, clf.plan_.n_terms)
    assert "a linear model" in str(clf.plan_)
    assert Model.from_bytes(clf.model_.to_bytes()).predict(TEXTS[700:]).tolist() == clf.predict(TEXTS[700:]).tolist()
    two = LogicClassifier(random_state=0).fit(TEXTS[:700], TOPICS[:700] == 1)
    assert two.score(TEXTS[700:], TOPICS[700:] == 1) > 0.9
    given = LogicClassifier(random_state=0).fit(TEXTS[:700], TOPICS[:700], eval_set=(TEXTS[700:], TOPICS[700:]))
    assert given.plan_.n_rows == 700
    assert given.score(TEXTS[700:], TOPICS[700:]) > 0.7


def test_linear_models_of_labels_and_values() -> None:
    labels = np.stack([TOPICS == 0, TOPICS < 2, np.zeros(900)], 1).astype(int)
    several = LogicClassifier(random_state=0).fit(TEXTS[:700], labels[:700])
    assert (several.predict(TEXTS[700:]) == labels[700:]).mean() > 0.9
    binary = (TEXTS > 0).astype(np.float64)
    y = np.asarray(binary[:, :50].sum(axis=1)).ravel() * 2.0 + 7.0
    reg = LogicRegressor(random_state=0).fit(binary[:700], y[:700])
    ridge = Ridge().fit(binary[:700], y[:700]).score(binary[700:], y[700:])
    assert reg.score(binary[700:], y[700:]) > ridge - 0.2


def test_weights_count_and_few_rows_are_not_split() -> None:
    weights = (TOPICS != 3).astype(float)
    clf = LogicClassifier(random_state=0).fit(TEXTS, TOPICS, sample_weight=weights)
    assert not (clf.predict(TEXTS) == 3).any()
    few = LogicClassifier(random_state=0).fit(TEXTS[:12], TOPICS[:12] > 2)
    assert (few.plan_.validation, len(few.losses_)) == ("none", 0)
    assert few.score(TEXTS[:12], TOPICS[:12] > 2) > 0.8


def test_sparse_and_dense_tables_have_the_same_bits() -> None:
    dense = RNG.normal(size=(200, 30)) * (RNG.random((200, 30)) < 0.1)
    dense[3, 4] = np.nan
    encoder = Encoder.fit(dense)
    expected = encoder.encode(dense).unpack()
    twice = sp.coo_array((np.ones(4), ([0, 0, 1, 1], [0, 0, 1, 2])), (2, 30))  # 2 in two pieces
    for make in (sp.csr_matrix, sp.csc_matrix, sp.coo_matrix, sp.csr_array, sp.lil_matrix):
        assert Encoder.fit(make(dense)) == encoder
        np.testing.assert_array_equal(encoder.encode(make(dense)).unpack(), expected)
    np.testing.assert_array_equal(encoder.encode(twice).unpack(), encoder.encode(twice.toarray()).unpack())
    np.testing.assert_array_equal(encoder.encode_rows(sp.csr_matrix(dense)).unpack(), expected)
    clf = LogicClassifier(random_state=0, max_iter=9).fit(sp.csr_matrix(dense), dense[:, 0] > 0)
    assert clf.model_ == LogicClassifier(random_state=0, max_iter=9).fit(dense, dense[:, 0] > 0).model_
    np.testing.assert_array_equal(clf.predict(sp.csr_matrix(dense)), clf.predict(dense))


def test_many_rows_of_a_sparse_table_are_dense_in_pieces() -> None:
    X = sp.random(40_000, 5, 0.3, format="csr", random_state=0)
    encoder = Encoder.fit(X[:100])
    np.testing.assert_array_equal(encoder.encode_rows(X).unpack(), encoder.encode(X.toarray()).unpack())


def test_columns_of_wide_dense_tables_are_screened_without_the_rows_that_validate() -> None:
    X = RNG.normal(size=(250, 9_000)).astype(np.float32)
    clf = LogicClassifier(random_state=0).fit(X, X[:, 8_500] + X[:, 17] > 0)
    assert clf.feature_importances_.argsort()[-2:].tolist() in ([17, 8_500], [8_500, 17])
    assert len(clf.plan_.dropped) == 9_000 - MAX_COLUMNS
    assert (clf.plan_.validation, clf.plan_.n_validated) == ("share", 50)
    with pytest.warns(UserWarning, match="fit learned nothing"):
        LogicClassifier(random_state=0).fit(X, RNG.integers(0, 2, 250))  # screening alone would find a lot


def test_rates_are_shares_of_the_variance() -> None:
    X, y = RNG.normal(size=(300, 8)), RNG.integers(0, 3, 300)
    X[:, 2] += y
    goals = (y[:, np.newaxis] == np.arange(3)).astype(float)
    weights = RNG.random(300)
    rates = rate_columns(X, goals, weights)
    shares = weights / weights.sum()
    correlations = np.cov(np.c_[X, goals].T, aweights=shares, ddof=0)
    expected = np.square(correlations[:8, 8:]) / correlations.diagonal()[:8, None] / correlations.diagonal()[8:]
    np.testing.assert_allclose(rates, expected.sum(axis=1))
    np.testing.assert_allclose(rate_columns(sp.csr_matrix(X), goals, weights), rates)
    X[5, 2] = np.nan
    assert rate_columns(X, goals).argmax() == 2
    assert screen(X, goals, None, seed=0).kept is None
