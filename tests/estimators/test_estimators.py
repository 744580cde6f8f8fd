"""LogicClassifier and LogicRegressor: scikit-learn's own checks, and what tables, targets and parameters may be."""

import pickle
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from support.tools import require_module

require_module("torch", "pip install -c constraints.txt torch==2.13.0")
require_module("sklearn", "pip install -c constraints.txt scikit-learn")

import torch
from scipy.sparse import csr_matrix
from sklearn import exceptions
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.feature_selection import SelectKBest
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks

import gatewise
from gatewise import LogicClassifier, LogicRegressor, Model, train
from gatewise.estimators import ConvergenceWarning
from gatewise.estimators.defaults import choose_plan

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
@pytest.mark.filterwarnings("ignore::gatewise.train.ConvergenceWarning")  # tables of 30 rows, 30 steps
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
    with pytest.raises(ValueError, match="none named 'member'"):
        clf.predict(X[["age", "job", "income"]])
    with pytest.raises(ValueError, match="no columns but those of fit, got 'id'"):
        clf.predict(X.assign(id=1))
    with pytest.raises(ValueError, match="expecting 4 features"):
        clf.predict(X[["age", "job", "income"]].to_numpy(object))


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


@pytest.mark.parametrize(
    ("dtype", "labels"),
    [("Int64", [0, 1]), ("boolean", [False, True]), ("string", ["0", "1"]), ("category", ["0", "1"])],
)
def test_labels_of_pandas_keep_their_type(dtype: str, labels: list[Any]) -> None:
    X, y = make_people(60)
    targets = pd.Series([labels[label == "yes"] for label in y], dtype=dtype)
    clf = LogicClassifier(**SMALL).fit(X, targets)
    assert clf.classes_.tolist() == labels
    assert [type(label) for label in clf.predict(X[:1]).tolist()] == [type(labels[0])]


@pytest.mark.parametrize("missing", [None, np.nan, pd.NA])
@pytest.mark.parametrize("make", [list, lambda y: np.array(y, object), pd.Series])
def test_rows_without_a_label_are_named(missing: Any, make: Any) -> None:
    with pytest.raises(ValueError, match=r"y must have a label in every row, got .* in row 2; leave such rows out"):
        LogicClassifier().fit([[1], [2], [3]], make(["a", "b", missing]))


def test_rows_given_as_dicts() -> None:
    X, y = make_people()
    rows = X.to_dict("records")
    clf = LogicClassifier(**SMALL).fit(rows, y)
    assert clf.feature_names_in_.tolist() == list(X.columns)
    assert clf.n_features_in_ == 4
    assert clf.model_ == LogicClassifier(**SMALL).fit(X, y).model_
    np.testing.assert_array_equal(clf.predict(rows), clf.predict(X))
    np.testing.assert_array_equal(clf.predict_proba(rows[7]), clf.predict_proba(X.iloc[[7]]))
    assert clf.predict(dict(reversed(rows[7].items()))).tolist() == clf.predict(X.iloc[[7]]).tolist()
    with pytest.raises(ValueError, match="none named 'age'"):
        clf.predict({name: value for name, value in rows[0].items() if name != "age"})


def test_no_rows_have_no_predictions() -> None:
    X, y = make_people(60)
    clf = LogicClassifier(**SMALL).fit(X, y)
    for empty in (X[:0], X[:0].to_numpy(object), pl.from_pandas(X[:0])):
        assert clf.predict(empty).shape == (0,)
        assert clf.predict_proba(empty).shape == (0, 2)


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
    for age, job in ((20, "smith"), (20, None), (70, "smith"), (70, "astronaut"), (70, None)):
        row = {"age": age, "job": job, "income": np.inf, "member": True}
        assert clf.predict(row).tolist() == ["yes" if age > 45 else "no"]  # a job that is no clerk's does not matter
    unknown = {"age": np.nan, "job": "nurse", "income": np.nan, "member": None}
    assert clf.predict(unknown).tolist() == ["no"]  # missing is above no threshold


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
    with pytest.raises(ValueError, match=r"X must have at least one row and one column, got shape \(0, 4\)"):
        LogicClassifier().fit(X[:0], [])


def test_an_all_missing_column_and_many_columns() -> None:
    X, y = make_people()
    X["empty"] = np.nan
    assert LogicClassifier(**SMALL).fit(X, y).score(X, y) > 0.9
    wide = np.random.default_rng(0).random((40, 10_000), np.float32)
    labels = wide[:, 9_999] > 0.5
    clf = LogicClassifier(width=5_000, depth=1, max_iter=100, random_state=0).fit(wide, labels)
    assert clf.score(wide, labels) > 0.9


