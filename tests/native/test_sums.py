"""What sums of tables are given is checked by native code, whatever Python promised."""

import re
from typing import Any

import numpy as np
import pytest

from gatewise import _native

RUNS = np.array([0, 1, 1], np.uint32)
GOOD: dict[str, Any] = {
    "sizes": np.array([3, 2], np.uint32),
    "constants": np.array([5], np.int64),
    "tables": [([(0, RUNS)], np.array([7, -1], np.int32))],
}


def make_sum(**changes: Any) -> _native.TableSum:
    """The sum above, but for the changes."""
    return _native.TableSum(**(GOOD | changes))


def table(*axes: tuple[int, Any], n: int) -> list[Any]:
    """One table of so many values."""
    return [([(column, np.array(runs, np.uint32)) for column, runs in axes], np.zeros(n, np.int32))]


def test_a_sum() -> None:
    low, high, found = np.array([[0, 0], [1, 0]], np.uint32), np.array([[2, 1], [2, 1]], np.uint32), np.empty((2, 1))
    found = found.astype(np.int64)
    make_sum().highs(low, high, found)
    assert found.tolist() == [[12], [4]]
    search = _native.BoxSearch(make_sum(), low[1], high[0], None)
    assert search.advance(10)
    assert search.is_done
    assert (search.reached, search.highest, search.point[0] >= 1) == (4, 4, True)  # type: ignore[index]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"sizes": np.array([3, 0], np.uint32)}, "sizes must be positive"),
        ({"constants": np.zeros(0, np.int64)}, "constants must be at least one"),
        ({"constants": np.array([2**62])}, "constants must be below"),
        ({"tables": table((2, [0]), n=1)}, "axes must be columns"),
        ({"tables": table((0, [0, 1]), n=2)}, "runs must be one per choice, from 0"),
        ({"tables": table((0, [1, 1, 1]), n=2)}, "runs must be one per choice, from 0"),
        ({"tables": table((0, [0, 2, 2]), n=3)}, "runs must be numbered in order"),
        ({"tables": table((0, [0, 1, 0]), n=2)}, "runs must be numbered in order"),
        ({"tables": table((0, [0, 1, 1]), n=3)}, "values must be one per cell and form"),
        ({"tables": table((0, [0, 1, 2]), (0, [0, 1, 2]), n=9)}, "axes of a table must differ"),
        ({"sizes": np.array([2**16, 1], np.uint32), "tables": table((0, range(2**16)), n=2**16)}, "must be smaller"),
    ],
)
def test_malformed_sums_are_refused(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=re.escape(message)):
        make_sum(**changes)


@pytest.mark.parametrize(("low", "high"), [([0, 0], [3, 1]), ([2, 0], [1, 1]), ([0], [1]), ([0, 0], [2, 2**32 - 1])])
def test_boxes_outside_are_refused(low: list[int], high: list[int]) -> None:
    ends = np.array(low, np.uint32), np.array(high, np.uint32)
    with pytest.raises(ValueError, match="must be"):
        _native.BoxSearch(make_sum(), *ends, None)
    with pytest.raises(ValueError, match="must be"):
        make_sum().highs(*(end[np.newaxis] for end in ends), np.empty((1, 1), np.int64))


def test_a_search_outlives_the_name_of_its_sum() -> None:
    search = _native.BoxSearch(make_sum(), np.zeros(2, np.uint32), np.array([2, 1], np.uint32), 12)
    assert search.advance(1)
    assert search.point is not None
    assert search.point[0] == 0
