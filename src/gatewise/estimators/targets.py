"""What estimators predict: classes, or values.

In: y as users have it. Out: arrays to learn from, and a model where there is nothing to learn.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin, MultiOutputMixin, RegressorMixin
from sklearn.utils import assert_all_finite, check_array, column_or_1d
from sklearn.utils.class_weight import compute_sample_weight
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted

from gatewise.boost import ValueLoss
from gatewise.boost.values import SQUARED_ERROR
from gatewise.encode import Encoder
from gatewise.encode.columns import is_missing
from gatewise.estimators.base import LogicEstimator, make_constant
from gatewise.heads import Affine, Classes
from gatewise.model import Model

Weights = NDArray[np.floating[Any]] | None

MOST_VALUE = 1e290
"""Sums of larger values may have no float64."""


@dataclass(kw_only=True, eq=False, repr=False)
class ClassTargets(ClassifierMixin, LogicEstimator):  # type: ignore[misc]
    """An estimator of classes; it has a parameter `class_weight`."""

    class_weight: dict[Any, float] | str | None = None

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Predict the probability of each class.

        Parameters
        ----------
        X : table, shape (n_rows, n_columns)
            What `predict` takes.

        Returns
        -------
        float64 array, shape (n_rows, n_classes)
            Columns in the order of `classes_`.
        """
        check_is_fitted(self)
        return self.model_.predict_proba(self._check_table(X, reset=False))

    def predict_log_proba(self, X: Any) -> NDArray[np.float64]:
        """The natural logarithms of what `predict_proba` gives."""
        with np.errstate(divide="ignore"):  # a probability that is rounded to 0
            return np.log(self.predict_proba(X))

    def _check_target(self, y: Any) -> NDArray[np.int64]:
        labels = column_or_1d(_as_labels(y), warn=True)
        assert_all_finite(labels, input_name="y")
        check_classification_targets(labels)
        self.classes_, positions = np.unique(labels, return_inverse=True)
        return positions

    def _match_target(self, y: Any) -> NDArray[np.int64]:
        """Positions of labels among those of `fit`."""
        position = {label: i for i, label in enumerate(self.classes_.tolist())}
        labels = column_or_1d(_as_labels(y), warn=True).tolist()
        for label in labels:
            if label not in position:
                raise ValueError(f"eval_set must have labels that y has, got {label!r:.60}; leave such rows out")
        return np.array([position[label] for label in labels], np.int64)

    def _find_loss(self, scores: NDArray[np.float64], targets: NDArray[Any], weights: Weights) -> float:
        """Mean negative logarithm of the labels' probabilities."""
        logs = scores - np.logaddexp.reduce(scores, axis=1, keepdims=True)
        return -float(np.average(np.take_along_axis(logs, targets[:, np.newaxis], axis=1)[:, 0], weights=weights))

    def _weigh(self, targets: NDArray[np.int64], weights: Weights) -> Weights:
        if self.class_weight is None:
            return weights
        by_class = compute_sample_weight(self.class_weight, self.classes_[targets])
        return by_class if weights is None else weights * by_class

    def _as_goals(self, targets: NDArray[np.int64]) -> NDArray[np.float64]:
        """A column for each class."""
        return (targets[:, np.newaxis] == np.arange(len(self.classes_))).astype(np.float64)

    def _labels(self) -> list[Any]:
        labels: list[Any] = self.classes_.tolist()
        return labels

    def _constant_model(self, encoder: Encoder, targets: NDArray[np.int64], weights: Weights) -> Model:
        """A model that predicts the class of the largest weight: only the output of its group is true."""
        n_classes = len(self.classes_)
        most = np.bincount(targets, weights, n_classes).argmax()
        outputs = (np.arange(n_classes) == most).astype(np.int32)  # wires 0 and 1 are the constants
        return make_constant(encoder, outputs, Classes(tuple(self._labels()), 1.0, 1))


class ValueTargets(MultiOutputMixin, RegressorMixin, LogicEstimator):  # type: ignore[misc]
    """An estimator of values, one or several per row."""

    def _check_target(self, y: Any) -> NDArray[np.float64]:
        targets = check_array(y, ensure_2d=False, dtype=np.float64, input_name="y", estimator=self)
        if np.abs(targets).max(initial=0.0) > MOST_VALUE:
            row = int(np.abs(targets.reshape(len(targets), -1)).max(axis=1).argmax())
            raise ValueError(
                f"y must be within {MOST_VALUE:g}, got {targets[row]} in row {row}; divide all values by a number"
            )
        if targets.ndim == 2 and targets.shape[1] == 1:
            targets = column_or_1d(targets, warn=True)
        return targets

    def _match_target(self, y: Any) -> NDArray[np.float64]:
        return self._check_target(y)

    def _value_loss(self) -> ValueLoss:
        """What is meant by a good value."""
        return SQUARED_ERROR

    def _find_loss(self, scores: NDArray[np.float64], targets: NDArray[np.float64], weights: Weights) -> float:
        """Mean loss; of several outputs the sum of theirs."""
        return self._value_loss().measure(scores, targets.reshape(scores.shape), weights)

    def _weigh(self, targets: NDArray[np.float64], weights: Weights) -> Weights:
        return weights

    def _as_goals(self, targets: NDArray[np.float64]) -> NDArray[np.float64]:
        return targets.reshape(len(targets), -1)

    def _labels(self) -> None:
        """Values have none."""

    def _constant_model(self, encoder: Encoder, targets: NDArray[np.float64], weights: Weights) -> Model:
        """A model that predicts the best one value: it is the offset of the head, and all outputs are false."""
        best = self._value_loss().best(self._as_goals(targets), weights)
        head = Affine((1.0,) * len(best), tuple(best.tolist()), 1)
        return make_constant(encoder, np.zeros(len(best), np.int32), head)


def _as_labels(y: Any) -> NDArray[Any]:
    """Labels as an array, in which nullable integers and bools of pandas stay what they are."""
    dtype = getattr(y, "dtype", None)
    if isinstance(dtype, np.dtype) and dtype.kind != "O":
        return np.asarray(y)
    values = np.asarray(y, dtype=object)  # numpy would turn NaN among strings into the string "nan"
    for i, label in enumerate(values.ravel().tolist()):
        if is_missing(label):
            raise ValueError(f"y must have a label in every row, got {label!r} in row {i}; leave such rows out")
    return values if isinstance(dtype, np.dtype) else np.array(values.tolist())
