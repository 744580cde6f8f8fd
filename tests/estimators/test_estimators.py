"""LogicClassifier and LogicRegressor: scikit-learn's own checks, and what tables, targets and parameters may be."""

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from tools import require_module

require_module("torch", "pip install -c constraints.txt torch==2.13.0")
require_module("sklearn", "pip install -c constraints.txt scikit-learn")

import torch
from scipy.sparse import csr_matrix
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.feature_selection import SelectKBest
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks

import gatewise
from gatewise import LogicClassifier, LogicRegressor, Model
from gatewise.defaults import choose_plan

# What scikit-learn's checks ask for and these estimators do otherwise; docs/estimators.md says so to users.
STOCHASTIC = "batches are drawn at random, so a row of weight 2 and two equal rows are not trained alike"
EXPECTED = {"check_sample_weight_equivalence_on_dense_data": STOCHASTIC}
SMALL = {"width": 300, "depth": 3, "max_iter": 100, "random_state": 0}


@pytest.fixture(autouse=True)
def one_thread() -> Any:
    """Networks as small as these only wait for a second thread."""
    n_threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(n_threads)


@parametrize_with_checks(
    [LogicClassifier(width=200, depth=2, max_iter=30), LogicRegressor(width=200, depth=2, max_iter=30)],
    expected_failed_checks=lambda estimator: EXPECTED,
)
def test_scikit_learns_checks(estimator: Any, check: Any) -> None:
    check(estimator)


def make_people(n_rows: int = 300) -> tuple[pd.DataFrame, np.ndarray]:
    """A table of mixed columns and a target that depends on three of them."""
    rng = np.random.default_rng(0)
    age = rng.integers(18, 80, n_rows)
    job = rng.choice(["nurse", "smith", "clerk"], n_rows)
    income = rng.gamma(2.0, 20.0, n_rows)
    income[::17] = np.nan
    frame = pd.DataFrame({"age": age, "job": job, "income": income, "member": rng.random(n_rows) < 0.5})
    return frame, np.where((age > 45) & (job != "clerk"), "yes", "no")


def test_a_table_is_learned_and_deployed(tmp_path: Path) -> None:
    X, y = make_people()
    clf = LogicClassifier(**SMALL).fit(X, y)
    assert clf.score(X, y) > 0.95
    assert clf.classes_.tolist() == ["no", "yes"]
    assert clf.feature_names_in_.tolist() == list(X.columns)
    clf.model_.save(tmp_path / "people.gw")
    loaded = gatewise.load(tmp_path / "people.gw")
    assert isinstance(loaded, Model)
    np.testing.assert_array_equal(loaded.predict(X), clf.predict(X))
    np.testing.assert_array_equal(loaded.predict_proba(X), clf.predict_proba(X))
    assert set(" ".join(loaded.describe_bits()).split()) & {"age", "job"} == {"age", "job"}


def test_columns_are_matched_by_name() -> None:
    X, y = make_people()
    clf = LogicClassifier(**SMALL).fit(X, y)
    expected = clf.predict(X)
    np.testing.assert_array_equal(clf.predict(X[["member", "income", "age", "job"]]), expected)
    np.testing.assert_array_equal(clf.predict(pl.from_pandas(X)), expected)
    with pytest.raises(ValueError, match="none named 'job'"):
        clf.predict(X.rename(columns={"job": "work"}))
    with pytest.raises(ValueError, match="expecting 4 features"):
        clf.predict(X[["age", "job", "income"]])


@pytest.mark.parametrize(
    "labels",
    [["a", "b"], [False, True], [-3, 7], [1.0, 2.0], np.array(["x", "y"], object)],
    ids=lambda each: str(each[1]),
)
def test_labels_of_any_kind(labels: Any) -> None:
    X, y = make_people()
    targets = np.asarray(labels)[(y == "yes").astype(int)]
    predicted = LogicClassifier(**SMALL).fit(X, targets).predict(X)
    assert (predicted == targets).mean() > 0.9
    assert predicted.dtype.kind == (np.asarray(labels).dtype.kind if targets.dtype.kind != "O" else "U")


def test_values_of_several_outputs() -> None:
    X = np.random.default_rng(0).random((400, 3))
    y = np.stack([X[:, 0] + X[:, 1], 1e6 - 2e5 * X[:, 2]], 1)
    reg = LogicRegressor(width=800, depth=3, max_iter=120, random_state=0).fit(X, y)
    assert reg.score(X, y) > 0.85
    assert reg.predict(X).shape == (400, 2)
    assert reg.fit(X, y[:, 0]).predict(X).shape == (400,)


def test_unseen_categories_and_missing_values() -> None:
    X, y = make_people()
    clf = LogicClassifier(**SMALL).fit(X, y)
    odd = pd.DataFrame(
        {"age": [np.nan, 50], "job": ["astronaut", None], "income": [np.inf, np.nan], "member": [True, False]}
    )
    assert set(clf.predict(odd)) <= {"no", "yes"}


