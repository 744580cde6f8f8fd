"""Several yes-or-no labels per row, as scikit-learn has them: y of shape (n_rows, n_labels) with 0 and 1.

In: such a y, or labels of one kind. Out: arrays to learn from, and answers of the same shape.
Invariant: of several labels, the model's values are logarithms of odds, above 0 just where a label is predicted.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.multiclass import type_of_target
from sklearn.utils.validation import check_is_fitted

from gatewise.boost.labels import find_odds
from gatewise.encode import Encoder
from gatewise.estimators.base import make_constant
from gatewise.estimators.targets import ClassTargets, Weights
from gatewise.heads import Affine
from gatewise.model import Model


class LabelTargets(ClassTargets):
    """An estimator of classes, or of several labels per row."""

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_label = True
        return tags

    def predict(self, X: Any) -> NDArray[Any]:
        """Predict the label of each row, or the 0s and 1s of several labels.

        Parameters
        ----------
        X : table, shape (n_rows, n_columns)
            What `fit` takes, or a dict: one row, with values by name of the column.

        Returns
        -------
        array, shape (n_rows,), or of several labels int64, (n_rows, n_labels)
        """
        if not self._has_labels():
            return super().predict(X)
        return (self.decision_function(X) > 0).astype(np.int64)

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Predict the probability of each class, or of each of several labels.

        Parameters
        ----------
        X : table, shape (n_rows, n_columns)
            What `predict` takes.

        Returns
        -------
        float64 array, shape (n_rows, n_classes) or (n_rows, n_labels)
            Classes are in the order of `classes_`.
        """
        if not self._has_labels():
            return super().predict_proba(X)
        return np.exp(-np.logaddexp(0, -self.decision_function(X)))

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """Scores of the rows: of two classes the second one's logarithm of odds, (n_rows,), else one for each class.

        Of several labels, the logarithm of odds of each, (n_rows, n_labels).

        Parameters
        ----------
        X : table, shape (n_rows, n_columns)
            What `predict` takes.
        """
        if self._has_labels():
            return self.model_.scores(self._check_table(X, reset=False))
        logs = self.predict_log_proba(X)
        return logs[:, 1] - logs[:, 0] if len(self.classes_) == 2 else logs

    def _has_labels(self) -> bool:
        check_is_fitted(self)
        return isinstance(self.model_.head, Affine)

    def _check_target(self, y: Any) -> NDArray[Any]:
        if not _has_columns(y):
            return super()._check_target(y)
        labels = _as_indicators(y)
        if self.class_weight is not None:
            raise ValueError(
                f"class_weight must be None for several labels per row, got {self.class_weight!r:.60}; "
                "MultiOutputClassifier weighs each of them"
            )
        self.classes_ = np.arange(labels.shape[1])
        return labels

    def _match_target(self, y: Any) -> NDArray[Any]:
        return _as_indicators(y) if _has_columns(y) else super()._match_target(y)

    def _as_goals(self, targets: NDArray[Any]) -> NDArray[np.float64]:
        return super()._as_goals(targets) if targets.ndim == 1 else targets.astype(np.float64)

    def _find_loss(self, scores: NDArray[np.float64], targets: NDArray[Any], weights: Weights) -> float:
        if targets.ndim == 1:
            return super()._find_loss(scores, targets, weights)
        losses = np.logaddexp(0, np.where(targets > 0, -scores, scores)).sum(axis=1)
        return float(np.average(losses, weights=weights))

    def _constant_model(self, encoder: Encoder, targets: NDArray[Any], weights: Weights) -> Model:
        if targets.ndim == 1:
            return super()._constant_model(encoder, targets, weights)
        odds = find_odds(np.average(targets, axis=0, weights=weights))
        head = Affine((1.0,) * len(odds), tuple(odds.tolist()), 1)
        return make_constant(encoder, np.zeros(len(odds), np.int32), head)


def _has_columns(y: Any) -> bool:
    shape = getattr(y, "shape", None) or np.asarray(y, object).shape
    return len(shape) == 2 and shape[1] > 1


def _as_indicators(y: Any) -> NDArray[np.int64]:
    if type_of_target(y) != "multilabel-indicator":
        raise ValueError(
            "y should be a 1d array, or hold 0 and 1 for several labels per row, got an array of columns with others; "
            "sklearn.multioutput.MultiOutputClassifier fits a classifier for each column"
        )
    return np.asarray(y.toarray() if hasattr(y, "toarray") else y).astype(np.int64)
