"""Growing: questions against brute force, values against Newton steps, losses against the terms' own scores."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from gatewise import Encoder, _native
from gatewise.boost import Boosting, EncodedTable, Goal
from gatewise.boost.learner import LOSSES, SETTINGS, Split


def make_table(n_rows: int = 500, max_thresholds: int = 9) -> tuple[EncodedTable, np.ndarray]:
    rng = np.random.default_rng(3)
    numbers = rng.normal(size=n_rows).round(1)
    numbers[::9] = np.nan
    rows = [
        {"number": number, "word": word, "flag": flag}
        for number, word, flag in zip(numbers, rng.choice(list("abcd"), n_rows), rng.random(n_rows) < 0.5, strict=True)
    ]
    encoder = Encoder.fit(rows, max_thresholds=max_thresholds)
    planes = encoder.encode(rows)
    return EncodedTable(encoder, planes), planes.unpack()


def make_goal(loss: str, bits: np.ndarray) -> Goal:
    rng = np.random.default_rng(4)
    signal = bits[:, 2].astype(int) ^ bits[:, -1] ^ (rng.random(len(bits)) < 0.1)
    if loss == "softmax":
        signal = signal + bits[:, 11]
    if loss == "poisson":
        return Goal(loss, 3.0 * signal[:, None].astype(np.float32), np.array([0.1], np.float32))
    if loss in ("squared", "quantile"):
        values = np.stack([signal + rng.normal(size=len(bits)), 2 * bits[:, 10] - signal], 1)
        return Goal(loss, values.astype(np.float32), np.array([0.25, -0.5], np.float32))
    base = np.array([0.1, 0.2, -0.3][: 3 if loss == "softmax" else 1], np.float32)
    return Goal(loss, signal[:, None].astype(np.float32), base)


def derivatives(goal: Goal, scores: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """First and second ones, (n_rows, n_scores), by the formulas."""
    if goal.loss == "squared":
        return scores - goal.targets, np.ones_like(scores)
    if goal.loss == "poisson":
        return np.exp(scores) - goal.targets, np.exp(scores)
    if goal.loss == "quantile":  # the curve is a kernel's estimate of the density of values at the score
        share = 1 / (1 + np.exp((goal.targets - scores) / 0.1))
        return (scores > goal.targets) - QUANTILE, np.maximum(share * (1 - share) / 0.1, 0.1)
    if goal.loss == "logistic":
        p, y = 1 / (1 + np.exp(-scores)), goal.targets
    else:
        p = np.exp(scores) / np.exp(scores).sum(1, keepdims=True)
        y = np.eye(scores.shape[1])[goal.targets[:, 0].astype(int)]
    return p - y, p * (1 - p)


def mean_loss(goal: Goal, scores: np.ndarray, rows: np.ndarray, weights: np.ndarray) -> float:
    scores, targets = scores[rows], goal.targets[rows]
    if goal.loss == "squared":
        each = np.square(scores - targets).sum(1)
    elif goal.loss == "quantile":
        each = (((scores > targets) - QUANTILE) * (scores - targets)).sum(1)
    elif goal.loss == "poisson":
        each = (np.exp(scores) - targets * scores - targets)[:, 0]
        each += (targets * np.log(np.maximum(targets, 1)))[:, 0]
    elif goal.loss == "logistic":
        each = np.logaddexp(0, scores)[:, 0] - scores[:, 0] * targets[:, 0]
    else:
        each = np.log(np.exp(scores).sum(1)) - scores[np.arange(len(rows)), targets[:, 0].astype(int)]
    return float(np.average(each, weights=weights[rows]))


QUANTILE = 0.7
ROWS = np.arange(500, dtype=np.uint32)
KNOWN, UNKNOWN = ROWS[ROWS % 5 > 0], ROWS[ROWS % 5 == 0]
HALVES = [Split(KNOWN, UNKNOWN)]
UNVALIDATED = [Split(KNOWN, UNKNOWN[:0])]
ALL: dict[str, Any] = {"row_share": 1.0, "column_share": 1.0, "n_sketches": 0, "n_pairs": 0}  # all rows, one by one


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("max_thresholds", [9, 254])  # with so many, rows do not take turns at histograms
def test_terms_are_newton_steps_on_the_best_questions(loss: str, weighted: bool, max_thresholds: int) -> None:
    table, bits = make_table(max_thresholds=max_thresholds)
    weights = 1.0 + ROWS % 3 if weighted else np.ones(500)
    table = EncodedTable(table.encoder, table.planes, weights if weighted else None)
    goal = make_goal(loss, bits)
    settings = Boosting(n_questions=2, value_bits=8, unit=1e-4, learning_rate=0.5, l2=2.0, max_terms=4, **ALL)
    settings = replace(settings, quantile=QUANTILE)
    terms, losses, *_ = settings.grow(table, goal, HALVES)
    assert len(losses) - 1 == len(terms.bits) == 4
    scores = np.tile(goal.base.astype(float), (500, 1))
    assert losses[0] == pytest.approx(mean_loss(goal, scores, UNKNOWN, weights), abs=1e-4)
    for chosen, values, found in zip(terms.bits, terms.values, losses[1:], strict=True):
        first, second = (each * weights[:, None] for each in derivatives(goal, scores))
        cells = np.zeros(500, int)
        for level, bit in enumerate(chosen):
            gains = [gain(first, second, cells + (bits[:, each] << level), 2.0) for each in range(bits.shape[1])]
            assert gains[bit] > max(gains) * (1 - 1e-3)
            cells += bits[:, bit] << level
        for cell in range(4):
            inside = KNOWN[cells[KNOWN] == cell]
            step = -first[inside].sum(0) / (second[inside].sum(0) + 2.0)
            step = 0.5 * (step if loss == "squared" else np.clip(step, -4, 4))
            np.testing.assert_allclose(values[cell] * 1e-4, step, atol=0.02)  # 256 values for all cells
        scores += values[cells] * 1e-4
        assert found == pytest.approx(mean_loss(goal, scores, UNKNOWN, weights), abs=1e-4)
    np.testing.assert_allclose(terms.scores(bits) * 1e-4 + goal.base, scores, atol=1e-9)


def gain(first: np.ndarray, second: np.ndarray, cells: np.ndarray, l2: float) -> float:
    total = 0.0
    for cell in np.unique(cells[KNOWN]):
        inside = KNOWN[cells[KNOWN] == cell]
        total += float((first[inside].sum(0) ** 2 / (second[inside].sum(0) + l2)).sum())
    return total


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("value_bits", [1, 2, 3])
def test_values_have_few_digits(loss: str, value_bits: int) -> None:
    table, bits = make_table()
    terms = Boosting(value_bits=value_bits, max_terms=30).grow(table, make_goal(loss, bits), HALVES).terms
    for values in terms.values:
        above = values - values.min(axis=0)  # what all cells share has any digits
        assert (above // np.gcd.reduce(above, axis=None) < 1 << value_bits).all()


@pytest.mark.parametrize("loss", LOSSES)
def test_rounding_keeps_the_mean_step(loss: str) -> None:
    table, bits = make_table()
    goal = make_goal(loss, bits)
    coarse = Boosting(value_bits=2, max_terms=1, learning_rate=1.0, l2=0.0, **ALL)
    steps = []
    for boosting in (coarse, replace(coarse, value_bits=8)):
        terms = boosting.grow(table, goal, UNVALIDATED).terms
        cells = bits[:, terms.bits[0]] @ (1 << np.arange(3))
        curves = derivatives(goal, np.tile(goal.base, (len(bits), 1)))[1]
        steps.append(np.average(terms.values[0][cells[KNOWN]], axis=0, weights=curves[KNOWN]))
    assert np.ptp(terms.values) > 80  # halves of a digit would be seen
    np.testing.assert_allclose(steps[0], steps[1], atol=1.5)


def test_growing_stops_when_others_lose() -> None:
    table, bits = make_table()
    goal = make_goal("logistic", bits)
    terms, losses, *_ = Boosting(patience=7, max_terms=500).grow(table, goal, HALVES)
    assert len(losses) == losses.argmin() + 1 + 7 < 500
    assert len(losses) - 1 <= len(terms.bits) < len(losses) + 8
    assert len(Boosting(max_terms=25).grow(table, goal, UNVALIDATED).terms.bits) == 25
    constant = Goal("logistic", np.ones((500, 1), np.float32), np.array([60.0], np.float32))
    assert len(Boosting().grow(table, constant, HALVES).terms.bits) == 0  # nothing to add


def test_scores_that_gain_little_are_left_alone() -> None:
    table, bits = make_table()
    goal = make_goal("softmax", bits)
    all_scores, some_scores = (
        Boosting(sparsity=sparsity, max_terms=40).grow(table, goal, UNVALIDATED).terms for sparsity in (0.0, 0.9)
    )
    n_all, n_some = (np.count_nonzero(np.ptp(terms.values, axis=1)) for terms in (all_scores, some_scores))
    assert 40 <= n_some < 0.8 * n_all


def test_splits_grow_in_step() -> None:
    table, bits = make_table()
    goal = make_goal("softmax", bits)
    part = ROWS % 3
    others = [Split(ROWS[part != k], ROWS[part == k]) for k in range(3)]
    settings = Boosting(max_terms=20, patience=20)
    each = [settings.grow(table, goal, [split]).losses for split in others]
    whole = Boosting(max_terms=20).grow(table, goal, [Split(ROWS, ROWS[:0])]).terms
    for threads in (1, 2, 9):
        terms, losses, *_ = settings.grow(table, goal, [*others, Split(ROWS, ROWS[:0])], threads=threads)
        np.testing.assert_allclose(losses, np.mean(each, axis=0), rtol=1e-12)
        np.testing.assert_array_equal(terms.bits, whole.bits)
        np.testing.assert_array_equal(terms.values, whole.values)


def make_parity(n_rows: int = 4000, n_columns: int = 30) -> tuple[EncodedTable, Goal]:
    """Two columns whose signs must differ, among others that say nothing."""
    rng = np.random.default_rng(8)
    numbers = rng.normal(size=(n_rows, n_columns)).round(2)
    rows = [dict(zip(map("c{}".format, range(n_columns)), each, strict=True)) for each in numbers.tolist()]
    encoder = Encoder.fit(rows, max_thresholds=31)
    target = (numbers[:, 4] > 0) ^ (numbers[:, 23] > 0)
    goal = Goal("logistic", target[:, None].astype(np.float32), np.zeros(1, np.float32))
    return EncodedTable(encoder, encoder.encode(rows)), goal


def test_pairs_that_say_nothing_alone_are_found() -> None:
    table, goal = make_parity()
    rows = np.arange(4000, dtype=np.uint32)
    splits = [Split(rows[1000:], rows[:1000])]
    blind, seeing = (
        Boosting(max_terms=6, column_share=1.0, n_pairs=n_pairs).grow(table, goal, splits) for n_pairs in (0, 4)
    )
    asked = {each.partition(" ")[0] for each in np.array(table.encoder.describe_bits())[seeing.terms.bits[0, :2]]}
    assert asked == {"c4", "c23"}
    assert seeing.losses[-1] < 0.4 < 0.65 < blind.losses[-1]


def test_sketches_of_many_scores_learn_as_the_scores_do() -> None:
    rng = np.random.default_rng(9)
    numbers = rng.normal(size=(2000, 6))
    encoder = Encoder.fit(numbers, max_thresholds=15)
    classes = (numbers[:, :4] > 0) @ np.array([1, 2, 4, 8])
    goal = Goal("softmax", classes[:, None].astype(np.float32), np.zeros(16, np.float32))
    table, rows = EncodedTable(encoder, encoder.encode(numbers)), np.arange(2000, dtype=np.uint32)
    splits = [Split(rows[500:], rows[:500])]
    for n_sketches in (0, 2):
        losses = Boosting(max_terms=80, n_sketches=n_sketches).grow(table, goal, splits).losses
        assert losses[-1] < 0.25 * losses[0]


def call(**changed: Any) -> Any:
    table, bits = make_table()
    goal = make_goal("softmax", bits)
    valid: dict[str, Any] = {
        "planes": table.planes.words,
        "n_rows": 500,
        "n_ordered": np.array([9, 0, 0], np.uint32),
        "n_single": np.array([1, 4, 1], np.uint32),
        "directions": np.zeros(3, np.int8),
        "targets": goal.targets,
        "weights": np.zeros(0, np.float32),
        "training": [KNOWN],
        "validation": [UNKNOWN],
        "loss": 1,
        "base": goal.base,
        "settings": {name: getattr(Boosting(), name) for name in SETTINGS},
        "max_terms": 2,
        "patience": 5,
        "enough": 0.999,
        "threads": 1,
    }
    valid["settings"] |= changed.pop("settings", {})
    return _native.grow_terms(**valid | changed)


@pytest.mark.parametrize(
    "changed",
    [
        {"n_rows": 600},
        {"n_ordered": np.array([9, 0], np.uint32)},
        {"n_ordered": np.array([10, 0, 0], np.uint32)},
        {"n_single": np.array([300, 0, 0], np.uint32)},
        {"directions": np.zeros(2, np.int8)},
        {"directions": np.array([2, 0, 0], np.int8)},
        {"directions": np.array([1, 0, 0], np.int8)},  # there are several scores
        {"targets": np.zeros((499, 1), np.float32)},
        {"targets": np.full((500, 1), 3, np.float32)},
        {"targets": np.full((500, 1), np.nan, np.float32)},
        {"targets": np.full((500, 1), -1, np.float32)},
        {"weights": np.zeros(3, np.float32)},
        {"training": [np.array([500], np.uint32)]},
        {"training": [np.array([], np.uint32)]},
        {"training": []},
        {"training": [KNOWN, KNOWN]},
        {"validation": [np.array([2**32 - 1], np.uint32)]},
        {"loss": 5},
        {"loss": 4, "targets": np.full((500, 3), -1, np.float32)},
        {"settings": {"quantile": 1.0}},
        {"loss": 0},
        {"base": np.zeros(0, np.float32)},
        {"patience": 0},
        {"threads": 0},
        {"enough": 1.5},
        {"settings": {"n_questions": 0}},
        {"settings": {"n_questions": 7}},
        {"settings": {"value_bits": 0}},
        {"settings": {"value_bits": 9}},
        {"settings": {"unit": 0.0}},
        {"settings": {"learning_rate": float("nan")}},
        {"settings": {"row_share": 0.0}},
        {"settings": {"column_share": 1.5}},
        {"settings": {"max_rows": 2**25}},
    ],
    ids=str,
)
def test_native_code_checks_what_it_is_given(changed: dict[str, Any]) -> None:
    assert len(call()[0]) == 6
    with pytest.raises(ValueError, match="must"):
        call(**changed)
