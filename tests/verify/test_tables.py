"""Sums of tables against the circuits that they come from, and searches of them against looking at every point."""

from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.small_models import make_model
from support.tools import require_module

require_module("pysat", "pip install -c constraints.txt '.[verify]'")

from gatewise import _native
from gatewise.verify.asking import Question
from gatewise.verify.forms import Forms
from gatewise.verify.limits import Limit
from gatewise.verify.proving import tables as module
from gatewise.verify.proving.decide import Decider, decide
from gatewise.verify.proving.rails import Bounder
from gatewise.verify.proving.search import Search
from gatewise.verify.proving.tables import Tables
from gatewise.verify.space import Region

SEEDS = st.integers(0, 10_000)


def make_forms(seed: int, n_forms: int) -> tuple[Forms, Region, Any]:
    """Sums of a small model's counts over all its rows, and all points."""
    question = Question([make_model(seed, n_groups=3)], 60.0)
    rng = np.random.default_rng(seed)
    forms = question.all_counts.combine(rng.integers(-3, 4, (n_forms, 3)), rng.integers(-4, 5, n_forms))
    region = question.space.region()
    points = np.array(list(product(*map(range, region.sizes.tolist()))), np.int64)
    return forms, region, points


def make_boxes(region: Region, n: int, seed: int) -> tuple[Any, Any]:
    """Random boxes."""
    ends = np.random.default_rng(seed).integers(0, region.sizes, (2, n, len(region.sizes)))
    return ends.min(axis=0), ends.max(axis=0)


@given(seed=SEEDS, n_forms=st.integers(1, 3), most=st.sampled_from([200, 2000, 1 << 15]))
def test_tables_add_up_to_the_forms_and_bound_them(seed: int, n_forms: int, most: int) -> None:
    forms, region, points = make_forms(seed, n_forms)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "MAX_RANGES", most)
        tables = Tables.of(forms, region)
    if tables is None:
        assert most < 1 << 15
        return
    values = forms.values(region.bits_at(points))
    assert np.array_equal(tables.values(points), values)
    low, high = make_boxes(region, 30, seed)
    bounds = tables.highs(low, high)
    for k in range(30):
        inside = ((points >= low[k]) & (points <= high[k])).all(axis=1)
        assert (values[inside].max(axis=0) <= bounds[k]).all()


@given(seed=SEEDS)
def test_one_table_for_all_outputs_is_exact(seed: int) -> None:
    forms, region, points = make_forms(seed, 1)
    tables, rails = Tables.of(forms, region), Bounder(forms, region)
    assert tables is not None
    low, high = make_boxes(region, 20, seed)
    assert (tables.highs(low, high) <= rails.highs(low, high)).all()
    values = forms.values(region.bits_at(points))[:, 0]
    for way in (tables.search, None):
        whole = np.zeros(len(region.sizes), np.int64), region.sizes - 1
        found = way(*whole, goal=None, limit=Limit(60.0)) if way else Search(forms, region).run(Limit(60.0))
        assert found.is_complete
        assert found.low == found.high == values.max()


@given(seed=SEEDS, n_forms=st.integers(1, 3))
def test_deciders_agree_with_looking_at_every_point(seed: int, n_forms: int) -> None:
    forms, region, points = make_forms(seed, n_forms)
    reached = forms.values(region.bits_at(points)).min(axis=1)
    for method in ("auto", "search", "sat"):
        decider = Decider(forms, region, method)  # type: ignore[arg-type]
        for low, high in zip(*make_boxes(region, 5, seed), strict=True):
            inside = ((points >= low) & (points <= high)).all(axis=1)
            decision = decider.decide(low, high, Limit(60.0))
            assert decision.is_decided
            assert (decision.point is None) == (reached[inside].max() < 0)
            if decision.point is not None:
                assert ((decision.point >= low) & (decision.point <= high)).all()
                assert (forms.values(region.bits_at(decision.point[np.newaxis])) >= 0).all()


@given(seed=SEEDS, goal=st.integers(-5, 5))
def test_rails_and_tables_agree(seed: int, goal: int) -> None:
    forms, region, _ = make_forms(seed, 2)
    by_rails = Search(forms, region, goal=goal).run(Limit(60.0))
    tables = Tables.of(forms, region)
    assert tables is not None
    by_tables = tables.search(np.zeros(len(region.sizes), np.int64), region.sizes - 1, goal=goal, limit=Limit(60.0))
    assert by_rails.is_complete
    assert by_tables.is_complete
    assert (by_rails.point is None) == (by_tables.point is None)


def test_a_search_that_is_cut_short_has_an_interval() -> None:
    rng = np.random.default_rng(0)
    axes = [(i, np.arange(40, dtype=np.uint32)) for i in range(6)]
    pairs = [[axes[i], axes[k]] for i in range(6) for k in range(i)]
    arrays = [(pair, rng.integers(-99, 99, 1600).astype(np.int32)) for pair in pairs]
    sizes, zero = np.full(6, 40, np.uint32), np.zeros(6, np.uint32)
    search = _native.BoxSearch(_native.TableSum(sizes, np.zeros(1, np.int64), arrays), zero, sizes - 1, None)
    assert not search.advance(1000)
    first = search.reached, search.highest
    assert first[0] < first[1]
    search.advance(200_000)
    assert first[0] <= search.reached <= search.highest < first[1]


def test_wide_outputs_are_not_tabulated(monkeypatch: pytest.MonkeyPatch) -> None:
    forms, region, _ = make_forms(0, 1)
    assert Tables.of(forms, region) is not None
    monkeypatch.setattr(module, "MAX_BITS", 1)
    assert Tables.of(forms, region) is None
    decision = decide(forms, region, Limit(60.0), "search")
    assert decision.is_decided
