"""Warnings about columns that bits cannot do justice to: what was done, and what else can be.

In: how often the categories of a column occur, and which get bits. Out: warnings at the line that called the package.
"""

import sys
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

MANY = 0.5
"""Share of distinct values among the rows from which a column of strings is taken for ids or free text."""

N_LOOKED_AT = 100
"""Strings of a column that are tried as numbers and dates."""

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


def warn_of_categories(name: str, values: Sequence[Any], counts: NDArray[np.int64], n_kept: int) -> None:
    """Say that only the most frequent categories of a column have bits, or none, and what would say more."""
    n, n_rows = len(counts), int(counts.sum())
    better = find_meaning(values)
    if n_kept == 0:
        advice = better or (
            "drop ids, and turn text into numbers, as by sklearn.feature_extraction.text.TfidfVectorizer"
        )
        _warn(
            f"column {name!r:.60} has {n:,} different strings in {n_rows:,} rows, as ids and free text have: it gets "
            f"no bits; {advice}"
        )
        return
    share = np.sort(counts)[-n_kept:].sum() / n_rows
    _warn(
        f"column {name!r:.60} has {n:,} categories: the {n_kept} most frequent have a bit each, in {share:.0%} of the "
        "rows, and the others look alike; "
        + (better or "sklearn.preprocessing.TargetEncoder makes numbers of them that say more")
    )


def find_meaning(values: Sequence[Any]) -> str | None:
    """What to do with strings that are all numbers, or all dates as ISO 8601 writes them; None for others.

    Examples
    --------
    >>> find_meaning(["2024-01-31", "2024-02-01T12:30"])
    'they are dates: convert them, as by pandas.to_datetime'
    >>> find_meaning(["1.5", " 7"]), find_meaning(["1.5", "a7"])
    ('they are numbers: convert them, as by pandas.to_numeric', None)
    """
    for convert, advice in (
        (float, "they are numbers: convert them, as by pandas.to_numeric"),
        (np.datetime64, "they are dates: convert them, as by pandas.to_datetime"),
    ):
        try:
            for value in values[:N_LOOKED_AT]:
                if not isinstance(value, str):
                    return None
                convert(value.strip())
        except ValueError:
            continue
        return advice
    return None


def _warn(message: str) -> None:
    level, frame = 1, sys._getframe()
    while frame.f_back is not None and frame.f_code.co_filename.startswith(PACKAGE):
        level, frame = level + 1, frame.f_back
    warnings.warn(message, ColumnWarning, stacklevel=level)
