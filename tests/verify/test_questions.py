"""Every question is answered as by looking at every row, by each method; counterexamples are rows that fulfil it."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.small_models import GIVEN, VALUES, list_rows, make_model
from support.tools import require_module

require_module("pysat", "pip install -c constraints.txt '.[verify]'")

from gatewise import Model, verify
from gatewise.verify.proving.decide import METHODS

SEEDS = st.integers(0, 10_000)
CONDITIONS = st.sampled_from(GIVEN)
METHOD = st.sampled_from(METHODS)


def fulfils(row: dict[str, Any], conditions: dict[str, Any]) -> bool:
    """Whether a row is one that was asked for."""
    for name, condition in conditions.items():
        value = row[name]
        if isinstance(condition, tuple):
            low, high = condition
            if value is None or (low is not None and value < low) or (high is not None and value > high):
                return False
        elif value not in (condition if isinstance(condition, list) else [condition]):
            return False
    return True


def swap(row: dict[str, Any], column: str) -> list[dict[str, Any]]:
    """The row with each value of a column."""
    return [row | {column: value} for value in VALUES[column]]


@settings(max_examples=25, deadline=None)
@given(seed=SEEDS, conditions=CONDITIONS, method=METHOD, n_groups=st.integers(2, 4))
def test_always(seed: int, conditions: dict[str, Any], method: Any, n_groups: int) -> None:
    model = make_model(seed, n_groups=n_groups)
    answers = set(model.predict(list_rows(conditions)).tolist())
    for label in model.head.labels:
        verdict = verify.always(model, conditions, then=label, method=method)
        assert verdict.is_proved == (answers <= {label})
        never = verify.reachable(model, label, conditions, method=method)
        assert never.is_refuted == (label in answers)
        for each in (verdict, never):
            if each.is_refuted:
                (row,) = each.counterexample
                assert fulfils(row, conditions)
                assert each.answers == (model.predict([row])[0],)


@settings(max_examples=20, deadline=None)
@given(seed=SEEDS, conditions=CONDITIONS, method=METHOD, low=st.sampled_from([None, -2.0, 0.5, 3.0]))
def test_always_of_values(seed: int, conditions: dict[str, Any], method: Any, low: float | None) -> None:
    model = make_model(seed, n_groups=1, values=True)
    values = model.predict(list_rows(conditions))
    for high in (None, 3.0, 6.4):
        verdict = verify.always(model, conditions, then=(low, high), method=method)
        is_kept = (low is None or values.min() >= low) and (high is None or values.max() <= high)
        assert verdict.is_proved == is_kept
        assert verdict.is_refuted == (not is_kept)


@settings(max_examples=20, deadline=None)
@given(seed=SEEDS, conditions=CONDITIONS, method=METHOD, n_groups=st.integers(2, 3))
def test_independent_of(seed: int, conditions: dict[str, Any], method: Any, n_groups: int) -> None:
    model = make_model(seed, n_groups=n_groups)
    for column in VALUES:
        rows = list_rows(conditions)
        others = [name for name in VALUES if name != column]
        answers: dict[tuple[Any, ...], set[Any]] = {}
        for row, answer in zip(rows, model.predict(rows).tolist(), strict=True):
            answers.setdefault(tuple(row[name] for name in others), set()).add(answer)
        verdict = verify.independent_of(model, column, conditions, method=method)
        assert verdict.is_proved == all(len(each) == 1 for each in answers.values())
        if verdict.is_refuted:
            first, second = verdict.counterexample
            assert all(first[name] == second[name] for name in others)
            assert fulfils(first, conditions)
            assert fulfils(second, conditions)
            assert model.predict([first])[0] != model.predict([second])[0]


@settings(max_examples=20, deadline=None)
@given(seed=SEEDS, method=METHOD, increasing=st.booleans(), of=st.sampled_from(["score", "class", "value"]))
def test_monotone(seed: int, method: Any, increasing: bool, of: Any) -> None:
    model = make_model(seed, n_groups=1 if of == "value" else 2, values=of == "value")
    for column in ("age", "gain"):
        is_kept = True
        for row in list_rows({column: VALUES[column][0]}):
            chain = [each for each in swap(row, column) if each[column] is not None]
            scores = (model.scores(chain) @ ([1] if of == "value" else [-1, 1])).tolist()
            places = [model.head.labels.index(each) for each in model.predict(chain)] if of == "class" else scores
            is_kept &= places == sorted(places, reverse=not increasing)
        verdict = verify.monotone(
            model, column, increasing=increasing, of="class" if of == "class" else "score", method=method
        )
        assert verdict.is_proved == is_kept
        if verdict.is_refuted:
            first, second = verdict.counterexample
            assert first[column] < second[column]


@settings(max_examples=20, deadline=None)
@given(seed=SEEDS, conditions=CONDITIONS, values=st.booleans())
def test_bounds(seed: int, conditions: dict[str, Any], values: bool) -> None:
    model = make_model(seed, n_groups=2, values=values)
    rows = list_rows(conditions)
    scores = model.scores(rows)
    found = verify.bounds(model, conditions)
    for k, each in enumerate(found.ranges.values()):
        assert each.is_exact
        assert (each.low, each.high) == (scores[:, k].min(), scores[:, k].max())
        assert all(fulfils(row, conditions) for row in each.rows)
        assert model.scores(list(each.rows))[:, k].tolist() == [each.low, each.high]
    answers = set(model.predict(rows).tolist()) if not values else set()
    assert {label for label, each in found.reachable.items() if each.is_refuted} == answers
    for column in found.unread:
        assert model.encoder.columns[model.encoder.names.index(column)].n_bits == 0


@pytest.mark.parametrize(
    ("ask", "message"),
    [
        (lambda model: verify.always(model, {"aeg": 3}, then="a"), "column must be one of"),
        (lambda model: verify.always(model, {"age": (50, 40)}, then="a"), "given must leave a value of column 'age'"),
        (lambda model: verify.always(model, {"job": ("a", "b")}, then="a"), "condition on column 'job'"),
        (lambda model: verify.always(model, then="z"), "answer must be one of"),
        (lambda model: verify.always(model, then="a", limit=-1), "limit must be"),
        (lambda model: verify.always(model, then="a", method="magic"), "method must be one of"),
        (lambda model: verify.monotone(model, "job"), "column must hold numbers"),
        (lambda model: verify.monotone(model, "age", of="rank"), "of must be"),
        (lambda model: verify.always(make_model(0, values=True, n_groups=1), then=3), "values must be given as a pair"),
        (lambda model: verify.monotone(make_model(0, n_groups=3), "age"), "model must have two classes or one value"),
    ],
)
def test_errors(ask: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        ask(make_model(0))


def test_what_is_not_a_model_is_refused() -> None:
    with pytest.raises(TypeError, match="model must be a Model, got Circuit"):
        verify.always(make_model(0).circuit, then="a")  # type: ignore[arg-type]
    assert isinstance(make_model(0), Model)
