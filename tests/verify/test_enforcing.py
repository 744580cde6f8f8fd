"""Models that were made to keep a property keep it, as proofs and all rows say, and answer as before where they may."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.small_models import VALUES, list_rows, make_model
from support.tools import require_module

require_module("pysat", "pip install -c constraints.txt '.[verify]'")

from gatewise import verify

SEEDS = st.integers(0, 10_000)
ROWS = list_rows()


@settings(max_examples=25, deadline=None)
@given(seed=SEEDS, column=st.sampled_from(list(VALUES)), n_groups=st.integers(2, 3))
def test_independence(seed: int, column: str, n_groups: int) -> None:
    model = make_model(seed, n_groups=n_groups)
    answers = model.predict(ROWS)
    made = verify.enforce_independence(model, column, ROWS, answers)
    assert made.verdict.is_proved
    assert made.model.encoder.columns[model.encoder.names.index(column)].n_bits == 0
    assert made.before == 1.0
    assert made.after == (made.model.predict(ROWS) == answers).mean()
    values = [(model.predict([row | {column: value} for row in ROWS]) == answers).mean() for value in VALUES[column]]
    assert made.after == max(values)


@settings(max_examples=20, deadline=None)
@given(seed=SEEDS, column=st.sampled_from(["age", "gain"]), increasing=st.booleans(), values=st.booleans())
def test_monotone(seed: int, column: str, increasing: bool, values: bool) -> None:
    model = make_model(seed, n_groups=1 if values else 2, values=values)
    answers = model.predict(ROWS)
    made = verify.enforce_monotone(model, column, ROWS, answers, increasing=increasing)
    assert made.verdict.is_proved
    missing = [row for row in ROWS if row[column] is None]
    if missing:
        assert (made.model.scores(missing) == model.scores(missing)).all()


def test_an_output_that_rises_stays_as_it_is() -> None:
    model = make_model(2)
    kept = verify.enforce_monotone(model, "age", ROWS, model.predict(ROWS))
    again = verify.enforce_monotone(kept.model, "age", ROWS, kept.model.predict(ROWS))
    assert again.after == 1.0
    assert verify.equivalent(again.model, kept.model).is_proved


def test_errors() -> None:
    with pytest.raises(ValueError, match="column must hold numbers"):
        verify.enforce_monotone(make_model(0), "job", ROWS, ["a"] * len(ROWS))
    with pytest.raises(ValueError, match="model must have two classes or one value, got 3"):
        verify.enforce_monotone(make_model(0, n_groups=3), "age", ROWS, ["a"] * len(ROWS))
