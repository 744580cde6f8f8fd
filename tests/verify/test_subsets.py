"""Sets of few columns: bounds hold for every point, what is found is there, and no set that can do is left out."""

from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.small_models import make_model
from support.tools import require_module

require_module("pysat", "pip install -c constraints.txt '.[verify]'")

from gatewise.verify.asking import Question
from gatewise.verify.limits import Limit
from gatewise.verify.proving import subsets as module
from gatewise.verify.proving.decide import Change, decide
from gatewise.verify.proving.subsets import Subsets

SEEDS = st.integers(0, 10_000)
N_COLUMNS = 4


def make_subsets(seed: int, n_forms: int) -> tuple[Subsets, Any, Any]:
    """Sums of a small model's counts; all points, and the least form at each of them."""
    question = Question([make_model(seed, n_groups=3)], 60.0)
    rng = np.random.default_rng(seed)
    forms = question.all_counts.combine(rng.integers(-3, 4, (n_forms, 3)), rng.integers(-12, 3, n_forms))
    region = question.space.region()
    points = np.array(list(product(*map(range, region.sizes.tolist()))), np.int64)
    return (
        Subsets(forms, region, rng.integers(0, region.sizes)),
        points,
        forms.values(region.bits_at(points)).min(axis=1),
    )


@given(seed=SEEDS, n_forms=st.integers(1, 2), most=st.sampled_from([0, 1 << 27]))
def test_no_set_of_columns_that_can_do_is_left_out(seed: int, n_forms: int, most: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "MAX_STEPS", most)
        subsets, points, values = make_subsets(seed, n_forms)
        n_changed = (points != subsets.start).sum(axis=1)
        for size in range(1, N_COLUMNS + 1):
            good = points[(values >= 0) & (n_changed <= size)]
            if len(good) and values[n_changed == 0] < 0:
                assert subsets.can_any(size)
            exact = good[(good != subsets.start).sum(axis=1) == size]
            needed = {frozenset(np.flatnonzero(point != subsets.start).tolist()) for point in exact}
            read = set(subsets.columns.tolist())
            listed = {
                frozenset(subsets.columns[list(chosen)].tolist()) for chosen in subsets.candidates(size, Limit(60.0))
            }
            assert {each for each in needed if each <= read} <= listed


@given(seed=SEEDS, n_forms=st.integers(1, 2), at_most=st.integers(1, N_COLUMNS))
def test_climbing_ends_at_a_point_that_is_close_enough(seed: int, n_forms: int, at_most: int) -> None:
    subsets, points, values = make_subsets(seed, n_forms)
    point = subsets.climb(at_most, Limit(60.0))
    if point is not None:
        assert (point != subsets.start).sum() <= at_most
        assert values[(points == point).all(axis=1)] >= 0
    n_changed = (points != subsets.start).sum(axis=1)
    if at_most == 1 and values[n_changed == 0] < 0:
        assert (point is not None) == (values[n_changed <= 1] >= 0).any()


@given(seed=SEEDS, n_forms=st.integers(1, 2), at_most=st.integers(0, N_COLUMNS), most=st.sampled_from([0, 1 << 27]))
def test_changes_are_decided_as_by_looking_at_every_point(seed: int, n_forms: int, at_most: int, most: int) -> None:
    subsets, points, values = make_subsets(seed, n_forms)
    is_near = (points != subsets.start).sum(axis=1) <= at_most
    for method in ("auto", "search", "sat"):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(module, "MAX_STEPS", most)
            change = Change(subsets.start, at_most)
            found = decide(subsets.forms, subsets.region, Limit(60.0), method, change)  # type: ignore[arg-type]
        assert found.is_decided
        assert (found.point is not None) == (values[is_near] >= 0).any()
        if found.point is not None:
            assert (found.point != subsets.start).sum() <= at_most
            assert values[(points == found.point).all(axis=1)] >= 0


def test_time_that_is_up_ends_the_climb() -> None:
    subsets = next(
        each for each, _, values in (make_subsets(seed, 1) for seed in range(99)) if each.start_values.min() < 0
    )
    assert subsets.climb(2, Limit(0.0)) is None
