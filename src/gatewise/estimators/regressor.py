"""LogicRegressor: a scikit-learn regressor that is a circuit."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import MultiOutputMixin, RegressorMixin
from sklearn.utils import check_array, column_or_1d

from gatewise import nn, train
from gatewise.encode import Encoder
from gatewise.estimators.base import LogicEstimator, make_constant
from gatewise.heads import Affine
from gatewise.model import Model

REACH = 10.0  # how far, in standard deviations, a prediction can be from the mean


class LogicRegressor(MultiOutputMixin, RegressorMixin, LogicEstimator):  # type: ignore[misc]
    """A regressor that is a circuit of logic gates: a value is the share of true outputs, scaled and shifted.

    Parameters
    ----------
    width, depth, max_bits, categorical, learning_rate, batch_size, max_iter, early_stopping, validation_fraction,
    n_iter_no_change, random_state, progress
        As for `LogicClassifier`.

    Attributes
    ----------
    model_, n_iter_, history_, validated_, interrupted_, n_features_in_, feature_names_in_
        As for `LogicClassifier`.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> X, y = load_diabetes(return_X_y=True)
    >>> reg = LogicRegressor(width=500, depth=2, max_iter=30, random_state=0).fit(X, y)
    >>> reg.score(X, y) > 0.4
    True
    """

    _max_thresholds = 128  # values need more resolution than classes

    def _check_target(self, y: Any) -> NDArray[np.float64]:
        targets = check_array(y, ensure_2d=False, dtype=np.float64, input_name="y", estimator=self)
        if targets.ndim == 2 and targets.shape[1] == 1:
            targets = column_or_1d(targets, warn=True)
        return targets

    def _weigh(self, targets: NDArray[np.float64], weights: NDArray[np.float64] | None) -> NDArray[np.float64] | None:
        return weights

    def _network_options(self) -> dict[str, Any]:
        return {}

    def _can_split(self, data: train.Bits) -> bool:
        return len(data) >= 2

    def _make_task(self, data: train.Bits) -> train.Regression:
        mean, deviation = _describe(data)
        return train.Regression(nn.Affine(2 * REACH * deviation, mean - REACH * deviation))

    def _labels(self) -> None:
        """Regressions have none."""

    def _constant_model(self, encoder: Encoder, data: train.Bits) -> Model:
        """A model that predicts the weighted mean: it is the offset of the head, and all outputs are false."""
        mean, _ = _describe(data)
        return make_constant(encoder, np.zeros(len(mean), np.int32), Affine((1.0,) * len(mean), tuple(mean), 1))


def _describe(data: train.Bits) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Weighted mean and standard deviation of each target; a deviation of 0 becomes 1."""
    columns = data.targets.reshape(len(data), -1)
    mean = np.average(columns, axis=0, weights=data.weights)
    deviation = np.sqrt(np.average(np.square(columns - mean), axis=0, weights=data.weights))
    return mean, np.where(deviation > 0, deviation, 1.0)
