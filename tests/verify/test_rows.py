"""What is said of single rows: robustness, counterfactuals and explanations, beside looking at every row."""

from itertools import combinations
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.small_models import GIVEN, VALUES, list_rows, make_model
from support.tools import require_module

require_module("pysat", "pip install -c constraints.txt '.[verify]'")

from gatewise import Encoder, verify
from gatewise.verify.proving.decide import METHODS

SEEDS = st.integers(0, 10_000)
METHOD = st.sampled_from(METHODS)
ROWS = list_rows()
WITHIN: list[dict[str, Any] | None] = [None, {"age": 25.0}, {"age": 12.5, "gain": 60.0, "job": None}, {"member": None}]
NAMES = tuple(VALUES)
COARSE = {"age": 2.5, "gain": 5.0}


def distance(row: dict[str, Any], other: dict[str, Any]) -> list[str]:
    """Names of columns in which rows differ."""
    return [name for name in NAMES if row[name] != other[name]]


def list_near(row: dict[str, Any], within: dict[str, Any] | None) -> list[dict[str, Any]]:
    """A row of each cell that may be reached, and the row itself."""
    cuts = {"age": [17.5, 37.5, 60.0], "gain": [0.0, 100.0]}
    kept = [row]
    choices = []
    for name in NAMES:
        amount = within.get(name, 0) if within is not None else None
        if amount is None:
            choices.append(VALUES[name])
        elif amount == 0 or row[name] is None:
            choices.append([row[name]])
        else:
            low, high = row[name] - amount, row[name] + amount
            ends = {low, high, row[name], *(cut for cut in cuts[name] if low <= cut <= high)}
            choices.append(sorted(ends | {cut + 1e-9 for cut in cuts[name] if low <= cut < high}))
    kept += [
        dict(zip(NAMES, values, strict=True))
        for values in np.array(np.meshgrid(*map(_index, choices))).T.reshape(-1, 4)
    ]
    return [{name: choices[i][row[name]] for i, name in enumerate(NAMES)} for row in kept[1:]] + [kept[0]]


def _index(values: list[Any]) -> np.ndarray:
    return np.arange(len(values))


@settings(max_examples=25, deadline=None)
@given(
    seed=SEEDS,
    row=st.sampled_from(ROWS),
    within=st.sampled_from(WITHIN),
    at_most=st.sampled_from([None, 1, 2, 3]),
    method=METHOD,
    n_groups=st.integers(2, 3),
)
def test_robust(seed: int, row: Any, within: Any, at_most: int | None, method: Any, n_groups: int) -> None:
    model = make_model(seed, n_groups=n_groups)
    near = [each for each in list_near(row, within) if at_most is None or len(distance(each, row)) <= at_most]
    answer = model.predict([row])[0]
    (verdict,) = verify.robust(model, [row], within, at_most=at_most, method=method)
    assert verdict.is_proved == (model.predict(near) == answer).all()
    if verdict.is_refuted:
        first, second = verdict.counterexample
        assert first == row
        assert verdict.answers == (answer, model.predict([second])[0])
        changed = distance(first, second)
        assert at_most is None or len(changed) <= at_most
        assert within is None or set(changed) <= set(within)
        for name in changed:
            amount = (within or {}).get(name)
            assert amount is None or abs(second[name] - row[name]) <= amount
            assert model.predict([second | {name: row[name]}])[0] == answer or len(model.head.labels) > 2


@settings(max_examples=20, deadline=None)
@given(seed=SEEDS, row=st.sampled_from([row for row in ROWS if row["age"] is not None]))
def test_radius(seed: int, row: Any) -> None:
    model = make_model(seed)
    found = verify.radius(model, row, COARSE)
    answer = model.predict([row])[0]
    inside = {name: amount * min(found.factor, 1e6) for name, amount in COARSE.items()}
    assert (model.predict(list_near(row, inside)) == answer).all()
    assert found.nearest.is_proved == np.isinf(found.factor)
    if found.nearest.is_refuted:
        _, outside = found.nearest.counterexample
        assert model.predict([outside])[0] != answer
        farthest = max(abs(outside[name] - row[name]) / amount for name, amount in COARSE.items())
        assert farthest >= found.factor


