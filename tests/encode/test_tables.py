"""Tables of every library: the same values give the same bits, by name or by position, and the rest is refused."""

from typing import Any

import numpy as np
import pytest
import scipy.sparse
from support.tools import require_module

from gatewise import Encoder
from gatewise.encode.raw import Coded
from gatewise.encode.tables import FEW_ROWS, as_table

pd = require_module("pandas", "pip install -c constraints.txt pandas")
pl = require_module("polars", "pip install -c constraints.txt polars")
pa = require_module("pyarrow", "pip install -c constraints.txt pyarrow")

NAN = float("nan")
N_ROWS = 200
RNG = np.random.default_rng(0)
COLUMNS = {
    "age": RNG.normal(40, 10, N_ROWS).round(1),
    "hours": RNG.integers(0, 60, N_ROWS),
    "work": RNG.choice(["private", "state", "none", "ü"], N_ROWS).astype(object),
    "member": RNG.random(N_ROWS) < 0.3,
    "rate": RNG.random(N_ROWS).astype(np.float32),
}
ROWS = [list(row) for row in zip(*(column.tolist() for column in COLUMNS.values()), strict=True)]


def with_nulls(frame: Any) -> Any:
    """A copy in which the first row has no value."""
    return pd.concat([pd.DataFrame([[None] * 5], columns=frame.columns, dtype=object), frame.astype(object)])


FRAMES = {
    "pandas": pd.DataFrame(COLUMNS),
    "pandas, objects": pd.DataFrame(COLUMNS).astype(object),
    "pandas, category": pd.DataFrame(COLUMNS).astype({"work": "category", "member": "category"}),
    "pandas, nullable": pd.DataFrame(COLUMNS).convert_dtypes(),
    "pandas, arrow": pd.DataFrame(COLUMNS).convert_dtypes(dtype_backend="pyarrow"),
    "polars": pl.DataFrame(COLUMNS),
    "polars, categorical": pl.DataFrame(COLUMNS).with_columns(pl.col("work").cast(pl.Categorical)),
    "pyarrow": pa.table(COLUMNS),
    "pyarrow, dictionary": pa.table({**COLUMNS, "work": pa.array(COLUMNS["work"]).dictionary_encode()}),
}


def bits_of(encoder: Encoder, X: Any) -> np.ndarray:
    return encoder.encode(X).unpack()


@pytest.mark.parametrize("kind", FRAMES)
def test_every_frame_gives_the_same_encoder_and_bits(kind: str) -> None:
    expected = Encoder.fit(pd.DataFrame(COLUMNS))
    assert expected.n_bits == 32 + 32 + 4 + 1 + 32
    encoder = Encoder.fit(FRAMES[kind])
    assert encoder == expected
    assert encoder.names == tuple(COLUMNS)
    np.testing.assert_array_equal(bits_of(encoder, FRAMES[kind]), bits_of(encoder, FRAMES["pandas"]))


def test_lists_and_object_arrays_give_the_same_bits() -> None:
    expected = bits_of(Encoder.fit(FRAMES["pandas"]), FRAMES["pandas"])
    encoder = Encoder.fit(ROWS)
    assert encoder.names == ("x0", "x1", "x2", "x3", "x4")
    for X in (ROWS, np.array(ROWS, object), FRAMES["polars"], FRAMES["pandas"]):
        np.testing.assert_array_equal(bits_of(encoder, X), expected)


def take_rows(X: Any, start: int, end: int) -> Any:
    return X.iloc[start:end] if hasattr(X, "iloc") else X[start:end]


@pytest.mark.parametrize("kind", FRAMES)
@pytest.mark.parametrize("n_rows", [1, FEW_ROWS, FEW_ROWS + 1])
def test_few_rows_give_the_bits_of_many(kind: str, n_rows: int) -> None:
    encoder = Encoder.fit(FRAMES["pandas"])
    X = FRAMES[kind]
    pieces = [bits_of(encoder, take_rows(X, i, i + n_rows)) for i in range(0, N_ROWS, n_rows)]
    np.testing.assert_array_equal(np.concatenate(pieces), bits_of(encoder, X))
    assert bits_of(encoder, take_rows(X, 0, 0)).shape == (0, encoder.n_bits)


@pytest.mark.parametrize("dtype", ["Int64", "UInt8", "Float32", "boolean", "int64[pyarrow]", "string", "category"])
def test_few_rows_with_nulls_of_every_pandas_type(dtype: str) -> None:
    values = ["7", None, "3", "7"] * 20 if dtype == "string" else [1, None, 0, 1] * 20
    frame = pd.DataFrame({"a": pd.Series(values, dtype=dtype), "b": ["x", "y"] * 40})
    encoder = Encoder.fit(frame)
    assert "a is missing" in encoder.describe_bits()
    expected = bits_of(encoder, frame)
    np.testing.assert_array_equal(bits_of(encoder, frame.iloc[:4]), expected[:4])
    assert expected[:4, encoder.describe_bits().index("a is missing")].tolist() == [False, True, False, False]


