"""LogicClassifier and LogicRegressor: circuits that are grown term by term, as trees are boosted."""

import os
import warnings
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.utils._param_validation import Interval, StrOptions

from gatewise.boost import Boosting, EncodedTable, Fitted, fit_classes, fit_values
from gatewise.boost.learner import MAX_BITS, MAX_QUESTIONS
from gatewise.encode import Encoder
from gatewise.estimators.base import POSITIVE, ConvergenceWarning, LogicEstimator
from gatewise.estimators.tables import POSITIVE_INTEGER
from gatewise.estimators.targets import ClassTargets, ValueTargets, Weights
from gatewise.model import Model


class BoostedEstimator(LogicEstimator):
    """What `LogicClassifier`, which documents the parameters, and `LogicRegressor` share."""

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **LogicEstimator._parameter_constraints,
        "learning_rate": [POSITIVE],
        "max_iter": [POSITIVE_INTEGER],
        "depth": [Interval(Integral, 1, MAX_QUESTIONS, closed="both")],
        "l2_regularization": [Interval(Real, 0, None, closed="left")],
        "max_thresholds": [Interval(Integral, 1, MAX_BITS - 1, closed="both")],
        "early_stopping": ["boolean"],
        "n_jobs": [Integral, None],
    }

    def __init__(
        self,
        *,
        learning_rate: float = 0.2,
        max_iter: int = 1000,
        depth: int = 3,
        l2_regularization: float = 1.0,
        max_thresholds: int = 64,
        max_bits: int | None = None,
        categorical: list[str | int] | None = None,
        early_stopping: bool = True,
        validation_fraction: float = 0.1,
        n_iter_no_change: int = 50,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.learning_rate = learning_rate
        self.max_iter = max_iter
        self.depth = depth
        self.l2_regularization = l2_regularization
        self.max_thresholds = max_thresholds
        self.max_bits = max_bits
        self.categorical = categorical
        self.early_stopping = early_stopping
        self.validation_fraction = validation_fraction
        self.n_iter_no_change = n_iter_no_change
        self.random_state = random_state
        self.n_jobs = n_jobs

    def _forget(self) -> None:
        self.losses_: NDArray[np.float64] = np.zeros(0)

    def _fit_encoder(self, table: Any) -> Encoder:
        return Encoder.fit(
            table, max_bits=self.max_bits, max_thresholds=self.max_thresholds, categorical=self.categorical
        )

    def _learn(self, encoder: Encoder, table: Any, targets: NDArray[Any], weights: Weights) -> Model:
        threads = count_threads(self.n_jobs)
        encoded = EncodedTable(encoder, encoder.encode(table, threads=threads), weights)
        boosting = Boosting(
            n_questions=self.depth,
            learning_rate=self.learning_rate,
            l2=self.l2_regularization,
            max_terms=self.max_iter,
            patience=self.n_iter_no_change,
            validation_fraction=self.validation_fraction if self.early_stopping else None,
            seed=self._draw_seed(),
        )
        fitted = self._fit_terms(boosting, encoded, targets, threads)
        self.n_iter_, self.losses_, self.validated_ = fitted.n_terms, fitted.losses, len(fitted.losses) > 0
        if fitted.n_terms == 0:
            warnings.warn(
                "fit learned nothing: no term lowers the loss of rows that it was not grown on, so the model gives "
                "one answer for all rows; the columns may say nothing about y",
                ConvergenceWarning,
                stacklevel=3,
            )
        return fitted.model


class LogicClassifier(ClassTargets, BoostedEstimator):
    """A classifier that is a circuit of logic gates.

    The columns of a table become bits (see `gatewise.Encoder.fit`). A term reads a few bits and adds a small whole
    number to the score of each class; terms are grown one after the other, as the trees of gradient boosting are. What
    is kept is their circuit: `model_`, which runs without scikit-learn and takes nanoseconds per row.

    Parameters
    ----------
    class_weight : dict, "balanced" or None
        As in scikit-learn.
    learning_rate : float
        Share of a Newton step that a term takes.
    max_iter : int
        Largest number of terms.
    depth : int
        Bits that a term reads, 1 to 6.
    l2_regularization : float
        The larger, the smaller are the steps of terms on few rows.
    max_thresholds : int
        Largest number of bits that a column of numbers is encoded with, at most 254.
    max_bits : int, optional
        Largest number of bits that a row is encoded with.
    categorical : list of column names or positions, optional
        Columns of numbers that hold categories; strings, bools and pandas categories always do.
    early_stopping : bool
        Whether the number of terms is chosen by rows that are set aside: every row in turn if there are at most 5,000,
        else a share of them. The model is grown from all rows then. Otherwise it has `max_iter` terms.
    validation_fraction : float
        Share of the rows that are set aside.
    n_iter_no_change : int
        Number of terms that do not lower the loss after which growing stops.
    random_state : int, RandomState or None
        Which rows are set aside. Equal integers give equal models.
    n_jobs : int, optional
        Threads; all cores by default. The model does not depend on them.

    Attributes
    ----------
    model_ : gatewise.Model
    classes_ : array, shape (n_classes,)
    n_iter_ : int
        Number of terms.
    losses_ : float64 array
        Mean loss of rows set aside, after each term; empty if there were none.
    validated_ : bool
        Whether rows were set aside.
    n_features_in_, feature_names_in_ : as in scikit-learn
        Columns of a data frame are matched by name, whatever their order.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> clf = LogicClassifier(random_state=0).fit(X, y)
    >>> clf.score(X, y) > 0.95
    True
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **BoostedEstimator._parameter_constraints,
        "class_weight": [dict, StrOptions({"balanced"}), None],
    }

    def __init__(
        self,
        *,
        class_weight: dict[Any, float] | str | None = None,
        learning_rate: float = 0.2,
        max_iter: int = 1000,
        depth: int = 3,
        l2_regularization: float = 1.0,
        max_thresholds: int = 64,
        max_bits: int | None = None,
        categorical: list[str | int] | None = None,
        early_stopping: bool = True,
        validation_fraction: float = 0.1,
        n_iter_no_change: int = 50,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        super().__init__(
            learning_rate=learning_rate,
            max_iter=max_iter,
            depth=depth,
            l2_regularization=l2_regularization,
            max_thresholds=max_thresholds,
            max_bits=max_bits,
            categorical=categorical,
            early_stopping=early_stopping,
            validation_fraction=validation_fraction,
            n_iter_no_change=n_iter_no_change,
            random_state=random_state,
            n_jobs=n_jobs,
        )
        self.class_weight = class_weight

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """Scores of the rows: of two classes the second one's logarithm of odds, (n_rows,), else one for each class.

        Parameters
        ----------
        X : table, shape (n_rows, n_columns)
            What `predict` takes.
        """
        logs = self.predict_log_proba(X)
        return logs[:, 1] - logs[:, 0] if len(self.classes_) == 2 else logs

    def _fit_terms(self, boosting: Boosting, encoded: EncodedTable, targets: NDArray[Any], threads: int) -> Fitted:
        return fit_classes(boosting, encoded, targets, self._labels(), threads=threads)


class LogicRegressor(ValueTargets, BoostedEstimator):
    """A regressor that is a circuit of logic gates: a value is a sum of small whole numbers, scaled and shifted.

    Parameters
    ----------
    learning_rate, max_iter, depth, l2_regularization, max_thresholds, max_bits, categorical, early_stopping,
    validation_fraction, n_iter_no_change, random_state, n_jobs
        As for `LogicClassifier`.

    Attributes
    ----------
    model_, n_iter_, losses_, validated_, n_features_in_, feature_names_in_
        As for `LogicClassifier`; losses are squared errors of values that are scaled to a variance of 1.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> X, y = load_diabetes(return_X_y=True)
    >>> reg = LogicRegressor(random_state=0).fit(X, y)
    >>> reg.score(X, y) > 0.5
    True
    """

    def _fit_terms(self, boosting: Boosting, encoded: EncodedTable, targets: NDArray[Any], threads: int) -> Fitted:
        return fit_values(boosting, encoded, targets.reshape(len(targets), -1), threads=threads)


def count_threads(n_jobs: int | None) -> int:
    """Threads that `n_jobs` asks for: None means all cores, and -1 too, -2 all but one, as in scikit-learn."""
    n_cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    if n_jobs == 0:
        raise ValueError("n_jobs must not be 0, got 0; None uses all cores")
    if n_jobs is None or n_jobs < 0:
        return max(1, n_cores + 1 + (-1 if n_jobs is None else n_jobs))
    return n_jobs
