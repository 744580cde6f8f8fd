"""BitEncoder: scikit-learn's own checks of transformers, and its place in pipelines."""

import pickle
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from support.tools import require_module

require_module("torch", "pip install -c constraints.txt '.[sklearn]'")
require_module("sklearn", "pip install -c constraints.txt '.[sklearn]'")

from sklearn.compose import make_column_transformer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks

import gatewise
from gatewise import BitEncoder, Encoder


@parametrize_with_checks([BitEncoder(), BitEncoder(max_bits=50, max_thresholds=3, categorical=[0])])
def test_scikit_learns_checks(estimator: Any, check: Any) -> None:
    check(estimator)


def make_people() -> tuple[pd.DataFrame, np.ndarray]:
    rng = np.random.default_rng(0)
    age = rng.integers(18, 80, 400)
    frame = pd.DataFrame({"age": age, "job": rng.choice(["nurse", "smith", "clerk"], 400), "zone": age % 3})
    return frame, (age > 30) & (age < 60) & (frame["job"] != "clerk").to_numpy()


def test_it_gives_the_bits_of_the_encoder() -> None:
    X, _ = make_people()
    transformer = BitEncoder(max_bits=20, max_thresholds=8, categorical=["zone"]).fit(X)
    encoder = Encoder.fit(X, max_bits=20, max_thresholds=8, categorical=["zone"])
    assert transformer.encoder_ == encoder
    assert transformer.get_feature_names_out().tolist() == encoder.describe_bits()
    bits = transformer.transform(X)
    assert bits.dtype == np.bool_
    np.testing.assert_array_equal(bits, encoder.encode(X).unpack())
    for other in (X[["zone", "age", "job"]], pl.from_pandas(X), X.to_dict("records")):
        np.testing.assert_array_equal(transformer.transform(other), bits)
    assert BitEncoder(max_bits=20, max_thresholds=8, categorical=["zone"]).fit(X.to_dict("records")).encoder_ == encoder


def test_output_as_a_data_frame_names_the_questions() -> None:
    X, _ = make_people()
    transformer = BitEncoder(max_thresholds=2).set_output(transform="pandas")
    frame = transformer.fit_transform(X)
    assert list(frame.columns) == transformer.encoder_.describe_bits()
    assert frame["job = nurse"].tolist() == (X["job"] == "nurse").tolist()


def test_in_pipelines_it_gives_linear_models_what_they_lack() -> None:
    X, y = make_people()
    plain = make_pipeline(make_column_transformer(("passthrough", ["age", "zone"])), LogisticRegression())
    by_bits = make_pipeline(BitEncoder(), LogisticRegression())
    assert plain.fit(X, y).score(X, y) < 0.75
    assert by_bits.fit(X, y).score(X, y) > 0.9
    search = GridSearchCV(by_bits, {"bitencoder__max_thresholds": [1, 16]}, cv=3).fit(X, y)
    assert search.best_params_ == {"bitencoder__max_thresholds": 16}
    copied = pickle.loads(pickle.dumps(search.best_estimator_))
    np.testing.assert_array_equal(copied.predict(X), search.predict(X))


def test_wrong_parameters_and_columns_are_named() -> None:
    X, _ = make_people()
    with pytest.raises(ValueError, match="The 'max_thresholds' parameter of BitEncoder must be"):
        BitEncoder(max_thresholds=0).fit(X)
    with pytest.raises(ValueError, match="categorical must name or number columns of X, got 'jobs'"):
        BitEncoder(categorical=["jobs"]).fit(X)
    with pytest.raises(ValueError, match="none named 'job'"):
        BitEncoder().fit(X).transform(X.drop(columns="job"))
    with pytest.raises(ValueError, match="input_features is not equal to feature_names_in_"):
        BitEncoder().fit(X).get_feature_names_out(["a", "b", "c"])


def test_it_is_a_name_of_the_package() -> None:
    assert "BitEncoder" in dir(gatewise)
    assert gatewise.BitEncoder is gatewise.estimators.BitEncoder
