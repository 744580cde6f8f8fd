"""Report pages in a real browser: answers, every control, strings of strangers, accessibility, and no requests.

One browser opens all pages (tests/scripts/browse_report.mjs); the tests below look at what it found.
"""

import fcntl
import json
import re
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from support.corpus import random_layers
from support.people import make_people
from support.tools import give_up, require_tool

from gatewise import Circuit, Encoder, Model, gates
from gatewise.encode import Numeric
from gatewise.heads import Affine, Classes, Exponential, Head

ROOT = Path(__file__).parents[2]
HOSTILE = "<script>window.hacked = 1</script>"
HOSTILE_LABEL = '</script><img src="x" onerror="window.hacked = 1">'
LABELS = ("no", HOSTILE_LABEL)
N_ROWS = 1_000


def make_model(encoder: Encoder, head: Head, seed: int = 0, n_outputs: int = 40) -> Model:
    """Random gates over all bits."""
    rng = np.random.default_rng(seed)
    layers = [120, n_outputs * head.n_groups]
    return Model(encoder, random_layers(rng, encoder.n_bits, layers, head.n_groups, gates=(1, 2, 6, 7, 8, 9, 14)), head)


def make_table() -> tuple[pd.DataFrame, np.ndarray]:
    """People, of whom a hostile column and a date are known, too."""
    X, y = make_people(N_ROWS)
    rng = np.random.default_rng(1)
    X[HOSTILE] = rng.choice([HOSTILE, "</script>", "x = 1 > 0"], N_ROWS)
    X["paid"] = np.datetime64("2026-01-01") + rng.integers(0, 10**7, N_ROWS).astype("m8[s]")
    return X, np.where(y == "yes", HOSTILE_LABEL, "no")


def to_json_rows(numbers: np.ndarray) -> list[list[float | str]]:
    """Rows in which words stand for what JSON has not; JavaScript's Number reads them."""
    words = {"nan": "NaN", "inf": "Infinity"}
    return [[words.get(str(value), value) for value in row] for row in numbers.tolist()]


def make_readable() -> Model:
    """One output, of gates within gates; a name that is read from right to left, and a number that is very small."""
    columns = tuple(Numeric(name, [0.5 if name != "d" else -2.5e-7]) for name in ("a", "b", "\u05de\u05d7", "d"))
    same_and_c, and_d = [gates.XNOR, gates.AND], [gates.AND]
    circuit = Circuit(4, same_and_c + and_d, [2, 6, 7], [3, 4, 5], [8], [0, 1])
    return Model(Encoder(columns, named=True), circuit, Affine((1.0,), (0.0,), 1))


class Pages:
    """The models, what they were shown, and what the browser found."""

    def __init__(self, folder: Path) -> None:
        X, y = make_table()
        self.X, self.y = X, y
        self.people = make_model(Encoder.fit(X, max_thresholds=6), Classes(LABELS, 8.0, 40))
        self.values = make_model(Encoder.fit(X, max_thresholds=4), Affine((3.7,), (0.1,), 40), seed=1)
        self.means = make_model(Encoder.fit(X, max_thresholds=4), Exponential((2.1,), (0.4,), 40), seed=4)
        self.labels = make_model(Encoder.fit(X, max_thresholds=4), Affine((3.0,) * 3, (-1.5,) * 3, 40), seed=5)
        self.many = make_model(Encoder.fit(X, max_thresholds=4), Classes(tuple(range(60)), 2.0, 40), seed=6)
        self.images = make_model(Encoder.images((8, 8), 3, high=16.0), Classes(tuple(range(10)), 4.0, 40), seed=2)
        rng = np.random.default_rng(3)
        self.pictures = rng.integers(0, 17, (N_ROWS, 64)).astype(np.float64)
        large = random_layers(rng, 784, [500_000, 500_000], 10)
        self.large = Model(Encoder.images((28, 28), 1), large, Classes(tuple(range(10)), 100.0, 50_000))
        history = [
            {"epoch": k, "seconds": k, "loss": 1 / k, "score": 0.9, "soft_loss": 0.2, "soft_score": 0.9} for k in (1, 2)
        ]
        proofs = [
            {"question": HOSTILE, "status": "refuted", "counterexample": [{HOSTILE: 1}], "answers": [HOSTILE_LABEL]}
        ]
        reports = {
            "people": self.people.report(
                X,
                y,
                title=HOSTILE,
                history=[each | {"gap": 0.0, "gates": []} for each in history],
                proofs=proofs,
                commands=[HOSTILE],
            ),
            "values": self.values.report(X, rng.random(N_ROWS)),
            "means": self.means.report(X, rng.poisson(3.0, N_ROWS)),
            "labels": self.labels.report(X, rng.integers(0, 2, (N_ROWS, 3))),
            "many": self.many.report(X, rng.integers(0, 60, N_ROWS)),
            "words": make_readable().report(),
            "images": self.images.report(self.pictures, rng.integers(0, 10, N_ROWS)),
            "bare": self.people.report(),
            "large": self.large.report(),
        }
        sample = reports["people"].sample
        assert sample is not None
        scores = self.people.scores(X.iloc[sample.rows])
        near = 1 + int(np.abs(scores[:, 0] - scores[:, 1]).argmin())  # a row whose answer little may flip
        for name, report in reports.items():
            report.save(folder / f"{name}.html")
        table = to_json_rows(self.people.encoder.to_numbers(X))
        cases = {
            "people": {"kind": "classes", "rows": table, "near": near},
            "values": {"kind": "values", "rows": to_json_rows(self.values.encoder.to_numbers(X))},
            "means": {"kind": "values", "rows": to_json_rows(self.means.encoder.to_numbers(X))},
            "labels": {"kind": "values", "rows": to_json_rows(self.labels.encoder.to_numbers(X))},
            "many": {"kind": "values", "rows": to_json_rows(self.many.encoder.to_numbers(X))},
            "words": {"kind": "words"},
            "images": {"kind": "image", "rows": self.pictures.tolist()},
            "bare": {"kind": "bare"},
            "large": {"kind": "large"},
        }
        self.found: dict[str, Any] = {}
        (folder / "cases.json").write_text(json.dumps(cases))

    def browse(self, folder: Path) -> str:
        """What the browser finds on all pages."""
        if not (ROOT / "src/page/node_modules").is_dir():
            give_up("playwright-core is not installed; get it with: make page")
        node, chromium = (
            require_tool("node", "apt-get install nodejs"),
            require_tool("chromium", "apt-get install chromium"),
        )
        script = ROOT / "tests/scripts/browse_report.mjs"
        done = subprocess.run([node, script, folder, chromium], capture_output=True, text=True, timeout=300)
        assert done.returncode == 0, done.stderr
        return done.stdout

    def answer(self, row: int, **changes: object) -> str:
        """What the model answers to a row of the table, some of whose cells are changed."""
        changed = self.X.iloc[[row]].assign(**changes)
        return clip(self.people.predict(changed)[0], 60)