def test_weights_and_class_weights() -> None:
    rng = np.random.default_rng(0)
    X, y = rng.random((400, 2)), (rng.random(400) < 0.1).astype(int)  # nothing to learn, and few of class 1
    with pytest.warns(ConvergenceWarning, match="where one answer for all rows gives 0.89"):
        assert LogicClassifier(**SMALL, early_stopping=False).fit(X, y).predict(X).mean() < 0.2
    balanced = LogicClassifier(**SMALL, class_weight="balanced", early_stopping=False).fit(X, y)
    assert balanced.predict(X).mean() > 0.3
    by_rows = LogicClassifier(**SMALL, early_stopping=False).fit(X, y, sample_weight=np.where(y == 1, 9.0, 1.0))
    assert by_rows.predict(X).mean() > 0.3
    with pytest.raises(ValueError, match=r"at least one non-zero number|a row with a positive weight"):
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
    with pytest.warns(ConvergenceWarning, match="no gate changed in 10 steps, and the circuit's accuracy on the train"):
        clf = LogicClassifier(width=60, depth=2, max_iter=5, progress=True, random_state=0).fit(X, y)
    assert f"accuracy={clf.history_[-1].score:.4f}" in capfd.readouterr().err
    assert clf.n_iter_ == clf.history_[-1].epoch == 5


def test_a_training_that_learns_nothing_warns_as_scikit_learn_does() -> None:
    X, y = make_people()
    options = {**SMALL, "max_iter": 2}
    for category in (exceptions.ConvergenceWarning, train.ConvergenceWarning, ConvergenceWarning):
        with pytest.warns(category, match="nothing was learned: no gate changed in 6 steps") as caught:
            clf = LogicClassifier(**options).fit(X, y)
        assert [Path(each.filename) for each in caught] == [Path(__file__)]  # where fit was called
    assert clf.predict(X).shape == y.shape
    with pytest.warns(exceptions.ConvergenceWarning, match="mse on the training rows"):
        LogicRegressor(**options).fit(X, X["age"])
    with pytest.raises(exceptions.ConvergenceWarning):  # warnings are errors in these tests
        LogicClassifier(**options).fit(X, y)


def test_history_is_drawn() -> None:
    X, y = make_people()
    figure = LogicClassifier(**{**SMALL, "max_iter": 20}).fit(X, y).history_.plot()
    drawn = {axes.get_title(): axes for axes in figure.axes}
    assert "accuracy" in drawn
    assert all(axes.lines or axes.collections for axes in drawn.values())


def test_early_stopping() -> None:
    X, y = make_people(1200)
    options = {"width": 200, "depth": 2, "random_state": 0, "max_iter": 60}
    stopped = LogicClassifier(early_stopping=True, n_iter_no_change=3, **options).fit(X, y)
    assert stopped.n_iter_ < 60
    assert LogicClassifier(early_stopping=False, **options).fit(X, y).n_iter_ == 60
    rare = np.where(np.arange(1200) == 7, "once", y)
    alone = LogicClassifier(**options).fit(X, rare)  # a class of one row cannot be validated
    assert (alone.classes_.tolist(), alone.validated_) == (["no", "once", "yes"], False)
    with pytest.raises(ValueError, match="early_stopping must be False or 'auto' unless there are two rows"):
        LogicClassifier(early_stopping=True, **options).fit(X, rare)


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


@pytest.mark.parametrize("n_rows", [1, 2, 30, 99, 100, 101, 150, 999, 1_000, 32_000, 10_000_000])
def test_the_plan_takes_about_as_many_steps_as_it_says(n_rows: int) -> None:
    plan = choose_plan(n_rows, 100, 2)
    n_steps = plan.epochs * -(-n_rows // plan.batch_size)
    planned = 2_000 if n_rows < 1_000 else 10_000 if n_rows < 10_000 else 20_000
    assert n_steps <= 2 * planned or plan.epochs == 1  # the last batch of an epoch may be small
    assert n_steps >= 0.9 * planned


def test_nothing_but_torch_and_scikit_learn_is_needed() -> None:
    code = """
import sys
class Missing:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in ("pandas", "polars", "pyarrow", "matplotlib"):
            raise ModuleNotFoundError(name, name=name)
sys.meta_path.insert(0, Missing())
from sklearn.datasets import load_breast_cancer
from gatewise import LogicClassifier
X, y = load_breast_cancer(return_X_y=True)
clf = LogicClassifier(width=200, depth=2, max_iter=30, random_state=0).fit(X, y)
words = LogicClassifier(width=200, depth=2, max_iter=60, random_state=0).fit([["a", 1], ["b", None]] * 50, [0, 1] * 50)
print(clf.score(X, y) > 0.9, words.predict({"x0": "b", "x1": None}))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, "True [1]\n"), done.stderr
