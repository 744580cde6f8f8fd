"""The estimators that the tabular benchmark compares, each set up as its users do, and how large and fast they are."""

import pickle
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import lightgbm
import numpy as np
import tl2cgen
import treelite
from numpy.typing import NDArray
from sklearn.compose import make_column_transformer
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression, RidgeCV
from sklearn.neural_network import MLPClassifier, MLPRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor
from threadpoolctl import threadpool_limits

from benchmarks.data.tables import SEED
from gatewise.estimators import LogicClassifier, LogicRegressor
from gatewise.run.timing import time_call

N_ROWS, N_TRIED = 100_000, 1_000
Rows = NDArray[Any]
Predict = Callable[[Rows], Any]


def make_linear_input(categorical: list[int], n_columns: int) -> Any:
    """One-hot categories and scaled numbers, for models that need them."""
    numeric = [i for i in range(n_columns) if i not in categorical]
    return make_column_transformer(
        (OneHotEncoder(handle_unknown="ignore"), categorical),
        (make_pipeline(SimpleImputer(), StandardScaler()), numeric),
    )


def make_estimators(categorical: list[int], shape: tuple[int, int], *, regression: bool) -> dict[str, Any]:
    """All of them, unfitted, for a matrix of floats whose `categorical` columns hold codes."""
    seed: dict[str, Any] = {"random_state": SEED}
    n_rows, n_columns = shape
    scaled = [make_linear_input(categorical, n_columns) for _ in range(2)]
    early = {"early_stopping": n_rows >= 5_000, **seed}  # it takes minutes otherwise, and few rows cannot spare any
    boosted = {"categorical_features": categorical or None, **seed}
    light = {"n_jobs": 2, "verbose": -1, **seed}
    if regression:
        return {
            "gatewise": LogicRegressor(categorical=list(categorical), **seed),
            "linear": make_pipeline(scaled[0], RidgeCV()),
            "tree": DecisionTreeRegressor(max_leaf_nodes=50, **seed),
            "MLP": make_pipeline(scaled[1], MLPRegressor(**early)),
            "HistGradientBoosting": HistGradientBoostingRegressor(**boosted),
            "LightGBM": lightgbm.LGBMRegressor(**light),
        }
    return {
        "gatewise": LogicClassifier(categorical=list(categorical), **seed),
        "linear": make_pipeline(scaled[0], LogisticRegression(max_iter=1000)),
        "tree": DecisionTreeClassifier(max_leaf_nodes=50, **seed),
        "MLP": make_pipeline(scaled[1], MLPClassifier(**early)),
        "HistGradientBoosting": HistGradientBoostingClassifier(**boosted),
        "LightGBM": lightgbm.LGBMClassifier(**light),
    }


def measure_bytes(name: str, estimator: Any) -> int:
    """Of the file that one deploys."""
    if name == "gatewise":
        return len(estimator.model_.to_bytes())
    if name == "LightGBM":
        return len(estimator.booster_.model_to_string().encode())
    return len(pickle.dumps(estimator))


def make_predict(name: str, estimator: Any) -> Predict:
    """The call that is timed, in one thread."""
    if name == "gatewise":
        return estimator.model_.predict
    if name == "LightGBM":
        return lambda X: estimator.predict(X, num_threads=1)
    return estimator.predict


def compile_lightgbm(estimator: Any, folder: Path) -> Predict:
    """The same model as machine code, by tl2cgen."""
    model = treelite.frontend.from_lightgbm(estimator.booster_)
    library = folder / "model.so"
    tl2cgen.export_lib(model, toolchain="gcc", libpath=library, params={"parallel_comp": 2}, verbose=False)
    predictor = tl2cgen.Predictor(library, nthread=1)
    return lambda X: predictor.predict(tl2cgen.DMatrix(X))


def time_predict(predict: Predict, X: Rows) -> float:
    """Nanoseconds per row, the least of several calls, in one thread: on 100,000 rows, or as many as take a second."""
    rows = np.ascontiguousarray(np.resize(X, (N_ROWS, X.shape[1])))
    with threadpool_limits(1):
        start = time.perf_counter()
        predict(rows[:N_TRIED])
        n = min(N_ROWS, max(N_TRIED, int(N_TRIED / (time.perf_counter() - start))))
        return 1e9 * time_call(lambda: predict(rows[:n]), min_calls=2).least / n


def time_compiled(estimator: Any, X: Rows) -> float:
    """Nanoseconds per row of LightGBM's model compiled by tl2cgen."""
    with tempfile.TemporaryDirectory() as folder:
        return time_predict(compile_lightgbm(estimator, Path(folder)), X)
