"""Facts of reports: they agree with what is measured otherwise, are plain JSON, and say what they leave out."""

import json

import numpy as np
import pytest
from support.people import make_people
from support.small_models import ENCODER, list_rows, make_model

from gatewise import Circuit, Encoder, Model
from gatewise.encode import Categorical, Numeric
from gatewise.heads import Affine, Classes
from gatewise.importance import measure_rises
from gatewise.report import Report
from gatewise.report.columns import count_values, describe_column, find_image
from gatewise.report.facts import ClassQuality, LabelQuality, SeveralQuality, ValueQuality
from gatewise.report.quality import rate_classes

ROWS = list_rows()


def test_report_of_classes() -> None:
    model = make_model(0)
    y = np.random.default_rng(0).choice(["a", "b"], len(ROWS))
    report = model.report(ROWS, y, title="Small", commands=["made by hand"])
    quality = report.quality
    assert isinstance(quality, ClassQuality)
    predicted = model.predict(ROWS)
    assert quality.accuracy == np.mean(predicted == y)
    expected = [[int(((y == true) & (predicted == label)).sum()) for label in "ab"] for true in "ab"]
    assert quality.confusion == expected
    proba = model.predict_proba(ROWS)
    assert quality.log_loss == pytest.approx(-np.log(proba[np.arange(len(y)), (y == "b").astype(int)]).mean())
    assert sum(n for _, _, n in quality.calibration) == len(ROWS)
    assert all(hits == ((proba[:, 1] >= p) & (y == "b")).sum() for p, hits, _ in quality.cuts)
    assert report.model.n_gates == model.circuit.n_gates
    assert np.sum(report.model.gates_of_levels) == model.circuit.n_gates
    assert report.model.ns_per_row is not None
    assert [column.name for column in report.columns] == list(ENCODER.names)


def test_report_of_values() -> None:
    model = make_model(1, n_groups=1, values=True)
    y = np.linspace(-1, 1, len(ROWS))
    y[3] = np.nan
    quality = model.report(ROWS, y).quality
    assert isinstance(quality, ValueQuality)
    kept = np.isfinite(y)
    residuals = (y - model.predict(ROWS))[kept]
    assert quality.rmse == pytest.approx(np.sqrt((residuals**2).mean()))
    assert quality.r2 == pytest.approx(1 - (residuals**2).sum() / ((y[kept] - y[kept].mean()) ** 2).sum())
    assert quality.below == (residuals <= 0).mean()
    assert sum(quality.counts) == quality.n_rows == kept.sum()


def test_report_of_several_values() -> None:
    model = make_model(1, n_groups=3, values=True)
    predicted = model.predict(ROWS)
    truth = predicted + np.random.default_rng(0).normal(size=predicted.shape)
    truth[5, 1] = np.nan
    report = model.report(ROWS, truth)
    quality = report.quality
    assert isinstance(quality, SeveralQuality)
    kept = np.arange(len(ROWS)) != 5
    assert quality.n_rows == kept.sum()
    for k, of_value in enumerate(quality.values):
        assert of_value.rmse == pytest.approx(np.sqrt(np.square(truth[kept, k] - predicted[kept, k]).mean()))
    assert max(column.rise or 0.0 for column in report.columns) > 0
    with pytest.raises(ValueError, match="y must have 3 columns, as the model has values, got shape"):
        model.report(ROWS, truth[:, 0])


def test_report_of_labels() -> None:
    model = make_model(1, n_groups=3, values=True)
    truth = np.random.default_rng(0).integers(0, 2, (len(ROWS), 3))
    quality = model.report(ROWS, truth).quality
    assert isinstance(quality, LabelQuality)
    says = model.predict(ROWS) > 0
    assert quality.exact == (says == truth).all(axis=1).mean()
    assert quality.hits == tuple((says & (truth == 1)).sum(axis=0))
    assert (quality.answered, quality.owners) == (tuple(says.sum(axis=0)), tuple(truth.sum(axis=0)))


def test_importances_are_those_of_the_circuit() -> None:
    model = make_model(2)
    report = model.report(ROWS, ["a"] * len(ROWS))
    bits = model.encoder.encode(ROWS).unpack()

    def find_loss(scores: np.ndarray) -> float:
        return float(-np.log(np.exp(scores[:, 0]) / np.exp(scores).sum(axis=1)).mean())

    rises = measure_rises(model, bits, find_loss, n_repeats=10, seed=0)
    np.testing.assert_allclose([column.rise for column in report.columns], rises)
    assert rises.max() > 0
    assert all(column.rise is None for column in model.report().columns)
    unknown = model.report(ROWS).columns
    assert max(column.rise or 0.0 for column in unknown) > 0


def test_json_is_plain_and_has_no_markup() -> None:
    name = "</script><script>alert(1)</script>&"
    encoder = Encoder((Categorical(name, (name, "b"), missing=True),), named=True)
    model = Model(encoder, Circuit(3, [], [], [], [2, 3], [0, 1, 2]), Classes((name, 1), 1.0, 1))
    report = model.report(
        [{name: name}, {name: None}], [name, 1], title=name, proofs=[{"question": name, "n": np.int64(3)}]
    )
    text = report.to_json()
    assert not set("<>&") & set(text)
    facts = json.loads(text)
    assert facts["title"] == facts["columns"][0]["name"] == facts["model"]["labels"][0] == name
    assert facts["proofs"][0]["n"] == 3
    page = report.to_html()
    assert page.count("<script") == 2  # the facts and the program
    assert "default-src 'none'" in page
    assert "srcdoc=" in report._repr_html_()
    assert "<script" not in report._repr_html_()


