"""Columns of dates in proofs: their parts depend on each other, and counterexamples have dates that exist."""

import datetime
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.small_models import make_model
from support.tools import require_module

require_module("pysat", "pip install -c constraints.txt '.[verify]'")

from gatewise import Encoder, LogicClassifier, verify
from gatewise.encode import Numeric
from gatewise.encode.timed import Timed
from gatewise.verify.moments import list_moments

SEEDS = st.integers(0, 10_000)
ANCHOR = 20_454  # 2026-01-01
FIRST = datetime.datetime(2026, 1, 1)
PARTS = [
    Timed([86_400.0 * 2.5, 86_400.0 * 40], source="paid", part="elapsed", anchor=ANCHOR, missing=True),
    Timed([1.5], source="paid", part="month"),
    Timed([5.5], source="paid", part="weekday"),
    Timed([8.5, 17.5], source="paid", part="hour"),
]
ENCODER = Encoder((*PARTS, Numeric("gain", [0.0]), Timed([60.0], source="spent", part="duration")), named=True)
HOURS = [FIRST + datetime.timedelta(hours=i) for i in range(-24 * 400, 24 * 430, 6)]
MOMENTS = [*HOURS, FIRST + datetime.timedelta(days=2, hours=12, microseconds=1), None]
"""Moments of every pattern: the calendar of a year on both sides, and what is just after a threshold."""


def list_rows(low: Any = None, high: Any = None) -> list[dict[str, Any]]:
    return [
        {"paid": paid, "gain": gain, "spent": datetime.timedelta(seconds=seconds)}
        for paid in MOMENTS
        if (low is None or (paid is not None and paid >= low)) and (high is None or (paid is not None and paid <= high))
        for gain in (-1, 1)
        for seconds in (30, 90)
    ]


ROWS = list_rows()


def test_moments_have_every_pattern_that_there_is() -> None:
    encoder = Encoder(tuple(PARTS), named=True)
    found = encoder.transform([{"paid": moment} for moment in list_moments(PARTS)])
    known = {bits.tobytes() for bits in encoder.transform([{"paid": each} for each in MOMENTS if each is not None])}
    assert len({bits.tobytes() for bits in found}) == len(found)
    assert known == {bits.tobytes() for bits in found}


@settings(max_examples=15, deadline=None)
@given(seed=SEEDS, first=st.integers(-2000, 12_000), hours=st.integers(0, 2000))
def test_rules_about_dates(seed: int, first: int, hours: int) -> None:
    model = make_model(seed, encoder=ENCODER)
    low = FIRST + datetime.timedelta(hours=first)
    high = low + datetime.timedelta(hours=hours)
    for given_, rows in (({}, ROWS), ({"paid": (low, high)}, list_rows(low, high))):
        answers = set(model.predict(rows).tolist()) if rows else set()
        for label in model.head.labels:
            verdict = verify.always(model, given_, then=label)
            if not answers <= {label}:
                assert verdict.is_refuted
            if verdict.is_refuted:  # perhaps by a moment between those that were looked at
                (row,) = verdict.counterexample
                assert model.predict([row])[0] == verdict.answers[0] != label
                assert not given_ or low <= row["paid"] <= high
            elif not given_:
                assert answers <= {label}


@settings(max_examples=15, deadline=None)
@given(seed=SEEDS)
def test_independence_of_dates(seed: int) -> None:
    model = make_model(seed, encoder=ENCODER)
    answers = model.predict(ROWS).reshape(len(MOMENTS), 4)
    verdict = verify.independent_of(model, "paid")
    assert verdict.is_proved == (answers == answers[0]).all()
    if verdict.is_refuted:
        first, second = verdict.counterexample
        assert {**first, "paid": second["paid"]} == second
    spent = model.predict(ROWS).reshape(-1, 2)
    assert verify.independent_of(model, "spent").is_proved == (spent[:, 0] == spent[:, 1]).all()


@settings(max_examples=15, deadline=None)
@given(seed=SEEDS, at=st.sampled_from(range(0, len(HOURS), 37)), days=st.integers(0, 90))
def test_changes_of_dates(seed: int, at: int, days: int) -> None:
    model = make_model(seed, encoder=ENCODER)
    row = {"paid": HOURS[at], "gain": 1, "spent": datetime.timedelta(seconds=30)}
    answer, within = model.predict([row])[0], datetime.timedelta(days=days)
    (verdict,) = verify.robust(model, [row], {"paid": within})
    near = [row | {"paid": each} for each in HOURS if abs(each - HOURS[at]) <= within]
    if verdict.is_refuted:
        first, second = verdict.counterexample
        assert first == row
        assert abs(second["paid"] - row["paid"]) <= within
        assert model.predict([second])[0] != answer
    else:
        assert (model.predict(near) == answer).all()
    explanation = verify.explain(model, row)
    assert verify.always(model, {name: row[name] for name in explanation.given}, then=answer).is_proved


def test_tables_with_dates() -> None:
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"when": pd.date_range("2024-01-01", periods=900, freq="7h"), "x": rng.normal(size=900)})
    y = (frame["when"].dt.month > 6) & (frame["x"] > 0)
    model = LogicClassifier(random_state=0, max_iter=30).fit(frame, y).model_
    june = {"when": (pd.Timestamp("2024-03-01"), datetime.date(2024, 5, 31))}
    assert verify.always(model, june, then=False).is_proved
    assert verify.independent_of(model, "when").is_refuted
    assert len(verify.robust(model, frame[:3], {"when": datetime.timedelta(days=1), "x": 0.1})) == 3
    assert verify.equivalent(model, LogicClassifier(random_state=0, max_iter=30).fit(frame, y).model_).is_proved


@pytest.mark.parametrize(
    ("ask", "message"),
    [
        (lambda m: verify.always(m, {"paid": ("2026-01-01", None)}, then="a"), "'paid' must hold dates and times or"),
        (lambda m: verify.always(m, {"paid": (5, None)}, then="a"), "'paid' must hold dates and times or"),
        (lambda m: verify.always(m, {"paid": (FIRST, FIRST - datetime.timedelta(1))}, then="a"), "must leave a value"),
        (lambda m: verify.always(m, {"paid": (pd.NaT, None)}, then="a"), "must be a pair of moments"),
        (lambda m: verify.robust(m, ROWS[:1], {"paid": 3}), "a timedelta of dates, and a number of numbers, got 3"),
        (lambda m: verify.robust(m, ROWS[:1], {"paid": -datetime.timedelta(1)}), "within must be at least 0, got -1"),
    ],
)
def test_errors(ask: Any, message: str) -> None:
    with pytest.raises((TypeError, ValueError), match=message):
        ask(make_model(0, encoder=ENCODER))


def test_too_many_kinds_of_moments_are_refused() -> None:
    many = [Timed((np.arange(n) + 0.5).tolist(), source="x", part=part) for n, part in ((23, "hour"), (59, "minute"))]
    with pytest.raises(ValueError, match="'x' must have at most 4,096 kinds of moments, got 10,080; fit with fewer"):
        list_moments([*many, Timed([1.5, 2.5, 3.5, 4.5, 5.5, 6.5], source="x", part="weekday")])
