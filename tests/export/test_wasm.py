"""Models as WebAssembly: packages check themselves in node, wrappers, names, sizes and errors."""

import json
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.exported_models import HEADS, WORDS, make_encoder, make_model, make_rows, make_whole_encoder, spoil_vectors
from support.tools import require_module, require_tool

from gatewise import Circuit
from gatewise.cli import main
from gatewise.export import save_package, to_wasm
from gatewise.heads import Classes

require_module("ziglang", "pip install 'gatewise[export]'")


def run_node(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """A program of a folder."""
    node = require_tool("node", "apt-get install nodejs")
    return subprocess.run([node, *arguments], cwd=folder, capture_output=True, text=True, timeout=300)


@pytest.mark.parametrize(
    ("head", "dtype", "style"),
    [
        ("classes", "float64", "unrolled"),
        ("classes", "float32", "table"),
        ("affine", "float64", "table"),
        ("affine, two outputs", "float32", "unrolled"),
        ("logit", "float64", "unrolled"),
    ],
)
def test_packages_check_themselves(head: str, dtype: str, style: Any, tmp_path: Path) -> None:
    save_package(to_wasm(make_model(make_encoder(), HEADS[head]), style=style, dtype=dtype), tmp_path / "out")
    done = run_node(tmp_path / "out", "check.mjs")
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("dtype", ["int32", "int16", "uint8"])
@pytest.mark.filterwarnings("ignore:columns must be compared")
def test_rows_of_integers(dtype: str, tmp_path: Path) -> None:
    encoder = make_whole_encoder()
    save_package(to_wasm(make_model(encoder, HEADS["classes"]), style="table", dtype=dtype), tmp_path / "out")
    assert run_node(tmp_path / "out", "check.mjs").returncode == 0


@pytest.mark.parametrize(("matrix", "code"), [("counts", 1), ("scores", 2), ("proba", 2), ("classes", 2), ("bits", 3)])
def test_the_check_finds_wrong_answers(matrix: str, code: int, tmp_path: Path) -> None:
    package = to_wasm(make_model(make_encoder(), HEADS["classes"]), style="table")
    save_package(spoil_vectors(package, matrix), tmp_path / "out")
    assert run_node(tmp_path / "out", "check.mjs").returncode == code


def test_records_and_many_rows(tmp_path: Path) -> None:
    model = make_model(make_encoder(), HEADS["classes"])
    assert isinstance(model.head, Classes)
    save_package(to_wasm(model, name="m", style="table"), tmp_path / "m")
    rows = [row for row in make_rows(1500) if isinstance(row[3], str)]
    numbers = model.encoder.to_numbers(rows)
    numbers.tofile(tmp_path / "rows.bin")
    (tmp_path / "main.mjs").write_text("""
        import { readFileSync } from "node:fs";
        import { load, labels, toRow, columns } from "./m/m.mjs";
        const model = await load();
        const bytes = readFileSync("rows.bin");
        const rows = new Float64Array(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length));
        const record = Object.fromEntries(columns.map(({ name }) => [name, undefined]));
        record[columns[3].name] = columns[3].values[3];
        const explain = (call) => { try { call(); } catch (error) { return error.message; } };
        console.log(JSON.stringify({
          labels: Array.from(model.predictRows(rows), (k) => labels[k]),
          scores: Array.from(model.scoresRows(rows)),
          proba: Array.from(model.probaRows(rows)),
          one: Array.from(model.proba(rows.slice(0, columns.length))),
          codes: columns[3].values.map((value) => toRow({ [columns[3].name]: value })[3]),
          missing: model.predict(toRow(record)),
          message: explain(() => model.predictRows(rows, 3)),
          unknown: explain(() => toRow({ ...record, ages: 3, "": 4 })),
        }));
    """)
    done = run_node(tmp_path, "main.mjs")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["labels"] == model.predict(rows).tolist()
    np.testing.assert_array_equal(np.reshape(found["scores"], (len(rows), -1)), model.scores(rows))
    np.testing.assert_allclose(np.reshape(found["proba"], (len(rows), -1)), model.predict_proba(rows), rtol=1e-12)
    assert found["one"] == found["proba"][: len(model.head.labels)]
    assert found["unknown"] == 'keys must be names of columns, got ["ages",""]'
    assert found["codes"] == list(range(len(WORDS)))
    missing = [[np.nan, np.nan, np.nan, WORDS[3], np.nan, None, np.nan]]
    assert found["missing"] == model.predict(missing)[0]
    assert (
        found["message"] == f"rows must be a Float64Array of 21 numbers for 3 rows, got Float64Array of {numbers.size}"
    )


def test_the_same_model_gives_the_same_bytes() -> None:
    first, second = (to_wasm(make_model(make_encoder(), HEADS["logit"])) for _ in range(2))
    assert first == second


def test_modules_import_nothing_and_export_what_the_readme_says() -> None:
    wasmtime = require_module("wasmtime", "pip install 'gatewise[test]'")
    package = to_wasm(make_model(make_encoder(), HEADS["classes"]), name="m", style="table")
    module = wasmtime.Module(wasmtime.Engine(), package["m.wasm"])
    assert module.imports == []
    names = {export.name for export in module.exports}
    expected = {"counts_rows", "counts_blocks", "scores_rows", "proba_rows", "predict_rows", "predict_blocks"}
    assert names == {"memory", "__heap_base", *(f"m_{name}" for name in expected)}
    readme = package["README.md"].decode()
    assert all(f"`{name}`" in readme for name in names)
    assert f"{len(package['m.wasm'])} bytes" in readme


def test_the_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.chdir(tmp_path)
    model = make_model(make_encoder(), HEADS["classes"])
    model.save("m.gw")
    assert main(["export", "m.gw", "--to", "wasm", "-o", "out", "--name", "m", "--style", "table"]) == 0
    assert "out/m.wasm: " in capsys.readouterr().out
    assert {path.name: path.read_bytes() for path in Path("out").iterdir()} == to_wasm(model, name="m", style="table")


def test_circuits_have_counts_only(tmp_path: Path) -> None:
    save_package(to_wasm(Circuit(2, gate=[6], a=[2], b=[3], outputs=[4], group_ptr=[0, 1])), tmp_path / "out")
    assert "export type Model = Circuit;" in (tmp_path / "out" / "model.d.mts").read_text()
    code = "import { load } from './model.mjs'; console.log(Object.keys(await load()).join());"
    done = run_node(tmp_path / "out", "--input-type=module", "-e", code)
    assert done.stdout == "countsRows,counts,countsBlocks\n"
