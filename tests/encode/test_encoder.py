"""Encoders: what is fitted, what they say, and what they refuse."""

import copy
import pickle

import hypothesis
import numpy as np
import pytest
from hypothesis import strategies as st

from gatewise import Encoder
from gatewise.encode import Categorical, ColumnWarning, Numeric, fit

INF, NAN = np.inf, np.nan


def bits_of(encoder: Encoder, X: object, **options: int) -> list[list[int]]:
    return encoder.encode(X, **options).unpack().astype(int).tolist()


def test_few_values_are_separated_by_midpoints() -> None:
    encoder = Encoder.fit(np.array([[3.0], [1.0], [1.0], [2.0], [10.0]]))
    assert encoder.describe_bits() == ["x0 > 1.5", "x0 > 2.5", "x0 > 6.5"]


def test_quantiles_cut_rows_into_equal_parts() -> None:
    X = np.random.default_rng(0).exponential(size=(3300, 1))
    bits = Encoder.fit(X).encode(X).unpack()
    assert bits.shape == (3300, 32)
    np.testing.assert_array_equal(bits.sum(axis=0), np.arange(32, 0, -1) * 100)


def test_a_frequent_value_does_not_swallow_the_budget() -> None:
    X = np.zeros((10_000, 1))
    X[:1000, 0] = np.random.default_rng(0).normal(size=1000)
    encoder = Encoder.fit(X)
    parts = np.bincount(encoder.encode(X).unpack().sum(axis=1))
    assert encoder.n_bits >= 30
    assert np.sort(parts)[-2] < 60


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_neighboring_floats_are_separated(dtype: str) -> None:
    first = np.array([1.0, 1e-310 if dtype == "float64" else 1e-42, -1e30, np.finfo(dtype).max], dtype)
    for low in first:
        X = np.array([[np.nextafter(low, low.dtype.type(-INF))], [low]])
        encoder = Encoder.fit(X)
        assert bits_of(encoder, X) == [[0], [1]]


@hypothesis.given(
    values=st.lists(st.floats(), min_size=1, max_size=33), width=st.sampled_from([np.float32, np.float64])
)
def test_few_values_are_told_apart_and_nothing_else(values: list[float], width: type) -> None:
    with np.errstate(over="ignore"):
        X = np.array(values).astype(width)[:, np.newaxis]
    bits = Encoder.fit(X).encode(X).unpack()
    same_value = (X == X.T) | (np.isnan(X) & np.isnan(X.T))
    np.testing.assert_array_equal((bits[:, np.newaxis] == bits).all(axis=2), same_value)


@hypothesis.given(counts=st.lists(st.integers(1, 50), min_size=34, max_size=80), n=st.integers(1, 32))
def test_cuts_are_few_and_distinct(counts: list[int], n: int) -> None:
    cuts = fit.choose_cuts(np.array(counts), n)
    assert 1 <= len(cuts) <= n
    assert (np.diff(cuts) > 0).all()
    assert cuts[0] >= 0
    assert cuts[-1] < len(counts) - 1


@hypothesis.given(values=st.lists(st.floats(allow_nan=False), min_size=2, max_size=9, unique=True))
def test_thresholds_are_between_neighbors(values: list[float]) -> None:
    low, high = np.sort(values)[:-1], np.sort(values)[1:]
    thresholds = fit.place_thresholds(low, high)
    assert (low <= thresholds).all()
    assert (thresholds < high).all()


@hypothesis.given(
    low=st.floats(-1e6, 1e6), distance=st.floats(1e-6, 1e6), n_decimals=st.integers(0, 8), width=st.sampled_from("fd")
)
def test_thresholds_have_few_decimals_and_lie_near_the_middle(
    low: float, distance: float, n_decimals: int, width: str
) -> None:
    ends = np.round([low, low + distance], n_decimals).astype(width).astype(np.float64)
    hypothesis.assume(ends[0] < ends[1])
    (threshold,) = fit.place_thresholds(ends[:1], ends[1:])
    distance = ends[1] - ends[0]
    assert abs(threshold - ends.mean()) <= distance / 8 * (1 + 1e-9)
    _, _, decimals = np.format_float_positional(threshold, trim="-").partition(".")
    assert len(decimals) <= max(1, np.ceil(np.log10(4 / distance) + 1e-9))


def test_whole_numbers_are_separated_halfway() -> None:
    low, high = (
        each.ravel().astype(np.float64) for each in np.meshgrid(np.arange(-99, 99, 7), np.arange(100, 9999, 97))
    )
    np.testing.assert_array_equal(fit.place_thresholds(low, high), (low + high) / 2)


