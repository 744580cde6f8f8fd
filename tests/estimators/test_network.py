"""NetworkClassifier and NetworkRegressor: scikit-learn's own checks, plans, histories and warnings."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.people import make_people
from support.tools import require_module

require_module("torch", "pip install -c constraints.txt torch==2.13.0")
require_module("sklearn", "pip install -c constraints.txt scikit-learn")

import torch
from sklearn import exceptions
from sklearn.datasets import load_iris
from sklearn.utils.estimator_checks import parametrize_with_checks

from gatewise import train
from gatewise.estimators import ConvergenceWarning, NetworkClassifier, NetworkRegressor
from gatewise.estimators.defaults import choose_plan

# What scikit-learn's checks ask for and these estimators do otherwise; docs/estimators.md says so to users.
STOCHASTIC = "batches are drawn at random, so a row of weight 2 and two equal rows are not trained alike"
EXPECTED = {f"check_sample_weight_equivalence_on_{kind}_data": STOCHASTIC for kind in ("dense", "sparse")}
SMALL = {"width": 300, "depth": 3, "max_iter": 100, "random_state": 0}


@pytest.fixture(autouse=True)
def one_thread() -> Any:
    """Networks as small as these only wait for a second thread."""
    n_threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(n_threads)


@parametrize_with_checks(
    [NetworkClassifier(width=200, depth=2, max_iter=30), NetworkRegressor(width=200, depth=2, max_iter=30)],
    expected_failed_checks=lambda estimator: EXPECTED,
)
@pytest.mark.filterwarnings("ignore::gatewise.train.ConvergenceWarning")  # tables of 30 rows, 30 steps
def test_scikit_learns_checks(estimator: Any, check: Any) -> None:
    check(estimator)


def test_weights_and_class_weights() -> None:
    rng = np.random.default_rng(0)
    X, y = rng.random((400, 2)), (rng.random(400) < 0.1).astype(int)  # nothing to learn, and few of class 1
    with pytest.warns(ConvergenceWarning, match="where one answer for all rows gives 0.89"):
        assert NetworkClassifier(**SMALL, early_stopping=False).fit(X, y).predict(X).mean() < 0.2
    balanced = NetworkClassifier(**SMALL, class_weight="balanced", early_stopping=False).fit(X, y)
    assert balanced.predict(X).mean() > 0.3
    by_rows = NetworkClassifier(**SMALL, early_stopping=False).fit(X, y, sample_weight=np.where(y == 1, 9.0, 1.0))
    assert by_rows.predict(X).mean() > 0.3
    with pytest.raises(ValueError, match=r"at least one non-zero number|a row with a positive weight"):
        NetworkClassifier(**SMALL).fit(X, y, sample_weight=np.zeros(400))
    only_zeros = NetworkClassifier(**SMALL).fit(X, y, sample_weight=1 - y)
    assert not only_zeros.predict(X).any()
    assert only_zeros.classes_.tolist() == [0, 1]


def test_progress_and_history(capfd: pytest.CaptureFixture[str]) -> None:
    X, y = load_iris(return_X_y=True)
    with pytest.warns(ConvergenceWarning, match="no gate changed in 10 steps, and the circuit's accuracy on the train"):
        clf = NetworkClassifier(width=60, depth=2, max_iter=5, progress=True, random_state=0).fit(X, y)
    assert f"accuracy={clf.history_[-1].score:.4f}" in capfd.readouterr().err
    assert clf.n_iter_ == clf.history_[-1].epoch == 5


def test_a_training_that_learns_nothing_warns_as_scikit_learn_does() -> None:
    X, y = make_people()
    options = {**SMALL, "max_iter": 2}
    for category in (exceptions.ConvergenceWarning, train.ConvergenceWarning, ConvergenceWarning):
        with pytest.warns(category, match="nothing was learned: no gate changed in 6 steps") as caught:
            clf = NetworkClassifier(**options).fit(X, y)
        assert [Path(each.filename) for each in caught] == [Path(__file__)]  # where fit was called
    assert clf.predict(X).shape == y.shape
    with pytest.warns(exceptions.ConvergenceWarning, match="mse on the training rows"):
        NetworkRegressor(**options).fit(X, X["age"])
    with pytest.raises(exceptions.ConvergenceWarning):  # warnings are errors in these tests
        NetworkClassifier(**options).fit(X, y)


def test_history_is_drawn() -> None:
    X, y = make_people()
    figure = NetworkClassifier(**{**SMALL, "max_iter": 20}).fit(X, y).history_.plot()
    drawn = {axes.get_title(): axes for axes in figure.axes}
    assert "accuracy" in drawn
    assert all(axes.lines or axes.collections for axes in drawn.values())


def test_early_stopping() -> None:
    X, y = make_people(1200)
    options = {"width": 200, "depth": 2, "random_state": 0, "max_iter": 60}
    stopped = NetworkClassifier(early_stopping=True, n_iter_no_change=3, **options).fit(X, y)
    assert stopped.n_iter_ < 60
    assert NetworkClassifier(early_stopping=False, **options).fit(X, y).n_iter_ == 60
    rare = np.where(np.arange(1200) == 7, "once", y)
    alone = NetworkClassifier(**options).fit(X, rare)  # a class of one row cannot be validated
    assert (alone.classes_.tolist(), alone.validated_) == (["no", "once", "yes"], False)
    with pytest.raises(ValueError, match="early_stopping must be False or 'auto' unless there are two rows"):
        NetworkClassifier(early_stopping=True, **options).fit(X, rare)


def test_bad_parameters_are_named() -> None:
    X, y = make_people(50)
    wrong = {
        "width": 0,
        "depth": 0,
        "learning_rate": -1.0,
        "batch_size": 0,
        "max_iter": 0,
        "tau": -1.0,
        "max_bits": 1.5,
    }
    wrong |= {"validation_fraction": 2.0, "early_stopping": "maybe", "n_iter_no_change": 0, "class_weight": "even"}
    for name, value in wrong.items():
        with pytest.raises(ValueError, match=f"The '{name}' parameter of NetworkClassifier must be"):
            NetworkClassifier(**{name: value}).fit(X, y)
    with pytest.raises(ValueError, match="categorical must name"):
        NetworkClassifier(categorical=["jobs"]).fit(X, y)


def test_the_plan_grows_with_the_data() -> None:
    plans = [choose_plan(n_rows, 100, 2) for n_rows in (10, 1_000, 100_000, 10_000_000)]
    assert [plan.width for plan in plans] == sorted(plan.width for plan in plans)
    assert all(plan.epochs >= 1 for plan in plans)
    assert choose_plan(1_000, 100, 26).width >= choose_plan(1_000, 100, 2).width
    assert choose_plan(1_000, 9_000, 2).width >= 4_500  # every bit can be read


@pytest.mark.parametrize("n_rows", [1, 2, 30, 99, 100, 101, 150, 999, 1_000, 32_000, 10_000_000])
def test_the_plan_takes_about_as_many_steps_as_it_says(n_rows: int) -> None:
    plan = choose_plan(n_rows, 100, 2)
    n_steps = plan.epochs * -(-n_rows // plan.batch_size)
    planned = 2_000 if n_rows < 1_000 else 10_000 if n_rows < 10_000 else 20_000
    assert n_steps <= 2 * planned or plan.epochs == 1  # the last batch of an epoch may be small
    assert n_steps >= 0.9 * planned
