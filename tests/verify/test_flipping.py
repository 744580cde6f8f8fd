"""Flips: every change of one column is tried, and the most expensive one of each column is told."""

from itertools import product

import pytest
from support.small_models import VALUES, list_rows, make_model

from gatewise.verify import Flips, flip


def lead_of(model: object, row: dict[str, object], answer: object) -> float:
    scores = dict(zip(model.head.labels, model.scores([row])[0].tolist(), strict=True))  # type: ignore[attr-defined]
    own = scores.pop(answer)
    return own - max(scores.values())


@pytest.mark.parametrize(("seed", "n_groups"), list(product(range(6), (2, 4))))
def test_flips_are_those_of_trying_all(seed: int, n_groups: int) -> None:
    model = make_model(seed, n_groups=n_groups)
    for row in list_rows()[seed::37]:
        found = flip(model, row)
        answer = model.predict([row])[0]
        assert found.answer == answer
        assert found.lead == pytest.approx(lead_of(model, row, answer))
        least = {
            name: min(lead_of(model, row | {name: value}, answer) for value in values)
            for name, values in VALUES.items()
        }
        expected = {name: lead for name, lead in least.items() if lead < found.lead}
        assert {each.column: each.lead for each in found.flips} == pytest.approx(expected)
        assert [each.lead for each in found.flips] == sorted(expected.values())
        for each in found.flips:
            changed = row | {each.column: each.other}
            assert model.predict([changed])[0] == each.answer
            assert lead_of(model, changed, answer) == pytest.approx(each.lead)


def test_only_the_first_are_told() -> None:
    model = make_model(1)
    row = next(row for row in list_rows() if len(flip(model, row).flips) > 1)
    assert flip(model, row, n=1).flips == flip(model, row).flips[:1]
    assert len(str(flip(model, row, n=1)).splitlines()) == 2
    assert str(Flips("a", 2.0, ())).endswith("no column alone changes the lead")


def test_values_are_refused() -> None:
    with pytest.raises(ValueError, match="model must have two classes or more, got Affine"):
        flip(make_model(0, n_groups=1, values=True), list_rows()[0])
