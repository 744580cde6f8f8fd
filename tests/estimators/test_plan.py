"""Plans: what was chosen, by which rows, and what is printed."""

import numpy as np
import pytest
from support.people import make_people
from support.tools import require_module

require_module("sklearn", "pip install -c constraints.txt scikit-learn")

from gatewise import LogicClassifier, LogicRegressor

RNG = np.random.default_rng(0)
X = RNG.random((6000, 3))
Y = X[:, 0] > 0.4
SMALL = {"random_state": 0, "max_iter": 8}


@pytest.mark.parametrize(
    ("n_rows", "options", "validation", "n_validated"),
    [
        (5, {}, "none", 0),
        (400, {}, "folds", 400),
        (6000, {}, "share", 600),
        (6000, {"validation_fraction": 0.5}, "share", 3000),
        (400, {"early_stopping": False}, "none", 0),
    ],
)
def test_how_terms_were_chosen(n_rows: int, options: dict[str, object], validation: str, n_validated: int) -> None:
    rows = np.r_[0:n_rows]
    clf = LogicClassifier(**SMALL | options).fit(X[rows], rows % 2 if n_rows < 9 else Y[rows])
    plan = clf.plan_
    assert (plan.validation, plan.n_validated, plan.n_rows) == (validation, n_validated, n_rows)
    assert (plan.n_terms, plan.n_columns) == (clf.n_iter_, 3)
    assert clf.validated_ == (validation != "none")


def test_rows_given_apart_choose_the_number_of_terms() -> None:
    noisy = X[:, 0] + RNG.normal(size=6000)
    reg = LogicRegressor(random_state=0).fit(X[:300], noisy[:300], eval_set=(X[300:], noisy[300:]))
    assert (reg.plan_.validation, reg.plan_.n_rows, reg.plan_.n_validated) == ("eval_set", 300, 5700)
    errors = np.square(reg.predict(X[300:]) - noisy[300:]).mean() / noisy[:300].var()
    assert errors == pytest.approx(reg.losses_[reg.n_iter_ - 1], abs=0.01)
    alone = LogicRegressor(random_state=0, early_stopping=False, max_iter=reg.n_iter_).fit(X[:300], noisy[:300])
    np.testing.assert_allclose(reg.predict(X), alone.predict(X))
    frame, y = make_people(300)
    clf = LogicClassifier(random_state=0).fit(
        frame[:200], y[:200], eval_set=(frame[200:][frame.columns[::-1]], y[200:])
    )
    assert clf.score(frame, y) > 0.95


def test_what_rows_given_apart_cannot_be() -> None:
    listed = LogicClassifier(random_state=0, max_iter=20).fit(X[:300], Y[:300], eval_set=[(X[300:], Y[300:])])
    assert (listed.plan_.validation, listed.plan_.n_validated) == ("eval_set", len(X) - 300)
    with pytest.raises(ValueError, match=r"eval_set must be \(X, y\) or \(X, y, sample_weight\), got a ndarray"):
        LogicClassifier().fit(X, Y, eval_set=X)
    with pytest.raises(ValueError, match="early_stopping must be True with eval_set"):
        LogicClassifier(early_stopping=False).fit(X, Y, eval_set=(X, Y))
    with pytest.raises(ValueError, match="eval_set must have labels that y has, got 2"):
        LogicClassifier().fit(X, Y, eval_set=(X, np.full(6000, 2)))
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        LogicClassifier().fit(X, Y, eval_set=(X, Y[:5]))
    with pytest.raises(ValueError, match="expecting 3 features"):
        LogicClassifier().fit(X, Y, eval_set=(X[:, :2], Y))


def test_plans_are_printed_on_request(capsys: pytest.CaptureFixture[str]) -> None:
    table = np.c_[X[:200], np.ones(200)]
    clf = LogicClassifier(**SMALL).fit(table, Y[:200])
    assert capsys.readouterr().out == ""
    clf.set_params(verbose=1).fit(table, Y[:200])
    assert capsys.readouterr().out == f"{clf.plan_}\n"
    assert str(clf.plan_).startswith("200 rows, 4 columns, 597 bits; ")
    assert clf.plan_.dropped == ("x3",)
    assert "columns without bits: 'x3'\n" in str(clf.plan_)
    constant = LogicClassifier().fit(table, np.zeros(200))
    assert "there is nothing to learn" in str(constant.plan_)
