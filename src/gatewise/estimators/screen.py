"""Screening: which of very many columns are worth bits.

In: a table of numbers, dense or sparse, and targets. Out: positions of the columns that say most about them.
Invariant: only the rows that are given have a part in the choice; columns are rated one at a time, so one that matters
only together with others is not found.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gatewise.encode.tables import as_table, is_sparse

MAX_COLUMNS = 2_048
"""Columns of a dense table that are kept, and above which sparse tables have linear models."""

MAX_SPARSE_COLUMNS = 10_000
"""Columns of a sparse table that are kept."""

MIN_SPLIT = 50
SET_ASIDE = 5
"""One row in so many has no part in the choice of columns of a dense table, unless there are few rows."""

BLOCK_CELLS = 2**24
"""Cells of a dense table that are rated at a time."""


def rate_columns(X: Any, targets: NDArray[np.float64], weights: NDArray[Any] | None = None) -> NDArray[np.float64]:
    """Share of the targets' variance that each column explains linearly, summed over the targets.

    Parameters
    ----------
    X : array of numbers or sparse matrix, shape (n_rows, n_columns)
        Missing values count as the mean of their column.
    targets : float64 array, shape (n_rows, n_targets)
    weights : array, shape (n_rows,), optional

    Examples
    --------
    >>> rate_columns(np.array([[0.0, 5.0], [1.0, 5.0], [1.0, np.nan], [0.0, 5.0]]), np.array([[0.0], [1], [1], [0]]))
    array([1., 0.])
    """
    shares = np.full(X.shape[0], 1 / X.shape[0]) if weights is None else weights / weights.sum()
    centered = targets - shares @ targets
    variances = shares @ np.square(centered)
    goals = centered / np.sqrt(np.where(variances > 0, variances, 1.0)) * shares[:, np.newaxis]
    if is_sparse(X):
        by_column = X.tocsc().astype(np.float64)
        by_column.data = np.nan_to_num(by_column.data, nan=0.0, posinf=0.0, neginf=0.0)
        squares = by_column.copy()
        squares.data = np.square(by_column.data)
        means = by_column.T @ shares
        return _rate(by_column.T @ goals, squares.T @ shares - np.square(means))
    rated = []
    step = max(1, BLOCK_CELLS // X.shape[0])
    for first in range(0, X.shape[1], step):
        block = X[:, first : first + step].astype(np.float64)
        block[~np.isfinite(block)] = np.nan
        known = ~np.isnan(block)
        means = shares @ np.where(known, block, 0.0) / np.maximum(shares @ known, 1e-300)
        block = np.where(known, block - means, 0.0)
        rated.append(_rate(block.T @ goals, shares @ np.square(block)))
    return np.concatenate(rated)


@dataclass(frozen=True)
class Screening:
    """Which columns were kept, and why.

    Parameters
    ----------
    kept : list of int, optional
        Positions of the columns that get bits; None if all do.
    set_aside : int64 array, optional
        Rows that had no part in the choice.
    is_linear : bool
        Whether the table is one of very many columns of which a row has few.
    """

    kept: list[int] | None = None
    set_aside: NDArray[np.int64] | None = None
    is_linear: bool = False


def screen(X: Any, goals: NDArray[np.float64], weights: NDArray[Any] | None, *, seed: int) -> Screening:
    """Choose the columns that explain most, if there are very many.

    Parameters
    ----------
    X : table, shape (n_rows, n_columns)
        Only arrays of numbers, sparse matrices, and data frames that are one array are screened.
    goals : float64 array, shape (n_rows, n_goals)
        What columns are to explain.
    weights : array, shape (n_rows,), optional
    seed : int
        Of the rows that are set aside.

    Examples
    --------
    >>> screen(np.eye(3), np.eye(3), None, seed=0)
    Screening(kept=None, set_aside=None, is_linear=False)
    """
    matrix = X if is_sparse(X) else as_table(X).matrix
    if matrix is None or matrix.shape[1] <= MAX_COLUMNS:
        return Screening()
    n_rows = matrix.shape[0]
    if is_sparse(matrix):
        return Screening(_choose(matrix, goals, weights, MAX_SPARSE_COLUMNS), is_linear=True)
    if n_rows < MIN_SPLIT:
        return Screening(_choose(matrix, goals, weights, MAX_COLUMNS))
    order = np.random.default_rng(seed).permutation(n_rows)
    n_aside = n_rows // SET_ASIDE
    known = np.sort(order[n_aside:])
    known_weights = None if weights is None else weights[known]
    kept = _choose(matrix[known], goals[known], known_weights, MAX_COLUMNS)
    return Screening(kept, np.sort(order[:n_aside]))


def _choose(X: Any, goals: NDArray[np.float64], weights: NDArray[Any] | None, n: int) -> list[int] | None:
    if X.shape[1] <= n:
        return None
    best: list[int] = np.sort(np.argsort(-rate_columns(X, goals, weights), kind="stable")[:n]).tolist()
    return best


def _rate(products: NDArray[np.float64], variances: NDArray[np.float64]) -> NDArray[np.float64]:
    known = variances > 1e-12
    return np.where(known, np.square(products).sum(axis=1) / np.where(known, variances, 1.0), 0.0)
