"""Dates, times and durations: the same instants give the same bits in every unit and library."""

import datetime
import pickle
from typing import Any

import numpy as np
import pytest
from support.tools import require_module

from gatewise import Encoder
from gatewise.encode import Numeric, Timed
from gatewise.encode.times import CALENDAR, as_instants, count_part, format_instant

pd = require_module("pandas", "pip install -c constraints.txt pandas")
pl = require_module("polars", "pip install -c constraints.txt polars")
pa = require_module("pyarrow", "pip install -c constraints.txt pyarrow")

N_ROWS = 300
RNG = np.random.default_rng(0)
WHEN = (np.datetime64("2025-11-05T07:31") + RNG.integers(0, 86_400 * 200, N_ROWS).astype("m8[s]")).astype("M8[ns]")
WHEN[5] = np.datetime64("NaT")
WAIT = RNG.integers(0, 1000, N_ROWS).astype("m8[ms]")
FRAME = pd.DataFrame({"when": WHEN, "wait": WAIT, "n": RNG.random(N_ROWS)})


@pytest.mark.parametrize("part", CALENDAR)
def test_parts_of_the_calendar_are_those_of_python(part: str) -> None:
    seconds = np.random.default_rng(1).integers(-60_000_000_000, 200_000_000_000, 2000)  # of the years 68 to 8307
    instants = seconds.astype("M8[s]")
    parts = {"weekday": lambda instant: instant.isoweekday()}
    expected = [parts.get(part, lambda instant: getattr(instant, part))(instant) for instant in instants.tolist()]
    np.testing.assert_array_equal(count_part(instants, part), expected)
    for unit in ("ms", "us"):
        np.testing.assert_array_equal(count_part(instants.astype(f"M8[{unit}]"), part), expected)


@pytest.mark.parametrize("unit", ["D", "h", "m", "s", "ms", "us", "ns", "25us", "W", "M", "Y"])
def test_elapsed_seconds_do_not_depend_on_the_unit(unit: str) -> None:
    instants = np.array(["1969-12-31", "2024-02-29", "2100-01-01"], "M8[D]").astype(f"M8[{unit}]")
    expected = [
        (instant - datetime.datetime(2024, 1, 1)).total_seconds() for instant in instants.astype("M8[us]").tolist()
    ]
    assert count_part(instants, "elapsed", 19_723).tolist() == expected


def test_fractions_of_seconds_are_kept() -> None:
    halves = np.array([1_500, -500], "M8[ms]")
    assert count_part(halves, "elapsed").tolist() == [1.5, -0.5]
    assert count_part(np.array([-1, 3], "m8[ns]"), "duration").tolist() == [-1e-9, 3e-9]
    assert count_part(np.array([2, -1], "m8[W]"), "duration").tolist() == [1_209_600.0, -604_800.0]


def test_an_encoder_asks_about_instants_parts_and_durations() -> None:
    encoder = Encoder.fit(FRAME, max_thresholds=1)
    assert encoder.table_names == ("when", "wait", "n")
    assert encoder.names[:3] == ("seconds of when since 2025-11-05", "month of when", "day of when")
    words = encoder.describe_bits()
    assert words[0].startswith("when > 2026-02-")
    assert words[1] == "when is missing"
    assert [word.rsplit(" > ", 1)[0] for word in words[2:8]] == [
        *("month of when", "day of when", "weekday of when", "hour of when", "minute of when"),
        "seconds of wait",
    ]
    assert pickle.loads(pickle.dumps(encoder)) == encoder
    part = encoder.take([3, 8])
    assert part.describe_bits() == [words[3], words[8]]
    assert part.table_names == encoder.table_names


def test_parts_that_do_not_vary_are_left_out() -> None:
    days = np.arange("2026-03-02", "2026-03-05", dtype="M8[D]")[:, np.newaxis]
    encoder = Encoder.fit(days, max_thresholds=1)
    assert encoder.describe_bits() == ["x0 > 2026-03-02T12:00:00", "day of x0 > 2.5", "weekday of x0 > 1.5"]
    assert Encoder.fit(days[:1]).n_bits == 0
    nothing = np.full((2, 1), "NaT", "M8[s]")
    assert Encoder.fit(nothing).n_bits == 0
    assert Encoder.fit(nothing).encode(days).unpack().shape == (3, 0)


def with_zone(zone: str) -> Any:
    return FRAME.assign(when=FRAME["when"].dt.tz_localize("UTC").dt.tz_convert(zone))