@settings(max_examples=25, deadline=None)
@given(
    seed=SEEDS,
    row=st.sampled_from(ROWS),
    fixed=st.sampled_from([(), ("age",), ("job", "member")]),
    n_groups=st.integers(2, 3),
)
def test_counterfactual(seed: int, row: Any, fixed: tuple[str, ...], n_groups: int) -> None:
    model = make_model(seed, n_groups=n_groups)
    answer = model.predict([row])[0]
    others = [each for each in ROWS if model.predict([each])[0] != answer and not set(fixed) & set(distance(each, row))]
    for to in (None, *(label for label in model.head.labels if label != answer)):
        wanted = [each for each in others if to is None or model.predict([each])[0] == to]
        found = verify.counterfactual(model, row, to=to, fixed=fixed, n=3)
        assert found.is_impossible == (not wanted)
        if wanted:
            assert found.is_least
            assert len(found.found[0].changes) == min(len(distance(each, row)) for each in wanted)
        for each in found.found:
            assert model.predict([each.row])[0] == each.answer != answer
            assert to in (None, each.answer)
            assert {name: (row[name], each.row[name]) for name in distance(each.row, row)} == each.changes
            assert not set(fixed) & set(each.changes)
        for first, second in combinations(found.found, 2):
            assert not set(first.changes) <= set(second.changes)


@settings(max_examples=8, deadline=None)
@given(seed=SEEDS, at=st.integers(0, 255), n_groups=st.integers(2, 4))
def test_fewest_of_many_bits(seed: int, at: int, n_groups: int) -> None:
    encoder = Encoder.images((8,), 1, high=1.0)
    model = make_model(seed, n_groups=n_groups, encoder=encoder)
    points = np.array(np.meshgrid(*[[0, 1]] * 8)).T.reshape(-1, 8)
    row = dict(zip(encoder.names, points[at].tolist(), strict=True))
    answers = model.predict(points)
    n_changed = (points != points[at]).sum(axis=1)
    for label in model.head.labels:
        if label == answers[at]:
            continue
        found = verify.counterfactual(model, row, to=label)
        wanted = n_changed[answers == label]
        assert found.is_impossible == (len(wanted) == 0)
        assert [len(each.changes) for each in found.found] == [wanted.min()] * (len(wanted) > 0)
    for k in (1, 2, 3):
        verdict = verify.robust(model, [row], at_most=k)[0]
        assert verdict.is_proved == (answers[n_changed <= k] == answers[at]).all()


@settings(max_examples=12, deadline=None)
@given(seed=SEEDS, row=st.sampled_from(ROWS))
def test_cheapest_counterfactual(seed: int, row: Any) -> None:
    model = make_model(seed)
    costs = {"age": 5.0, "job": 0.5, "gain": 2.0}
    answer = model.predict([row])[0]
    totals = [
        sum(costs.get(name, 1.0) for name in distance(each, row)) for each in ROWS if model.predict([each])[0] != answer
    ]
    found = verify.counterfactual(model, row, costs=costs)
    assert [each.cost for each in found.found] == sorted(totals)[:1]


def test_counterfactual_of_values() -> None:
    model = make_model(5, n_groups=1, values=True)
    values = model.predict(ROWS)
    row = ROWS[int(values.argmin())]
    found = verify.counterfactual(model, row, to=(float(values.max()), None))
    assert found.found[0].answer == values.max()
    assert verify.counterfactual(model, row, to=(float(values.max()) + 1, None)).is_impossible


