"""Packed layouts: round trips and refusals."""

import hypothesis
import numpy as np
import pytest
from hypothesis import strategies as st
from support.corpus import random_rows

from gatewise.bits import PackedRows, Planes


@hypothesis.given(st.integers(0, 2**32 - 1), st.integers(0, 200), st.integers(0, 40))
def test_round_trips(seed: int, n_rows: int, n_features: int) -> None:
    rows = random_rows(np.random.default_rng(seed), n_rows, n_features)
    planes = Planes.pack(rows)
    assert len(planes) == n_rows
    np.testing.assert_array_equal(planes.unpack(), rows, strict=True)
    for bitorder in ("big", "little"):
        packed = PackedRows(np.packbits(rows, axis=1, bitorder=bitorder), n_features, bitorder)
        assert len(packed) == n_rows
        np.testing.assert_array_equal(packed.unpack(), rows, strict=True)


def test_planes_are_what_they_say() -> None:
    rows = random_rows(np.random.default_rng(0), 130, 3)
    words = Planes.pack(rows).words
    for i, f in np.ndindex(rows.shape):
        assert (int(words[f, i // 64]) >> i % 64 & 1) == rows[i, f]


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (
            lambda: PackedRows(np.zeros((4, 2), np.uint8), 17),
            r"shape \(n_rows, 3\) for 17 features",
        ),
        (lambda: PackedRows(np.zeros((4, 2), bool), 16), "got bool of shape"),
        (lambda: PackedRows([[1]], 8), "got list"),  # type: ignore[arg-type]
        (lambda: PackedRows(np.zeros((4, 2), np.uint8), 16, "middle"), "bitorder must be"),  # type: ignore[arg-type]
        (lambda: Planes(np.zeros((4, 2), np.uint64), 64), r"shape \(n_features, 1\) for 64 rows"),
        (lambda: Planes(np.zeros((4, 1), np.int64), 64), "got int64"),
    ],
)
def test_wrong_shapes_are_refused(make: object, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        make()  # type: ignore[operator]