def test_sample_holds_rows_of_the_table() -> None:
    X, _ = make_people(2_000)
    encoder = Encoder.fit(X, max_thresholds=4)
    model = Model(encoder, Circuit(encoder.n_bits, [], [], [], [2], [0, 1]), Affine((1.0,), (0.0,), 1))
    sample = model.report(X).sample
    assert sample is not None
    numbers = encoder.to_numbers(X)[sample.rows]
    for i, (values, codes) in enumerate(zip(sample.values, sample.codes, strict=True)):
        np.testing.assert_array_equal(values[codes], numbers[:, i])
    assert len(sample.rows) == 1_000
    assert {codes.dtype.itemsize for codes in sample.codes} == {1, 2}


def test_wide_tables_have_fewer_rows_in_the_page() -> None:
    X = np.random.default_rng(0).normal(size=(1_000, 400))
    encoder = Encoder.fit(X, max_thresholds=1)
    model = Model(encoder, Circuit(encoder.n_bits, [], [], [], [2], [0, 1]), Affine((1.0,), (0.0,), 1))
    report = model.report(X)
    assert report.sample is not None
    assert 40 <= len(report.sample.rows) < 200
    assert len(report.to_html()) < 1_500_000


def test_of_many_classes_confusions_are_left_out() -> None:
    labels = tuple(range(60))
    outputs = [2] * 60
    model = Model(Encoder.images((1, 1), 1), Circuit(1, [], [], [], outputs, list(range(61))), Classes(labels, 1.0, 1))
    report = model.report([[0.0], [255.0]], [0, 59])
    assert isinstance(report.quality, ClassQuality)
    assert (report.quality.accuracy, report.quality.confusion) == (0.5, [])
    assert report.left_out == ("There are 60 classes; confusions are shown for up to 40.",)


def test_histograms_count_every_row() -> None:
    numbers = np.array([0.0, 1.0, 1.0, np.nan, np.inf, -5.0])
    facts = describe_column(Numeric("x", [0.5]), None)
    histogram, low, high, is_whole = count_values(facts, numbers, np.arange(6.0))
    assert (sum(histogram.counts), histogram.n_missing, low, high, is_whole) == (5, 1, -5.0, 1.0, True)
    assert histogram.mean_missing == 3.0
    facts = describe_column(Categorical("c", ("b", "a")), None)
    histogram, *_ = count_values(facts, np.array([0.0, 1.0, 1.0, np.inf, np.nan]), None)
    assert (histogram.counts, histogram.n_other, histogram.n_missing, histogram.means) == ([1, 2], 1, 1, [])
    histogram, *_ = count_values(facts, np.array([0.0, 1.0, 7.0, np.nan]), np.arange(4.0))
    assert (histogram.means, histogram.mean_other, histogram.mean_missing) == ([0.0, 1.0], 2.0, 3.0)
    histogram, *_ = count_values(describe_column(Categorical("c", (), True), None), np.array([np.nan]), None)
    assert (histogram.counts, histogram.n_missing) == ([], 1)


def test_images_are_recognized() -> None:
    assert find_image(Encoder.images((28, 28), 3).take(range(5, 2000))) == (28, 28)
    assert find_image(Encoder.images((3, 4), 3)) is None
    assert find_image(Encoder.fit(np.random.default_rng(0).random((200, 64)))) is None
    model = Model(Encoder.images((3, 4), 1), Circuit(12, [], [], [], [2], [0, 1]), Affine((1.0,), (0.0,), 1))
    assert model.report(image=(3, 4)).image == (3, 4)
    report = model.report(np.arange(24.0).reshape(2, 12), image=(3, 4))
    assert {column.histogram for column in report.columns} == {None}
    assert (report.columns[5].low, report.columns[5].high) == (5.0, 17.0)
    assert repr(report) == "Report('A model of gates', gates=0, columns=12, quality=none)"
    with pytest.raises(ValueError, match="image must be a height and a width of 12 pixels, got"):
        model.report(image=(3, 5))


def test_bad_answers_are_refused() -> None:
    model = make_model(0)
    with pytest.raises(ValueError, match="y must hold classes of the model, a, b, got 'yes'"):
        model.report(ROWS, ["yes"] * len(ROWS))
    with pytest.raises(ValueError, match=r"y must have .* values, as X has rows, got 1"):
        model.report(ROWS, ["a"])
    with pytest.raises(ValueError, match="y must be given with X"):
        model.report(y=["a"])


def test_what_is_left_out_is_said() -> None:
    rng = np.random.default_rng(0)
    n = 150_001
    circuit = Circuit(9, rng.integers(0, 16, n), rng.integers(0, 11, n), rng.integers(0, 11, n), [12], [0, 1])
    model = Model(Encoder.images((3, 3), 1), circuit, Affine((1.0,), (0.0,), 1))
    report = model.report(np.zeros((3, 9)), [0, 1, 2])
    assert (report.circuit, report.sample, report.columns) == (None, None, ())
    assert "150,001 gates" in report.left_out[0]
    assert isinstance(report.quality, ValueQuality)
    assert len(report.to_html()) < 100_000


def test_no_rows_and_one_class() -> None:
    encoder = Encoder((Numeric("x0", [0.5]),))
    model = Model(encoder, Circuit(1, [], [], [], [2], [0, 1]), Classes(("a",), 1.0, 1))
    empty: Report = model.report(np.empty((0, 1)), [])
    assert empty.quality is None
    assert empty.sample is None
    assert model.report([[0.0]], ["a"]).quality.accuracy == 1.0  # type: ignore[union-attr]
    quality = rate_classes(np.array([0, -1]), np.array([[1.0], [1.0]]))
    assert (quality.n_rows, quality.n_unknown) == (1, 1)
