"""LogicEstimator: what both estimators share, how a table is checked, encoded, learned from, and made a model."""

from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
import torch
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.utils import check_array, check_consistent_length, check_random_state
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import _check_feature_names, _check_n_features, _check_sample_weight, check_is_fitted

from gatewise import nn, train
from gatewise.circuit import Circuit
from gatewise.defaults import Plan, choose_plan
from gatewise.encode import Encoder
from gatewise.heads import Head
from gatewise.model import Model
from gatewise.wiring import unique_wiring

POSITIVE_INTEGER = Interval(Integral, 1, None, closed="left")
POSITIVE = Interval(Real, 0, None, closed="neither")
MAX_SEED = 2**31 - 1


class LogicEstimator(BaseEstimator):  # type: ignore[misc]
    """What both estimators share: how a table is checked, encoded, learned from, and made a model."""

    _max_thresholds: ClassVar[int] = 32  # of a column
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
            A numeric, string or object array, a list of rows, or a data frame of pandas, polars or pyarrow.
        y : array, shape (n_rows,); for a regressor also (n_rows, n_outputs)
        sample_weight : array, shape (n_rows,), optional
            Rows of weight 0 are left out.

        Returns
        -------
        self
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
        if weights is not None and not weights.any():
            raise ValueError(
                "sample_weight and class_weight must leave a row with a positive weight, got none; raise one"
            )
        max_thresholds = self._max_thresholds
        if self.width is not None:  # more than the first layer can read would be lost
            max_thresholds = min(max_thresholds, max(1, 2 * self.width // self.n_features_in_))
        encoder = Encoder.fit(
            table, max_bits=self.max_bits, max_thresholds=max_thresholds, categorical=self.categorical
        )
        data = train.Bits(encoder.encode_rows(table, threads=torch.get_num_threads()), targets, weights)
        if weights is not None and not weights.all():
            data = data.take(np.flatnonzero(weights))
        self.n_iter_ = 0
        self.history_: train.History | None = None
        self.validated_ = self.interrupted_ = False
        if encoder.n_bits == 0 or (data.targets == data.targets[0]).all():
            self.model_ = self._constant_model(encoder, data)
        else:
            self.model_ = self._learn(encoder, data)
        return self

    def predict(self, X: Any) -> NDArray[Any]:
        """What the circuit says of each row, see `gatewise.Model.predict`."""
        check_is_fitted(self)
        return self.model_.predict(self._check_table(X, reset=False))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = tags.input_tags.string = tags.input_tags.categorical = True
        return tags

    def _learn(self, encoder: Encoder, data: train.Bits) -> Model:
        seed = int(check_random_state(self.random_state).randint(MAX_SEED))
        task = self._make_task(data)
        plan = self._choose_plan(data, task.groups)
        training, validation = data, None
        if plan.validates:
            training, validation = train.split(data, self.validation_fraction, seed=seed)
        generator = torch.Generator().manual_seed(seed)
        net = task.network(
            data.n_features,
            [plan.width] * plan.depth,
            seed=seed,
            generator=generator,
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
        result = train.fit(net, task, training, validation=validation, recipe=recipe, progress=self.progress)
        self.n_iter_ = result.history[-1].epoch if len(result.history) else 0
        self.history_ = result.history
        self.validated_, self.interrupted_ = plan.validates, result.interrupted
        return Model.build(encoder, result.circuit(), self._make_head(net, plan.width // task.groups))

    def _choose_plan(self, data: train.Bits, n_groups: int) -> Plan:
        """The default plan, but for what the parameters say."""
        plan = choose_plan(len(data), data.n_features, n_groups)
        width = self.width or plan.width
        validates = plan.validates and self._can_split(data) if self.early_stopping == "auto" else self.early_stopping
        return Plan(
            width=-(-width // n_groups) * n_groups,
            depth=self.depth or plan.depth,
            batch_size=self.batch_size or plan.batch_size,
            epochs=self.max_iter or plan.epochs,
            validates=bool(validates),
        )

    def _check_table(self, X: Any, *, reset: bool) -> Any:
        """X, checked as scikit-learn does, but with the columns of a data frame left as they are."""
        is_frame = hasattr(X, "__dataframe__") or hasattr(X, "columns") or hasattr(X, "column_names")
        if not is_frame:
            # Lists may mix numbers and strings, which numpy would turn into strings alone.
            table = X if hasattr(X, "dtype") or hasattr(X, "__array__") else np.array(X, dtype=object)
            X = check_array(table, dtype=None, ensure_all_finite=False, estimator=self, input_name="X")
        if reset:
            _check_feature_names(self, X, reset=True)
        _check_n_features(self, X, reset=reset)
        return X


def make_constant(encoder: Encoder, outputs: NDArray[np.int32], head: Head) -> Model:
    """A model without gates: one constant output a group."""
    nothing, group_ptr = np.zeros(0, np.int32), np.arange(len(outputs) + 1, dtype=np.int32)
    circuit = Circuit(encoder.n_bits, nothing.astype(np.uint8), nothing, nothing, outputs, group_ptr)
    return Model.build(encoder, circuit, head)
