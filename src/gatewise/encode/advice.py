"""Warnings about columns that bits cannot do justice to: what was done, and what else can be.

In: how often the categories of a column occur, and which get bits. Out: warnings at the line that called the package.
"""

import sys
import warnings
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

MANY = 0.5
"""Share of distinct values among the rows from which a column of strings is taken for ids or free text."""

PACKAGE = str(Path(__file__).parents[1])


class ColumnWarning(UserWarning):
    """A column has more categories than bits."""


def is_id_like(counts: NDArray[np.int64], n_kept: int) -> bool:
    """Whether so many categories are rare that the frequent ones say nothing.

    Examples
    --------
    >>> is_id_like(np.ones(500, int), 64), is_id_like(np.full(500, 9), 64)
    (True, False)
    """
    return bool(len(counts) > n_kept and len(counts) > MANY * counts.sum())


def warn_of_categories(name: str, counts: NDArray[np.int64], n_kept: int) -> None:
    """Say that only the most frequent categories of a column have bits, or none."""
    n, n_rows = len(counts), int(counts.sum())
    if n_kept == 0:
        _warn(
            f"column {name!r:.60} has {n:,} different strings in {n_rows:,} rows, as ids and free text have: it gets "
            "no bits; drop ids, and turn text into numbers, as by sklearn.feature_extraction.text.TfidfVectorizer"
        )
        return
    share = np.sort(counts)[-n_kept:].sum() / n_rows
    _warn(
        f"column {name!r:.60} has {n:,} categories: the {n_kept} most frequent have a bit each, in {share:.0%} of the "
        "rows, and the others look alike; sklearn.preprocessing.TargetEncoder makes numbers of them that say more"
    )


def _warn(message: str) -> None:
    level, frame = 1, sys._getframe()
    while frame.f_back is not None and frame.f_code.co_filename.startswith(PACKAGE):
        level, frame = level + 1, frame.f_back
    warnings.warn(message, ColumnWarning, stacklevel=level)
