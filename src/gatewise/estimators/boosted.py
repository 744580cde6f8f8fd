"""LogicClassifier and LogicRegressor: circuits that are grown term by term, as trees are boosted.

In: a table and its targets. Out: a model, what was chosen for it (`plan_`), and what its columns are worth.
"""

import warnings
from dataclasses import dataclass, replace
from numbers import Integral, Real
from typing import Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_consistent_length
from sklearn.utils._param_validation import Interval, StrOptions

from gatewise.boost import Boosting, EncodedTable, Fitted, ValueLoss, fit_classes, fit_values
from gatewise.boost.held_out import hold_out, join_targets
from gatewise.boost.labels import fit_labels
from gatewise.boost.learner import MAX_BITS, MAX_QUESTIONS
from gatewise.boost.values import describe_values
from gatewise.encode import Encoder
from gatewise.estimators.base import POSITIVE, ConvergenceWarning, LogicEstimator, count_threads
from gatewise.estimators.importance import RatedEstimator
from gatewise.estimators.linear import ClassTask, LabelTask, Task, ValueTask, fit_linear
from gatewise.estimators.monotone import read_directions
from gatewise.estimators.multilabel import LabelTargets
from gatewise.estimators.plan import Size, Validation, choose_validation, describe_fit
from gatewise.estimators.screen import MAX_COLUMNS, screen
from gatewise.estimators.tables import POSITIVE_INTEGER
from gatewise.estimators.targets import ValueTargets, Weights
from gatewise.model import Model

DEPTH = 3
"""Bits that a term reads, unless rows set aside ask for more."""

BITS_PER_KEPT = 8
"""Bits per column of a dense table of which columns were screened: with fewer, thresholds miss the best question."""


