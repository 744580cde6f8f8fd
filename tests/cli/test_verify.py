"""`gatewise verify` and `gatewise explain`: answers, exit codes, JSON, files of proofs, and errors."""

import json
import sys
from pathlib import Path
from typing import Any

import pytest
from support.cli_files import Folder, call_fails
from support.tools import require_module

require_module("pyarrow", "pip install -c constraints.txt '.[cli]'")
require_module("pysat", "pip install -c constraints.txt '.[verify]'")

from gatewise.cli import main
from gatewise.cli.conditions import parse_given, parse_within
from gatewise.export import save_package, to_aiger


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Folder:
    return Folder(tmp_path_factory.mktemp("verify"))


@pytest.fixture(autouse=True)
def _in_folder(folder: Folder, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder.path)


def call(capsys: pytest.CaptureFixture[str], *argv: str) -> tuple[int, str]:
    """Exit code and output of a command that works."""
    capsys.readouterr()
    code = main(list(argv))
    printed = capsys.readouterr()
    assert printed.err == ""
    return code, printed.out


def test_rules(folder: Folder, capsys: pytest.CaptureFixture[str]) -> None:
    code, text = call(capsys, "verify", "classes.gw", "--always", "old|young")
    assert (code, text.split(":")[0]) == (0, "proved")
    answers = set(folder.classifier.predict(folder.features).tolist())
    assert answers == {"old", "young"}
    code, text = call(capsys, "verify", "classes.gw", "--never", "old")
    assert code == 1
    assert text.startswith("refuted: rows never get old")
    assert "zone" in text


def test_conditions_of_all_kinds(capsys: pytest.CaptureFixture[str]) -> None:
    given = ["--given", "age=20..", "--given", "work=private|with, comma", "--given", "is new=True", "--given", "zone="]
    code, text = call(capsys, "verify", "classes.gw", "--always", "old|young", *given, "--json")
    assert code == 0
    assert "rows with age ≥ 20.0, work = private or with, comma, is new = True, zone = missing get" in text


def test_values(folder: Folder, capsys: pytest.CaptureFixture[str]) -> None:
    low, high = folder.regressor.predict(folder.features).min(), folder.regressor.predict(folder.features).max()
    assert call(capsys, "verify", "values.gw", "--always", f"{low + 1}..{high}")[0] == 1
    code, text = call(capsys, "verify", "values.gw", "--bounds", "--limit", "2")
    assert code == 0
    assert "value: at least" in text


@pytest.mark.parametrize(
    "rule", [["--independent-of", "work"], ["--rises", "age"], ["--falls", "age"], ["--equals", "classes.gw"]]
)
def test_other_rules(rule: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    code, text = call(capsys, "verify", "classes.gw", *rule, "--limit", "20")
    assert code == {"proved": 0, "refuted": 1, "undecided": 3}[text.split(":")[0]]
    if rule[0] == "--equals":
        assert code == 0


def test_an_exported_file(folder: Folder, capsys: pytest.CaptureFixture[str]) -> None:
    save_package(to_aiger(folder.classifier), folder.path / "aiger")
    code, _ = call(capsys, "verify", "classes.gw", "--equals", str(Path("aiger") / "model.aig"))
    assert code == 0


def test_time_that_is_up(capsys: pytest.CaptureFixture[str]) -> None:
    options = ["--limit", "0", "--method", "sat"]
    code, text = call(capsys, "verify", "classes.gw", "--always", "old", *options)
    assert (code, text.split(":")[0]) == (3, "undecided")


def test_rows_and_proofs(capsys: pytest.CaptureFixture[str]) -> None:
    rows = ["--robust", "data.csv", "--rows", "3", "--within", "age=1", "--within", "work=any", "--at-most", "1"]
    code, text = call(capsys, "verify", "classes.gw", *rows, "--proof", "proofs")
    assert code in (0, 1)
    assert text.splitlines()[-1].startswith("3 rows: ")
    assert sorted(path.name for path in Path("proofs").iterdir()) == ["row_0", "row_1", "row_2"]
    assert list(Path("proofs").rglob("*.cnf"))


def test_explain(folder: Folder, capsys: pytest.CaptureFixture[str]) -> None:
    options = ["--row", "7", "--changes", "2", "--fixed", "zone", "--smallest"]
    code, text = call(capsys, "explain", "classes.gw", "data.csv", *options)
    assert code == 0
    answer = folder.classifier.predict(folder.features.slice(6, 1))[0]
    assert text.startswith(f"{answer}: ")
    assert "enough" in text
    code, text = call(capsys, "explain", "classes.gw", "data.parquet", "--row", "7", "--changes", "0", "--json")
    assert code == 0
    assert f'"answer": "{answer}"' in text


def test_without_a_solver_columns_are_flipped(
    folder: Folder, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in [name for name in sys.modules if name.split(".")[0] == "pysat"]:
        monkeypatch.setitem(sys.modules, name, None)
    monkeypatch.setitem(sys.modules, "pysat", None)
    code, text = call(capsys, "explain", "classes.gw", "data.csv", "--row", "7")
    assert code == 0
    answer = folder.classifier.predict(folder.features.slice(6, 1))[0]
    assert text.startswith(f"{answer}, ahead of the next class by ")
    assert "nothing is proved: gatewise.verify needs pysat" in text
    code, text = call(capsys, "explain", "classes.gw", "data.csv", "--row", "7", "--json")
    assert (code, json.loads(text)["flips"]["answer"]) == (0, answer)
    assert "needs pysat" in call_fails(capsys, "explain", "classes.gw", "data.csv", "--smallest")


@pytest.mark.parametrize(
    ("argv", "message"),
    [
        (["verify", "classes.gw", "--never", "older"], "a class must be one of old, young"),
        (["verify", "classes.gw", "--always", "old", "--given", "aeg=3"], "a condition must begin with a column"),
        (
            ["verify", "classes.gw", "--always", "old", "--given", "age=a..b"],
            "a condition on numbers must hold numbers",
        ),
        (["verify", "values.gw", "--always", "high"], "--always must be LOW..HIGH"),
        (["verify", "classes.gw", "--robust", "data.csv", "--given", "age=3"], "--given must be left out"),
        (["verify", "classes.gw", "--independent-of", "aeg"], "got 'aeg'; see 'age'"),
        (["verify", "classes.gw", "--robust", "data.csv", "--within", "ages=3"], "got 'ages=3'; see 'age'"),
        (["verify", "classes.gw", "--robust", "data.csv", "--rows", "0"], "--rows must be at least 1, got 0"),
        (["explain", "values.gw", "data.csv"], "must hold a model of classes"),
        (["explain", "classes.gw", "data.csv", "--row", "0"], "--row must be at least 1"),
        (["explain", "classes.gw", "data.csv", "--changes", "-1"], "--changes must be at least 0, got -1"),
        (["explain", "classes.gw", "data.csv", "--row", "4000"], "must have a row number 4000"),
    ],
)
def test_errors(argv: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert message in call_fails(capsys, *argv)


def test_parsing(folder: Folder) -> None:
    encoder = folder.classifier.encoder
    given: dict[str, Any] = parse_given(encoder, ["age=..30.5", "zone=3|", "is new=False"])
    assert given == {"age": (None, 30.5), "zone": [3, None], "is new": [False]}
    assert parse_within(encoder, ["age=2", "zone=any"]) == {"age": 2.0, "zone": None}
