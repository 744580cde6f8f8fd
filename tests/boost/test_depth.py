"""Depth: terms of many questions are grown where a rule needs them, and only there."""

from dataclasses import replace

import numpy as np
import pytest

from gatewise import Encoder, LogicClassifier
from gatewise.boost import Boosting, EncodedTable, fit_classes


def make_rule(n_rows: int = 400) -> tuple[np.ndarray, np.ndarray]:
    """Just two of six: what no three columns say."""
    X = np.random.default_rng(11).integers(0, 3, (n_rows, 6)).astype(float)
    return X, ((X == 0).sum(axis=1) == 2).astype(np.int64)


def test_rules_of_many_columns_ask_for_depth() -> None:
    X, y = make_rule()
    columns = {"categorical": list(range(6)), "random_state": 0}
    deep = LogicClassifier(**columns).fit(X[:300], y[:300])
    assert deep.plan_.depth == 6
    assert "terms read 6 bits, because few of them have a clearly lower loss on these rows" in str(deep.plan_)
    three = LogicClassifier(**columns, depth=3).fit(X[:300], y[:300])
    assert three.plan_.depth == 3
    assert deep.score(X[300:], y[300:]) > 0.9 > three.score(X[300:], y[300:])


@pytest.mark.parametrize("n_rows", [60, 2000])
def test_sums_do_not(n_rows: int) -> None:
    X = np.random.default_rng(12).random((n_rows, 4))
    y = X.sum(axis=1) + np.random.default_rng(13).normal(0, 0.3, n_rows) > 2
    shallow = LogicClassifier(random_state=0).fit(X, y)
    assert shallow.plan_.depth == 3
    assert shallow.model_ == LogicClassifier(random_state=0, depth=3).fit(X, y).model_


def test_few_bits_and_unvalidated_rows_are_not_deepened() -> None:
    X, y = make_rule()
    assert LogicClassifier(random_state=0, early_stopping=False, max_iter=9).fit(X, y).plan_.depth == 3
    assert LogicClassifier(random_state=0).fit(X[:, :1] > 0, X[:, 0] > 0).plan_.depth == 3
    labels = np.stack([y, 1 - y], 1)
    assert LogicClassifier(random_state=0, max_iter=9).fit(X, labels).plan_.depth == 3


def test_deep_terms_are_those_of_a_depth_that_is_given() -> None:
    X, y = make_rule()
    encoder = Encoder.fit(X, categorical=list(range(6)))
    table = EncodedTable(encoder, encoder.encode(X))
    chosen = fit_classes(Boosting(may_deepen=True), table, y, [0, 1])
    assert (chosen.boosting.n_questions, chosen.boosting.may_deepen) == (6, False)
    given = Boosting(n_questions=6, column_share=1.0)
    assert fit_classes(given, table, y, [0, 1]).model == chosen.model
    screened = replace(chosen.boosting, max_terms=chosen.n_terms, validation_fraction=None)
    assert fit_classes(screened, table, y, [0, 1]).model == chosen.model
