"""LogicEstimator: what all classifiers and regressors share. A table is encoded and learned from, the result a model.

In: a table and its targets. Out: `model_`, and what training recorded.
"""

import os
from dataclasses import dataclass
from numbers import Real
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn import exceptions
from sklearn.utils import check_consistent_length, check_random_state
from sklearn.utils._param_validation import Interval
from sklearn.utils.validation import _check_sample_weight, check_is_fitted

from gatewise.circuit import Circuit
from gatewise.encode import Encoder
from gatewise.estimators.tables import POSITIVE_INTEGER, TableEstimator
from gatewise.heads import Head
from gatewise.model import Model

POSITIVE = Interval(Real, 0, None, closed="neither")
SHARE = Interval(Real, 0, 1, closed="neither")


class ConvergenceWarning(exceptions.ConvergenceWarning):  # type: ignore[misc]
    """Training learned nothing."""


@dataclass(kw_only=True, eq=False, repr=False)
class LogicEstimator(TableEstimator):
    """How estimators fit and predict; a subclass says how a table is learned from, another one what targets are.

    Fields are parameters: each class lists its own, and scikit-learn reads all of them off the `__init__` they make.
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "max_bits": [POSITIVE_INTEGER, None],
        "categorical": ["array-like", None],
        "validation_fraction": [SHARE],
        "n_iter_no_change": [POSITIVE_INTEGER],
        "random_state": ["random_state"],
    }
    max_bits: int | None = None
    categorical: list[str | int] | None = None
    validation_fraction: float = 0.1
    n_iter_no_change: int = 50
    random_state: Any = None

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn a circuit.

        Parameters
        ----------
        X : table, shape (n_rows, n_columns)
            A numeric, string or object array, a list of rows, a list of dicts, or a data frame of pandas, polars or
            pyarrow.
        y : array, shape (n_rows,); for a regressor also (n_rows, n_outputs)
        sample_weight : array, shape (n_rows,), optional
            Rows of weight 0 are left out.

        Returns
        -------
        self

        Warns
        -----
        ConvergenceWarning
            Nothing was learned: the circuit is no better than one answer for all rows.
        """
        return self._fit(X, y, sample_weight)

    def _fit(self, X: Any, y: Any, sample_weight: Any, **given: Any) -> Self:
        """Check what `fit` was given, and learn; `given` is what only some estimators take."""
        self._validate_params()
        if y is None:
            raise ValueError(f"This {type(self).__name__} estimator requires y to be passed, but the target y is None.")
        table = self._check_table(X, reset=True)
        targets = self._check_target(y)
        check_consistent_length(table, targets)
        if sample_weight is not None:
            sample_weight = _check_sample_weight(sample_weight, table, ensure_non_negative=True)
        weights = self._weigh(targets, sample_weight)
        if weights is not None and not weights.any():
            raise ValueError(
                "sample_weight and class_weight must leave a row with a positive weight, got none; raise one"
            )
        encoder = self._fit_encoder(table, targets, weights)
        self.n_iter_ = 0
        self.validated_ = self.interrupted_ = False
        known = targets if weights is None else targets[weights > 0]
        self._forget(encoder, len(known))
        if encoder.n_bits == 0 or (known == known[0]).all():
            self.model_ = self._constant_model(encoder, targets, weights)
        else:
            self.model_ = self._learn(encoder, table, targets, weights, **given)
        return self

    def predict(self, X: Any) -> NDArray[Any]:
        """Predict the label, or the value, of each row.

        Parameters
        ----------
        X : table, shape (n_rows, n_columns)
            What `fit` takes, or a dict: one row, with values by name of the column.

        Returns
        -------
        array, shape (n_rows,), or (n_rows, n_outputs) for a regression with several outputs
        """
        check_is_fitted(self)
        return self.model_.predict(self._check_table(X, reset=False))

    def _draw_seed(self) -> int:
        return int(check_random_state(self.random_state).randint(np.iinfo(np.int32).max))


def make_constant(encoder: Encoder, outputs: NDArray[np.int32], head: Head) -> Model:
    """A model without gates: every group has one output, which is constant."""
    nothing, group_ptr = np.zeros(0, np.int32), np.arange(len(outputs) + 1, dtype=np.int32)
    circuit = Circuit(encoder.n_bits, nothing.astype(np.uint8), nothing, nothing, outputs, group_ptr)
    return Model.build(encoder, circuit, head)


def count_threads(n_jobs: int | None) -> int:
    """Threads that `n_jobs` asks for: None means all cores, and -1 too, -2 all but one, as in scikit-learn."""
    n_cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    if n_jobs == 0:
        raise ValueError("n_jobs must not be 0, got 0; None uses all cores")
    if n_jobs is None or n_jobs < 0:
        return max(1, n_cores + 1 + (-1 if n_jobs is None else n_jobs))
    return n_jobs
