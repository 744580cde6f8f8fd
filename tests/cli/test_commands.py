"""The command line, but for training: predict, evaluate, info, bench; files that are not as they should be."""

import io
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
import pytest
from support.cli_files import FEATURES, N_ROWS, Folder, build, call_fails, call_json, command, read_csv

import gatewise
from gatewise import Circuit, Encoder, Model, SeededCircuit, save
from gatewise.cli import main
from gatewise.cli.tables import reading
from gatewise.encode import Categorical, Numeric
from gatewise.extras import install_command
from gatewise.heads import Affine, Classes
from gatewise.machine import cpu_name


@pytest.mark.parametrize("source", ["data.csv", "data.parquet"])
@pytest.mark.parametrize("output", ["out.csv", "out.parquet"])
def test_predict_equals_the_model(folder: Folder, source: str, output: str) -> None:
    assert main(["predict", "classes.gw", source, "-o", output, "--keep", "id", "--proba"]) == 0
    out = pyarrow.parquet.read_table(output) if output.endswith("parquet") else read_csv(output)
    assert out.column_names == ["id", "prediction", "proba_old", "proba_young"]
    assert out["id"].to_pylist() == folder.table["id"].to_pylist()
    assert out["prediction"].to_pylist() == folder.classifier.predict(folder.features).tolist()
    shares = np.stack([out[name].cast(pa.float64()).to_numpy() for name in out.column_names[2:]], axis=1)
    np.testing.assert_allclose(shares, folder.classifier.predict_proba(folder.features), rtol=1e-15)
    assert not list(folder.path.glob(".gatewise*"))


@pytest.mark.parametrize("source", ["data.csv", "data.parquet"])
def test_blocks_may_end_anywhere(folder: Folder, source: str, monkeypatch: pytest.MonkeyPatch) -> None:
    expected = folder.regressor.predict(folder.features)
    for block_bytes, block_cells in ((300, 1), (1000, 29)):
        monkeypatch.setattr(reading, "BLOCK_BYTES", block_bytes)
        monkeypatch.setattr(reading, "BLOCK_CELLS", block_cells)
        assert main(["predict", "values.gw", source, "-o", "out.csv", "--threads", "2"]) == 0
        np.testing.assert_array_equal(read_csv("out.csv")["prediction"].cast(pa.float64()), expected)


def test_types_come_from_the_model(folder: Folder) -> None:
    encoder = Encoder([Numeric("x", [0.5]), Categorical("code", ("007", "1e3"))], named=True)
    build(encoder, Classes((1, 2), tau=1.0, group_size=5), seed=1).save("codes.gw")
    model = Model.load("codes.gw")
    folder.write("codes.csv", "code,x,more\n007,1,a\n7,0,b\n1e3,0.4,c\n1000,1e-3,d\n")
    rows = pa.table({"x": [1.0, 0.0, 0.4, 1e-3], "code": ["007", "7", "1e3", "1000"]})
    assert main(["predict", "codes.gw", "codes.csv", "-o", "out.csv", "--keep", "more,code"]) == 0
    out = read_csv("out.csv")
    assert out["prediction"].to_pylist() == [str(label) for label in model.predict(rows)]
    assert out["code"].to_pylist() == ["007", "7", "1e3", "1000"]


def test_missing_values(folder: Folder) -> None:
    encoder = Encoder([Numeric("x", [5.0], missing=True), Categorical("c", ("a", "b"), missing=True)], named=True)
    circuit = Circuit(5, [], [], [], outputs=[2, 3, 4, 5, 6], group_ptr=[0, 5])
    Model(encoder, circuit, Affine((5.0,), (0.0,), 5)).save("count.gw")
    spelled = ["", "?", "NA", "nan", "null", '""']
    folder.write("cells.csv", "x,c\n" + "".join(f"{cell},a\n9,{cell}\n" for cell in spelled) + "1,z\n-999,b\n")
    assert main(["predict", "count.gw", "cells.csv", "-o", "out.csv"]) == 0
    assert read_csv("out.csv")["prediction"].to_pylist() == ["2"] * 12 + ["0", "1"]
    assert main(["predict", "count.gw", "cells.csv", "-o", "out.csv", "--missing", "-999", "--missing", "z"]) == 0
    assert read_csv("out.csv")["prediction"].to_pylist() == ["2"] * 12 + ["1", "2"]