@dataclass(kw_only=True, eq=False, repr=False)
class BoostedEstimator(RatedEstimator):
    """What `LogicClassifier`, which documents the parameters, and `LogicRegressor` share."""

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **LogicEstimator._parameter_constraints,
        "learning_rate": [POSITIVE],
        "max_iter": [POSITIVE_INTEGER],
        "depth": [Interval(Integral, 1, MAX_QUESTIONS, closed="both"), None],
        "l2_regularization": [Interval(Real, 0, None, closed="left")],
        "max_thresholds": [Interval(Integral, 1, MAX_BITS - 1, closed="both")],
        "early_stopping": ["boolean"],
        "monotone_cst": ["array-like", dict, None],
        "n_jobs": [Integral, None],
        "verbose": ["verbose"],
    }

    learning_rate: float = 0.2
    max_iter: int = 1000
    depth: int | None = None
    l2_regularization: float = 1.0
    max_thresholds: int = 254
    early_stopping: bool = True
    monotone_cst: Any = None
    n_jobs: int | None = None
    verbose: int | bool = 0

    def fit(self, X: Any, y: Any, sample_weight: Any = None, *, eval_set: Any = None) -> Self:
        """Learn a circuit.

        Parameters
        ----------
        X : table, shape (n_rows, n_columns)
            A numeric, string or object array, a list of rows, a list of dicts, or a data frame of pandas, polars or
            pyarrow.
        y : array, shape (n_rows,)
            For a regressor also (n_rows, n_outputs); for a classifier also 0 and 1, (n_rows, n_labels).
        sample_weight : array, shape (n_rows,), optional
            Rows of weight 0 are left out.
        eval_set : (X, y) or (X, y, sample_weight), optional
            Or a list of one such tuple. Rows that the number of terms is chosen by. No rows of `X` are set aside then,
            no term is grown on these, and `feature_importances_` is measured on them.

        Returns
        -------
        self

        Warns
        -----
        ConvergenceWarning
            Nothing was learned: the circuit is no better than one answer for all rows.
        """
        if isinstance(eval_set, list) and len(eval_set) == 1 and isinstance(eval_set[0], tuple):
            (eval_set,) = eval_set  # as LightGBM and XGBoost take them
        if eval_set is not None and not (isinstance(eval_set, tuple | list) and len(eval_set) in (2, 3)):
            raise ValueError(f"eval_set must be (X, y) or (X, y, sample_weight), got a {type(eval_set).__name__}")
        if eval_set is not None and not self.early_stopping:
            raise ValueError(
                "early_stopping must be True with eval_set, which the number of terms is chosen by, got False"
            )
        self._fit(X, y, sample_weight, eval_set=eval_set)
        if self.verbose:
            print(self.plan_)
        return self

    def _forget(self, encoder: Encoder, n_rows: int) -> None:
        self.losses_: NDArray[np.float64] = np.zeros(0)
        self._rated = None
        self.plan_ = describe_fit(encoder, n_rows, Validation("none"))

    def _fit_encoder(self, table: Any, targets: NDArray[Any], weights: Weights) -> Encoder:
        """Choose bits; of very many columns of numbers only those that explain most."""
        self._seed = self._draw_seed()
        self._screening = screen(table, self._as_goals(targets), weights, seed=self._seed)
        max_bits, kept = self.max_bits, self._screening.kept
        if max_bits is None and kept is not None and not self._screening.is_linear:
            max_bits = BITS_PER_KEPT * len(kept)
        return Encoder.fit(
            table,
            max_bits=max_bits,
            max_thresholds=self.max_thresholds,
            categorical=self.categorical,
            only=kept,
        )

    def _learn(
        self, encoder: Encoder, table: Any, targets: NDArray[Any], weights: Weights, eval_set: Any = None
    ) -> Model:
        threads = count_threads(self.n_jobs)
        directions = read_directions(self.monotone_cst, encoder)
        if directions is not None:
            self._check_one_score(targets)
        encoded = EncodedTable(encoder, encoder.encode(table, threads=threads), weights, directions=directions)
        if eval_set is not None:
            encoded, targets = self._hold_out(encoded, targets, *eval_set)
        boosting = Boosting(
            n_questions=DEPTH if self.depth is None else self.depth,
            may_deepen=self.depth is None,
            learning_rate=self.learning_rate,
            l2=self.l2_regularization,
            max_terms=self.max_iter,
            patience=self.n_iter_no_change,
            validation_fraction=self.validation_fraction if self.early_stopping else None,
            seed=self._seed,
        )
        if self._screening.is_linear:
            fitted = fit_linear(encoded, self._make_task(targets), targets, seed=boosting.seed)
        else:
            fitted = self._grow(boosting, encoded, targets, threads)
        self.n_iter_, self.losses_, self.validated_ = fitted.n_terms, fitted.losses, len(fitted.losses) > 0
        n_given = None if encoded.held_out is None else len(encoded.held_out)
        validation = choose_validation(len(encoded.rows), n_given, boosting.validation_fraction, self._screening)
        depth = fitted.boosting.n_questions
        size = Size(fitted.n_terms, depth, is_deepened=depth > boosting.n_questions)
        self.plan_ = describe_fit(encoder, len(encoded.rows), validation, size, self._screening)
        self._rated = self._choose_rated(fitted.model, encoded, targets, boosting.seed)
        if fitted.n_terms == 0:
            warnings.warn(
                "fit learned nothing: no term lowers the loss of rows that it was not grown on, so the model gives "
                "one answer for all rows; the columns may say nothing about y",
                ConvergenceWarning,
                stacklevel=4,
            )
        return fitted.model

    def _check_one_score(self, targets: NDArray[Any]) -> None:
        """Raise ValueError where nothing is known of directions."""
        if self._screening.is_linear:
            raise ValueError(
                f"monotone_cst must be None for sparse tables with more than {MAX_COLUMNS:,} columns, whose model is "
                "linear; X.toarray() is boosted"
            )
        n_scores = self._as_goals(targets).shape[1]
        if n_scores > (2 if self._labels() else 1) or targets.ndim == 2:
            what = "two classes, or one column of values"
            raise ValueError(f"monotone_cst must be None unless y has {what}, got one with {n_scores}")

    def _grow(self, boosting: Boosting, encoded: EncodedTable, targets: NDArray[Any], threads: int) -> Fitted:
        """Grow terms. The number of them is chosen by rows by which columns were not, if these were screened."""
        rows = self._screening.set_aside
        if rows is None or encoded.held_out is not None or boosting.validation_fraction is None:
            return self._fit_terms(boosting, encoded, targets, threads)
        weights = np.ones(encoded.planes.n_rows) if encoded.weights is None else encoded.weights
        held_out = rows[weights[rows] > 0].astype(np.uint32)
        first = self._fit_terms(boosting, replace(encoded, weights=weights, held_out=held_out), targets, threads)
        if first.n_terms == 0:
            return first
        whole = replace(first.boosting, max_terms=first.n_terms, validation_fraction=None)
        return self._fit_terms(whole, encoded, targets, threads)._replace(losses=first.losses)

    def _hold_out(
        self, encoded: EncodedTable, targets: NDArray[Any], X: Any, y: Any, sample_weight: Any = None
    ) -> tuple[EncodedTable, NDArray[Any]]:
        table, others = self._check_table(X, reset=False), self._match_target(y)
        check_consistent_length(table, others)
        if others.shape[1:] != targets.shape[1:]:
            raise ValueError(f"eval_set must have targets like y, got shapes {others.shape} and {targets.shape}")
        weights = self._weigh(others, self._check_weights(sample_weight, table))
        held_out = hold_out(encoded, encoded.encoder.encode(table), weights)
        return held_out, join_targets(encoded, targets, others)


