"""Monotone constraints: along which columns an answer never falls, or never rises.

In: what users ask for, by name or in the order of the columns. Out: a direction for each column of an encoder.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gatewise.encode import Encoder
from gatewise.encode.columns import Numeric

DIRECTIONS = (-1, 0, 1)


def read_directions(monotone_cst: Any, encoder: Encoder) -> NDArray[np.int8] | None:
    """Check the parameter `monotone_cst`; None if no column has a direction.

    Parameters
    ----------
    monotone_cst : dict of column name to int, or array-like of int, shape (n_columns,), or None
        1 for columns along which the answer never falls, -1 for those along which it never rises, else 0.
    encoder : Encoder

    Examples
    --------
    >>> encoder = Encoder.fit([{"age": 20, "sex": "F"}, {"age": 30, "sex": "M"}])
    >>> read_directions({"age": 1}, encoder).tolist()
    [1, 0]
    >>> read_directions({"sex": 1}, encoder)
    Traceback (most recent call last):
    ValueError: monotone_cst must be 0 for columns that do not hold numbers, got 1 for 'sex'
    """
    if monotone_cst is None:
        return None
    names = [column.table_name for column in encoder.columns]
    given = _as_mapping(monotone_cst, names)
    directions = np.zeros(len(names), np.int8)
    for i, name in enumerate(names):
        value = given.get(name, 0)
        if isinstance(value, bool | np.bool_) or value not in DIRECTIONS:
            raise ValueError(f"monotone_cst must be -1, 0 or 1, got {value!r:.60} for {name!r:.60}")
        if value != 0 and not isinstance(encoder.columns[i], Numeric):
            raise ValueError(
                f"monotone_cst must be 0 for columns that do not hold numbers, got {int(value)} for {name!r:.60}"
            )
        directions[i] = value
    return directions if directions.any() else None


def _as_mapping(monotone_cst: Any, names: list[str]) -> Mapping[Any, Any]:
    if isinstance(monotone_cst, Mapping):
        for name in monotone_cst:
            if name not in names:
                raise ValueError(
                    f"monotone_cst must name columns of X, got {name!r:.60}; X has {', '.join(names):.200}"
                )
        return monotone_cst
    listed = list(monotone_cst)
    if len(listed) != len(names):
        raise ValueError(f"monotone_cst must have a number for each column, got {len(listed)} for {len(names)} columns")
    return dict(zip(names, listed, strict=True))