def test_rows_given_as_dicts() -> None:
    encoder = Encoder.fit(FRAMES["pandas"])
    expected = bits_of(encoder, FRAMES["pandas"])
    rows = [dict(zip(reversed(COLUMNS), reversed(row), strict=True)) for row in ROWS]
    np.testing.assert_array_equal(bits_of(encoder, rows), expected)
    np.testing.assert_array_equal(bits_of(encoder, rows[3]), expected[3:4])
    np.testing.assert_array_equal(bits_of(encoder, tuple(rows[:3])), expected[:3])
    assert Encoder.fit(rows[:100]) == Encoder.fit(pd.DataFrame(rows[:100]))
    missing = dict.fromkeys(COLUMNS)
    assert not bits_of(encoder, missing).any()


def test_dicts_name_the_columns_of_an_encoder_without_names() -> None:
    encoder = Encoder.fit(np.array([[1.0, 5.0], [2.0, 6.0]]))
    assert bits_of(encoder, {"x1": 6.0, "x0": 1.0}).tolist() == [[False, True]]
    with pytest.raises(ValueError, match="X must have the columns of fit, got none named 'x0', 'x1'"):
        encoder.encode({"a": 1.0, "b": 6.0})


@pytest.mark.parametrize(
    ("X", "message"),
    [
        ({"age": 1.0}, "X must have the columns of fit, got none named 'work'"),
        ({"age": 1.0, "work": "a", "id": 3}, "X must have no columns but those of fit, got 'id'"),
        ([{"age": 1.0, "work": "a"}, {"age": 2.0}], "same keys, got 'work' in only one of rows 0 and 1; write None"),
        ([{"age": 1.0, "work": "a"}, [2.0, "a"]], "rows must all be dicts, as the first one is, got a list in row 1"),
        ({"age": [1.0, 2.0], "work": ["a", "b"]}, r"one row, .* got a list for 'age'; pandas.DataFrame\(X\)"),
        ({}, r"keys of a row must be names of columns, got \[\]"),
        ({0: 1.0, 1: "a"}, r"keys of a row must be names of columns, got \[0, 1\]"),
        ({"age": "old", "work": "a"}, "column 'age' must hold numbers, as at fit, got 'old'"),
        ({"age": b"1", "work": "a"}, "a dict must be one row, .* got a bytes for 'age'"),
        ({"age": 1.0, "work": 3}, "column 'work' must hold strings, as at fit, got 3"),
        ({"age": 1.0, "work": pd.Timestamp(0)}, "column 'work' must hold strings, numbers or bools, got Timestamp"),
        (pd.Series({"age": 1.0, "work": "a"}), r"got a Series; pass X.to_frame\(\) for one column, frame.iloc"),
    ],
)
def test_dicts_that_do_not_fit_are_refused(X: Any, message: str) -> None:
    encoder = Encoder.fit(pd.DataFrame({"age": [1.0, 2.0, 3.0], "work": ["a", "b", "c"]}))
    with pytest.raises((ValueError, TypeError), match=message):
        encoder.encode(X)


@pytest.mark.parametrize(
    "make",
    [
        lambda frame: frame,
        lambda frame: frame.astype({"work": "category"}),
        lambda frame: frame.convert_dtypes(),
        lambda frame: pl.DataFrame({name: frame[name].tolist() for name in frame}),
        lambda frame: pa.table({name: frame[name].tolist() for name in frame}),
        lambda frame: frame.to_numpy(object).tolist(),
    ],
)
def test_missing_values_of_every_kind(make: Any) -> None:
    X = make(with_nulls(pd.DataFrame(COLUMNS)))
    encoder = Encoder.fit(X)
    bits = bits_of(encoder, X)
    words = encoder.describe_bits()
    missing = np.array([word.endswith("is missing") for word in words])
    assert missing.sum() == 5
    np.testing.assert_array_equal(bits[0], missing)
    assert not bits[1:, missing].any()
    plain = Encoder.fit(FRAMES["pandas"])
    np.testing.assert_array_equal(bits[1:, ~missing], bits_of(plain, FRAMES["pandas"]))


def test_columns_are_matched_by_name() -> None:
    frame = FRAMES["pandas"]
    encoder = Encoder.fit(frame)
    expected = bits_of(encoder, frame)
    turned = frame[["rate", "work", "age", "member", "hours"]]
    for X in (turned, pl.DataFrame(turned), pa.Table.from_pandas(turned), turned.astype({"work": "category"})):
        np.testing.assert_array_equal(bits_of(encoder, X), expected)
    with pytest.raises(ValueError, match="X must have the columns of fit, got none named 'work', 'rate'"):
        encoder.encode(frame.drop(columns=["work", "rate"]))
    with pytest.raises(ValueError, match="X must have no columns but those of fit, got 'id'; drop them"):
        encoder.encode(frame.assign(id=1))


