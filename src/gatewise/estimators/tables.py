"""TableEstimator: how scikit-learn estimators of this package look at tables.

In: any table that `gatewise.Encoder` reads. Out: the same table, checked as scikit-learn checks its input.
Invariant: columns keep their types; strings, missing values and the order of columns are left to the encoder.
"""

from numbers import Integral
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils import check_array
from sklearn.utils._param_validation import Interval
from sklearn.utils.validation import _check_feature_names, _check_n_features

from gatewise.encode.tables import as_table, is_rows_of_dicts

POSITIVE_INTEGER = Interval(Integral, 1, None, closed="left")


class TableEstimator(BaseEstimator):  # type: ignore[misc]
    """Base class of estimators whose input is a table of numbers, strings, bools and missing values."""

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = tags.input_tags.allow_nan = tags.input_tags.string = True
        tags.input_tags.categorical = True
        return tags

    def _check_table(self, X: Any, *, reset: bool) -> Any:
        """Check X, and at fit remember its columns.

        Parameters
        ----------
        X : table, shape (n_rows, n_columns)
        reset : bool
            Whether this is `fit`; otherwise X must have the number of columns that `fit` saw.

        Returns
        -------
        data frame as it was given, array, or Table
        """
        if is_rows_of_dicts(X):
            return self._check_dicts(X, reset=reset)
        if hasattr(X, "__dataframe__") or hasattr(X, "columns") or hasattr(X, "column_names"):
            table = as_table(X)
            if reset:
                _check_feature_names(self, X, reset=True)
            if reset or table.names is None or not hasattr(self, "feature_names_in_"):
                _check_n_features(self, X, reset=reset)
            return X  # at predict, the encoder says which columns are missing or unknown
        # numpy would turn a list that mixes numbers and strings into strings.
        rows = X if hasattr(X, "dtype") or hasattr(X, "__array__") else np.array(X, dtype=object)
        array = check_array(
            rows,
            accept_sparse=True,
            dtype=None,
            ensure_all_finite=False,
            ensure_min_samples=int(reset),
            estimator=self,
            input_name="X",
        )
        if reset:
            _check_feature_names(self, array, reset=True)
        _check_n_features(self, array, reset=reset)
        return array

    def _check_dicts(self, X: Any, *, reset: bool) -> Any:
        table = as_table(X)
        if reset:
            self.feature_names_in_ = np.array(table.names, dtype=object)
            self.n_features_in_ = table.n_columns
        return table
