"""Quantiles and means of counts: what values are near, what is refused, and that models keep it."""

from typing import Any

import numpy as np
import pytest
from support.tools import require_module

require_module("sklearn", "pip install -c constraints.txt scikit-learn")

from sklearn.datasets import make_friedman1
from sklearn.metrics import mean_pinball_loss, mean_poisson_deviance

from gatewise import Model
from gatewise.estimators import LogicRegressor
from gatewise.heads import Exponential

X, Y = make_friedman1(3000, n_features=6, noise=1.0, random_state=0)
COUNTS = np.random.default_rng(0).poisson(np.exp(Y / 8)).astype(float)
KNOWN, UNKNOWN = slice(0, 2000), slice(2000, None)


@pytest.mark.parametrize("quantile", [0.1, 0.5, 0.9])
def test_a_share_of_the_rows_is_below_a_quantile(quantile: float) -> None:
    reg = LogicRegressor(loss="quantile", quantile=quantile, random_state=0).fit(X[KNOWN], Y[KNOWN])
    values = reg.predict(X[UNKNOWN])
    assert np.mean(Y[UNKNOWN] < values) == pytest.approx(quantile, abs=0.12)
    one_answer = np.full(1000, np.quantile(Y[KNOWN], quantile))
    losses = [mean_pinball_loss(Y[UNKNOWN], each, alpha=quantile) for each in (values, one_answer)]
    assert losses[0] < 0.5 * losses[1]


def test_quantiles_of_several_outputs() -> None:
    both = np.stack([Y, -10 * Y], axis=1)
    reg = LogicRegressor(loss="quantile", quantile=0.8, random_state=0).fit(X, both)
    np.testing.assert_allclose(np.mean(both < reg.predict(X), axis=0), 0.8, atol=0.05)


def test_means_of_counts_are_positive() -> None:
    reg = LogicRegressor(loss="poisson", random_state=0).fit(X[KNOWN], COUNTS[KNOWN])
    values = reg.predict(X[UNKNOWN])
    assert values.min() > 0
    assert values.mean() == pytest.approx(COUNTS[UNKNOWN].mean(), rel=0.1)
    one_answer = np.full(1000, COUNTS[KNOWN].mean())
    found, none = (mean_poisson_deviance(COUNTS[UNKNOWN], each) for each in (values, one_answer))
    assert found < 0.5 * none
    assert reg.losses_[reg.n_iter_ - 1] == pytest.approx(found / 2, rel=0.3)


def test_models_keep_what_they_answer() -> None:
    for options in ({"loss": "poisson"}, {"loss": "quantile", "quantile": 0.75}):
        reg = LogicRegressor(random_state=0, max_iter=30, **options).fit(X, COUNTS)
        loaded = Model.from_bytes(reg.model_.to_bytes())
        assert loaded.head == reg.model_.head
        assert isinstance(loaded.head, Exponential) == (options["loss"] == "poisson")
        np.testing.assert_array_equal(loaded.predict(X), reg.predict(X))
        assert reg.feature_importances_[:5].sum() > 0.95


def test_proofs_know_the_range_of_positive_values() -> None:
    require_module("pysat", "pip install -c constraints.txt python-sat")
    from gatewise import verify

    model = LogicRegressor(loss="poisson", random_state=0, max_iter=20).fit(X, COUNTS).model_
    found, values = verify.bounds(model).ranges["value"], model.predict(X)
    assert 0 < found.low <= values.min() <= values.max() <= found.high
    assert verify.always(model, then=(found.low, found.high))
    assert not verify.always(model, then=(found.low, float(np.median(values))))


def test_without_anything_to_learn_the_answer_is_the_best_one() -> None:
    constant, weights = np.zeros((11, 1)), np.ones(11)
    weights[:5] = 0
    quantile = LogicRegressor(loss="quantile", quantile=0.9)
    assert quantile.fit(constant, np.arange(11.0)).predict([[0]]).tolist() == [9]
    assert quantile.set_params(quantile=0.5).fit(constant, np.arange(11.0), weights).predict([[0]]).tolist() == [7]
    assert LogicRegressor(loss="poisson").fit(constant, np.arange(11.0)).predict([[0]]).tolist() == [5]


@pytest.mark.parametrize(
    ("options", "y", "message"),
    [
        ({"loss": "poisson"}, COUNTS - 1, "y must not be negative for loss='poisson', got -1 in row"),
        ({"loss": "poisson"}, 0 * COUNTS, "y must be positive in some row for loss='poisson', got 0 in all"),
        ({"loss": "poisson"}, np.stack([COUNTS, COUNTS], 1), "y must have one column for loss='poisson', got 2"),
        ({"loss": "quantile"}, Y, "quantile must be a number between 0 and 1 for loss='quantile', got None"),
        ({"quantile": 0.5}, Y, "quantile must be None for loss='squared_error', got 0.5"),
        ({"loss": "quantile", "quantile": 1.0}, Y, "The 'quantile' parameter of LogicRegressor must be"),
        ({"loss": "absolute_error"}, Y, "The 'loss' parameter of LogicRegressor must be"),
    ],
)
def test_what_does_not_fit_is_refused(options: dict[str, Any], y: np.ndarray, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        LogicRegressor(**options).fit(X, y)


def test_wide_sparse_tables_have_squared_errors_only() -> None:
    sparse = pytest.importorskip("scipy.sparse").random(60, 3000, 0.01, format="csr", random_state=0)
    with pytest.raises(ValueError, match="loss must be 'squared_error' for sparse tables with more than 2,048 columns"):
        LogicRegressor(loss="poisson").fit(sparse, COUNTS[:60] + 1)


@pytest.mark.parametrize("unit", [1e-200, 1e-3, 1e200])
def test_values_of_any_size_are_learned(unit: float) -> None:
    X = np.random.default_rng(0).random((300, 2))
    y = unit * (X[:, 0] > 0.5)
    reg = LogicRegressor(random_state=0).fit(X, y)
    np.testing.assert_allclose(reg.predict(X), y, atol=0.15 * unit)


def test_values_without_sums_are_refused() -> None:
    with pytest.raises(ValueError, match=r"y must be within 1e\+290, got -1e\+300 in row 1; divide"):
        LogicRegressor().fit([[1], [2], [3]], [1.0, -1e300, 2.0])