def clip(text: str, length: int) -> str:
    """As the page shortens names."""
    return text if len(text) <= length else text[: length - 1] + "…"


def row_of(told: str) -> int:
    """Position in the table of the row that the page names."""
    found = re.match(r"row ([\d,]+) of the table", told)
    assert found, told
    return int(found[1].replace(",", ""))


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory, worker_id: str) -> Pages:
    """Of several processes that test, one browses and the others wait for what it found."""
    folder = tmp_path_factory.mktemp("pages")
    pages, shared = Pages(folder), folder if worker_id == "master" else tmp_path_factory.getbasetemp().parent
    found = shared / "browsed.json"
    with open(shared / "browsing.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not found.exists():
            found.write_text(pages.browse(folder))
    pages.found = json.loads(found.read_text())
    return pages


@pytest.mark.parametrize("name", ["people", "values", "means", "labels", "many", "words", "images", "bare", "large"])
@pytest.mark.parametrize("size", ["wide", "narrow"])
def test_pages_are_whole(pages: Pages, name: str, size: str) -> None:
    seen = pages.found[name][size]
    assert (seen["errors"], seen["requests"], seen["violations"]) == ([], [], [])
    assert seen["width"] <= (1280 if size == "wide" else 390)
    assert "The circuit" in seen["headings"]


def test_answers_are_those_of_the_model(pages: Pages) -> None:
    controls = pages.found["people"]["controls"]
    assert len(controls["predictions"]) == N_ROWS
    assert controls["predictions"] == pages.people.predict(pages.X).tolist()
    assert pages.found["images"]["pad"]["predictions"] == pages.images.predict(pages.pictures).tolist()
    assert pages.found["values"]["predictions"] == pages.values.predict(pages.X).tolist()
    assert pages.found["labels"]["predictions"] == pages.labels.predict(pages.X).tolist()
    assert pages.found["many"]["predictions"] == pages.many.predict(pages.X).tolist()
    np.testing.assert_allclose(pages.found["means"]["predictions"], pages.means.predict(pages.X), rtol=1e-14)


def test_strings_of_strangers_are_text(pages: Pages) -> None:
    people = pages.found["people"]
    assert people["wide"]["title"] == f"{HOSTILE} – gatewise"
    assert not people["controls"]["hacked"]


def test_rows_are_chosen(pages: Pages) -> None:
    controls = pages.found["people"]["controls"]
    for name in ("first", "next", "near", "any", "wrong"):
        told, answer = controls[name]
        row = row_of(told)
        assert answer == pages.answer(row)
        assert told.endswith(f"truly {clip(pages.y[row], 30)}")
    row = row_of(controls["wrong"][0])
    assert pages.people.predict(pages.X.iloc[[row]])[0] != pages.y[row]
    assert controls["previous"] == controls["first"][0]
    assert row_of(controls["next"][0]) > row_of(controls["first"][0])


def test_columns_are_changed(pages: Pages) -> None:
    controls = pages.found["people"]["controls"]
    row = row_of(controls["near"][0])
    answer, said = controls["changed"]
    assert answer == pages.answer(row, age=70, job="smith")
    before, after = (
        pages.people.encoder.encode(rows).unpack()
        for rows in (pages.X.iloc[[row]], pages.X.iloc[[row]].assign(age=70, job="smith"))
    )
    n_bits = int((before != after).sum())
    assert said.startswith(f"{n_bits} bit{'s' * (n_bits != 1)} and ")
    assert controls["stepped"] == "69"
    assert controls["missing"] == pages.answer(row, age=69, job="smith", income=np.nan)
    assert controls["again"] == pages.answer(row)


def test_changes_that_flip_the_answer_are_all_found(pages: Pages) -> None:
    controls = pages.found["people"]["controls"]
    row = row_of(controls["near"][0])
    now = pages.answer(row)
    flipping = set()
    for column in pages.people.encoder.columns:
        values: list[Any] = []
        if column.name in ("age", "income"):
            values = [t + sign * 1e-6 for t in column.thresholds for sign in (-1, 1)]  # type: ignore[union-attr]
            values += [np.nan] if column.missing else []
        elif column.name in pages.X:
            values = [*pages.X[column.name].unique(), "another"] if column.name != "member" else [False, True]
        flipping |= {column.name for value in values if pages.answer(row, **{column.name: value}) != now}
    named = {change.split(" ")[0] for change in controls["changes"]}
    assert {name for name in named if name in ("age", "income", "job", "member")} == flipping - {HOSTILE}
    assert (HOSTILE[:5] in " ".join(controls["changes"])) == (HOSTILE in flipping)
    assert controls["afterChange"] != now


def test_the_most_probable_of_many_classes_are_shown(pages: Pages) -> None:
    sample = pages.many.report(pages.X).sample
    assert sample is not None
    proba = pages.many.predict_proba(pages.X.iloc[[sample.rows[0]]])[0]
    expected = np.argsort(-proba, kind="stable")[:12]
    assert pages.found["many"]["shown"] == [str(label) for label in expected]
    assert pages.found["labels"]["shown"] == ["value 1", "value 2", "value 3"]


def test_gates_are_said_in_words(pages: Pages) -> None:
    said = "(a > 0.5 exactly if b > 0.5) and \u2068\u05de\u05d7\u2069 > 0.5 and d > \u22122.5 \u00b7 10\u207b\u2077"
    assert pages.found["words"]["said"] == [said]
    assert pages.found["words"]["through"] == []


def test_circuit_is_explored(pages: Pages) -> None:
    circuit = pages.found["people"]["controls"]["circuit"]
    assert circuit["outputs"] > 10
    assert circuit["nodes"] > circuit["deciding"] >= 2
    start, larger, smaller, fit = (list(map(float, view.split())) for view in circuit["views"])
    assert larger[2] < start[2] == pytest.approx(smaller[2])
    assert fit == start
    name, rows = circuit["gate"]
    assert name.startswith("Gate ")
    assert len(rows) in (2, 4)
    assert circuit["walked"].startswith("gate ")
    assert circuit["chosen"] == circuit["walked"].split(",")[0].replace("gate", "Gate")
    assert re.fullmatch(r"\d+ of \d+ outputs true: \d+ votes?\.", circuit["sum"])


def test_quality_follows_the_threshold(pages: Pages) -> None:
    controls = pages.found["people"]["controls"]
    told, (precision, recall, accuracy, n_rows) = controls["cut"]
    shown = float(re.search(r"[\d.]+", told)[0])  # type: ignore[index]
    proba = pages.people.predict_proba(pages.X)[:, 1]
    cut = np.unique(proba)[np.abs(np.unique(proba) - shown).argmin()]
    stated, truth = proba >= cut, pages.y == HOSTILE_LABEL
    assert precision == f"{100 * truth[stated].mean():.1f} %"
    assert recall == f"{100 * stated[truth].mean():.1f} %"
    assert accuracy == f"{100 * (stated == truth).mean():.1f} %"
    assert n_rows == f"{stated.sum():,}"
    assert controls["questions"]
    assert controls["printed"] == [False, True]


def test_images_are_drawn(pages: Pages) -> None:
    pad = pages.found["images"]["pad"]
    for step in ("cleared", "drawn", "erased", "typed"):
        numbers, answer = pad[step]
        assert answer == str(pages.images.predict(np.array([numbers]))[0])
    cleared, drawn, erased, typed = (np.array(pad[step][0]) for step in ("cleared", "drawn", "erased", "typed"))
    assert (cleared == 0).all()
    assert (drawn > 8).sum() >= 6
    assert erased.sum() < drawn.sum()
    assert typed[40:].sum() != erased[40:].sum() or typed.sum() > erased.sum()


def test_large_circuits_say_what_is_left_out(pages: Pages) -> None:
    large = pages.found["large"]["wide"]
    assert "The circuit has 1,000,000 gates" in large["leftOut"][0]
    assert large["headings"] == ["The circuit", "About this page"]
    assert pages.found["bare"]["wide"]["leftOut"][0].startswith("No table was given")
