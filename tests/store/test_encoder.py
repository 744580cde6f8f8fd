"""Encoders as tensors and documents: what is stored gives an equal encoder, in little space."""

import numpy as np
import pytest

from gatewise.encode import Categorical, Encoder, Numeric
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


@pytest.mark.parametrize(
    "encoder",
    [
        MIXED,
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