def test_kept_columns_are_not_changed(folder: Folder) -> None:
    Model.build(
        Encoder([Numeric("x", [0.5])], named=True), Circuit(1, [], [], [], [2], [0, 1]), Affine((1,), (0,), 1)
    ).save("x.gw")
    text = 'name,x\nNA,1\n007,0\n?,1\n"a, ""b""",0\n'
    folder.write("names.csv", text)
    assert main(["predict", "x.gw", "names.csv", "-o", "out.csv", "--keep", "name,x"]) == 0
    assert read_csv("out.csv")["name"].to_pylist() == ["NA", "007", "?", 'a, "b"']
    assert read_csv("out.csv")["x"].to_pylist() == read_csv("out.csv")["prediction"].to_pylist() == ["1", "0", "1", "0"]


def test_columns_by_position(folder: Folder, capsys: pytest.CaptureFixture[str]) -> None:
    rows = np.random.default_rng(0).normal(size=(50, 3))
    model = build(Encoder.fit(rows), Classes((0, 1), tau=1.0, group_size=10))
    model.save("numbered.gw")
    pyarrow.csv.write_csv(pa.table([*rows.T, model.predict(rows)], list("abcy")), "abcy.csv")
    assert "must have 3 columns, because the model knows them by position, got 4" in call_fails(
        capsys, "predict", "numbered.gw", "abcy.csv"
    )
    assert call_json(capsys, "evaluate", "numbered.gw", "abcy.csv", "--target", "y")["accuracy"] == 1.0
    assert main(["predict", "numbered.gw", "abcy.csv", "--keep", "y", "-o", "out.csv"]) == 0
    assert read_csv("out.csv")["y"] == read_csv("out.csv")["prediction"]
    np.savetxt("bare.csv", rows, delimiter=",")
    assert "the first line of bare.csv must name its columns" in call_fails(
        capsys, "predict", "numbered.gw", "bare.csv"
    )


def test_several_outputs_and_mixed_labels(folder: Folder) -> None:
    encoder = Encoder.fit(folder.features)
    build(encoder, Affine((1.0, 2.0), (0.0, 1.0), group_size=10)).save("two.gw")
    assert main(["predict", "two.gw", "data.csv", "-o", "out.parquet"]) == 0
    out = pyarrow.parquet.read_table("out.parquet")
    expected = Model.load("two.gw").predict(folder.features)
    np.testing.assert_array_equal(np.stack([out["prediction_0"], out["prediction_1"]], axis=1), expected)
    build(encoder, Classes((1, "one"), tau=1.0, group_size=10)).save("mixed.gw")
    assert main(["predict", "mixed.gw", "data.csv", "-o", "out.parquet"]) == 0
    labels = Model.load("mixed.gw").predict(folder.features).tolist()
    assert set(labels) == {1, "one"}
    assert pyarrow.parquet.read_table("out.parquet")["prediction"].to_pylist() == [str(label) for label in labels]


def test_standard_streams(folder: Folder, monkeypatch: pytest.MonkeyPatch, capfdbinary) -> None:
    data = Path("data.csv").read_bytes()
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BufferedReader(io.BytesIO(data))))
    assert main(["predict", "classes.gw", "-"]) == 0
    Path("out.csv").write_bytes(capfdbinary.readouterr().out)
    assert read_csv("out.csv")["prediction"].to_pylist() == folder.classifier.predict(folder.features).tolist()


