"""How good a model's answers are on rows whose true answers are known.

In: scores or values that the model gives, and true answers. Out: `ClassQuality` or `ValueQuality`.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from gatewise.heads import Classes
from gatewise.report.facts import ClassQuality, LabelQuality, SeveralQuality, ValueQuality

N_BINS = 10
N_RESIDUALS = 31
MAX_CUTS = 200
MAX_POINTS = 600
MAX_CLASSES = 40
"""Of more, the confusions are too many to be looked at."""

LEAST = 1e-15
"""Probabilities are drawn away from 0 before their logarithm."""


def match_labels(head: Classes, y: Any, n_rows: int) -> NDArray[np.int64]:
    """Position of each row's true class among the labels, -1 for classes that the model does not know.

    Examples
    --------
    >>> match_labels(Classes(("no", "yes"), 1.0, 1), ["yes", "no", "?"], 3).tolist()
    [1, 0, -1]
    """
    position = {label: i for i, label in enumerate(head.labels)}
    values = np.asarray(y, dtype=object).tolist()
    _check_length(values, n_rows)
    found = np.array([position.get(value, -1) for value in values], np.int64)
    if n_rows and (found < 0).all():
        listed = ", ".join(map(str, head.labels))
        raise ValueError(f"y must hold classes of the model, {listed:.200}, got {values[0]!r:.60} and no known one")
    return found


def match_values(y: Any, n_rows: int, n_groups: int) -> NDArray[np.float64]:
    """True values of a regression, or of several, as float64; NaN where one is missing.

    Examples
    --------
    >>> match_values([1, None], 2, 1).tolist()
    [1.0, nan]
    """
    values = np.asarray(y)
    numbers: NDArray[np.float64] = values.astype(np.float64)
    _check_length(numbers, n_rows)
    if numbers.ndim == 2 and numbers.shape[1] == 1 == n_groups:
        numbers = numbers[:, 0]
    if numbers.shape[1:] != ((n_groups,) if n_groups > 1 else ()):
        expected = f"{n_groups} columns, as the model has values" if n_groups > 1 else "one value per row"
        raise ValueError(f"y must have {expected}, got shape {values.shape}")
    return numbers


def rate_classes(truth: NDArray[np.int64], proba: NDArray[np.float64]) -> ClassQuality:
    """Accuracy and what it consists of.

    Parameters
    ----------
    truth : int array, shape (n_rows,)
        Positions of true classes, -1 for rows to leave out.
    proba : float64 array, shape (n_rows, n_classes)

    Examples
    --------
    >>> quality = rate_classes(np.array([0, 1, 1, -1]), np.array([[0.9, 0.1], [0.2, 0.8], [0.6, 0.4], [0.5, 0.5]]))
    >>> round(quality.accuracy, 3), quality.confusion, quality.cuts
    (0.667, [[1, 0], [1, 1]], [(0.1, 2, 1), (0.4, 2, 0), (0.8, 1, 0)])
    """
    known = truth >= 0
    truth, proba = truth[known], proba[known]
    n_classes = proba.shape[1]
    predicted = proba.argmax(axis=1)
    pairs = np.bincount(truth * n_classes + predicted, minlength=n_classes**2)
    confusion = pairs.reshape(n_classes, n_classes).tolist() if n_classes <= MAX_CLASSES else []
    own = proba[np.arange(len(truth)), truth]
    is_binary = n_classes == 2
    stated = proba[:, 1] if is_binary else proba.max(axis=1)
    came_true = truth == 1 if is_binary else truth == predicted
    return ClassQuality(
        n_rows=len(truth),
        n_unknown=int((~known).sum()),
        accuracy=float((predicted == truth).mean()),
        log_loss=float(-np.log(np.maximum(own, LEAST)).mean()),
        confusion=confusion,
        calibration=_calibrate(stated, came_true),
        cuts=_cut(stated, came_true) if is_binary else [],
    )


def rate_values(truth: NDArray[np.float64], predicted: NDArray[np.float64]) -> ValueQuality:
    """Errors of a regression; rows without a true value are left out.

    Parameters
    ----------
    truth, predicted : float64 arrays, shape (n_rows,)

    Examples
    --------
    >>> quality = rate_values(np.array([1.0, 2.0, 3.0]), np.array([1.0, 2.0, 4.0]))
    >>> quality.r2, round(quality.rmse, 3), round(quality.mae, 3)
    (0.5, 0.577, 0.333)
    """
    known = np.isfinite(truth)
    truth, predicted = truth[known], predicted[known]
    if not len(truth):
        raise ValueError("y must have a finite value, got none; leave y out")
    residuals = truth - predicted
    total = float(np.square(truth - truth.mean()).sum())
    counts, edges = np.histogram(residuals, bins=N_RESIDUALS)
    shown = np.unique(np.linspace(0, len(truth) - 1, min(len(truth), MAX_POINTS)).astype(np.int64))
    return ValueQuality(
        n_rows=len(truth),
        r2=1 - float(np.square(residuals).sum()) / total if total > 0 else None,
        rmse=float(np.sqrt(np.square(residuals).mean())),
        mae=float(np.abs(residuals).mean()),
        below=float((residuals <= 0).mean()),
        points=list(zip(truth[shown].tolist(), predicted[shown].tolist(), strict=True)),
        edges=edges.tolist(),
        counts=counts.tolist(),
    )


def rate_several(truth: NDArray[np.float64], predicted: NDArray[np.float64]) -> SeveralQuality | LabelQuality:
    """Errors of several values per row; if all true ones are 0 or 1, they are labels, which values above 0 say.

    Parameters
    ----------
    truth, predicted : float64 arrays, shape (n_rows, n_values)

    Examples
    --------
    >>> rate_several(np.array([[0.0, 1.0], [1.0, 1.0]]), np.array([[-2.0, 1.0], [3.0, -1.0]]))
    LabelQuality(n_rows=2, exact=0.5, hits=(1, 1), answered=(1, 1), owners=(1, 2))
    """
    known = np.isfinite(truth).all(axis=1)
    truth, predicted = truth[known], predicted[known]
    if not np.isin(truth, (0, 1)).all() or not len(truth):
        ratings = tuple(rate_values(*columns) for columns in zip(truth.T, predicted.T, strict=True))
        return SeveralQuality(len(truth), ratings)
    owns, says = truth > 0, predicted > 0
    hits, answered, owners = (tuple(each.sum(axis=0).tolist()) for each in (owns & says, says, owns))
    return LabelQuality(len(truth), float((owns == says).all(axis=1).mean()), hits, answered, owners)


def _calibrate(stated: NDArray[np.float64], came_true: NDArray[np.bool_]) -> list[tuple[float, float, int]]:
    bins = np.minimum((stated * N_BINS).astype(np.int64), N_BINS - 1)
    n = np.bincount(bins, minlength=N_BINS)
    stated_sums = np.bincount(bins, stated, N_BINS)
    true_sums = np.bincount(bins, came_true, N_BINS)
    return [(stated_sums[k] / n[k], true_sums[k] / n[k], int(n[k])) for k in np.flatnonzero(n).tolist()]


def _cut(stated: NDArray[np.float64], came_true: NDArray[np.bool_]) -> list[tuple[float, int, int]]:
    """Rows that are answered with the last class from each of the stated probabilities on, rising."""
    levels, place = np.unique(stated, return_inverse=True)
    hits = np.bincount(place, came_true, len(levels))[::-1].cumsum()[::-1]
    rows = np.bincount(place, minlength=len(levels))[::-1].cumsum()[::-1]
    shown = np.unique(np.linspace(0, len(levels) - 1, min(len(levels), MAX_CUTS)).astype(np.int64)).tolist()
    return [(float(levels[k]), int(hits[k]), int(rows[k] - hits[k])) for k in shown]


def _check_length(y: Any, n_rows: int) -> None:
    if len(y) != n_rows:
        raise ValueError(f"y must have {n_rows} values, as X has rows, got {len(y)}")
