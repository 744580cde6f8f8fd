"""Circuits learned from tables, as scikit-learn estimators; `BitEncoder`: the bits that they read.

In: X, any table that `Encoder` reads, and y. Out: a fitted estimator whose `model_` is the `Model` to save and deploy.
Invariant: equal parameters, data and `random_state` give equal models. Parameters are stored untouched.
"""

# ruff: noqa: E402 (a package that is missing is named before anything imports it)
from typing import TYPE_CHECKING

from gatewise.extras import require

require("sklearn", "sklearn", needed_by="gatewise.estimators")

from gatewise.estimators.base import ConvergenceWarning, LogicEstimator
from gatewise.estimators.boosted import LogicClassifier, LogicRegressor
from gatewise.estimators.encoder import BitEncoder

__all__ = [
    "BitEncoder",
    "ConvergenceWarning",
    "LogicClassifier",
    "LogicEstimator",
    "LogicRegressor",
    "NetworkClassifier",
    "NetworkRegressor",
]

if TYPE_CHECKING:
    from gatewise.estimators.network import NetworkClassifier, NetworkRegressor
else:

    def __getattr__(name: str) -> object:
        """Networks need torch, so they are imported when they are first asked for."""
        if name in ("NetworkClassifier", "NetworkRegressor"):
            require("torch", "torch", needed_by=f"gatewise.estimators.{name}")
            from gatewise.estimators import network

            return getattr(network, name)
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
