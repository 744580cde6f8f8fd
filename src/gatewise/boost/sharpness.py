"""Sharpness: a factor of all scores, so that probabilities are as sure as they deserve.

In: scores of rows that they were not learned from, and what these rows are. Out: one number.
Terms take small steps and are few, so their scores are mostly too near to each other. A factor costs no gate: it is a
part of the head (Guo et al., "On calibration of modern neural networks", 2017, with rows out of fold).
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

LEAST, MOST = 1 / 16, 64.0
N_HALVINGS = 20

Weights = NDArray[np.floating[Any]] | None


def find_sharpness(scores: NDArray[np.floating[Any]], classes: NDArray[np.int64], weights: Weights) -> float:
    """The factor of the scores with the least mean negative logarithm of the classes' probabilities.

    One more row counts whose class is drawn at random: where no row is on the wrong side, no probability is 0 still.

    Parameters
    ----------
    scores : float array, shape (n_rows, n_scores)
        Of one score, the logarithm of the odds of class 1 against class 0.
    classes : int64 array, shape (n_rows,)
    weights : float array, shape (n_rows,), optional

    Examples
    --------
    >>> unsure = np.array([[0.1], [0.1], [0.1], [0.1], [-0.1], [-0.1]])
    >>> factor = find_sharpness(unsure, np.array([1, 1, 1, 0, 0, 0]), None)
    >>> bool(10 < factor < 15)  # most of them are right, so odds are more than 11 : 10
    True
    """
    logs = np.hstack([np.zeros_like(scores), scores]) if scores.shape[1] == 1 else scores
    logs = (logs - logs.mean(axis=1, keepdims=True)).astype(np.float64)
    counted = np.ones(len(logs)) if weights is None else np.asarray(weights, np.float64)
    counted = counted / counted.sum()
    n_rows = len(logs)
    own = np.take_along_axis(logs, classes[:, np.newaxis], axis=1)[:, 0]  # of a class at random, 0 in the mean
    wanted = float(counted @ own) * n_rows / (n_rows + 1)
    low, high = np.log(LEAST), np.log(MOST)
    for _ in range(N_HALVINGS):  # the loss is convex in the factor: its slope changes sign once
        middle = (low + high) / 2
        powers = np.exp(np.exp(middle) * (logs - logs.max(axis=1, keepdims=True)))
        expected = float(counted @ ((powers * logs).sum(axis=1) / powers.sum(axis=1)))
        low, high = (middle, high) if expected < wanted else (low, middle)
    return float(np.exp((low + high) / 2))
