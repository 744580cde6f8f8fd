"""The bits of an encoder: each equals its definition in every dtype, layout and SIMD target."""

import itertools
import tracemalloc

import hypothesis
import numpy as np
import pytest
from hypothesis import strategies as st

from gatewise import Encoder, _native
from gatewise.encode import Numeric
from gatewise.encode.encoder import CHUNK_BITS
from gatewise.machine import TARGETS

ROW_COUNTS = (0, 1, 63, 64, 65, 255, 256, 257, 1000)
INF, NAN = np.inf, np.nan
DTYPES = ("float32", "float64", "uint8", "int32", "int64", "bool", "float16", "int8", "uint16", "uint32", "uint64")


def bits_of(encoder: Encoder, X: object, **options: int) -> list[list[int]]:
    return encoder.encode(X, **options).unpack().astype(int).tolist()


def random_table(rng: np.random.Generator, n_rows: int, n_columns: int, dtype: str) -> np.ndarray:
    """Few distinct values, with the extremes of the dtype, NaN and the infinities."""
    values = rng.integers(0, 8, (n_rows, n_columns)).astype(dtype)
    if np.dtype(dtype).kind == "f":
        extremes = [NAN, INF, -INF, np.finfo(dtype).max, np.finfo(dtype).min, 0.1, -0.0, 2.5]
    else:
        extremes = [0, 1] if dtype == "bool" else [np.iinfo(dtype).max, np.iinfo(dtype).min]
        extremes = [min(extreme, 2**63 - 1) for extreme in extremes]
    where = rng.random(values.shape) < 0.3
    values[where] = np.array(extremes, dtype)[rng.integers(0, len(extremes), int(where.sum()))]
    return values


