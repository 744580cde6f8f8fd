"""Classifiers and regressors, grown or trained: what tables and targets may be, and what becomes of them."""

import pickle
import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import polars as pl
import pytest
from support.people import make_people
from support.processes import missing
from support.tools import require_module

require_module("torch", "pip install -c constraints.txt torch==2.13.0")
require_module("sklearn", "pip install -c constraints.txt scikit-learn")

from sklearn.base import clone
from sklearn.datasets import load_breast_cancer
from sklearn.feature_selection import SelectKBest
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline

import gatewise
from gatewise import Model
from gatewise.estimators import LogicClassifier, LogicRegressor, NetworkClassifier, NetworkRegressor


class Kind(NamedTuple):
    """Estimators that learn alike, with settings for small tables."""

    classifier: Any
    regressor: Any
    small: dict[str, Any]
    wider: dict[str, Any]  # for values
    widest: dict[str, Any]  # for 10,000 columns


KINDS = {
    "logic": Kind(LogicClassifier, LogicRegressor, {"random_state": 0, "n_jobs": 1}, {}, {}),
    "network": Kind(
        NetworkClassifier,
        NetworkRegressor,
        {"width": 300, "depth": 3, "max_iter": 100, "random_state": 0},
        {"width": 800, "max_iter": 120},
        {"width": 5_000, "depth": 1},
    ),
}


@pytest.fixture(params=KINDS.values(), ids=KINDS)
def kind(request: pytest.FixtureRequest) -> Any:
    return request.param


def test_a_table_is_learned_and_deployed(tmp_path: Path, kind: Kind) -> None:
    X, y = make_people()
    clf = kind.classifier(**kind.small).fit(X, y)
    assert clf.score(X, y) > 0.95
    assert clf.classes_.tolist() == ["no", "yes"]
    assert clf.feature_names_in_.tolist() == list(X.columns)
    clf.model_.save(tmp_path / "people.gw")
    loaded = gatewise.load(tmp_path / "people.gw")
    assert isinstance(loaded, Model)
    np.testing.assert_array_equal(loaded.predict(X), clf.predict(X))
    np.testing.assert_array_equal(loaded.predict_proba(X), clf.predict_proba(X))
    assert set(" ".join(loaded.describe_bits()).split()) & {"age", "job"} == {"age", "job"}


def test_columns_are_matched_by_name(kind: Kind) -> None:
    X, y = make_people()
    clf = kind.classifier(**kind.small).fit(X, y)
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
def test_labels_of_any_kind(labels: Any, kind: Kind) -> None:
    X, y = make_people()
    targets = np.asarray(labels)[(y == "yes").astype(int)]
    predicted = kind.classifier(**kind.small).fit(X, targets).predict(X)
    assert (predicted == targets).mean() > 0.9
    assert predicted.dtype.kind == (np.asarray(labels).dtype.kind if targets.dtype.kind != "O" else "U")


@pytest.mark.parametrize(
    ("dtype", "labels"),
    [("Int64", [0, 1]), ("boolean", [False, True]), ("string", ["0", "1"]), ("category", ["0", "1"])],
)
def test_labels_of_pandas_keep_their_type(dtype: str, labels: list[Any], kind: Kind) -> None:
    X, y = make_people(60)
    targets = pd.Series([labels[label == "yes"] for label in y], dtype=dtype)
    clf = kind.classifier(**kind.small).fit(X, targets)
    assert clf.classes_.tolist() == labels
    assert [type(label) for label in clf.predict(X[:1]).tolist()] == [type(labels[0])]


@pytest.mark.parametrize("missing", [None, np.nan, pd.NA])
@pytest.mark.parametrize("make", [list, lambda y: np.array(y, object), pd.Series])
def test_rows_without_a_label_are_named(missing: Any, make: Any, kind: Kind) -> None:
    with pytest.raises(ValueError, match=r"y must have a label in every row, got .* in row 2; leave such rows out"):
        kind.classifier().fit([[1], [2], [3]], make(["a", "b", missing]))


def test_rows_given_as_dicts(kind: Kind) -> None:
    X, y = make_people()
    rows = X.to_dict("records")
    clf = kind.classifier(**kind.small).fit(rows, y)
    assert clf.feature_names_in_.tolist() == list(X.columns)
    assert clf.n_features_in_ == 4
    assert clf.model_ == kind.classifier(**kind.small).fit(X, y).model_
    np.testing.assert_array_equal(clf.predict(rows), clf.predict(X))
    np.testing.assert_array_equal(clf.predict_proba(rows[7]), clf.predict_proba(X.iloc[[7]]))
    assert clf.predict(dict(reversed(rows[7].items()))).tolist() == clf.predict(X.iloc[[7]]).tolist()
    with pytest.raises(ValueError, match="none named 'age'"):
        clf.predict({name: value for name, value in rows[0].items() if name != "age"})