@dataclass(kw_only=True, eq=False, repr=False)
class LogicClassifier(LabelTargets, BoostedEstimator):
    """A classifier that is a circuit of logic gates.

    The columns of a table become bits (see `gatewise.Encoder.fit`). A term reads a few bits and adds a small whole
    number to the score of each class; terms are grown one after the other, as the trees of gradient boosting are. What
    is kept is their circuit: `model_`, which runs without scikit-learn and takes nanoseconds per row.

    If y has several columns of 0 and 1, each is a label that a row has or not, and the circuit answers all of them.

    Parameters
    ----------
    class_weight : dict, "balanced" or None
        As in scikit-learn.
    learning_rate : float
        Share of a Newton step that a term takes.
    max_iter : int
        Largest number of terms.
    depth : int, optional
        Bits that a term reads, 1 to 6. By default 3, or 6 if few such terms have a clearly lower loss on rows set
        aside, as for rules of many columns together; of several labels 3.
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
    monotone_cst : dict of column name to int, or array-like of int, shape (n_columns,), optional
        1 for columns of numbers along which the probability of the second class never falls, -1 for those along which
        it never rises, else 0; for two classes. It holds for all rows, whatever their other columns.
    n_jobs : int, optional
        Threads; all cores by default. The model does not depend on them.
    verbose : int or bool
        Whether `fit` prints `plan_`.

    Attributes
    ----------
    model_ : gatewise.Model
    classes_ : array, shape (n_classes,)
        Of several labels per row, their numbers.
    n_iter_ : int
        Number of terms.
    plan_ : TermPlan
        What was chosen for the table, and why; it prints as a few lines.
    feature_importances_ : float64 array, shape (n_columns,)
        Shares of what the columns save of the loss, measured when they are asked for.
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

    def _fit_terms(self, boosting: Boosting, encoded: EncodedTable, targets: NDArray[Any], threads: int) -> Fitted:
        if targets.ndim == 2:
            return fit_labels(boosting, encoded, targets, threads=threads)
        return fit_classes(boosting, encoded, targets, self._labels(), threads=threads)

    def _make_task(self, targets: NDArray[Any]) -> Task:
        return LabelTask() if targets.ndim == 2 else ClassTask(tuple(self._labels()))


@dataclass(kw_only=True, eq=False, repr=False)
class LogicRegressor(ValueTargets, BoostedEstimator):
    """A regressor that is a circuit of logic gates: a value is a sum of small whole numbers, scaled and shifted.

    Parameters
    ----------
    loss : {"squared_error", "quantile", "poisson"}
        What values are to be near: the mean of y; a quantile of it; or the mean of counts, which are never negative and
        vary more where they are larger. Values of "poisson" are positive.
    quantile : float, optional
        Share of the rows whose y is to be below the value, for the loss "quantile", which needs it.
    learning_rate, max_iter, depth, l2_regularization, max_thresholds, max_bits, categorical, early_stopping,
    validation_fraction, n_iter_no_change, monotone_cst, random_state, n_jobs, verbose
        As for `LogicClassifier`; values of one output, in place of probabilities, follow `monotone_cst`.

    Attributes
    ----------
    model_, n_iter_, plan_, losses_, validated_, feature_importances_, n_features_in_, feature_names_in_
        As for `LogicClassifier`; losses are squared errors of values that are scaled to a variance of 1, or the pinball
        losses of such values, or half the deviance of Poisson's distribution.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> X, y = load_diabetes(return_X_y=True)
    >>> reg = LogicRegressor(random_state=0).fit(X, y)
    >>> reg.score(X, y) > 0.5
    True
    >>> high = LogicRegressor(loss="quantile", quantile=0.9, random_state=0).fit(X, y)
    >>> bool(0.85 < (y < high.predict(X)).mean() < 0.95)
    True
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **BoostedEstimator._parameter_constraints,
        "loss": [StrOptions({"squared_error", "quantile", "poisson"})],
        "quantile": [Interval(Real, 0, 1, closed="neither"), None],
    }

    loss: Literal["squared_error", "quantile", "poisson"] = "squared_error"
    quantile: float | None = None

    def _value_loss(self) -> ValueLoss:
        return ValueLoss(self.loss, 0.5 if self.quantile is None else float(self.quantile))

    def _check_target(self, y: Any) -> NDArray[np.float64]:
        if (self.loss == "quantile") == (self.quantile is None):
            needed = "a number between 0 and 1" if self.quantile is None else "None"
            raise ValueError(f"quantile must be {needed} for loss={self.loss!r}, got {self.quantile!r}")
        targets = super()._check_target(y)
        if self.loss == "poisson":
            _check_counts(targets)
        return targets

    def _match_target(self, y: Any) -> NDArray[np.float64]:
        return ValueTargets._check_target(self, y)

    def _fit_terms(self, boosting: Boosting, encoded: EncodedTable, targets: NDArray[Any], threads: int) -> Fitted:
        columns = targets.reshape(len(targets), -1)
        return fit_values(boosting, encoded, columns, loss=self._value_loss(), threads=threads)

    def _make_task(self, targets: NDArray[Any]) -> Task:
        if self.loss != "squared_error":
            raise ValueError(
                f"loss must be 'squared_error' for sparse tables with more than {MAX_COLUMNS:,} columns, "
                f"got {self.loss!r}; X.toarray() is boosted with any loss"
            )
        return ValueTask(*describe_values(targets, None))


def _check_counts(targets: NDArray[np.float64]) -> None:
    if targets.ndim != 1:
        raise ValueError(f"y must have one column for loss='poisson', got {targets.shape[1]}; fit a regressor for each")
    if (targets < 0).any():
        row = int((targets < 0).argmax())
        raise ValueError(f"y must not be negative for loss='poisson', got {targets[row]:g} in row {row}")
    if not targets.any():
        raise ValueError("y must be positive in some row for loss='poisson', got 0 in all")