def test_nothing_to_learn_from() -> None:
    X, _ = make_people()
    one_class = LogicClassifier().fit(X, ["same"] * len(X))
    assert set(one_class.predict(X)) == {"same"}
    assert one_class.predict_proba(X).tolist() == [[1.0]] * len(X)
    constant = LogicClassifier().fit(np.ones((10, 3)), [0, 1, 1] * 3 + [1])
    assert constant.predict(np.zeros((4, 3))).tolist() == [1] * 4
    assert constant.model_.circuit.n_gates == 0
    mean = LogicRegressor().fit(np.ones((4, 1)), [1.0, 2.0, 3.0, 6.0], sample_weight=[1, 1, 1, 0])
    assert mean.predict([[5.0]]).tolist() == [2.0]
    assert LogicRegressor().fit([[1.0]], [7.0]).predict([[1.0], [2.0]]).tolist() == [7.0, 7.0]
    with pytest.raises(ValueError, match="minimum of 1 is required"):
        LogicClassifier().fit(np.empty((0, 3)), [])


def test_an_all_missing_column_and_many_columns() -> None:
    X, y = make_people()
    X["empty"] = np.nan
    assert LogicClassifier(**SMALL).fit(X, y).score(X, y) > 0.9
    wide = np.random.default_rng(0).random((40, 10_000), np.float32)
    labels = wide[:, 9_999] > 0.5
    clf = LogicClassifier(width=5_000, depth=1, max_iter=3, random_state=0).fit(wide, labels)
    assert clf.predict(wide).shape == (40,)


def test_weights_and_class_weights() -> None:
    rng = np.random.default_rng(0)
    X, y = rng.random((400, 2)), (rng.random(400) < 0.1).astype(int)  # nothing to learn, and few of class 1
    assert LogicClassifier(**SMALL, early_stopping=False).fit(X, y).predict(X).mean() < 0.2
    balanced = LogicClassifier(**SMALL, class_weight="balanced", early_stopping=False).fit(X, y)
    assert balanced.predict(X).mean() > 0.3
    by_rows = LogicClassifier(**SMALL, early_stopping=False).fit(X, y, sample_weight=np.where(y == 1, 9.0, 1.0))
    assert by_rows.predict(X).mean() > 0.3
    with pytest.raises(ValueError, match="at least one non-zero number"):
        LogicClassifier(**SMALL).fit(X, y, sample_weight=np.zeros(400))
    only_zeros = LogicClassifier(**SMALL).fit(X, y, sample_weight=1 - y)
    assert not only_zeros.predict(X).any()
    assert only_zeros.classes_.tolist() == [0, 1]


def test_the_same_seed_gives_the_same_model() -> None:
    X, y = make_people()
    first, second = (LogicClassifier(**SMALL).fit(X, y).model_.to_bytes() for _ in range(2))
    assert first == second
    other = LogicClassifier(**{**SMALL, "random_state": 1}).fit(X, y)
    assert other.model_.to_bytes() != first
    assert LogicClassifier(**{**SMALL, "random_state": np.random.RandomState(5)}).fit(X, y).score(X, y) > 0.9


def test_in_scikit_learns_company() -> None:
    X, y = load_breast_cancer(return_X_y=True)
    clf = LogicClassifier(width=500, depth=2, max_iter=60, random_state=0)
    assert cross_val_score(clf, X, y, cv=3).mean() > 0.9
    pipeline = make_pipeline(SelectKBest(k=5), clone(clf))
    search = GridSearchCV(pipeline, {"logicclassifier__depth": [1, 2]}, cv=2).fit(X, y)
    assert search.best_score_ > 0.85
    copied = pickle.loads(pickle.dumps(search.best_estimator_))
    np.testing.assert_array_equal(copied.predict(X), search.predict(X))


def test_progress_and_history(capfd: pytest.CaptureFixture[str]) -> None:
    X, y = load_iris(return_X_y=True)
    clf = LogicClassifier(width=60, depth=2, max_iter=5, progress=True, random_state=0).fit(X, y)
    assert "hard accuracy" in capfd.readouterr().err
    assert clf.n_iter_ == clf.history_[-1].epoch == 5


def test_early_stopping() -> None:
    X, y = make_people(1200)
    options = {"width": 200, "depth": 2, "random_state": 0, "max_iter": 60}
    stopped = LogicClassifier(early_stopping=True, n_iter_no_change=3, **options).fit(X, y)
    assert stopped.n_iter_ < 60
    assert LogicClassifier(early_stopping=False, **options).fit(X, y).n_iter_ == 60
    rare = np.where(np.arange(1200) == 7, "once", y)
    assert "once" in LogicClassifier(**options).fit(X, rare).classes_  # a class of one row cannot be validated


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
        with pytest.raises(ValueError, match=f"The '{name}' parameter of LogicClassifier must be"):
            LogicClassifier(**{name: value}).fit(X, y)
    with pytest.raises(ValueError, match="categorical must name"):
        LogicClassifier(categorical=["jobs"]).fit(X, y)
    with pytest.raises(TypeError, match="Sparse data was passed"):
        LogicClassifier().fit(csr_matrix(np.eye(4)), [0, 1, 0, 1])


def test_the_plan_grows_with_the_data() -> None:
    plans = [choose_plan(n_rows, 100, 2) for n_rows in (10, 1_000, 100_000, 10_000_000)]
    assert [plan.width for plan in plans] == sorted(plan.width for plan in plans)
    assert all(plan.epochs >= 1 for plan in plans)
    assert choose_plan(1_000, 100, 26).width >= choose_plan(1_000, 100, 2).width
    assert choose_plan(1_000, 9_000, 2).width >= 4_500  # every bit can be read