@pytest.mark.parametrize(
    "table",
    [
        pl.from_pandas(FRAME),
        pa.Table.from_pandas(FRAME),
        FRAME.to_dict("records"),
        FRAME.to_numpy(object),
        FRAME.astype({"when": "datetime64[s]", "wait": "timedelta64[us]"}),
        with_zone("Europe/Berlin"),
        pl.from_pandas(with_zone("Asia/Tokyo")),
        pa.Table.from_pandas(with_zone("Asia/Tokyo")),
        FRAME.convert_dtypes(dtype_backend="pyarrow"),
        FRAME[["n", "wait", "when"]],
    ],
    ids=range(10),
)
def test_tables_of_every_library_give_the_same_bits(table: Any) -> None:
    encoder = Encoder.fit(FRAME, max_thresholds=7)
    expected = encoder.encode(FRAME).unpack()
    np.testing.assert_array_equal(encoder.encode(table).unpack(), expected)
    few = table.slice(0, 9) if isinstance(table, pa.Table) else table[:9]
    np.testing.assert_array_equal(encoder.encode(few).unpack(), expected[:9])
    if not isinstance(table, np.ndarray) and next(iter(getattr(table, "columns", "w"))) != "n":
        assert Encoder.fit(table, max_thresholds=7) == encoder


def test_later_rows_are_counted_from_the_day_that_fit_saw() -> None:
    encoder = Encoder.fit(FRAME, max_thresholds=7)
    later = FRAME.assign(when=FRAME["when"] + pd.Timedelta(days=3650))
    numbers, moved = encoder.to_numbers(FRAME)[:, 0], encoder.to_numbers(later)[:, 0]
    np.testing.assert_array_equal(moved - numbers, np.where(np.isnan(numbers), np.nan, 3650 * 86_400))
    known = ~FRAME["when"].isna().to_numpy()
    assert encoder.encode(later).unpack()[known, :7].all()


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"when": 1.0}, "column 'when' must hold dates and times.*, as at fit, got float"),
        ({"when": WAIT}, "column 'when' must hold dates and times, as at fit, got timedelta64"),
        ({"wait": WHEN}, "column 'wait' must hold durations, as at fit, got datetime64"),
        ({"when": "2026"}, "column 'when' must hold dates and times or durations, as at fit, got str"),
        ({"n": WHEN}, "column 'n' must hold numbers"),
        ({"when": np.full(N_ROWS, "12000", "M8[Y]").astype("M8[s]")}, "'when' must hold dates of the years 1 to 9999"),
    ],
    ids=str,
)
@pytest.mark.parametrize("n", [N_ROWS, 3])
def test_other_values_are_refused(changed: dict[str, Any], message: str, n: int) -> None:
    encoder = Encoder.fit(FRAME)
    with pytest.raises((TypeError, ValueError), match=message):
        encoder.encode(FRAME.assign(**changed)[:n])


def test_what_cannot_be_fitted_is_refused() -> None:
    with pytest.raises(ValueError, match="categorical must not name dates or durations, got 'when'"):
        Encoder.fit(FRAME, categorical=["when"])
    with pytest.raises(ValueError, match="column 'x0' must hold durations of a fixed length, got timedelta64"):
        Encoder.fit(np.array([[1], [2]], "m8[M]"))
    with pytest.raises(TypeError, match="values of column 'x0' must be strings, numbers or bools, got time"):
        Encoder.fit([[datetime.time(12)], [datetime.time(13)]])


def test_columns_check_what_they_are_made_of() -> None:
    with pytest.raises(ValueError, match="part must be one of elapsed, month"):
        Timed([1.0], source="when", part="year")
    with pytest.raises(ValueError, match="anchor must be a day"):
        Timed([1.0], source="when", part="elapsed", anchor=10**7)
    with pytest.raises(ValueError, match="anchor must be a day"):
        Timed([1.0], source="when", part="month", anchor=1)
    month, day = (Timed([1.5], source="when", part=part) for part in ("month", "day"))
    assert month != day
    assert month != Numeric("month of when", [1.5])
    with pytest.raises(ValueError, match="columns must read a column of the table one after the other"):
        Encoder([month, Numeric("n", []), day], named=True)
    with pytest.raises(ValueError, match="names of columns must differ"):
        Encoder([month, month], named=True)


def test_instants_in_words() -> None:
    assert format_instant(1e300, 0) == "1970-01-01 + 1e+300 seconds"
    assert as_instants([datetime.date(2026, 1, 1), datetime.timedelta(1)]) is None
    aware = datetime.datetime(2026, 1, 1, 1, tzinfo=datetime.timezone(datetime.timedelta(hours=1)))
    assert as_instants([aware]).astype(str).tolist() == ["2026-01-01T00:00:00.000000"]
    nanos = as_instants([np.datetime64("2026-01-01T00:00:00.000000001"), datetime.date(2026, 1, 1)])
    assert nanos.dtype == "M8[ns]"
