"""Rows in memory: checks, size, batches, splits."""

import numpy as np
import pytest
from support.tools import require_module

require_module("torch", "pip install -c constraints.txt torch==2.13.0")

import torch

from gatewise import Encoder, PackedRows
from gatewise.train import Bits, Values, split
from gatewise.train.data import draw_chunks, shuffle


@pytest.mark.parametrize("n_rows", [1, 63, 64, 65, 5000])
@pytest.mark.parametrize("dtype", [bool, np.uint8, np.int64, np.float32])
def test_bits_hold_the_rows(n_rows: int, dtype: type) -> None:
    rows = np.random.default_rng(0).integers(0, 2, (n_rows, 13)).astype(dtype)
    data = Bits(rows, np.arange(n_rows))
    everything = np.arange(n_rows)
    assert data.read(everything).dtype == torch.bool
    np.testing.assert_array_equal(data.read(everything).numpy(), rows.astype(bool))
    np.testing.assert_array_equal(data.packed.unpack(), rows.astype(bool))


@pytest.mark.parametrize("bitorder", ["big", "little"])
def test_packed_rows_go_in_as_they_are(bitorder: str) -> None:
    rows = np.random.default_rng(0).integers(0, 2, (20, 13)).astype(bool)
    packed = PackedRows(np.packbits(rows, axis=1, bitorder=bitorder), 13, bitorder)
    data = Bits(packed, np.zeros(20, int))
    assert data.packed is packed
    np.testing.assert_array_equal(data.take(np.array([3, 1])).read(np.array([0, 1])).numpy(), rows[[3, 1]])


def test_encoded_rows_go_in_as_they_are() -> None:
    X = np.random.default_rng(0).normal(size=(700, 5))
    encoder = Encoder.fit(X)
    data = Bits(encoder.encode_rows(X), np.zeros(700, int))
    np.testing.assert_array_equal(data.read(np.array([699, 3])).numpy(), encoder.encode(X[[699, 3]]).unpack())


def test_bytes_of_a_row_lie_together() -> None:
    columns = PackedRows(np.asfortranarray(np.arange(40, dtype=np.uint8).reshape(10, 4)), 32)
    assert Bits(columns, np.zeros(10)).packed.data.flags.c_contiguous
    assert Encoder.images((2, 8), 1).encode_rows(np.zeros((10, 16), np.uint8)).data.flags.c_contiguous


