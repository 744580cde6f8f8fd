"""Importance of columns: how much worse a model does when the values of a column are permuted.

In: a model, bits of some rows, and the loss of its scores. Out: a rise of the loss for each column of the table.
Invariant: the circuit itself is run, so the importance is that of the model that is deployed; the same seed gives the
same numbers, whatever the threads.
"""

from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_consistent_length
from sklearn.utils.validation import _check_sample_weight, check_is_fitted

from gatewise.boost import EncodedTable
from gatewise.encode import Categorical, Encoder
from gatewise.estimators.base import LogicEstimator, count_threads
from gatewise.importance import N_REPEATS, choose_effort, measure_rises, take_bits
from gatewise.model import Model

MAX_RATED = 5_000
"""Rows that `feature_importances_` is measured on, at most."""


class RatedEstimator(LogicEstimator):
    """An estimator that says what its columns are worth."""

    n_jobs: int | None
    _rated: tuple[NDArray[np.bool_], NDArray[Any], NDArray[Any] | None] | None

    @property
    def feature_importances_(self) -> NDArray[np.float64]:
        """How much of the loss each column saves, (n_columns,), as shares that sum to 1; all 0 if none saves any.

        See `permutation_importances`, which is called with rows of `eval_set`, or else of the table that was learned
        from, at most 5,000 drawn at random, and ten permutations; of models that read thousands of columns fewer.
        """
        check_is_fitted(self)
        if self._rated is None:
            return np.zeros(len(self.model_.encoder.table_names))
        bits, targets, weights = self._rated
        rows, n_repeats = choose_effort(len(bits), sum(column.n_bits > 0 for column in self.model_.encoder.columns))
        part = None if weights is None else weights[rows]
        rises = np.maximum(self._measure_rises(bits[rows], targets[rows], part, n_repeats=n_repeats), 0.0)
        return rises / (rises.sum() or 1.0)

    def permutation_importances(
        self, X: Any, y: Any, sample_weight: Any = None, *, n_repeats: int = N_REPEATS
    ) -> NDArray[np.float64]:
        """How much the loss rises when the values of a column are those of other rows.

        The circuit itself is run, on bits that are encoded once. Rises that are not clearly above 0 say that a column
        does not matter for these rows. Columns that say the same as others share what they are worth.

        Parameters
        ----------
        X : table, shape (n_rows, n_columns)
            What `predict` takes; rows that were not learned from say most.
        y : array
            What `fit` takes.
        sample_weight : array, shape (n_rows,), optional
        n_repeats : int
            Permutations that are averaged; the same ones for the same `random_state`, if that is an integer.

        Returns
        -------
        float64 array, shape (n_columns,)
            In units of the mean loss: the negative logarithm of probabilities, or the squared error.
        """
        check_is_fitted(self)
        bits = self.model_.encoder.encode(self._check_table(X, reset=False)).unpack()
        targets = self._match_target(y)
        check_consistent_length(bits, targets)
        return self._measure_rises(bits, targets, self._check_weights(sample_weight, bits), n_repeats=n_repeats)

    def _measure_rises(
        self, bits: NDArray[np.bool_], targets: NDArray[Any], weights: NDArray[Any] | None, *, n_repeats: int
    ) -> NDArray[np.float64]:
        seed = self.random_state if isinstance(self.random_state, Integral) else 0
        return measure_rises(
            self.model_,
            bits,
            lambda scores: self._find_loss(scores, targets, weights),
            n_repeats=n_repeats,
            seed=int(seed),
            threads=count_threads(self.n_jobs),
        )

    def _check_weights(self, weights: Any, rows: Any) -> NDArray[Any] | None:
        return None if weights is None else _check_sample_weight(weights, rows, ensure_non_negative=True)

    def _choose_rated(
        self, model: Model, encoded: EncodedTable, targets: NDArray[Any], seed: int
    ) -> tuple[NDArray[np.bool_], NDArray[Any], NDArray[Any] | None]:
        """Bits, targets and weights of the rows that `feature_importances_` is measured on."""
        rows = encoded.rows if encoded.held_out is None else encoded.held_out
        if len(rows) > MAX_RATED:
            rows = np.sort(np.random.default_rng(seed).choice(rows, MAX_RATED, replace=False, shuffle=False))
        bits = take_bits(encoded.planes, locate_bits(encoded.encoder, model.encoder), rows)
        return bits, targets[rows], None if encoded.weights is None else encoded.weights[rows]


def locate_bits(encoder: Encoder, part: Encoder) -> NDArray[np.int64]:
    """Where the bits of `part`, which `encoder.take` made, are among those of `encoder`.

    Examples
    --------
    >>> encoder = Encoder.images((1, 2), 3)
    >>> locate_bits(encoder, encoder.take([1, 4, 5])).tolist()
    [1, 4, 5]
    """
    found: list[int] = []
    first = 0
    for column, kept in zip(encoder.columns, part.columns, strict=True):
        if isinstance(column, Categorical):
            assert isinstance(kept, Categorical)
            position = {value: i for i, value in enumerate(column.values)}
            found += [first + position[value] for value in kept.values]
        else:
            assert not isinstance(kept, Categorical)
            found += (first + np.searchsorted(column.thresholds, kept.thresholds)).tolist()
        found += [first + column.n_bits - 1] * kept.missing
        first += column.n_bits
    return np.array(found, np.int64)