def test_numeric_frames_in_another_order() -> None:
    X = np.random.default_rng(1).normal(size=(50, 3))
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    encoder = Encoder.fit(frame)
    for other in (frame[["c", "a", "b"]], frame.astype(np.float32)[["b", "a", "c"]].astype(np.float64)):
        np.testing.assert_array_equal(bits_of(encoder, other[["c", "b", "a"]]), bits_of(encoder, other))
    np.testing.assert_array_equal(bits_of(encoder, frame[["c", "a", "b"]]), bits_of(encoder, X))
    assert encoder.take([]).encode(frame[["c", "a", "b"]]).unpack().shape == (50, 0)


def test_arrays_are_matched_by_position() -> None:
    encoder = Encoder.fit(pd.DataFrame({"a": [1, 2], "b": [3.0, 4.0]}))
    assert bits_of(encoder, np.array([[1, 4]])).tolist() == [[False, True]]
    for X in (np.zeros((2, 3)), [[1.0]], pd.DataFrame(np.zeros((2, 5)))):
        with pytest.raises(ValueError, match="X must have 2 columns, as at fit, got"):
            encoder.encode(X)


def test_numbered_columns_have_no_names() -> None:
    encoder = Encoder.fit(pd.DataFrame(np.eye(3)))
    assert not encoder.named
    assert encoder == Encoder.fit(np.eye(3))


def test_string_arrays() -> None:
    X = np.array([["a", "x"], ["b", "x"], ["c", "y"]])
    for text in (X, X.astype(object), X.astype(np.dtypes.StringDType())):
        encoder = Encoder.fit(text)
        assert encoder.describe_bits() == ["x0 = a", "x0 = b", "x0 = c", "x1 = y"]
        assert bits_of(encoder, X).astype(int).tolist() == [[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 1]]


def test_objects_are_what_their_values_are() -> None:
    X = np.array([[1, True, "a", None], [2.5, False, 3, NAN], [None, True, "b", None]], object)
    table = as_table(X)
    np.testing.assert_array_equal(table.read(0), [1.0, 2.5, NAN])
    assert isinstance(table.read(1), Coded)
    assert table.read(2).values == ["a", 3, "b"]
    assert np.isnan(table.read(3)).all()


def test_columns_of_another_type_than_at_fit_are_refused() -> None:
    encoder = Encoder.fit([["a", 1.0], ["b", 2.0], ["c", 2.0]])
    with pytest.raises(TypeError, match=r"column 'x0' must hold strings, as at fit, got 1\.0"):
        encoder.encode(np.array([[1.0, 2.0]]))
    with pytest.raises(TypeError, match="column 'x1' must hold numbers, as at fit, got 'two'"):
        encoder.encode([["a", "two"]])
    assert not bits_of(encoder, [[None, 1.0], [NAN, 1.0]]).any()


@pytest.mark.parametrize(
    ("X", "message"),
    [
        (np.zeros(3), r"X must have shape \(n_rows, n_columns\), got \(3,\); pass X.reshape\(-1, 1\) for one column"),
        (3.0, r"X must have shape \(n_rows, n_columns\), got \(\)"),
        ([[1, 2], [3]], "X must have rows of equal lengths, got a list"),
        (scipy.sparse.eye(2, dtype=complex), "X must be a sparse matrix of numbers, got complex128"),
        (pl.LazyFrame({"a": [1]}), r"X must be in memory, got LazyFrame; pass X.collect\(\)"),
        (np.ma.masked_array(np.zeros((2, 2)), True), r"X must be a plain array, got a masked one; pass X.filled"),
        (np.zeros((2, 2), complex), "column 'x0' must hold numbers, strings, bools or dates, got complex128"),
        (np.zeros((2, 2), "S3"), r"column 'x0' must hold .*, got \|S3; convert it, bytes for instance to strings"),
        (np.zeros((2, 2), [("a", "i4")]), "column 'x0' must hold numbers, strings, bools or dates"),
        (np.array([[[1], [2]]], object)[..., :0], "X must have at least one row and one column"),
        ([[{}, 1]], "X must hold strings, numbers and bools, got a value that is none of them"),
        ([[b"a"], [b"b"]], "values of column 'x0' must be strings, numbers or bools, got bytes"),
        (pd.DataFrame([[1, 2]], columns=["a", "a"]), "column names must differ, got 'a' twice"),
        (pd.DataFrame([[1, 2]], columns=["a", 1]), "column names must be all strings or all numbers"),
    ],
)
def test_what_is_no_table_is_refused(X: Any, message: str) -> None:
    with pytest.raises((ValueError, TypeError), match=message):
        Encoder.fit(X)
