"""LogicClassifier and LogicRegressor: circuits learned from tables, as scikit-learn estimators.

In: X, any table that `Encoder` reads, and y. Out: a fitted estimator whose `model_` is the `Model` to save and deploy.
Invariant: equal parameters, data and `random_state` give equal models. Parameters are stored untouched.
"""

from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

try:
    import torch
    from sklearn.base import BaseEstimator, ClassifierMixin, MultiOutputMixin, RegressorMixin
    from sklearn.utils import assert_all_finite, check_array, check_consistent_length, check_random_state, column_or_1d
    from sklearn.utils._param_validation import Interval, StrOptions
    from sklearn.utils.class_weight import compute_sample_weight
    from sklearn.utils.multiclass import check_classification_targets
    from sklearn.utils.validation import _check_feature_names, _check_n_features, _check_sample_weight, check_is_fitted
except ModuleNotFoundError as error:
    message = f"gatewise.estimators needs {error.name}: pip install 'gatewise[sklearn]'"
    raise ModuleNotFoundError(message, name=error.name) from error

from gatewise import nn, train
from gatewise.circuit import Circuit
from gatewise.defaults import Plan, choose_plan
from gatewise.encode import Encoder
from gatewise.heads import Affine, Classes, Head
from gatewise.model import Model
from gatewise.wiring import unique_wiring

POSITIVE_INTEGER = Interval(Integral, 1, None, closed="left")
POSITIVE = Interval(Real, 0, None, closed="neither")
REACH = 10.0  # standard deviations that a regression's values can be away from their mean
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


class LogicClassifier(ClassifierMixin, LogicEstimator):  # type: ignore[misc]
    """A classifier that is a circuit of logic gates.

    Columns become bits (see `gatewise.Encoder.fit`), a network of gates learns from them, and what is kept is the
    circuit: `model_`, which predicts in nanoseconds a row and runs without torch and scikit-learn.

    Parameters
    ----------
    width, depth : int, optional
        Gates a layer, and layers. By default chosen from the size of the data, as are `batch_size`, `max_iter` and
        whether to stop early: see `gatewise.defaults.choose_plan`.
    tau : float, optional
        Divides the counts of the classes before the softmax; see `gatewise.nn.GroupSum`.
    max_bits : int, optional
        Bits that a row is encoded with, at most.
    categorical : list of column names or positions, optional
        Columns of numbers to be taken for categories; strings, bools and pandas categories always are.
    class_weight : dict, "balanced" or None
    learning_rate : float
        Of Adam, at its highest; it falls to 0 along a cosine.
    batch_size, max_iter : int, optional
        Rows a step, and epochs.
    early_stopping : bool or "auto"
        Whether to set rows aside, to select the best circuit by them, and to stop when it gets no better.
    validation_fraction : float
        Share of these rows.
    n_iter_no_change : int
        Evaluations without a better circuit after which training stops.
    random_state : int, RandomState or None
    progress : bool
        Whether to show a progress bar.

    Attributes
    ----------
    model_ : gatewise.Model
    classes_ : array, shape (n_classes,)
    n_iter_ : int
        Epochs done.
    history_ : gatewise.train.History, or None if there was nothing to learn
    validated_ : bool
        Whether rows were set aside: then the scores of `history_` are theirs, otherwise those of the training rows.
    interrupted_ : bool
        Whether Ctrl-C ended training; the best circuit so far is kept.
    n_features_in_, feature_names_in_ : as in scikit-learn
        Columns of a data frame are matched by name, whatever their order.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> clf = LogicClassifier(width=90, depth=3, max_iter=100, random_state=0).fit(X, y)
    >>> clf.score(X, y) > 0.9
    True
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **LogicEstimator._parameter_constraints,
        "tau": [POSITIVE, None],
        "class_weight": [dict, StrOptions({"balanced"}), None],
    }

    def __init__(
        self,
        *,
        tau: float | None = None,
        class_weight: dict[Any, float] | str | None = None,
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
        super().__init__(
            width=width,
            depth=depth,
            max_bits=max_bits,
            categorical=categorical,
            learning_rate=learning_rate,
            batch_size=batch_size,
            max_iter=max_iter,
            early_stopping=early_stopping,
            validation_fraction=validation_fraction,
            n_iter_no_change=n_iter_no_change,
            random_state=random_state,
            progress=progress,
        )
        self.tau = tau
        self.class_weight = class_weight

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Probability of each class, shape (n_rows, n_classes)."""
        check_is_fitted(self)
        return self.model_.predict_proba(self._check_table(X, reset=False))

    def _check_target(self, y: Any) -> NDArray[np.int64]:
        labels = column_or_1d(y, warn=True)
        assert_all_finite(labels, input_name="y")
        check_classification_targets(labels)
        self.classes_, positions = np.unique(labels, return_inverse=True)
        return positions

    def _weigh(self, targets: NDArray[np.int64], weights: NDArray[np.float64] | None) -> NDArray[np.float64] | None:
        if self.class_weight is None:
            return weights
        by_class = compute_sample_weight(self.class_weight, self.classes_[targets])
        return by_class if weights is None else weights * by_class

    def _network_options(self) -> dict[str, Any]:
        return {"tau": self.tau}

    def _can_split(self, data: train.Bits) -> bool:
        counts = np.bincount(data.targets)
        return bool(counts[counts > 0].min() >= 2)

    def _make_task(self, data: train.Bits) -> train.Classification:
        return train.Classification(len(self.classes_))

    def _make_head(self, net: Any, group_size: int) -> Head:
        tau = net[-1].temperature(group_size * len(self.classes_))
        return Classes(tuple(self.classes_.tolist()), tau, group_size)

    def _constant_model(self, encoder: Encoder, data: train.Bits) -> Model:
        """The most frequent class, by weight: an output that is true in its group only."""
        n_classes = len(self.classes_)
        most = np.bincount(data.targets, data.weights, n_classes).argmax()
        outputs = (np.arange(n_classes) == most).astype(np.int32)  # wires 0 and 1 are the constants
        return _make_constant(encoder, outputs, Classes(tuple(self.classes_.tolist()), 1.0, 1))


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
    >>> reg.predict(X).shape
    (442,)
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

    def _make_head(self, net: Any, group_size: int) -> Head:
        head = net[-1]
        return Affine(tuple(head.scale.tolist()), tuple(head.offset.tolist()), group_size)

    def _constant_model(self, encoder: Encoder, data: train.Bits) -> Model:
        """The weighted mean: the offset of a head that counts outputs which are false."""
        mean, _ = _describe(data)
        return _make_constant(encoder, np.zeros(len(mean), np.int32), Affine((1.0,) * len(mean), tuple(mean), 1))


def _describe(data: train.Bits) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Weighted mean and deviation of each target; the deviation of equal targets is 1."""
    columns = data.targets.reshape(len(data), -1)
    mean = np.average(columns, axis=0, weights=data.weights)
    deviation = np.sqrt(np.average(np.square(columns - mean), axis=0, weights=data.weights))
    return mean, np.where(deviation > 0, deviation, 1.0)


def _make_constant(encoder: Encoder, outputs: NDArray[np.int32], head: Head) -> Model:
    """A model without gates: one constant output a group."""
    nothing, group_ptr = np.zeros(0, np.int32), np.arange(len(outputs) + 1, dtype=np.int32)
    circuit = Circuit(encoder.n_bits, nothing.astype(np.uint8), nothing, nothing, outputs, group_ptr)
    return Model.build(encoder, circuit, head)
