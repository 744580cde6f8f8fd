"""Encoders as tensors and documents: what is stored gives an equal encoder, in little space."""

import numpy as np
import pytest

from gatewise.encode import Categorical, Encoder, Numeric, Timed
from gatewise.store.encoder import restore_encoder, store_encoder

MIXED = Encoder(
    [
        Numeric("age", [17.5, 37.0], True),
        Categorical("work", ("a", 3, 2.5), True),
        Numeric("none", []),
        Categorical("single", (True,)),
    ],
    named=True,
)

DATED = Encoder(
    [
        Timed([0.5, 1e9], True, source="when", part="elapsed", anchor=20_454),
        Timed([5.5], source="when", part="weekday"),
        Categorical("work", ("a", 3)),
        Timed([], source="paid", part="elapsed", anchor=-3),
        Timed([60.0], source="wait", part="duration"),
        Timed([], source="last", part="month"),
    ],
    named=True,
)


@pytest.mark.parametrize(
    "encoder",
    [
        MIXED,
        DATED,
        DATED.take([3]),
        Encoder([Timed([1.5], source="x0", part="month"), Timed([1.5], source="x1", part="month")]),
        MIXED.take([]),
        MIXED.take([0, 4]),
        Encoder([]),
        Encoder.images((3, 3), 2),
        Encoder([Numeric("x0", [-1.7e308, 1.7e308])]),
        Encoder.fit(np.random.default_rng(0).normal(size=(100, 10_000)).astype(np.float32)),
    ],
    ids=repr,
)
def test_round_trip(encoder: Encoder) -> None:
    restored = restore_encoder(*store_encoder(encoder))
    assert restored == encoder
    assert hash(restored) == hash(encoder)
    assert str(store_encoder(restored)) == str(store_encoder(encoder))
    kinds = [[type(value) for value in getattr(column, "values", ())] for column in restored.columns]
    assert kinds == [[type(value) for value in getattr(column, "values", ())] for column in encoder.columns]


def test_columns_of_images_share_their_thresholds() -> None:
    tensors, document = store_encoder(Encoder.images((32, 32, 3), 31))
    assert len(tensors["distinct"]) == 8 * 31
    assert sum(map(len, tensors.values())) + len(str(document)) < 70_000


def test_the_document_without_dates_is_as_before() -> None:
    assert "times" not in store_encoder(MIXED)[1]
    assert store_encoder(DATED)[1]["names"] == ["when", "work", "paid", "wait", "last"]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"times": None}, "times must be a list of 5"),
        ({"times": [["elapsed", 0]] * 4}, "times must be a list of 5"),
        ({"times": [["elapsed", 0, 0]] * 5}, "times must be pairs of a part"),
        ({"times": [[["elapsed"], 0]] * 5}, "times must be pairs of a part"),
        ({"times": [["year", 0]] * 5}, "times must be pairs of a part"),
        ({"times": [["elapsed", 1.5]] * 5}, "anchor must be an integer"),
        ({"times": [["elapsed", 10**7]] * 5}, "anchor must be an integer"),
        ({"times": [["month", 1]] * 5}, "anchor must be a day"),
        ({"times": [["month", 0]] * 5}, "names of columns must differ"),
    ],
    ids=str,
)
def test_wrong_times_are_refused(change: dict[str, object], message: str) -> None:
    tensors, document = store_encoder(DATED)
    with pytest.raises(ValueError, match=message):
        restore_encoder(tensors, document | change)


def test_wrong_flags_are_refused() -> None:
    tensors, document = store_encoder(DATED)
    without = {name: value for name, value in document.items() if name != "times"}
    with pytest.raises(ValueError, match="times must be there just where columns are dates"):
        restore_encoder(tensors, without)
    for first in (5, 8, 12):  # a categorical date, a further number, and a further date that is the first column
        flags = tensors["flags"].copy()
        flags[0] = flags[0] & 0xF0 | first
        with pytest.raises(ValueError, match="flags of a column must be of one kind"):
            restore_encoder(tensors | {"flags": flags}, document)