def test_memory_of_mnist() -> None:
    data = Bits(np.zeros((60_000, 784), bool), np.zeros(60_000, np.int64))
    assert data.nbytes <= 10e6


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda: Bits(np.zeros((0, 3)), []), ValueError, r"at least one of each, got \(0, 3\)"),
        (lambda: Bits(np.zeros((3, 0)), [0, 0, 0]), ValueError, r"at least one of each, got \(3, 0\)"),
        (lambda: Bits(np.zeros(3), [0, 0, 0]), ValueError, r"shape \(n_rows, n_features\)"),
        (lambda: Bits([["a"]], [0]), TypeError, "Boolean or numbers"),
        (lambda: Bits([[0, 1], [0, 2]], [0, 0]), ValueError, r"in \[0, 1\], got 2 at row 1, column 1"),
        (lambda: Bits([[0, -1]], [0]), ValueError, r"in \[0, 1\], got -1 at row 0, column 1"),
        (lambda: Bits([[0.0, np.nan]], [0]), ValueError, r"in \[0, 1\], got nan at row 0, column 1"),
        (lambda: Bits([[0.0, 0.5]], [0]), ValueError, r"0 or 1; for values between them use train.Values, got 0.5"),
        (lambda: Bits([[0, 1]], [0, 1]), ValueError, r"targets must have shape \(1,\)"),
        (lambda: Bits([[0, 1]], 3), ValueError, "targets must have shape"),
        (lambda: Values([[0.5, 1.5]], [0]), ValueError, r"in \[0, 1\], got 1.5 at row 0, column 1"),
        (lambda: Values([[np.nan]], [0]), ValueError, r"in \[0, 1\], got nan"),
        (lambda: Values([[np.inf]], [0]), ValueError, r"in \[0, 1\], got inf"),
        (lambda: Values(np.zeros((0, 2)), []), ValueError, "at least one of each"),
        (lambda: split(Bits([[0], [1], [1]], [0, 0, 1]), 0.5), ValueError, "class 1 must have at least 2 rows"),
        (lambda: split(Bits([[0]], [0.5]), 0.5), ValueError, "data must have at least 2 rows"),
        (lambda: split(Bits([[0], [1]], [0, 0]), 1.0), ValueError, "share must be between 0 and 1, got 1.0"),
    ],
)
def test_bad_data_is_refused(make: object, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        make()  # type: ignore[operator]


def test_the_wrong_value_is_found_in_a_later_piece() -> None:
    rows = np.zeros((5000, 2))
    rows[4999, 1] = 7
    with pytest.raises(ValueError, match=r"got 7\.0 at row 4999, column 1"):
        Bits(rows, np.zeros(5000))


@pytest.mark.parametrize("batch_size", [1, 7, 100, 10_000])
def test_batches_are_the_pieces_of_the_order(batch_size: int) -> None:
    rows = np.random.default_rng(0).integers(0, 2, (250, 9_001))  # several batches do not fit into a chunk
    data = Bits(rows, np.arange(250))
    order = shuffle(250, seed=1, epoch=2)
    chunks = list(draw_chunks(data, order, batch_size))
    assert len(chunks) > 1 or batch_size == 10_000
    sizes = [size for chunk in chunks for size in chunk.sizes]
    assert sizes == [size for chunk in chunks for size in chunk.joint_sizes]
    assert all(size == batch_size for size in sizes[:-1])
    np.testing.assert_array_equal(torch.cat([chunk.y for chunk in chunks]), order)
    np.testing.assert_array_equal(torch.cat([chunk.x for chunk in chunks]), rows[order])
    skipped = [chunk.y for chunk in draw_chunks(data, order, batch_size, skip=2)]
    np.testing.assert_array_equal(torch.cat([*skipped, torch.zeros(0)]), order[2 * batch_size :])


def test_chunks_have_as_many_batches_as_asked_for() -> None:
    data = Bits(np.eye(50), np.arange(50))
    chunks = draw_chunks(data, np.arange(50), 8, max_batches=3)
    assert [chunk.sizes for chunk in chunks] == [[8, 8, 8], [8, 8, 8], [2]]


def test_workers_have_parts_of_the_same_batches() -> None:
    rows = np.random.default_rng(0).integers(0, 2, (50, 4))
    order = shuffle(50, seed=0, epoch=0)
    parts = [(0, 20), (20, 21), (21, 50)]
    workers = [
        list(draw_chunks(Bits(rows[start:end], np.arange(start, end)), order, 8, first_row=start, max_batches=1))
        for start, end in parts
    ]
    joint = list(draw_chunks(Bits(rows, np.arange(50)), order, 8, max_batches=1))
    for chunk, *own in zip(joint, *workers, strict=True):
        assert sum(part.sizes[0] for part in own) == chunk.sizes[0]
        assert [part.joint_sizes for part in own] == [chunk.sizes] * 3
        assert sorted(torch.cat([part.y for part in own]).tolist()) == sorted(chunk.y.tolist())


def test_order_depends_on_seed_and_epoch() -> None:
    orders = {tuple(shuffle(20, seed=seed, epoch=epoch)) for seed in range(3) for epoch in range(3)}
    assert len(orders) == 9
    assert tuple(shuffle(20, seed=1, epoch=1)) in orders


def test_split_keeps_every_class_in_both_parts() -> None:
    targets = np.repeat([0, 1, 2], [100, 10, 2])
    training, validation = split(Bits(np.arange(112)[:, None] % 2, targets), 0.1, seed=4)
    assert np.bincount(validation.targets).tolist() == [10, 1, 1]
    assert np.bincount(training.targets).tolist() == [90, 9, 1]


def test_values_are_read_as_they_are() -> None:
    rows = np.random.default_rng(0).random((30, 5), np.float32)
    data = Values(rows, rows.sum(1))
    np.testing.assert_array_equal(data.read(np.array([2, 0])).numpy(), rows[[2, 0]])
    np.testing.assert_array_equal(data.packed.unpack(), rows > 0.5)
    training, validation = split(data, 0.2)
    assert (len(training), len(validation)) == (24, 6)


def test_weights_go_with_their_rows() -> None:
    data = Bits(np.eye(6), [0, 1] * 3, np.arange(6))
    assert data.take(np.array([4, 1])).weights.tolist() == [4, 1]
    assert data.with_targets(np.ones(6)).weights.tolist() == [0, 1, 2, 3, 4, 5]
    (chunk,) = draw_chunks(data, np.array([5, 0, 3, 1, 2, 4]), 2)
    assert chunk.weight.tolist() == [5, 0, 3, 1, 2, 4]


@pytest.mark.parametrize(
    ("weights", "message"),
    [([1.0], r"shape \(2,\), got \(1,\)"), ([1, -1], "got -1.0 at row 1"), ([np.nan, 1], "got nan at row 0")],
)
def test_bad_weights(weights: list[float], message: str) -> None:
    for kind in (Bits, Values):
        with pytest.raises(ValueError, match=message):
            kind([[0], [1]], [0, 1], weights)
