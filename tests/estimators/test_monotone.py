"""Monotone constraints: answers keep their direction for all rows, and what cannot be constrained is refused."""

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from support.tools import require_module

require_module("sklearn", "pip install -c constraints.txt scikit-learn")

import pandas as pd
from scipy.sparse import csr_array

from gatewise.estimators import LogicClassifier, LogicRegressor

RNG = np.random.default_rng(0)
X = RNG.normal(size=(600, 4))
NOISE = RNG.normal(size=600)
WAVES = X[:, 0] + np.sin(4 * X[:, 0]) - X[:, 1] + X[:, 0] * X[:, 2] + NOISE  # neither rises nor falls along any column


def sweep(column: int) -> NDArray[np.float64]:
    """Rows in runs of 41, along which one column rises."""
    rows = np.repeat(RNG.normal(size=(200, 4)), 41, axis=0)
    rows[:, column] = np.tile(np.linspace(-3, 3, 41), 200)
    return rows


def count_falls(answers: NDArray[np.float64]) -> int:
    return int((np.diff(answers.reshape(200, 41), axis=1) < 0).sum())


@pytest.mark.parametrize("options", [{}, {"loss": "quantile", "quantile": 0.7}, {"loss": "poisson"}, {"depth": 5}])
def test_values_keep_their_direction(options: dict[str, Any]) -> None:
    y = WAVES - WAVES.min() if options.get("loss") == "poisson" else WAVES
    free = LogicRegressor(random_state=0, **options).fit(X, y)
    bound = LogicRegressor(random_state=0, monotone_cst=[1, -1, 0, 0], **options).fit(X, y)
    assert count_falls(free.predict(sweep(0))) > 0
    assert count_falls(-free.predict(sweep(1))) > 0
    assert count_falls(bound.predict(sweep(0))) == 0
    assert count_falls(-bound.predict(sweep(1))) == 0
    assert bound.n_iter_ > 10
    rises, falls = (np.ptp(bound.predict(sweep(column)).reshape(200, 41), axis=1).mean() for column in (0, 1))
    assert min(rises, falls) > 0.5  # they say something still
    assert bound.score(X, y) > 0.5


def test_probabilities_keep_their_direction_and_it_is_proved() -> None:
    table = pd.DataFrame(X, columns=["a", "b", "c", "d"]).assign(a=lambda t: t["a"].where(t["a"] < 1.5))
    y = np.where(WAVES > 0, "yes", "no")
    free = LogicClassifier(random_state=0).fit(table, y)
    bound = LogicClassifier(random_state=0, monotone_cst={"a": 1, "b": -1}).fit(table, y)
    threaded = LogicClassifier(random_state=0, monotone_cst={"a": 1, "b": -1}, n_jobs=3).fit(table, y)
    assert threaded.model_ == bound.model_
    assert bound.score(table, y) > 0.75
    rows = pd.DataFrame(sweep(0), columns=table.columns)
    assert count_falls(free.predict_proba(rows)[:, 1]) > 0
    assert count_falls(bound.predict_proba(rows)[:, 1]) == 0
    require_module("pysat", "pip install -c constraints.txt python-sat")
    from gatewise import verify

    assert verify.monotone(bound.model_, "a")
    assert verify.monotone(bound.model_, "b", increasing=False)
    assert not verify.monotone(free.model_, "a")


def test_columns_without_direction_learn_as_ever() -> None:
    free, zeros = (LogicRegressor(random_state=0, monotone_cst=each).fit(X, WAVES) for each in (None, [0] * 4))
    assert free.model_ == zeros.model_


CLASSES = np.arange(600) % 3


@pytest.mark.parametrize(
    ("estimator", "X", "y", "monotone_cst", "message"),
    [
        (LogicClassifier, X, CLASSES, [1, 0, 0, 0], "monotone_cst must be None unless y has two classes"),
        (LogicRegressor, X, X[:, :2], [1, 0, 0, 0], "monotone_cst must be None unless y has two classes, or one"),
        (LogicClassifier, X, X[:, :2] > 0, [1, 0, 0, 0], "monotone_cst must be None unless y has two classes"),
        (LogicRegressor, X, WAVES, [1, 0], "monotone_cst must have a number for each column, got 2 for 4 columns"),
        (LogicRegressor, X, WAVES, [2, 0, 0, 0], "monotone_cst must be -1, 0 or 1, got 2 for"),
        (LogicRegressor, X, WAVES, [True, 0, 0, 0], "monotone_cst must be -1, 0 or 1, got True for"),
        (LogicRegressor, X, WAVES, {"age": 1}, "monotone_cst must name columns of X, got 'age'; X has"),
        (LogicRegressor, X, WAVES, "rising", "The 'monotone_cst' parameter of LogicRegressor must be"),
        (
            LogicRegressor,
            pd.DataFrame({"city": np.where(X[:, 0] > 0, "B", "P"), "age": X[:, 1]}),
            WAVES,
            {"city": 1},
            "monotone_cst must be 0 for columns that do not hold numbers, got 1 for 'city'",
        ),
        (
            LogicRegressor,
            csr_array((np.ones(600), (np.arange(600), np.arange(600) * 5)), shape=(600, 3000)),
            WAVES,
            [1] + [0] * 2999,
            "monotone_cst must be None for sparse tables with more than 2,048 columns",
        ),
    ],
)
def test_what_cannot_be_constrained_is_refused(
    estimator: type[LogicRegressor], X: Any, y: Any, monotone_cst: Any, message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        estimator(monotone_cst=monotone_cst).fit(X, y)