def ask(column: np.ndarray, question: int, constant: float) -> np.ndarray:
    """The definition of a bit, by Python's exact comparison of numbers."""
    values = column.tolist()
    if question == 2:
        return np.array([value != value for value in values], bool)
    return np.array([value > constant if question == 0 else value == constant for value in values], bool)


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("dtype", DTYPES[:5])
@pytest.mark.parametrize("layout", ["rows", "columns", "strided", "reversed", "one row for all"])
def test_native_bits_equal_their_definition(dtype: str, target: str, layout: str) -> None:
    rng = np.random.default_rng(0)
    special = [-INF, -1e300, 1e300, 0.1, np.float32(0.1), 3.4028235e38, 255, 256, 2.0**31, -(2.0**31), 2.0**63]
    for n_rows, n_columns in zip(ROW_COUNTS, (3, 5, 1, 14, 16, 17, 33, 4, 70), strict=True):
        sizes = rng.integers(0, 5, n_columns)
        test_ptr = np.append(0, np.cumsum(sizes)).astype(np.uint32)
        n_tests = int(test_ptr[-1])
        questions = rng.integers(0, 3, n_tests).astype(np.uint8)
        constants = np.where(rng.random(n_tests) < 0.5, rng.choice(special, n_tests), rng.integers(0, 16, n_tests) / 2)
        X = random_table(rng, n_rows, n_columns, dtype)
        wide = np.zeros((2 * n_rows, 3 * n_columns), dtype)
        wide[::2, ::3] = X
        X = {
            "rows": X,
            "columns": np.asfortranarray(X),
            "strided": wide[::2, ::3],
            "reversed": X[::-1, ::-1],
            "one row for all": np.broadcast_to(X[:1], X.shape),
        }[layout]
        words = np.full((n_tests, -(-n_rows // 64)), 2**64 - 1, np.uint64)
        _native.Encoder(test_ptr, questions, constants, target).encode(X, 0, words, _native.Pool(1))
        got = np.unpackbits(words.view(np.uint8), axis=1, bitorder="little").astype(bool)
        for column, (first, end) in enumerate(itertools.pairwise(test_ptr)):
            for test in range(first, end):
                expected = ask(X[:, column], questions[test], float(constants[test]))
                np.testing.assert_array_equal(got[test, :n_rows], expected)
                assert not got[test, n_rows:].any()


def many_constants(rng: np.random.Generator, n: int, kind: str) -> np.ndarray:
    """Constants of one column: floats that float32 holds or not, tiny ones, integers at the ends of their types."""
    ends = [-(2.0**63), -(2.0**31) - 1, -(2.0**31), -(2.0**31) + 1, 2.0**31 - 2, 2.0**31 - 1, 2.0**31, 2.0**63]
    drawn = {
        "float32": rng.normal(size=n).astype(np.float32).astype(np.float64),
        "float64": rng.normal(size=n),
        "close": 1.0 + rng.integers(0, 4 * n, n) * 2.0**-30,
        "tiny": rng.integers(-2 * n, 2 * n, n) * 2.0**-149,
        "huge": rng.normal(size=n) * 1e39,
        "integers": rng.integers(-2, 2 * n, n).astype(np.float64),
        "ends": np.append(rng.integers(-n, n, n).astype(np.float64), ends)[-n:],
        "infinite": np.append(rng.integers(-n, n, n) / 4, [-INF, 0.0, 3.4028234663852886e38])[-n:],
    }[kind]
    return np.unique(drawn)


def values_around(rng: np.random.Generator, constants: np.ndarray, n_rows: int, dtype: str) -> np.ndarray:
    """Values at the constants, next to them in both types of floats, and anywhere."""
    single = constants.astype(np.float32)
    pool = [constants, np.nextafter(constants, INF), np.nextafter(constants, -INF), single]
    pool += [np.nextafter(single, np.float32(INF)), np.nextafter(single, np.float32(-INF)), rng.normal(size=9)]
    pool += [[0.0, -0.0, 5e-324, 1e-45, -1e-45, 1e300, -1e300, 2.0**31, -(2.0**31), 2.0**40, -(2.0**40)]]
    values = rng.choice(np.concatenate(pool), n_rows)
    if dtype[0] == "f":
        return np.where(rng.random(n_rows) < 0.2, rng.choice([NAN, INF, -INF], n_rows), values).astype(dtype)
    bounds = np.iinfo(dtype)
    whole = [min(max(int(v), bounds.min), bounds.max) if abs(v) < INF else 0 for v in values.tolist()]
    return np.array(whole, dtype)


@pytest.mark.filterwarnings("ignore:overflow encountered")
@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("dtype", DTYPES[:5])
@pytest.mark.parametrize("kind", ["float32", "float64", "close", "tiny", "huge", "integers", "ends", "infinite"])
def test_many_tests_of_a_column_equal_their_definition(kind: str, dtype: str, target: str) -> None:
    rng = np.random.default_rng(3)
    for n, n_rows in zip((1, 3, 4, 7, 8, 9, 16, 31, 32, 33, 64, 65, 127, 128, 300), 2 * ROW_COUNTS[1:], strict=False):
        constants = many_constants(rng, n, kind)
        above = [(0, constant) for constant in constants]
        equal = [(1, constant) for constant in rng.permutation(constants)]
        columns = [
            above,
            equal,
            [*above, (2, 0.0)],
            [*equal, (2, 0.0)],
            [(2, 0.0), *equal],
            [*above[:20], *equal],
            above + above,
        ]
        tests = [test for column in columns for test in column]
        test_ptr = np.cumsum([0, *map(len, columns)]).astype(np.uint32)
        questions = np.array([question for question, _ in tests], np.uint8)
        values = np.array([constant for _, constant in tests])
        X = np.stack([values_around(rng, constants, n_rows, dtype) for _ in columns], axis=1)
        encoder = _native.Encoder(test_ptr, questions, values, target)
        for table in (X, np.asfortranarray(X)):
            words = np.full((len(tests), -(-n_rows // 64)), 2**64 - 1, np.uint64)
            encoder.encode(table, 0, words, _native.Pool(1))
            got = np.unpackbits(words.view(np.uint8), axis=1, bitorder="little").astype(bool)
            assert not got[:, n_rows:].any()
            for column, (first, end) in enumerate(itertools.pairwise(test_ptr)):
                distinct, where = np.unique(X[:, column], return_inverse=True)
                expected = [ask(distinct, questions[t], float(values[t]))[where] for t in range(first, end)]
                np.testing.assert_array_equal(got[first:end, :n_rows], expected)


@hypothesis.given(values=st.lists(st.floats(width=32), min_size=1, max_size=70), threshold=st.floats(allow_nan=False))
def test_float32_meets_float64_thresholds_exactly(values: list[float], threshold: float) -> None:
    hypothesis.assume(threshold < INF)
    column = np.array(values, np.float32)
    encoder = Encoder([Numeric("x0", [threshold], True)])
    expected = np.stack([column.astype(np.float64) > threshold, np.isnan(column)], axis=1)
    np.testing.assert_array_equal(encoder.encode(column[:, np.newaxis]).unpack(), expected)


@hypothesis.given(
    values=st.lists(st.integers(-(2**63), 2**63 - 1), min_size=1, max_size=70), threshold=st.floats(-1e20, 1e20)
)
def test_int64_meets_thresholds_exactly(values: list[int], threshold: float) -> None:
    encoder = Encoder([Numeric("x0", [threshold])])
    expected = [[int(value > threshold)] for value in values]
    assert bits_of(encoder, np.array(values, np.int64)[:, np.newaxis]) == expected


@pytest.mark.parametrize("dtype", DTYPES)
def test_every_dtype_gives_the_same_bits(dtype: str) -> None:
    X = np.random.default_rng(1).integers(0, 2 if dtype == "bool" else 9, (300, 5))
    encoder = Encoder.fit(X)
    expected = bits_of(encoder, X)
    assert bits_of(encoder, X.astype(dtype)) == expected
    assert bits_of(encoder, X.astype(dtype)[::-1]) == expected[::-1]
    swapped = X.astype(np.dtype(dtype).newbyteorder())
    assert bits_of(encoder, swapped) == expected
    unaligned = np.frombuffer(b"\0" + X.astype(dtype).tobytes(), np.uint8)[1:].view(dtype).reshape(X.shape)
    assert bits_of(encoder, unaligned) == expected
    assert bits_of(encoder, X.astype(np.longdouble)) == expected


def test_threads_and_chunks_do_not_change_bits() -> None:
    X = np.random.default_rng(2).normal(size=(9000, 40)).astype(np.float32)
    encoder = Encoder.fit(X)
    assert encoder.chunk_rows < len(X)
    expected = encoder.encode(X).unpack()
    for threads in (2, 3):
        np.testing.assert_array_equal(encoder.encode(X, threads=threads).unpack(), expected)
    packed = encoder.encode_rows(X, threads=2)
    np.testing.assert_array_equal(packed.unpack(), expected)


def test_rows_are_packed_in_bounded_memory() -> None:
    X = np.zeros((60_000, 20), np.float32)
    encoder = Encoder(tuple(Numeric(f"x{i}", np.arange(50)) for i in range(20)))
    tracemalloc.start()
    packed = encoder.encode_rows(X)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 2 * packed.data.nbytes + 3 * CHUNK_BITS < 60_000 * 1000 / 2