@settings(max_examples=25, deadline=None)
@given(seed=SEEDS, row=st.sampled_from(ROWS), method=METHOD, smallest=st.booleans(), n_groups=st.integers(2, 3))
def test_explain(seed: int, row: Any, method: Any, smallest: bool, n_groups: int) -> None:
    model = make_model(seed, n_groups=n_groups)
    answer = model.predict([row])[0]

    def is_enough(names: tuple[str, ...]) -> bool:
        same = [each for each in ROWS if all(each[name] == row[name] for name in names)]
        return bool((model.predict(same) == answer).all())

    found = verify.explain(model, row, smallest=smallest, method=method)
    assert found.answer == answer
    assert found.is_minimal
    assert is_enough(found.columns)
    assert verify.always(model, found.given, then=answer).is_proved
    assert verify.robust(model, [row], dict.fromkeys(set(NAMES) - set(found.columns)))[0].is_proved
    for name in found.columns:
        assert not is_enough(tuple(set(found.columns) - {name}))
    if smallest:
        assert found.is_smallest
        assert not any(is_enough(names) for names in combinations(NAMES, len(found.columns) - 1) if found.columns)


@settings(max_examples=20, deadline=None)
@given(seed=SEEDS, conditions=st.sampled_from(GIVEN[1:]))
def test_explain_with_what_is_known(seed: int, conditions: Any) -> None:
    model = make_model(seed)
    row = list_rows(conditions)[0]
    found = verify.explain(model, row, given=conditions)
    same = [each for each in list_rows(conditions) if all(each[name] == row[name] for name in found.columns)]
    assert (model.predict(same) == found.answer).all()


@pytest.mark.parametrize("smallest", [False, True])
def test_explain_without_time_keeps_columns(smallest: bool) -> None:
    model = make_model(4)
    found = verify.explain(model, ROWS[0], smallest=smallest, limit=0.0)
    assert not found.is_minimal
    assert not found.is_smallest
    assert verify.always(model, found.given, then=found.answer).is_proved


def test_a_row_is_a_dict() -> None:
    with pytest.raises(TypeError, match="row must be a dict of values by name of the column, got list"):
        verify.counterfactual(make_model(0), [1, 2])  # type: ignore[arg-type]


def test_rows_are_tables_of_any_kind() -> None:
    pandas = require_module("pandas", "pip install -c constraints.txt '.[pandas]'")
    model = make_model(4)
    rows = ROWS[:40]
    verdicts = [each.status for each in verify.robust(model, rows, {"age": 5.0})]
    assert verdicts == [each.status for each in verify.robust(model, pandas.DataFrame(rows), {"age": 5.0})]
    assert {"proved"} <= set(verdicts)


@pytest.mark.parametrize(
    ("ask", "message"),
    [
        (lambda model: verify.robust(model, ROWS[:1], {"job": 2}), "within must be None"),
        (lambda model: verify.robust(model, ROWS[:1], {"age": -2}), "within must be at least 0"),
        (lambda model: verify.robust(model, ROWS[:1], at_most=0), "at_most must be an integer"),
        (lambda model: verify.robust(model, [{"age": 3}]), "rows must have the columns"),
        (lambda model: verify.robust(model, [[1, 2]]), "rows must have 4 columns"),
        (lambda model: verify.robust(make_model(0, values=True), ROWS[:1]), "model must have classes"),
        (lambda model: verify.explain(make_model(0, values=True), ROWS[0]), "model must have classes"),
        (lambda model: verify.explain(model, ROWS[0], given={"age": (90, 95)}), "row must fulfil given"),
        (lambda model: verify.explain(model, {"age": 3}), "row must have a value for each column, got none for job, "),
        (lambda model: verify.radius(model, ROWS[0], {"age": 0}), "within must be positive"),
        (lambda model: verify.counterfactual(model, ROWS[0], to="z"), "answer must be one of"),
        (lambda model: verify.counterfactual(model, ROWS[0], costs={"age": 0}), "costs must be positive"),
    ],
)
def test_errors(ask: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        ask(make_model(0))
