"""`gatewise train`: what it decides, reports and saves, and what it refuses before it starts."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
import pytest
from support.cli_files import FEATURES, N_ROWS, Folder, call_fails, call_json, read_csv
from support.processes import missing
from support.tools import require_module

require_module("torch", "pip install -c constraints.txt '.[sklearn]'")
require_module("sklearn", "pip install -c constraints.txt '.[sklearn]'")

from gatewise import Model
from gatewise.cli import main
from gatewise.cli.target import pose_problem
from gatewise.estimators import LogicEstimator
from gatewise.extras import install_command
from gatewise.heads import Affine, Classes

TINY = ["--network", "--width", "60", "--depth", "2", "--max-iter", "4", "--batch-size", "5"]
SMALL = ["--network", "--width", "400", "--depth", "2", "--max-iter", "20", "--batch-size", "20"]


def write_target(folder: Folder, values: list[Any] | np.ndarray, name: str = "target.csv") -> str:
    """The features, and a target y."""
    pyarrow.csv.write_csv(folder.features.append_column("y", pa.array(values)), name)
    return name


@pytest.fixture
def no_training(monkeypatch: pytest.MonkeyPatch) -> None:
    """Training fails the test."""
    monkeypatch.setattr(LogicEstimator, "fit", lambda *_: pytest.fail("training must not start"))


@pytest.mark.parametrize("source", ["data.csv", "data.parquet"])
def test_classification(folder: Folder, capsys: pytest.CaptureFixture[str], source: str) -> None:
    argv = ["train", source, "--target", "label", "-o", "model.gw", "--drop", "id,value", "--categorical", "zone"]
    assert main([*argv, *SMALL, "--test", "0.25", "--class-weight", "balanced"]) == 0
    printed = capsys.readouterr().out
    assert f"{source}: 400 rows, 2 columns of numbers and 2 of categories (work, is new)" in printed
    assert "classification: 'label' holds strings, 2 different ones" in printed
    assert "on 100 rows that were set aside" in printed
    model = Model.load("model.gw")
    assert model.encoder.names == tuple(FEATURES)
    assert isinstance(model.head, Classes)
    assert main(["predict", "model.gw", source, "-o", "out.csv"]) == 0
    predicted = read_csv("out.csv")["prediction"].to_pylist()
    assert predicted == model.predict(folder.features).tolist()
    true = folder.table["label"].to_numpy()
    assert np.mean(np.array(predicted) == true) > 0.15 + max((true == "old").mean(), (true == "young").mean())


def test_terms(folder: Folder, capsys: pytest.CaptureFixture[str]) -> None:
    argv = ["train", "data.csv", "--target", "label", "-o", "model.gw", "--drop", "id,value", "--max-iter", "9"]
    report = call_json(capsys, *argv)
    assert (report["task"], report["rows"]) == ("classification", 400)
    assert 1 <= report["terms"] <= 9
    assert report["gates"] == Model.load("model.gw").circuit.n_gates
    assert main(argv) == 0
    assert f"trained: {report['terms']} term" in capsys.readouterr().out
    for option in ("--width", "--batch-size"):
        assert main([*argv, option, "7"]) == 2
        assert f"{option} must come with --network" in capsys.readouterr().err


def test_report(folder: Folder, capsys: pytest.CaptureFixture[str]) -> None:
    argv = ["train", "data.csv", "--target", "label", "-o", "model.gw", "--drop", "id,value", *TINY]
    report = call_json(capsys, *argv)
    model = Model.load("model.gw")
    assert (report["task"], report["rows"], report["epochs"], report["interrupted"]) == (
        "classification",
        400,
        4,
        False,
    )
    assert 0 < report["gates"] == model.circuit.n_gates <= 120
    assert report["bytes"] == Path("model.gw").stat().st_size
    assert report["scores"]["accuracy"] == (model.predict(folder.features) == folder.table["label"].to_numpy()).mean()
    assert report["scores"]["scored_on"].startswith("400 rows that it was trained on")
    first = Path("model.gw").read_bytes()
    call_json(capsys, *argv, "--threads", "1")
    assert Path("model.gw").read_bytes() == first
    call_json(capsys, *argv, "--random-state", "1")
    assert Path("model.gw").read_bytes() != first


def test_test_file(folder: Folder, capsys: pytest.CaptureFixture[str]) -> None:
    pyarrow.parquet.write_table(folder.table.slice(300), "test.parquet")
    argv = ["train", "data.csv", "--target", "label", "-o", "model.gw", "--drop", "id", *TINY]
    report = call_json(capsys, *argv, "--test", "test.parquet")
    assert report["scores"]["scored_on"] == "100 rows of test.parquet"
    again = call_json(capsys, "evaluate", "model.gw", "test.parquet", "--target", "label")
    assert again["confusion"] == report["scores"]["confusion"]


def test_regression(folder: Folder, capsys: pytest.CaptureFixture[str]) -> None:
    argv = ["train", "data.csv", "--target", "value", "-o", "model.gw", "--drop", "id,label"]
    report = call_json(capsys, *argv, *SMALL, "--test", "0.2")
    assert report["task"] == "regression"
    assert report["reason"] == "'value' holds numbers, 400 different ones"
    assert report["scores"]["r2"] > 0.5
    assert isinstance(Model.load("model.gw").head, Affine)
    assert main([*argv, *TINY]) == 0
    error = Model.load("model.gw").predict(folder.features) - folder.table["value"].to_numpy()
    assert f"RMSE {np.sqrt(np.square(error).mean()):.6g} on 400 rows" in capsys.readouterr().out
    assert "--class-weight must be left out" in call_fails_in_training(capsys, *argv, "--class-weight", "balanced")


@pytest.mark.parametrize(("target", "other", "score"), [("label", "value", "accuracy"), ("value", "label", "rmse")])
def test_score_of_the_selected_circuit(
    folder: Folder, capsys: pytest.CaptureFixture[str], target: str, other: str, score: str
) -> None:
    pyarrow.parquet.write_table(pa.concat_tables([folder.table] * 12), "long.parquet")  # enough to set rows aside
    argv = ["train", "long.parquet", "--target", target, "-o", "model.gw", "--drop", f"id,{other}", *SMALL]
    report = call_json(capsys, *argv, "--max-iter", "6")
    assert report["scores"]["scored_on"].startswith("the rows by which the best circuit was selected")
    again = call_json(capsys, "evaluate", "model.gw", "long.parquet", "--target", target)
    assert again[score] == pytest.approx(report["scores"][score], rel=0.25)


def call_fails_in_training(capsys: pytest.CaptureFixture[str], *argv: str) -> str:
    """The message of a refusal that comes after the data was described."""
    capsys.readouterr()
    assert main(list(argv)) == 2
    return capsys.readouterr().err


@pytest.mark.parametrize(
    ("values", "is_classification", "reason"),
    [
        (["a", "b", "c", "a"], True, "'y' holds strings, 3 different ones"),
        ([True, False, None, True], True, "'y' holds bools, 2 different ones"),
        ([0, 1, 0, None], True, "'y' holds whole numbers, 2 different ones, at most 20"),
        ([1.0, 2.0, 3.0, None], True, "'y' holds whole numbers, 3 different ones, at most 20"),
        (list(range(21)), False, "'y' holds whole numbers, 21 different ones"),
        ([0.5, 1.0, 0.5], False, "'y' holds numbers, 2 different ones"),
        ([float(i) / 7 for i in range(50)], False, "'y' holds numbers, 50 different ones"),
    ],
)
def test_decisions(values: list[Any], is_classification: bool, reason: str) -> None:
    table = pa.table({"x": list(range(len(values))), "y": values})
    problem = pose_problem(table, "y", "data", forced=None)
    assert (problem.is_classification, problem.reason) == (is_classification, reason)
    assert problem.n_left_out == values.count(None)
    assert problem.target.tolist() == [value for value in values if value is not None]
    forced = pose_problem(table, "y", "data", forced="classification")
    assert (forced.is_classification, forced.reason) == (True, "--classification was given")


def test_rows_without_a_target_are_left_out(folder: Folder, capsys: pytest.CaptureFixture[str]) -> None:
    source = write_target(folder, ["?", "", *["yes", "no"] * (N_ROWS // 2 - 1)])
    assert main(["train", source, "--target", "y", "-o", "model.gw", *TINY]) == 0
    assert "left out: 2 rows without a target" in capsys.readouterr().out
    assert Model.load("model.gw").head.n_groups == 2


@pytest.mark.usefixtures("no_training")
def test_refused_before_training(folder: Folder, capsys: pytest.CaptureFixture[str]) -> None:
    argv = ["train", "data.csv", "--target", "label", "-o", "model.gw"]

    def refuse(*more: str) -> str:
        return call_fails(capsys, *argv, *more)

    before = Path("data.csv").read_bytes()
    assert "the output must be another file than data.csv" in refuse("-o", "data.csv")
    assert Path("data.csv").read_bytes() == before
    assert "no/model.gw cannot be opened: No such file" in refuse("-o", "no/model.gw")
    assert ". cannot be opened: Is a directory" in refuse("-o", ".")
    assert "data.csv must have a column 'y'" in refuse("--target", "y")
    assert "data.csv must have a column 'z'" in refuse("--drop", "z")
    assert "data.csv must have a column 'z'" in refuse("--categorical", "z")
    assert "--drop must not name the target" in refuse("--drop", "id,label")
    assert "nowhere.csv cannot be opened" in refuse("--test", "nowhere.csv")
    assert "--test must be a file, or a share between 0 and 1, got 1.5" in refuse("--test", "1.5")
    folder.write("other.csv", "age,label\n1,old\n")
    assert "other.csv must have a column 'id', 'work', 'is new'" in refuse("--test", "other.csv")
    assert "'label' must hold numbers for a regression, got string" in refuse("--regression")
    assert "--threads must be at least 1" in refuse("--threads", "0")
    assert not Path("model.gw").exists()


@pytest.mark.usefixtures("no_training")
@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "bad.csv must begin with a line"),
        ("x,y\n", "got 2 columns and 0 rows"),
        ("x,y\n1,\n2,?\n", "got 2 columns and 0 rows"),
        ("y\na\nb\n", "got 1 column and 2 rows"),
        (b"x,y\n\xe4,a\n\xfc,b\n", "column 'x' of bad.csv must hold text in UTF-8, got other bytes; convert the file"),
        ("x,y\n1,a\n2,a\n3,\n", "'y' must have at least two different values to learn, got 'a' only"),
        ("x,y\n1,a\n2\n", "bad.csv cannot be read as a CSV file"),
        ("x,y,x\n1,a,2\n2,b,3\n", "must have one column 'x', got 2; rename the others"),
        (
            "x,y\n12:30:00,a\n12:31:00,b\n",
            "column 'x' of bad.csv must hold numbers, strings, bools or dates, got time32",
        ),
        (
            "x,y\n1,2020-01-01\n2,2020-01-02\n",
            "'y' must hold classes or numbers, got date32[day]; write it as a number",
        ),
    ],
)
def test_refused_contents(folder: Folder, capsys: pytest.CaptureFixture[str], text: str, message: str) -> None:
    folder.write("bad.csv", text)
    assert message in call_fails(capsys, "train", "bad.csv", "--target", "y", "-o", "model.gw")


def test_columns_that_say_nothing(folder: Folder, capsys: pytest.CaptureFixture[str]) -> None:
    folder.write("same.csv", "x,z,y\n" + "1,,a\n1,,b\n" * 10 + "1,,b\n")
    report = call_json(capsys, "train", "same.csv", "--target", "y", "-o", "model.gw")
    assert (report["gates"], report["bits"]) == (0, 0)
    assert report["scores"]["accuracy"] == pytest.approx(11 / 21)
    assert main(["predict", "model.gw", "same.csv", "-o", "out.csv"]) == 0
    assert set(read_csv("out.csv")["prediction"].to_pylist()) == {"b"}


def test_interrupt_saves_the_best_so_far(
    folder: Folder, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    from gatewise.train.progress import Bar

    shown = []

    def interrupt(self: Bar, record: object) -> None:
        shown.append(record)
        if len(shown) == 3:
            raise KeyboardInterrupt

    monkeypatch.setattr(Bar, "show", interrupt)
    argv = ["train", "data.csv", "--target", "label", "-o", "model.gw", "--drop", "id", *TINY, "--max-iter", "1000"]
    assert main(argv) == 130
    assert "interrupted: the best circuit so far is saved" in capsys.readouterr().out
    saved = Path("model.gw").read_bytes()
    assert Model.from_bytes(saved).predict(folder.table.drop(["id", "label"])).shape == (N_ROWS,)
    shown.clear()
    assert main([*argv, "--json"]) == 130
    report = json.loads(capsys.readouterr().out)
    assert report["interrupted"]
    assert report["epochs"] < 1000
    assert Path("model.gw").read_bytes() == saved


@pytest.mark.slow
def test_runs_end_cleanly_under_load() -> None:
    script = Path(__file__).parents[1] / "scripts" / "exits.py"
    done = subprocess.run([sys.executable, script, "--forks", "20", "--processes", "2"], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.endswith("exit codes: {0: 22}\n")


@pytest.mark.filterwarnings("default")
def test_warnings_are_one_line_each(folder: Folder, capsys: pytest.CaptureFixture[str]) -> None:
    argv = ["train", "data.csv", "--target", "label", "-o", "model.gw", *TINY]
    assert main([*argv, "--width", "10"]) == 0
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("gatewise train: 10 gates read at most 20 of ")
    assert main([*argv, "--batch-size", "400"]) == 0
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith(
        "gatewise train: nothing was learned: no gate changed in 4 steps, and the circuit's accuracy "
    )


@pytest.mark.parametrize(("module", "options"), [("torch", ["--network"]), ("sklearn", [])])
def test_a_missing_package_is_named_with_the_fix(folder: Folder, module: str, options: list[str]) -> None:
    argv = ["train", "data.csv", "--target", "label", "-o", "model.gw", *options]
    code = f"{missing(module)}from gatewise.cli import main; sys.exit(main({argv!r}))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 2
    assert f"gatewise train: gatewise.estimators{'.NetworkClassifier' * bool(options)} needs {module}" in done.stderr
    assert install_command(module) in done.stderr
    assert len(done.stderr.splitlines()) == 1