def test_as_processes(folder: Folder) -> None:
    with open("data.csv") as data:
        done = subprocess.run(
            command("predict", "classes.gw", "-"), stdin=data, capture_output=True, text=True, check=True
        )
    labels = folder.classifier.predict(folder.features)
    assert done.stdout.splitlines() == ["prediction", *(f'"{label}"' for label in labels)]
    refused = subprocess.run(command("predict"), capture_output=True, text=True)
    assert (refused.returncode, refused.stdout) == (2, "")
    assert refused.stderr.endswith("error: the following arguments are required: model, data\n")


@pytest.mark.parametrize("start", [[sys.executable, "-m", "gatewise"], [Path(sys.executable).parent / "gatewise"]])
def test_version(start: list[str | Path]) -> None:
    done = subprocess.run([*start, "--version"], capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (0, f"gatewise {gatewise.__version__}\n", "")


def test_no_command_imports_what_it_does_not_use(folder: Folder) -> None:
    code = (
        "import sys; from gatewise.cli import main\n"
        "try: main({argv!r})\n"
        "except SystemExit: pass\n"
        "heavy = ('torch', 'sklearn', 'pyarrow', 'onnx', 'matplotlib', 'gatewise.export')\n"
        "print(*[name for name in heavy if name in sys.modules], file=sys.stderr)"
    )
    for argv, imported in (
        (["--version"], ""),
        (["--help"], ""),
        (["train", "--help"], ""),
        (["predict", "--help"], ""),
        (["selfcheck", "--help"], ""),
        (["info", "classes.gw"], ""),
        (["bench", "classes.gw", "--rows", "0"], ""),
        (["predict", "classes.gw", "data.csv"], "pyarrow"),
        (["evaluate", "classes.gw", "data.csv", "--target", "label"], "pyarrow"),
        (["export", "classes.gw", "--to", "c", "-o", "c"], "gatewise.export"),
    ):
        done = subprocess.run([sys.executable, "-c", code.format(argv=argv)], capture_output=True, text=True)
        assert done.stderr.splitlines()[-1] == imported, argv


def test_a_reader_that_leaves(folder: Folder) -> None:
    pyarrow.csv.write_csv(pa.concat_tables([folder.table] * 200), "long.csv")
    process = subprocess.Popen(
        command("predict", "classes.gw", "long.csv", "--keep", "id"), stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    assert process.stdout
    assert process.stderr
    assert process.stdout.readline() == b"id,prediction\n"
    process.stdout.close()
    assert process.wait(60) == 141
    assert process.stderr.read() == b""
    process.stderr.close()


@pytest.mark.parametrize(
    "argv",
    [
        ["predict", "classes.gw", "data.csv", "-o", "out.csv"],
        ["evaluate", "classes.gw", "data.csv", "--target", "label"],
        ["info", "classes.gw"],
        ["bench", "classes.gw", "--rows", "10"],
    ],
    ids=lambda argv: argv[0],
)
def test_running_needs_neither_torch_nor_scikit_learn(folder: Folder, argv: list[str]) -> None:
    code = (
        "import sys; sys.modules['torch'] = sys.modules['sklearn'] = None\n"
        "from gatewise.cli import main; from gatewise.cli.commands import bench\n"
        f"bench.MIN_SECONDS = 0; sys.exit(main({argv!r}))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    accuracy = (folder.classifier.predict(folder.features) == folder.table["label"].to_numpy()).mean()
    first = {
        "predict": "out.csv: 400 rows in ",
        "evaluate": f"accuracy {accuracy:.4f} on 400 rows of data.csv",
        "info": f"model for classification: {folder.classifier.circuit.n_gates:,} gates in ",
        "bench": "",
    }[argv[0]]
    assert done.stdout.startswith(first)
    if argv[0] == "bench":
        assert re.match(r"[\d.,]+ ns per row, [\d,]+ rows/s, [\d.]+ µs for a single row\n", done.stdout)


def test_missing_pyarrow_is_named_with_the_fix(folder: Folder) -> None:
    code = (
        "import sys; sys.modules['pyarrow'] = None; from gatewise.cli import main\n"
        "print(main(['info', 'classes.gw'])); sys.exit(main(['predict', 'classes.gw', 'data.csv']))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 2
    fix = install_command("cli")
    assert done.stderr == (
        f"gatewise predict: reading and writing tables needs pyarrow, which is not installed; get it by: {fix}\n"
    )
    assert done.stdout.endswith("0\n")


@pytest.mark.parametrize("source", ["data.csv", "data.parquet"])
def test_evaluate_classes(folder: Folder, capsys: pytest.CaptureFixture[str], source: str) -> None:
    report = call_json(capsys, "evaluate", "classes.gw", source, "--target", "label")
    true, predicted = folder.table["label"].to_numpy(), folder.classifier.predict(folder.features)
    assert report["classes"] == ["old", "young"]
    for i, label in enumerate(report["classes"]):
        for j, other in enumerate(report["classes"]):
            assert report["confusion"][i][j] == ((true == label) & (predicted == other)).sum()
        assert report["recall"][i] == pytest.approx((predicted == true)[true == label].mean())
    assert report["accuracy"] == (true == predicted).mean()
    assert (report["rows"], report["rows_without_target"], report["rows_of_unknown_classes"]) == (N_ROWS, 0, 0)
    assert main(["evaluate", "classes.gw", source, "--target", "label"]) == 0
    assert f"accuracy {report['accuracy']:.4f} on 400 rows of {source}" in capsys.readouterr().out


def test_evaluate_values(folder: Folder, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading, "BLOCK_BYTES", 1000)
    report = call_json(capsys, "evaluate", "values.gw", "data.csv", "--target", "value")
    true, predicted = folder.table["value"].to_numpy(), folder.regressor.predict(folder.features)
    assert report["rmse"] == pytest.approx(np.sqrt(np.square(true - predicted).mean()))
    assert report["r2"] == pytest.approx(1 - np.square(true - predicted).sum() / np.square(true - true.mean()).sum())
    same = folder.table.set_column(folder.table.column_names.index("value"), "value", pa.array([3.0] * N_ROWS))
    pyarrow.parquet.write_table(same, "same.parquet")
    assert call_json(capsys, "evaluate", "values.gw", "same.parquet", "--target", "value")["r2"] is None
    assert main(["evaluate", "values.gw", "same.parquet", "--target", "value"]) == 0
    assert "R2 undefined" in capsys.readouterr().out


def test_evaluate_without_or_with_unknown_labels(folder: Folder, capsys: pytest.CaptureFixture[str]) -> None:
    labels = ["?", "new", *folder.table["label"].to_pylist()[2:]]
    pyarrow.csv.write_csv(folder.table.set_column(5, "label", pa.array(labels)), "labels.csv")
    report = call_json(capsys, "evaluate", "classes.gw", "labels.csv", "--target", "label")
    assert (report["rows"], report["rows_without_target"], report["rows_of_unknown_classes"]) == (N_ROWS - 1, 1, 1)
    assert report["accuracy"] * report["rows"] == pytest.approx(np.trace(report["confusion"]))
    assert main(["evaluate", "classes.gw", "labels.csv", "--target", "label"]) == 0
    printed = capsys.readouterr().out
    assert "left out: 1 row without a target" in printed
    assert "counted as wrong: 1 row of classes that the model does not know" in printed
    message = call_fails(capsys, "evaluate", "classes.gw", "data.csv", "--target", "id")
    assert "--target must name a column with classes of the model, old, young, got none of them" in message


@pytest.mark.parametrize("labels", [(False, True), (3, 5), (0.5, 1.5)])
def test_labels_of_other_types(folder: Folder, capsys: pytest.CaptureFixture[str], labels: tuple) -> None:
    encoder = Encoder.fit(folder.features)
    build(encoder, Classes(labels, tau=1.0, group_size=10)).save("typed.gw")
    predicted = Model.load("typed.gw").predict(folder.features)
    table = folder.features.append_column("y", pa.array(predicted))
    pyarrow.csv.write_csv(table, "typed.csv")
    pyarrow.parquet.write_table(table, "typed.parquet")
    for source in ("typed.csv", "typed.parquet"):
        report = call_json(capsys, "evaluate", "typed.gw", source, "--target", "y")
        assert (report["accuracy"], report["classes"]) == (1.0, list(labels))
        assert main(["predict", "typed.gw", source, "-o", "out.parquet"]) == 0
        assert pyarrow.parquet.read_table("out.parquet")["prediction"].to_pylist() == predicted.tolist()


def test_info(folder: Folder, capsys: pytest.CaptureFixture[str]) -> None:
    report = call_json(capsys, "info", "classes.gw", "--bits")
    model = folder.classifier
    assert report["questions"] == model.describe_bits()
    assert report["gates"] == model.circuit.n_gates == sum(report["gate_kinds"].values())
    assert [column["name"] for column in report["columns"]] == FEATURES
    assert sum(column["bits"] for column in report["columns"]) == report["bits"]
    assert (report["task"], report["classes"]) == ("classification", ["old", "young"])
    assert np.sum(report["gates_of_levels"]) == report["gates"]
    assert list(report["votes"]) == FEATURES
    assert max(report["votes"].values()) <= 1
    assert report["bytes"] == Path("classes.gw").stat().st_size
    assert main(["info", "values.gw", "--bits"]) == 0
    printed = capsys.readouterr().out
    assert "model for regression" in printed
    assert re.search(r"outputs that depend on them: \w+ \d+%", printed)
    assert re.search(r"  gate     0  1 .*\n  level 1 .*[░▒▓█]", printed)
    assert all(f"  {bit}\n" in printed for bit in folder.regressor.describe_bits())


def test_info_of_circuits(folder: Folder, capsys: pytest.CaptureFixture[str]) -> None:
    seeded = SeededCircuit(4, gates=[[6, 6, 1], [7, 14]], n_groups=2, seed=1)
    save("seeded.gw", seeded)
    save("circuit.gw", seeded.expand())
    for name, kind in (("seeded.gw", "seeded circuit"), ("circuit.gw", "circuit")):
        report = call_json(capsys, "info", name)
        sizes = {key: report[key] for key in ("kind", "inputs", "gates", "levels", "groups")}
        assert sizes == {"kind": kind, "inputs": 4, "gates": 5, "levels": 2, "groups": 2}
    assert main(["info", "circuit.gw"]) == 0
    assert capsys.readouterr().out.startswith("circuit: 5 gates in 2 levels, 2 outputs in 2 groups, 4 inputs")
    assert "circuit.gw must hold a model, got a Circuit" in call_fails(capsys, "predict", "circuit.gw", "data.csv")
    assert "--bits must be left out" in call_fails(capsys, "info", "circuit.gw", "--bits")


@pytest.mark.parametrize("source", [[], ["data.csv"], ["data.parquet"]])
def test_bench(
    folder: Folder, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, source: list[str]
) -> None:
    monkeypatch.setattr("gatewise.cli.commands.bench.MIN_SECONDS", 0.0)
    report = call_json(capsys, "bench", "classes.gw", *source, "--rows", "1000", "--threads", "2")
    assert report["ns_per_row"] > 0
    assert report["one_row_us"] > 0
    assert (report["rows"], report["threads"], report["layout"]) == (1000, 2, "table with strings or dates")
    assert report["cpu"] == cpu_name()
    assert report["rows_per_second"] == pytest.approx(1e9 / report["ns_per_row"], rel=1e-3)
    encoder = Encoder.fit(folder.features.select(["age", "is new"]))
    build(encoder, Classes((0, 1), tau=1.0, group_size=10)).save("numbers.gw")
    assert call_json(capsys, "bench", "numbers.gw", *source, "--rows", "500")["layout"] == "float64 matrix"


def test_drawn_rows_meet_every_bit(folder: Folder) -> None:
    from gatewise.cli.commands.bench import draw_rows

    share = folder.classifier.encoder.encode(draw_rows(folder.classifier.encoder, 2000)).unpack().mean(axis=0)
    assert ((share > 0.01) & (share < 0.99)).all()
