"""Checks of arguments: what passes, in which type, and what an error says."""

import numpy as np
import pytest

from gatewise.checks import MAX_SEED, as_integer, as_number, as_positive


@pytest.mark.parametrize("value", [0, 7, np.int8(7), np.uint64(7), MAX_SEED, np.uint64(MAX_SEED)])
def test_integers(value: object) -> None:
    assert as_integer("seed", value, 0, MAX_SEED) == value
    assert type(as_integer("seed", value, 0, MAX_SEED)) is int


@pytest.mark.parametrize("value", [-1, MAX_SEED + 1, 7.0, True, np.True_, "7", None, [7], np.float64(7)])
def test_what_is_no_integer_in_range(value: object) -> None:
    with pytest.raises(ValueError, match=r"^seed must be an integer in 0\.\.18446744073709551615, got "):
        as_integer("seed", value, 0, MAX_SEED)


@pytest.mark.parametrize("value", [0, -7, 0.5, np.float32(0.5), np.int64(3), 1e308])
def test_numbers(value: object) -> None:
    assert as_number("offset", value) == value
    assert type(as_number("offset", value)) is float


@pytest.mark.parametrize("value", [float("inf"), float("nan"), 10**400, True, "1", None, [1.0], 1j])
def test_what_is_no_finite_number(value: object) -> None:
    for check in (as_number, as_positive):
        with pytest.raises(ValueError, match=r"^offset must be a finite number, got "):
            check("offset", value)


@pytest.mark.parametrize("value", [0, -0.0, -1, -5e-324])
def test_what_is_not_positive(value: object) -> None:
    with pytest.raises(ValueError, match=r"^tau must be positive, got "):
        as_positive("tau", value)