def test_thresholds_read_well() -> None:
    encoder = Encoder.fit(np.array([[0.2984, 15.0], [0.2990, 15.01]], np.float64))
    assert encoder.describe_bits() == ["x0 > 0.2987", "x1 > 15.005"]


def test_infinities_are_ordinary_values() -> None:
    X = np.array([[-INF], [-1.0], [5.0], [INF]])
    encoder = Encoder.fit(X)
    assert bits_of(encoder, X) == [[0, 0, 0], [1, 0, 0], [1, 1, 0], [1, 1, 1]]
    assert bits_of(encoder, np.array([[1e300], [-1e300]])) == [[1, 1, 0], [1, 0, 0]]
    assert bits_of(encoder, X.astype(np.float32)) == bits_of(encoder, X)
    assert bits_of(Encoder.fit(X[[0, 3]]), X) == [[0], [0], [1], [1]]


def test_long_doubles_are_rounded_before_they_are_told_apart() -> None:
    X = np.array([[1.0], [1.0], [2.0]], np.longdouble)
    X[1] += np.finfo(np.longdouble).eps
    assert Encoder.fit(X).describe_bits() == ["x0 > 1.5"]


def test_largest_floats_do_not_overflow() -> None:
    X = np.array([[-1.7e308], [1.7e308]])
    assert bits_of(Encoder.fit(X), X) == [[0], [1]]


def test_missing_values_have_a_bit_if_fit_saw_them() -> None:
    encoder = Encoder.fit(np.array([[1.0, 1.0], [NAN, 2.0], [3.0, 3.0]]))
    assert encoder.describe_bits() == ["x0 > 2", "x0 is missing", "x1 > 1.5", "x1 > 2.5"]
    assert bits_of(encoder, np.array([[NAN, NAN]])) == [[0, 1, 0, 0]]


def test_constant_and_missing_columns_have_no_bits() -> None:
    X = np.array([[7.0, NAN, NAN, 1.0], [7.0, NAN, 5.0, 2.0]])
    encoder = Encoder.fit(X)
    assert encoder.describe_bits() == ["x2 is missing", "x3 > 1.5"]
    assert Encoder.fit(np.full((5, 3), NAN)).n_bits == 0
    assert Encoder.fit([["a", None], ["a", None]]).n_bits == 0


def test_one_row_and_no_rows() -> None:
    X = np.array([[1.0, 2.0]])
    encoder = Encoder.fit(X)
    assert encoder.n_bits == 0
    assert encoder.encode(X).unpack().shape == (1, 0)
    for other in (encoder, Encoder.images((2,), 3)):
        planes = other.encode(X[:0])
        assert planes.unpack().shape == (0, other.n_bits)
        assert other.encode_rows(X[:0]).unpack().shape == (0, other.n_bits)
    with pytest.raises(ValueError, match=r"X must have at least one row and one column, got shape \(0, 2\)"):
        Encoder.fit(X[:0])


def test_budget_lowers_the_limit_of_all_columns_alike() -> None:
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.normal(size=(500, 3)), rng.integers(0, 3, 500)])
    assert [column.n_bits for column in Encoder.fit(X).columns] == [32, 32, 32, 2]
    assert [column.n_bits for column in Encoder.fit(X, max_bits=25).columns] == [7, 7, 7, 2]
    assert [column.n_bits for column in Encoder.fit(X, max_bits=4).columns] == [1, 1, 1, 1]
    with pytest.raises(ValueError, match="max_bits must be at least 4, one for each column that varies"):
        Encoder.fit(X, max_bits=3)


def test_ten_thousand_columns() -> None:
    X = np.random.default_rng(0).normal(size=(100, 10_000)).astype(np.float32)
    encoder = Encoder.fit(X)
    assert encoder.n_bits == 10_000
    medians = np.sort(X, axis=0)[49:51].astype(np.float64).mean(axis=0)
    np.testing.assert_array_equal(encoder.encode(X).unpack(), X.astype(np.float64) > medians)


def test_large_tables_are_sampled_but_for_missing_values() -> None:
    X = np.arange(fit.MAX_SAMPLE + 50_000, dtype=np.float64)[:, np.newaxis]
    X[123_456] = NAN
    encoder = Encoder.fit(X)
    assert encoder == Encoder.fit(X)
    assert encoder.describe_bits()[-1] == "x0 is missing"
    parts = np.bincount(encoder.encode(X).unpack()[:, :-1].sum(axis=1)) * 33 / len(X)
    assert 0.9 < parts.min() < parts.max() < 1.1


