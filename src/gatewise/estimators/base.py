"""LogicEstimator: what the classifier and the regressor share. A table is encoded and learned from, the result a model.

In: a table and its targets. Out: `model_`, and what training recorded.
"""

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from numbers import Real
from typing import Any, ClassVar, Self

import numpy as np
import torch
from numpy.typing import NDArray
from sklearn import exceptions
from sklearn.utils import check_consistent_length, check_random_state
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import _check_sample_weight, check_is_fitted

from gatewise import nn, train
from gatewise.circuit import Circuit
from gatewise.encode import Encoder
from gatewise.estimators.defaults import Plan, choose_plan
from gatewise.estimators.tables import POSITIVE_INTEGER, TableEstimator
from gatewise.heads import Head
from gatewise.model import Model
from gatewise.wiring import unique_wiring

POSITIVE = Interval(Real, 0, None, closed="neither")


class ConvergenceWarning(exceptions.ConvergenceWarning, train.ConvergenceWarning):  # type: ignore[misc]
    """Training learned nothing. The warning can be filtered as one of scikit-learn and as one of `gatewise.train`."""


class LogicEstimator(TableEstimator):
    """What `LogicClassifier`, which documents the parameters, and `LogicRegressor` share."""

    _max_thresholds: ClassVar[int] = 32  # per column
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "width": [POSITIVE_INTEGER, None],
        "depth": [POSITIVE_INTEGER, None],
        "max_bits": [POSITIVE_INTEGER, None],
        "categorical": ["array-like", None],
        "learning_rate": [POSITIVE],
        "batch_size": [POSITIVE_INTEGER, None],
        "max_iter": [POSITIVE_INTEGER, None],
        "early_stopping": ["boolean", StrOptions({"auto"})],
        "validation_fraction": [Interval(Real, 0, 1, closed="neither")],
        "n_iter_no_change": [POSITIVE_INTEGER],
        "random_state": ["random_state"],
        "progress": ["boolean"],
    }

    def __init__(
        self,
        *,
        width: int | None = None,
        depth: int | None = None,
        max_bits: int | None = None,
        categorical: list[str | int] | None = None,
        learning_rate: float = 0.1,
        batch_size: int | None = None,
        max_iter: int | None = None,
        early_stopping: bool | str = "auto",
        validation_fraction: float = 0.1,
        n_iter_no_change: int = 50,
        random_state: Any = None,
        progress: bool = False,
    ) -> None:
        self.width = width
        self.depth = depth
        self.max_bits = max_bits
        self.categorical = categorical
        self.learning_rate = learning_rate
        self.batch_size = batch_size
        self.max_iter = max_iter
        self.early_stopping = early_stopping
        self.validation_fraction = validation_fraction
        self.n_iter_no_change = n_iter_no_change
        self.random_state = random_state
        self.progress = progress

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
            Nothing was learned: the circuit is no better than one answer for all rows, or none of its gates changed.
        """
        self._validate_params()
        if y is None:
            raise ValueError(f"This {type(self).__name__} estimator requires y to be passed, but the target y is None.")
        table = self._check_table(X, reset=True)
        targets = self._check_target(y)
        check_consistent_length(table, targets)
        if sample_weight is not None:
            sample_weight = _check_sample_weight(sample_weight, table, ensure_non_negative=True)
        weights = self._weigh(targets, sample_weight)
        encoder, data = self._encode(table, targets, weights)
        self.n_iter_ = 0
        self.history_: train.History | None = None
        self.validated_ = self.interrupted_ = False
        if encoder.n_bits == 0 or (data.targets == data.targets[0]).all():
            self.model_ = self._constant_model(encoder, data)
        else:
            self.model_ = self._learn(encoder, data)
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

    def _encode(
        self, table: Any, targets: NDArray[Any], weights: NDArray[np.float64] | None
    ) -> tuple[Encoder, train.Bits]:
        """Fit an encoder, and encode the rows whose weight is not zero."""
        if weights is not None and not weights.any():
            raise ValueError(
                "sample_weight and class_weight must leave a row with a positive weight, got none; raise one"
            )
        max_thresholds = self._max_thresholds
        if self.width is not None:  # the first layer cannot read more bits than two per gate
            max_thresholds = min(max_thresholds, max(1, 2 * self.width // self.n_features_in_))
        encoder = Encoder.fit(
            table, max_bits=self.max_bits, max_thresholds=max_thresholds, categorical=self.categorical
        )
        data = train.Bits(encoder.encode_rows(table, threads=torch.get_num_threads()), targets, weights)
        if weights is not None and not weights.all():
            data = data.take(np.flatnonzero(weights))
        return encoder, data

    def _learn(self, encoder: Encoder, data: train.Bits) -> Model:
        seed = int(check_random_state(self.random_state).randint(np.iinfo(np.int32).max))
        task = self._make_task(data)
        plan = self._choose_plan(data, task.groups)
        training, validation = data, None
        if plan.validates:
            training, validation = train.split(data, self.validation_fraction, seed=seed)
        net = task.network(
            data.n_features,
            [plan.width] * plan.depth,
            seed=seed,
            parametrization=nn.Softmax(initialization=nn.Residual()),
            sampling=nn.HardStraightThrough(),
            wiring=unique_wiring,
            **self._network_options(),
        )
        recipe = train.Recipe(
            epochs=plan.epochs,
            batch_size=plan.batch_size,
            schedule=train.Cosine(self.learning_rate),
            seed=seed,
            evaluate_every=plan.evaluate_every,
            patience=self.n_iter_no_change if plan.validates else None,
        )
        with _warning_like_scikit_learn():
            result = train.fit(net, task, training, validation=validation, recipe=recipe, progress=self.progress)
        self.n_iter_ = result.history[-1].epoch if len(result.history) else 0
        self.history_ = result.history
        self.validated_, self.interrupted_ = plan.validates, result.interrupted
        return result.model(encoder, self._labels())

    def _choose_plan(self, data: train.Bits, n_groups: int) -> Plan:
        """The default plan, changed by the parameters that were given."""
        plan = choose_plan(len(data), data.n_features, n_groups)
        width = self.width or plan.width
        can_split = self._can_split(data)
        validates = plan.validates and can_split if self.early_stopping == "auto" else self.early_stopping
        if validates and not can_split:
            raise ValueError(
                "early_stopping must be False or 'auto' unless there are two rows, and two of each class: "
                "one to learn from and one to validate with; got True"
            )
        return Plan(
            width=-(-width // n_groups) * n_groups,
            depth=self.depth or plan.depth,
            batch_size=self.batch_size or plan.batch_size,
            epochs=self.max_iter or plan.epochs,
            validates=bool(validates),
        )


def make_constant(encoder: Encoder, outputs: NDArray[np.int32], head: Head) -> Model:
    """A model without gates: every group has one output, which is constant."""
    nothing, group_ptr = np.zeros(0, np.int32), np.arange(len(outputs) + 1, dtype=np.int32)
    circuit = Circuit(encoder.n_bits, nothing.astype(np.uint8), nothing, nothing, outputs, group_ptr)
    return Model.build(encoder, circuit, head)


@contextmanager
def _warning_like_scikit_learn() -> Iterator[None]:
    """Turns the warning of `gatewise.train.fit` into one that scikit-learn's users filter; others pass unchanged."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", train.ConvergenceWarning)
        yield
    for each in caught:
        if issubclass(each.category, train.ConvergenceWarning):
            warnings.warn(str(each.message), ConvergenceWarning, stacklevel=5)  # where the user calls fit
        else:
            warnings.warn_explicit(each.message, each.category, each.filename, each.lineno)
