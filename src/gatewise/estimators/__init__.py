"""LogicClassifier and LogicRegressor: circuits learned from tables, as scikit-learn estimators.

In: X, any table that `Encoder` reads, and y. Out: a fitted estimator whose `model_` is the `Model` to save and deploy.
Invariant: equal parameters, data and `random_state` give equal models. Parameters are stored untouched.
"""

import importlib

for name in ("torch", "sklearn"):  # in this order: scikit-learn looks for torch, too
    try:
        importlib.import_module(name)
    except ModuleNotFoundError as error:
        message = f"gatewise.estimators needs {error.name}: pip install 'gatewise[sklearn]'"
        raise ModuleNotFoundError(message, name=error.name) from error

from gatewise.estimators.base import LogicEstimator  # noqa: E402
from gatewise.estimators.classifier import LogicClassifier  # noqa: E402
from gatewise.estimators.regressor import LogicRegressor  # noqa: E402

__all__ = ["LogicClassifier", "LogicEstimator", "LogicRegressor"]
