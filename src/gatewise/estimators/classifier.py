"""LogicClassifier: a scikit-learn classifier that is a circuit."""

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin
from sklearn.utils import assert_all_finite, column_or_1d
from sklearn.utils._param_validation import StrOptions
from sklearn.utils.class_weight import compute_sample_weight
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted

from gatewise import train
from gatewise.encode import Encoder
from gatewise.encode.columns import is_missing
from gatewise.estimators.base import POSITIVE, LogicEstimator, make_constant
from gatewise.heads import Classes
from gatewise.model import Model


class LogicClassifier(ClassifierMixin, LogicEstimator):  # type: ignore[misc]
    """A classifier that is a circuit of logic gates.

    The columns of a table become bits (see `gatewise.Encoder.fit`), and a network of gates learns from them. What is
    kept is its circuit: `model_`, which runs without torch and scikit-learn and takes nanoseconds per row.

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

    def _check_target(self, y: Any) -> NDArray[np.int64]:
        labels = column_or_1d(_as_labels(y), warn=True)
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

    def _labels(self) -> list[Any]:
        labels: list[Any] = self.classes_.tolist()
        return labels

    def _constant_model(self, encoder: Encoder, data: train.Bits) -> Model:
        """A model that predicts the class of the largest weight: only the output of its group is true."""
        n_classes = len(self.classes_)
        most = np.bincount(data.targets, data.weights, n_classes).argmax()
        outputs = (np.arange(n_classes) == most).astype(np.int32)  # wires 0 and 1 are the constants
        return make_constant(encoder, outputs, Classes(tuple(self._labels()), 1.0, 1))


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
