"""The codecs of integers, nibbles and bits: exact, pinned, compact, and strict about what they decode."""

import hashlib
import tracemalloc

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gatewise.store.packing import (
    FRAME,
    pack_bits,
    pack_integers,
    pack_nibbles,
    unpack_bits,
    unpack_integers,
    unpack_nibbles,
)

INT32 = st.integers(-(2**31), 2**31 - 1)
GOLDEN_HEX = "0000000000020300000064"
GOLDEN_SHA256 = "3236e0c83be7a88f6feb09aacc3ebe3d0f1fbe8b6aebd5b13aebf0569645127d"
GOLDEN_SHA256_SORTED = "bde56e7be64b286f067fa973e9cfb884b2adceeb3bebcfdc7a20b7e73d1e73a5"
LENGTHS = [0, 1, 2, FRAME - 1, FRAME, FRAME + 1, 5 * FRAME + 3, 600 * FRAME + 1]


def assert_round_trip(values):
    values = np.asarray(values, np.int32)
    packed = pack_integers(values)
    decoded = unpack_integers(packed, len(values))
    assert packed.dtype == np.uint8
    assert decoded.dtype == np.int32
    np.testing.assert_array_equal(decoded, values)
    return packed


@given(st.lists(INT32, max_size=300))
def test_round_trip_of_anything(values):
    assert_round_trip(values)


@pytest.mark.parametrize("width", range(33))
@pytest.mark.parametrize("n", LENGTHS[:-1])
def test_round_trip_of_every_width(width, n):
    rng = np.random.default_rng(width)
    values = rng.integers(0, 2**width, n) - 2 ** max(0, width - 1)
    assert_round_trip(values)
    assert_round_trip(np.sort(values))


@pytest.mark.parametrize("n", LENGTHS)
def test_round_trip_of_frames_of_mixed_width(n):
    rng = np.random.default_rng(n)
    widths = np.repeat(rng.integers(0, 32, n // FRAME + 1), FRAME)[:n]
    assert_round_trip(rng.integers(0, 2**widths))


@pytest.mark.parametrize("step", [-3, -1, 0, 1, 7])
def test_runs_take_about_a_bit_a_value(step):
    assert len(assert_round_trip(5_000_000 + step * np.arange(10_000))) <= 10_000 / 8 + 5 * 80 + 64


def test_extremes():
    assert_round_trip([2**31 - 1, -(2**31)] * 200)
    assert_round_trip([-(2**31)] * 3)


def test_golden_bytes():
    assert bytes(pack_integers(np.array([], np.int32))).hex() == "0000000000"
    assert bytes(pack_integers(np.array([3, 4, 5, 4], np.int32))).hex() == GOLDEN_HEX
    values = np.random.default_rng(0).integers(0, 9000, 10_000, dtype=np.int32)
    assert hashlib.sha256(pack_integers(values)).hexdigest() == GOLDEN_SHA256
    assert hashlib.sha256(pack_integers(np.sort(values))).hexdigest() == GOLDEN_SHA256_SORTED


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda packed: packed[:0], "must start with"),
        (lambda packed: packed[:4], "must start with"),
        (lambda packed: packed[:-1], "must take"),
        (lambda packed: np.append(packed, np.uint8(0)), "must take"),
        (lambda packed: np.concatenate([[np.uint8(2)], packed[1:]]), "must start with order 0 or 1"),
        (lambda packed: np.concatenate([packed[:5], [np.uint8(0)], packed[6:]]), "widths must be in 1..32"),
        (lambda packed: np.concatenate([packed[:5], [np.uint8(33)], packed[6:]]), "widths must be in 1..32"),
        (lambda packed: np.concatenate([packed[:5], [np.uint8(9)], packed[6:]]), "must take"),
    ],
)
def test_damage_is_refused(damage, message):
    packed = pack_integers(np.arange(0, 3000, 17, dtype=np.int32) ** 2 % 1000)
    with pytest.raises(ValueError, match=message):
        unpack_integers(damage(packed), 177)


@pytest.mark.parametrize("n_values", [0, 175, 178, 128, 10**9, 10**30])
def test_wrong_counts_are_refused(n_values):
    packed = pack_integers(np.arange(0, 3000, 17, dtype=np.int32) ** 2 % 1000)
    with pytest.raises(ValueError, match="must"):
        unpack_integers(packed, n_values)


def test_decoding_memory_is_bounded():
    n = 4_000_000
    packed = pack_integers(np.arange(n, dtype=np.int32))
    tracemalloc.start()
    unpack_integers(packed, n)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 4 * n + 2**24  # the result, and a constant


@given(st.lists(st.integers(0, 15), max_size=50))
def test_nibbles_round_trip(gate):
    packed = pack_nibbles(np.array(gate, np.uint8))
    assert len(packed) == (len(gate) + 1) // 2
    assert unpack_nibbles(packed, len(gate)).tolist() == gate


def test_nibbles_refuse_damage():
    with pytest.raises(ValueError, match="3 gates must take 2 bytes, got 1"):
        unpack_nibbles(np.array([1], np.uint8), 3)
    with pytest.raises(ValueError, match="unused half of the last gate byte must be 0, got 1"):
        unpack_nibbles(np.array([0x21, 0x1F], np.uint8), 3)


@given(st.lists(st.tuples(st.integers(0, 20), st.integers(0, 20)), min_size=1, max_size=5), st.integers(0, 2**32))
def test_bits_round_trip(shapes, seed):
    rng = np.random.default_rng(seed)
    sizes, widths = zip(*shapes, strict=True)
    parts = [rng.integers(0, 2**width, size).astype(np.int32) for size, width in shapes]
    packed = pack_bits(parts, widths)
    assert len(packed) == -(-sum(size * width for size, width in shapes) // 8)
    unpacked = unpack_bits(packed, sizes, widths)
    assert all(part.dtype == np.int32 for part in unpacked)
    assert [part.tolist() for part in unpacked] == [part.tolist() for part in parts]


def test_bits_are_as_documented():
    packed = pack_bits([np.array([5, 1], np.int32), np.array([], np.int32), np.array([9], np.int32)], [3, 7, 4])
    number = 5 | 1 << 3 | 9 << 6
    assert packed.tobytes() == number.to_bytes(2, "little")


def test_bits_that_do_not_fit_are_refused():
    packed = pack_bits([np.array([5, 1], np.int32)], [3])
    with pytest.raises(ValueError, match="3 choices must take 2 bytes, got 1"):
        unpack_bits(packed, [3], [3])
    with pytest.raises(ValueError, match="unused bits of the last byte of choices must be 0, got 2"):
        unpack_bits(packed | np.uint8(128), [2], [3])
    with pytest.raises(ValueError, match="must take"):
        unpack_bits(packed, [2**31], [20])
