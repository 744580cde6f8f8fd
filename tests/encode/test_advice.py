"""Columns of more categories than bits: what is done, and what is said."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gatewise import Encoder
from gatewise.encode import ColumnWarning


def test_rare_categories_share_no_bit_and_a_warning_says_so() -> None:
    rng = np.random.default_rng(0)
    cities = [f"city {min(int(i), 299)}" for i in rng.exponential(40, 5000)]
    with pytest.warns(
        ColumnWarning, match=r"column 'x0' has \d+ categories: the 64 most frequent .* 8\d% of"
    ) as caught:
        encoder = Encoder.fit([[city] for city in cities])
    assert [Path(each.filename) for each in caught] == [Path(__file__)]
    assert encoder.n_bits == 64


def test_ids_and_free_text_get_no_bits() -> None:
    rows = [{"id": f"a{i}", "age": i % 7, "note": None if i % 10 else f"some words {i}"} for i in range(1000)]
    with pytest.warns(ColumnWarning, match="column '(id|note)' has .* different strings") as caught:
        encoder = Encoder.fit(rows)
    assert len(caught) == 2
    assert [column.n_bits for column in encoder.columns] == [0, 6, 1]
    assert encoder.describe_bits()[-1] == "note is missing"


def test_numbers_and_few_categories_are_fitted_in_silence() -> None:
    X = np.arange(1000)[:, np.newaxis]
    assert Encoder.fit(X.astype(str).astype(object)[:60]).n_bits == 60
    assert Encoder.fit(X).n_bits == 32
    with pytest.warns(ColumnWarning, match="column 'x0' has 1,000 categories"):
        assert Encoder.fit(X, categorical=[0]).n_bits == 64


@pytest.mark.parametrize(
    ("write", "advice"),
    [
        (lambda i: f"2024-{i % 12 + 1:02}-{i % 28 + 1:02} 09:{i % 60:02}", "they are dates: convert them, as by"),
        (lambda i: f" {i / 7:.3f}", "they are numbers: convert them, as by pandas.to_numeric"),
        (lambda i: f"room {i}", "drop ids, and turn text into numbers, as by sklearn"),
    ],
)
def test_strings_that_mean_numbers_or_dates_are_advised_to_be_converted(write: Any, advice: str) -> None:
    with pytest.warns(ColumnWarning, match=advice):
        Encoder.fit([[write(i)] for i in range(300)])


def test_few_rooms_of_many_rows_are_advised_as_what_they_mean() -> None:
    with pytest.warns(ColumnWarning, match="90 categories: .* the others look alike; they are numbers: convert them"):
        Encoder.fit([[str(i % 90)] for i in range(900)])