def test_categories() -> None:
    rows = [["b", True, 1, "no"], ["a", False, "x", "no"], [None, True, 2.5, "yes"], ["c", False, 1, "no"]]
    encoder = Encoder.fit(rows)
    words = ["x0 = a", "x0 = b", "x0 = c", "x0 is missing", "x1 = True", "x2 = 1", "x2 = 2.5", "x2 = x", "x3 = yes"]
    assert encoder.describe_bits() == words
    assert bits_of(encoder, rows)[:3] == [
        [0, 1, 0, 0, 1, 1, 0, 0, 0],
        [1, 0, 0, 0, 0, 0, 0, 1, 0],
        [0, 0, 0, 1, 1, 0, 1, 0, 1],
    ]


def test_unseen_categories_have_no_bit() -> None:
    encoder = Encoder.fit([["a", 1.0], ["b", 2.0], ["c", 2.0]])
    assert bits_of(encoder, [["z", 1], [None, 1], ["", 2]]) == [[0, 0, 0, 0], [0, 0, 0, 0], [0, 0, 0, 1]]
    numbers = Encoder.fit(np.array([[1], [2], [7]]), categorical=[0])
    assert numbers.describe_bits() == ["x0 = 1", "x0 = 2", "x0 = 7"]
    for X in ([[7], [3]], np.array([[7.0], [3.5]], np.float32), [[7], [10**15]], [[7], ["7"]]):
        assert bits_of(numbers, X) == [[0, 0, 1], [0, 0, 0]]


def test_the_most_frequent_categories_are_kept() -> None:
    names = [f"c{i:03d}" for i in range(100)]
    X = np.array([name for i, name in enumerate(names) for _ in range(3 + (i >= 90))])[:, np.newaxis]
    with pytest.warns(ColumnWarning, match="100 categories: the 64 most frequent have a bit each, in 65% of the rows"):
        encoder = Encoder.fit(X)
    assert encoder.n_bits == 64
    assert encoder.describe_bits()[-10:] == [f"x0 = {name}" for name in names[90:]]
    with pytest.warns(ColumnWarning, match="the 10 most frequent"):
        fewer = Encoder.fit(X, max_bits=10)
    assert fewer.describe_bits() == [f"x0 = {name}" for name in names[90:]]


def test_categorical_columns_by_name_or_position_only_of_the_table() -> None:
    with pytest.raises(ValueError, match="categorical must name or number columns of X, got 'age'; X has"):
        Encoder.fit(np.zeros((2, 2)), categorical=["age"])
    with pytest.raises(ValueError, match="categorical must name or number columns of X, got 2"):
        Encoder.fit(np.zeros((2, 2)), categorical=[2])


def test_integers_that_floats_cannot_hold_are_refused() -> None:
    for X in (np.array([[1], [2**53 + 1]]), np.array([[1], [2**64 - 1]], np.uint64), [[1], [2**70]], [[1], [-(2**60)]]):
        with pytest.raises(ValueError, match=r"column 'x0' must .*integers within 2\*\*53"):
            Encoder.fit(X)
    with pytest.raises(ValueError, match=r"X must hold integers below 2\*\*63, got 18446744073709551615"):
        Encoder.fit([[1], [2]]).encode(np.array([[2**64 - 1]], np.uint64))


@hypothesis.given(
    values=st.lists(st.integers(-(2**70), 2**70) | st.integers(2**53 - 9, 2**53 + 9), min_size=1, max_size=5),
    thresholds=st.lists(st.floats(-(2.0**70), 2.0**70) | st.sampled_from([2.0**53, 2.0**53 + 2]), unique=True),
)
def test_integers_of_python_meet_thresholds_exactly(values: list[int], thresholds: list[float]) -> None:
    encoder = Encoder([Numeric("x0", sorted(set(thresholds)))])
    expected = [[int(value > threshold) for threshold in encoder.columns[0].thresholds.tolist()] for value in values]
    assert bits_of(encoder, [{"x0": value} for value in values]) == expected
    assert bits_of(encoder, np.array([[value] for value in values], object)) == expected


def test_integers_beyond_all_floats() -> None:
    encoder = Encoder([Numeric("x0", [-INF, 0.0, np.finfo(np.float64).max])])
    assert bits_of(encoder, [{"x0": 10**400}, {"x0": -(10**400)}]) == [[1, 1, 1], [1, 0, 0]]


def test_images() -> None:
    X = np.random.default_rng(0).integers(0, 256, (70, 3, 4, 5), dtype=np.uint8)
    for n_thresholds in (1, 3, 31):
        encoder = Encoder.images((3, 4, 5), n_thresholds)
        thresholds = 255 * np.arange(1, n_thresholds + 1) / (n_thresholds + 1)
        expected = (X.reshape(70, -1)[:, :, np.newaxis] > thresholds).reshape(70, -1)
        for rows in (X, X.astype(np.float32), X.reshape(70, -1)):
            np.testing.assert_array_equal(encoder.encode(rows).unpack(), expected)
    assert Encoder.images((1,), 1).describe_bits() == ["x0 > 127.5"]
    assert bits_of(Encoder.images((1,), 1, high=1.0), np.array([[0.5], [0.6]])) == [[0], [1]]