def test_no_rows_have_no_predictions(kind: Kind) -> None:
    X, y = make_people(60)
    clf = kind.classifier(**kind.small).fit(X, y)
    for empty in (X[:0], X[:0].to_numpy(object), pl.from_pandas(X[:0])):
        assert clf.predict(empty).shape == (0,)
        assert clf.predict_proba(empty).shape == (0, 2)


def test_values_of_several_outputs(kind: Kind) -> None:
    X = np.random.default_rng(0).random((400, 3))
    y = np.stack([X[:, 0] + X[:, 1], 1e6 - 2e5 * X[:, 2]], 1)
    reg = kind.regressor(**kind.small | kind.wider).fit(X, y)
    assert reg.score(X, y) > 0.85
    assert reg.predict(X).shape == (400, 2)
    assert reg.fit(X, y[:, 0]).predict(X).shape == (400,)


def test_unseen_categories_and_missing_values(kind: Kind) -> None:
    X, y = make_people()
    clf = kind.classifier(**kind.small).fit(X, y)
    for age, job in ((20, "smith"), (20, None), (70, "smith"), (70, "astronaut"), (70, None)):
        row = {"age": age, "job": job, "income": np.inf, "member": True}
        assert clf.predict(row).tolist() == ["yes" if age > 45 else "no"]  # a job that is no clerk's does not matter
    unknown = {"age": np.nan, "job": "nurse", "income": np.nan, "member": None}
    assert clf.predict(unknown).tolist() == ["no"]  # missing is above no threshold


def test_nothing_to_learn_from(kind: Kind) -> None:
    X, _ = make_people()
    one_class = kind.classifier().fit(X, ["same"] * len(X))
    assert set(one_class.predict(X)) == {"same"}
    assert one_class.predict_proba(X).tolist() == [[1.0]] * len(X)
    constant = kind.classifier().fit(np.ones((10, 3)), [0, 1, 1] * 3 + [1])
    assert constant.predict(np.zeros((4, 3))).tolist() == [1] * 4
    assert constant.model_.circuit.n_gates == 0
    mean = kind.regressor().fit(np.ones((4, 1)), [1.0, 2.0, 3.0, 6.0], sample_weight=[1, 1, 1, 0])
    assert mean.predict([[5.0]]).tolist() == [2.0]
    assert kind.regressor().fit([[1.0]], [7.0]).predict([[1.0], [2.0]]).tolist() == [7.0, 7.0]
    with pytest.raises(ValueError, match="minimum of 1 is required"):
        kind.classifier().fit(np.empty((0, 3)), [])
    with pytest.raises(ValueError, match=r"X must have at least one row and one column, got shape \(0, 4\)"):
        kind.classifier().fit(X[:0], [])


def test_an_all_missing_column_and_many_columns(kind: Kind) -> None:
    X, y = make_people()
    X["empty"] = np.nan
    assert kind.classifier(**kind.small).fit(X, y).score(X, y) > 0.9
    wide = np.random.default_rng(0).random((40, 10_000), np.float32)
    labels = wide[:, 9_999] > 0.5
    clf = kind.classifier(**kind.small | kind.widest).fit(wide, labels)
    assert clf.score(wide, labels) > 0.9


def test_the_same_seed_gives_the_same_model(kind: Kind) -> None:
    X, y = make_people()
    y = np.where(np.random.default_rng(1).random(len(y)) < 0.2, "maybe", y)
    first, second = (kind.classifier(**kind.small).fit(X, y).model_.to_bytes() for _ in range(2))
    assert first == second
    other = kind.classifier(**{**kind.small, "random_state": 1}).fit(X, y)
    assert other.model_.to_bytes() != first
    assert kind.classifier(**{**kind.small, "random_state": np.random.RandomState(5)}).fit(X, y).score(X, y) > 0.7


def test_in_scikit_learns_company(kind: Kind) -> None:
    X, y = load_breast_cancer(return_X_y=True)
    clf = kind.classifier(**kind.small | {"max_iter": 60})
    assert cross_val_score(clf, X, y, cv=3).mean() > 0.9
    pipeline = make_pipeline(SelectKBest(k=5), clone(clf))
    search = GridSearchCV(pipeline, {f"{kind.classifier.__name__.lower()}__depth": [1, 2]}, cv=2).fit(X, y)
    assert search.best_score_ > 0.85
    copied = pickle.loads(pickle.dumps(search.best_estimator_))
    np.testing.assert_array_equal(copied.predict(X), search.predict(X))


def test_nothing_but_scikit_learn_is_needed() -> None:
    code = """
from sklearn.datasets import load_breast_cancer
from gatewise import LogicClassifier
X, y = load_breast_cancer(return_X_y=True)
clf = LogicClassifier(random_state=0).fit(X, y)
words = LogicClassifier(random_state=0).fit([["a", 1], ["b", None]] * 50, [0, 1] * 50)
print(clf.score(X, y) > 0.9, words.predict({"x0": "b", "x1": None}))
"""
    packages = missing("pandas", "polars", "pyarrow", "matplotlib", "torch")
    done = subprocess.run([sys.executable, "-c", packages + code], capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, "True [1]\n"), done.stderr
