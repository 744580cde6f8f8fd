"""LogicClassifier and LogicRegressor: circuits learned from tables, as scikit-learn estimators.

In: X, any table that `Encoder` reads, and y. Out: a fitted estimator whose `model_` is the `Model` to save and deploy.
Invariant: equal parameters, data and `random_state` give equal models. Parameters are stored untouched.
"""

try:
    import torch  # noqa: F401

    # isort: split
    import sklearn  # noqa: F401
except ModuleNotFoundError as error:
    message = f"gatewise.estimators needs {error.name}: pip install 'gatewise[sklearn]'"
    raise ModuleNotFoundError(message, name=error.name) from error

from gatewise.estimators.base import LogicEstimator
from gatewise.estimators.classifier import LogicClassifier
from gatewise.estimators.regressor import LogicRegressor

__all__ = ["LogicClassifier", "LogicEstimator", "LogicRegressor"]