def mixed() -> Encoder:
    columns = [Numeric("age", [17.5, 37.0], True), Categorical("work", ("a", 3, 2.5), True), Numeric("none", [])]
    return Encoder([*columns, Categorical("single", (True,))], named=True)


def test_take_keeps_columns_and_order() -> None:
    encoder = mixed()
    every = encoder.describe_bits()
    for bit_idx in ([], [6], [0, 2, 5], range(8), [7, 3]):
        taken = encoder.take(bit_idx)
        assert taken.names == encoder.names
        assert taken.describe_bits() == [every[i] for i in sorted(bit_idx)]
    for bad in ([8], [-1], [1, 1]):
        with pytest.raises(ValueError, match=r"bit_idx must be distinct and in 0..7"):
            encoder.take(bad)
    with pytest.raises(TypeError, match="bit_idx must hold positions, got bool"):
        encoder.take([True, False])


@pytest.mark.parametrize("encoder", [mixed(), mixed().take([]), Encoder.images((3, 3), 2), Encoder([])])
def test_pickles_and_copies_are_equal(encoder: Encoder) -> None:
    for other in (pickle.loads(pickle.dumps(encoder)), copy.copy(encoder), copy.deepcopy(encoder)):
        assert other == encoder
        assert hash(other) == hash(encoder)
        assert not any(column.thresholds.flags.writeable for column in other.columns if isinstance(column, Numeric))
        assert other.describe_bits() == encoder.describe_bits()


def test_different_encoders_are_unequal() -> None:
    columns = [Numeric("x0", [1.0]), Numeric("x0", [1.0], True), Numeric("x0", [2.0]), Categorical("x0", (1.0,))]
    encoders = [Encoder([column]) for column in columns] + [Encoder([columns[0]], named=True)]
    assert len(set(encoders)) == 5


def test_thresholds_are_read_only() -> None:
    with pytest.raises(ValueError, match="read-only"):
        Numeric("x0", [1.0]).thresholds[0] = 2.0


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Numeric("x", [2.0, 1.0]), "thresholds must increase strictly and lie below infinity"),
        (lambda: Numeric("x", [1.0, 1.0]), "thresholds must increase strictly"),
        (lambda: Numeric("x", [NAN]), "thresholds must increase strictly"),
        (lambda: Numeric("x", [INF]), "thresholds must increase strictly"),
        (lambda: Numeric(3, []), "name of a column must be a str, got 3"),
        (lambda: Categorical("x", ("a", "a")), "values of column 'x' must differ"),
        (lambda: Categorical("x", (1, True)), "values of column 'x' must differ"),
        (lambda: Categorical("x", (None,)), "values of column 'x' must be strings, numbers or bools, got NoneType"),
        (lambda: Categorical("x", (INF,)), "values of column 'x' must be finite"),
        (lambda: Categorical("x", (2**60,)), r"integers within 2\*\*53"),
        (lambda: Encoder([Numeric("a", []), Numeric("a", [])], named=True), "names of columns must differ"),
        (lambda: Encoder([Numeric("a", [])]), "names of columns must be x0, x1, ... without named=True"),
        (lambda: Encoder(["age"]), "columns must be Numeric or Categorical, got str"),
        (lambda: Encoder.images((2, 2), 0), "n_thresholds and high must be positive"),
        (lambda: mixed().encode([[0] * 4], threads=0), "threads must be an integer in 1..256, got 0"),
    ],
)
def test_bad_values_are_refused(make: object, message: str) -> None:
    with pytest.raises((ValueError, TypeError), match=message):
        make()  # type: ignore[operator]


def test_transform_and_names_as_scikit_learn_asks_for_them() -> None:
    X = np.random.default_rng(0).normal(size=(5000, 30))
    encoder = Encoder.fit(X)
    assert encoder.chunk_rows < len(X)
    bits = encoder.transform(X, threads=2)
    assert (bits.dtype, bits.flags.c_contiguous) == (np.bool_, True)
    np.testing.assert_array_equal(bits, encoder.encode(X).unpack())
    names = encoder.get_feature_names_out()
    assert names.dtype == object
    assert names.tolist() == encoder.describe_bits()
    assert encoder.get_feature_names_out(encoder.names).tolist() == encoder.describe_bits()
    with pytest.raises(ValueError, match="input_features must be the columns of fit"):
        encoder.get_feature_names_out(["a", "b"])
