"""What is to be learned from a table: which columns are features, and whether the target is a class or a value.

In: a pyarrow table with all columns. Out: features and targets that an estimator takes, and words that say why.
"""

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gatewise.cli.options import count
from gatewise.cli.tables.arrow import pa, pc
from gatewise.cli.tables.reading import drop_missing

MAX_CLASSES = 20
"""Whole numbers with more distinct values than this are taken for values, not for classes."""


@dataclass(frozen=True, eq=False)
class Problem:
    """What to learn.

    Parameters
    ----------
    features : pyarrow Table
    name : str
        Of the target.
    target : array, shape (n_rows,)
    is_classification : bool
    reason : str
        Why it is a classification or a regression.
    n_left_out : int
        Rows without a target, which are left out.
    """

    features: Any
    name: str
    target: NDArray[Any]
    is_classification: bool
    reason: str
    n_left_out: int

    def split(self, share: float, seed: int) -> tuple["Problem", "Problem"]:
        """The rows to learn from, and a random share of all rows to test with."""
        n_rows = len(self.target)
        n_test = math.ceil(share * n_rows)
        if n_test == n_rows:
            raise ValueError(f"--test must leave rows to learn from, got a share of {share} of {n_rows} rows")
        if not n_test:
            return self, self
        order = np.random.default_rng(seed).permutation(n_rows)
        return self._take(np.sort(order[n_test:])), self._take(np.sort(order[:n_test]))

    def to_table(self) -> Any:
        """Features and target."""
        return self.features.append_column(self.name, pa.array(self.target))

    def _take(self, row_idx: NDArray[np.int64]) -> "Problem":
        return replace(self, features=self.features.take(row_idx), target=self.target[row_idx])


def pose_problem(table: Any, target: str, source: str, *, forced: str | None) -> Problem:
    """Split a table into features and target.

    Parameters
    ----------
    table : pyarrow Table
    target : str
    source : str
        What to call the table in errors.
    forced : {"classification", "regression"}, optional
        What the user decided.
    """
    known = drop_missing(table, target)
    if known.num_columns < 2 or not known.num_rows:
        raise ValueError(
            f"{source} must have a column besides {target!r} and a row with a value of it, "
            f"got {count(known.num_columns, 'column')} and {count(known.num_rows, 'row')}"
        )
    y = _as_learnable(known[target], target, source)
    if _is_timed(y.type):
        raise ValueError(f"{target!r} must hold classes or numbers, got {y.type}; write it as a number, such as days")
    distinct = pc.unique(y)
    if len(distinct) < 2:
        raise ValueError(
            f"{target!r} must have at least two different values to learn, got {distinct[0].as_py()!r} only"
        )
    is_classification, reason = _decide(y, distinct, target)
    if forced is not None:
        is_classification, reason = forced == "classification", f"--{forced} was given"
    if not is_classification and not _is_number(y.type):
        raise ValueError(f"{target!r} must hold numbers for a regression, got {y.type}; leave out --regression")
    names = [name for name in known.column_names if name != target]
    features = pa.table({name: _as_learnable(known[name], name, source) for name in names})
    return Problem(features, target, y.to_numpy(), is_classification, reason, table.num_rows - known.num_rows)


def describe_features(features: Any) -> str:
    """How many columns are numbers, and which are categories, in words."""
    dates = [field.name for field in features.schema if _is_timed(field.type)]
    categories = [field.name for field in features.schema if not _is_number(field.type) and field.name not in dates]
    kinds = [f"{count(features.num_columns - len(categories) - len(dates), 'column')} of numbers"]
    for names, kind in ((categories, "categories"), (dates, "dates")):
        if names:
            kinds.append(f"{len(names)} of {kind} ({', '.join(names):.100})")
    return " and ".join(kinds)


def _decide(y: Any, distinct: Any, name: str) -> tuple[bool, str]:
    counted = f"{len(distinct):,} different ones"
    if not _is_number(y.type):
        kind = "bools" if pa.types.is_boolean(y.type) else "strings"
        return True, f"{name!r} holds {kind}, {counted}"
    numbers = distinct.to_numpy(zero_copy_only=False)
    is_whole = bool((np.isfinite(numbers) & (numbers == np.floor(numbers))).all())
    kind = "whole numbers" if is_whole else "numbers"
    limit = f", at most {MAX_CLASSES}" if is_whole and len(distinct) <= MAX_CLASSES else ""
    return bool(limit), f"{name!r} holds {kind}, {counted}{limit}"


def _as_learnable(column: Any, name: str, source: str) -> Any:
    kind = column.type
    if pa.types.is_decimal(kind):
        return column.cast(pa.float64())
    is_text = pa.types.is_string(kind) or pa.types.is_large_string(kind)
    if is_text or _is_number(kind) or pa.types.is_boolean(kind) or pa.types.is_null(kind) or _is_timed(kind):
        return column
    if pa.types.is_binary(kind) or pa.types.is_large_binary(kind):
        raise ValueError(f"column {name!r} of {source} must hold text in UTF-8, got other bytes; convert the file")
    raise ValueError(
        f"column {name!r} of {source} must hold numbers, strings, bools or dates, got {kind}; "
        f"leave it out by --drop {name!r}, or write it as a number"
    )


def _is_number(kind: Any) -> bool:
    return bool(pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind))


def _is_timed(kind: Any) -> bool:
    return bool(pa.types.is_timestamp(kind) or pa.types.is_date(kind) or pa.types.is_duration(kind))
