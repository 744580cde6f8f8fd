"""LogicClassifier and LogicRegressor: circuits learned from tables, as scikit-learn estimators; BitEncoder: their bits.

In: X, any table that `Encoder` reads, and y. Out: a fitted estimator whose `model_` is the `Model` to save and deploy.
Invariant: equal parameters, data and `random_state` give equal models. Parameters are stored untouched.
"""

# ruff: noqa: E402 (a package that is missing is named before anything imports it)

from gatewise.extras import require

for name in ("torch", "sklearn"):  # in this order: scikit-learn looks for torch, too
    require(name, "sklearn", needed_by="gatewise.estimators")

from gatewise.estimators.base import ConvergenceWarning, LogicEstimator
from gatewise.estimators.classifier import LogicClassifier
from gatewise.estimators.encoder import BitEncoder
from gatewise.estimators.regressor import LogicRegressor

__all__ = ["BitEncoder", "ConvergenceWarning", "LogicClassifier", "LogicEstimator", "LogicRegressor"]
