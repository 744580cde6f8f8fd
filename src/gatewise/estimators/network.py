"""NetworkClassifier and NetworkRegressor: circuits that networks of gates learn by gradient descent."""

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import torch
from numpy.typing import NDArray
from sklearn.utils._param_validation import StrOptions

from gatewise import nn, train
from gatewise.boost.values import describe_values
from gatewise.encode import Encoder
from gatewise.estimators.base import POSITIVE, ConvergenceWarning, LogicEstimator
from gatewise.estimators.defaults import Plan, choose_plan
from gatewise.estimators.tables import POSITIVE_INTEGER
from gatewise.estimators.targets import ClassTargets, ValueTargets, Weights
from gatewise.model import Model
from gatewise.wiring import unique_wiring

REACH = 10.0  # how far, in standard deviations, a prediction can be from the mean


class NetworkConvergenceWarning(ConvergenceWarning, train.ConvergenceWarning):
    """A network learned nothing. It can be filtered as a warning of scikit-learn and as one of `gatewise.train`."""


@dataclass(kw_only=True, eq=False, repr=False)
class NetworkEstimator(LogicEstimator):
    """What `NetworkClassifier`, which documents the parameters, and `NetworkRegressor` share."""

    _max_thresholds: ClassVar[int] = 32  # per column
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **LogicEstimator._parameter_constraints,
        "width": [POSITIVE_INTEGER, None],
        "depth": [POSITIVE_INTEGER, None],
        "learning_rate": [POSITIVE],
        "batch_size": [POSITIVE_INTEGER, None],
        "max_iter": [POSITIVE_INTEGER, None],
        "early_stopping": ["boolean", StrOptions({"auto"})],
        "progress": ["boolean"],
    }

    width: int | None = None
    depth: int | None = None
    learning_rate: float = 0.1
    batch_size: int | None = None
    max_iter: int | None = None
    early_stopping: bool | str = "auto"
    progress: bool = False

    def _forget(self, encoder: Encoder, n_rows: int) -> None:
        self.history_: train.History | None = None

    def _fit_encoder(self, table: Any, targets: NDArray[Any], weights: Weights) -> Encoder:
        max_thresholds = self._max_thresholds
        if self.width is not None:  # the first layer cannot read more bits than two per gate
            max_thresholds = min(max_thresholds, max(1, 2 * self.width // self.n_features_in_))
        return Encoder.fit(table, max_bits=self.max_bits, max_thresholds=max_thresholds, categorical=self.categorical)

    def _learn(self, encoder: Encoder, table: Any, targets: NDArray[Any], weights: Weights) -> Model:
        data = train.Bits(encoder.encode_rows(table, threads=torch.get_num_threads()), targets, weights)
        if weights is not None and not weights.all():
            data = data.take(np.flatnonzero(weights))
        seed = self._draw_seed()
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


@dataclass(kw_only=True, eq=False, repr=False)
class NetworkClassifier(ClassTargets, NetworkEstimator):
    """A classifier that is a circuit, learned by a network of gates and gradient descent.

    `LogicClassifier` is better on most tables, and faster to fit. A network can have any shape, and its gates any
    depth.

    Parameters
    ----------
    tau : float, optional
        Divides the counts of the classes before the softmax; see `gatewise.nn.GroupSum`.
    class_weight : dict, "balanced" or None
        As in scikit-learn.
    width, depth : int, optional
        Gates per layer, and number of layers. By default they are chosen from the size of the data, and so are
        `batch_size`, `max_iter` and whether to stop early: see `gatewise.estimators.defaults.choose_plan`.
    max_bits : int, optional
        Largest number of bits that a row is encoded with.
    categorical : list of column names or positions, optional
        Columns of numbers that hold categories; strings, bools and pandas categories always do.
    learning_rate : float
        The highest learning rate of Adam, from which it falls to 0 along a cosine.
    batch_size, max_iter : int, optional
        Rows per step, and largest number of epochs.
    early_stopping : bool or "auto"
        Whether to set rows aside, select the best circuit by its score on them, and stop when that no longer improves.
    validation_fraction : float
        Share of the rows that are set aside.
    n_iter_no_change : int
        Number of evaluations without a better circuit after which training stops.
    random_state : int, RandomState or None
        Equal integers give equal models.
    progress : bool
        Whether to show a progress bar.

    Attributes
    ----------
    model_ : gatewise.Model
    classes_ : array, shape (n_classes,)
    n_iter_ : int
        Number of epochs that were trained.
    history_ : gatewise.train.History or None
        Scores of each evaluation; None if there was nothing to learn.
    validated_ : bool
        Whether rows were set aside. If so, the scores in `history_` are those of these rows, otherwise those of the
        training rows.
    interrupted_ : bool
        Whether Ctrl-C ended training; the best circuit so far is kept.
    n_features_in_, feature_names_in_ : as in scikit-learn
        Columns of a data frame are matched by name, whatever their order.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> clf = NetworkClassifier(width=90, depth=3, max_iter=100, random_state=0).fit(X, y)
    >>> clf.score(X, y) > 0.9
    True
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **NetworkEstimator._parameter_constraints,
        "tau": [POSITIVE, None],
        "class_weight": [dict, StrOptions({"balanced"}), None],
    }

    tau: float | None = None

    def _network_options(self) -> dict[str, Any]:
        return {"tau": self.tau}

    def _can_split(self, data: train.Bits) -> bool:
        counts = np.bincount(data.targets)
        return bool(counts[counts > 0].min() >= 2)

    def _make_task(self, data: train.Bits) -> train.Classification:
        return train.Classification(len(self.classes_))


class NetworkRegressor(ValueTargets, NetworkEstimator):
    """A regressor that is a circuit, learned by a network: a value is the share of true outputs, scaled and shifted.

    Parameters
    ----------
    width, depth, max_bits, categorical, learning_rate, batch_size, max_iter, early_stopping, validation_fraction,
    n_iter_no_change, random_state, progress
        As for `NetworkClassifier`.

    Attributes
    ----------
    model_, n_iter_, history_, validated_, interrupted_, n_features_in_, feature_names_in_
        As for `NetworkClassifier`.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> X, y = load_diabetes(return_X_y=True)
    >>> reg = NetworkRegressor(width=500, depth=2, max_iter=30, random_state=0).fit(X, y)
    >>> reg.score(X, y) > 0.4
    True
    """

    _max_thresholds = 128  # values need more resolution than classes

    def _network_options(self) -> dict[str, Any]:
        return {}

    def _can_split(self, data: train.Bits) -> bool:
        return len(data) >= 2

    def _make_task(self, data: train.Bits) -> train.Regression:
        mean, deviation = describe_values(
            data.targets, None if data.weights is None else data.weights.astype(np.float64)
        )
        return train.Regression(nn.Affine(2 * REACH * deviation, mean - REACH * deviation))


@contextmanager
def _warning_like_scikit_learn() -> Iterator[None]:
    """Turns the warning of `gatewise.train.fit` into one that scikit-learn's users filter; others pass unchanged."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", train.ConvergenceWarning)
        yield
    for each in caught:
        if issubclass(each.category, train.ConvergenceWarning):
            warnings.warn(str(each.message), NetworkConvergenceWarning, stacklevel=6)  # where the user calls fit
        else:
            warnings.warn_explicit(each.message, each.category, each.filename, each.lineno)
