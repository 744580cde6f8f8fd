"""BitEncoder: a scikit-learn transformer that turns the columns of a table into bits."""

from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import TransformerMixin
from sklearn.utils.validation import _check_feature_names_in, check_is_fitted

from gatewise.encode import Encoder
from gatewise.estimators.tables import POSITIVE_INTEGER, TableEstimator


class BitEncoder(TransformerMixin, TableEstimator):  # type: ignore[misc]
    """Turns tables into bits for estimators that follow it in a pipeline.

    Each bit answers a question about one column: ``age > 37.5``, ``job = nurse``, ``income is missing``. The rules
    are those of `gatewise.Encoder.fit`. `LogicClassifier` and `LogicRegressor` encode tables themselves.

    Parameters
    ----------
    max_bits : int, optional
        Largest number of bits of all columns together; 4096 by default, or more if there are more columns.
    max_thresholds : int
        Largest number of thresholds per column of numbers.
    categorical : list of column names or positions, optional
        Columns of numbers that hold categories; strings, bools and pandas categories always do.

    Attributes
    ----------
    encoder_ : gatewise.Encoder
    n_features_in_, feature_names_in_
        As in scikit-learn. Columns of a data frame are matched by name, whatever their order.

    Examples
    --------
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.pipeline import make_pipeline
    >>> X = [[17.0, "nurse"], [39.0, "smith"], [50.0, "nurse"], [61.0, None]]
    >>> pipeline = make_pipeline(BitEncoder(max_thresholds=2), LogisticRegression()).fit(X, [0, 0, 1, 1])
    >>> pipeline.predict(X).tolist()
    [0, 0, 1, 1]
    >>> pipeline[0].get_feature_names_out().tolist()
    ['x0 > 28', 'x0 > 55.5', 'x1 = smith', 'x1 is missing']
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "max_bits": [POSITIVE_INTEGER, None],
        "max_thresholds": [POSITIVE_INTEGER],
        "categorical": ["array-like", None],
    }

    def __init__(
        self,
        *,
        max_bits: int | None = None,
        max_thresholds: int = 32,
        categorical: list[str | int] | None = None,
    ) -> None:
        self.max_bits = max_bits
        self.max_thresholds = max_thresholds
        self.categorical = categorical

    def fit(self, X: Any, y: Any = None) -> Self:
        """Choose thresholds and categories.

        Parameters
        ----------
        X : table, shape (n_rows, n_columns)
            What `gatewise.Encoder.fit` takes.
        y : ignored

        Returns
        -------
        self
        """
        self._validate_params()
        table = self._check_table(X, reset=True)
        self.encoder_ = Encoder.fit(
            table, max_bits=self.max_bits, max_thresholds=self.max_thresholds, categorical=self.categorical
        )
        return self

    def transform(self, X: Any) -> NDArray[np.bool_]:
        """Encode rows.

        Parameters
        ----------
        X : table, shape (n_rows, n_columns)

        Returns
        -------
        bool array, shape (n_rows, n_bits)
        """
        check_is_fitted(self)
        return self.encoder_.transform(self._check_table(X, reset=False))

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[np.object_]:
        """The bits in words.

        Parameters
        ----------
        input_features : sequence of str, optional
            Names of the columns; if given, they must be those of `fit`.

        Returns
        -------
        object array of str, shape (n_bits,)
        """
        check_is_fitted(self)
        _check_feature_names_in(self, input_features)
        return self.encoder_.get_feature_names_out()

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = []
        return tags
