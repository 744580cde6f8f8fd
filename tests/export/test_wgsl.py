"""Models as WGSL: packages check themselves in Chromium, wrappers, names, sizes and errors."""

import json
from pathlib import Path

import numpy as np
import pytest
from support.browsers import run_script
from support.exported_models import HEADS, WORDS, make_encoder, make_model, make_rows, make_whole_encoder, spoil_vectors

from gatewise import Circuit
from gatewise.cli import main
from gatewise.export import save_package, to_wgsl, wgsl
from gatewise.export.wgsl.tables import make_tables, order_number
from gatewise.heads import Classes

CHECK = """
  const found = {};
  for (const name of NAMES) {
    const {check} = await import(`./${name}/check.mjs`);
    try { found[name] = await check(); } catch (error) { found[name] = `${error.code}: ${error.message}`; }
  }
  const frame = document.createElement("iframe");
  frame.src = `${NAMES[0]}/check.html`;
  document.body.append(frame);
  await new Promise((resolve) => frame.onload = resolve);
  const said = () => frame.contentDocument.querySelector("#said").textContent;
  while (said() === "Checking") await new Promise((resolve) => setTimeout(resolve, 20));
  return JSON.stringify({...found, page: said()});
"""
WRONG = {"counts": 1, "scores": 2, "proba": 2, "classes": 2, "bits": 3}


@pytest.mark.filterwarnings("ignore:columns must be compared")
def test_packages_check_themselves(tmp_path: Path) -> None:
    encoder, whole = make_encoder(), make_whole_encoder()
    classes = to_wgsl(make_model(encoder, HEADS["classes"]))
    packages = {"classes": classes, "float32": to_wgsl(make_model(encoder, HEADS["classes"]), dtype="float32")}
    packages |= {name.replace(", ", "_"): to_wgsl(make_model(encoder, head)) for name, head in HEADS.items()}
    for dtype in ("int32", "int16", "uint8"):
        packages[dtype] = to_wgsl(make_model(whole, HEADS["classes"]), dtype=dtype)
    spoiled = {f"wrong_{matrix}": spoil_vectors(classes, matrix) for matrix in WRONG}
    for name, package in (packages | spoiled).items():
        save_package(package, tmp_path / name)
    names = json.dumps([*packages, *spoiled])
    found = json.loads(run_script(tmp_path, CHECK.replace("NAMES", names)))
    error = "answers must be those of the reference evaluator, got others"
    expected = dict.fromkeys(packages, 70) | {f"wrong_{matrix}": f"{code}: {error}" for matrix, code in WRONG.items()}
    assert found == expected | {"page": "PASS: 70 rows"}


def test_records_many_rows_and_errors(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    model = make_model(make_encoder(), HEADS["classes"])
    assert isinstance(model.head, Classes)
    monkeypatch.setattr(wgsl, "MOST_WORDS", 3)  # so that calls take several turns
    save_package(to_wgsl(model, name="m"), tmp_path / "m")
    rows = [row for row in make_rows(700) if isinstance(row[3], str)]
    numbers = model.encoder.to_numbers(rows)
    numbers.tofile(tmp_path / "rows.bin")
    script = """
      const { load, labels, toRow, columns } = await import("./m/m.mjs");
      const adapter = await navigator.gpu.requestAdapter();
      const model = await load(await adapter.requestDevice());
      const rows = new Float64Array(await (await fetch("rows.bin")).arrayBuffer());
      const record = Object.fromEntries(columns.map(({ name }) => [name, undefined]));
      record[columns[3].name] = columns[3].values[3];
      const explain = async (call) => { try { await call(); } catch (error) { return error.message; } };
      const [classes, scores, proba, one, missing] = await Promise.all([
        model.predictRows(rows), model.scoresRows(rows), model.probaRows(rows),
        model.proba(rows.slice(0, columns.length)), model.predict(toRow(record)),
      ]);
      return JSON.stringify({
        labels: Array.from(classes, (k) => labels[k]), scores: [...scores], proba: [...proba], one: [...one], missing,
        codes: columns[3].values.map((value) => toRow({ [columns[3].name]: value })[3]),
        none: (await model.countsRows(new Float64Array(0), 0)).length,
        rows: await explain(() => model.predictRows(rows, 3)),
        words: await explain(() => model.countsWords([1], 3)),
        unknown: await explain(() => toRow({ ...record, ages: 3, "": 4 })),
      });
    """
    found = json.loads(run_script(tmp_path, script))
    assert found["labels"] == model.predict(rows).tolist()
    np.testing.assert_array_equal(np.reshape(found["scores"], (len(rows), -1)), model.scores(rows))
    np.testing.assert_allclose(np.reshape(found["proba"], (len(rows), -1)), model.predict_proba(rows), rtol=1e-12)
    assert found["one"] == found["proba"][: len(model.head.labels)]
    assert found["missing"] == model.predict([[np.nan, np.nan, np.nan, WORDS[3], np.nan, None, np.nan]])[0]
    assert found["codes"] == list(range(len(WORDS)))
    assert found["none"] == 0
    assert found["rows"] == f"rows must be a Float64Array of 21 numbers for 3 rows, got Float64Array of {numbers.size}"
    assert found["words"] == f"words must be a Uint32Array of {model.encoder.n_bits} numbers for 3 rows, got Array of 1"
    assert found["unknown"] == 'keys must be names of columns, got ["ages",""]'


@pytest.mark.parametrize("dtype", ["float64", "float32", "int32", "int16", "uint8"])
def test_numbers_are_ordered_as_integers(dtype: str) -> None:
    limits = np.iinfo(dtype) if dtype[0] != "f" else np.finfo(dtype)
    numbers = [limits.min, 0, 1, 3, limits.max]
    if dtype[0] == "f":
        tiny = float(np.finfo(dtype).smallest_subnormal)
        numbers += [-np.inf, np.inf, -tiny, tiny, -0.1, 0.1]
    ordered = [order_number(number, dtype) for number in sorted(set(map(float, numbers)))]
    assert ordered == sorted(set(ordered))
    assert all(0 <= word < 2**32 for pair in ordered for word in pair)
    if dtype[0] == "f":
        assert order_number(np.nan, dtype) not in ordered


def test_wide_levels_take_several_launches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gatewise.export.wgsl.tables.MOST_THINGS", 128)
    source = wgsl.make_source(make_model(make_encoder(), HEADS["classes"]), style="table", name="m", dtype=None)
    gates = [(first, n) for shader, first, n in make_tables(source).launches if shader == "evaluate_gates"]
    assert len(gates) > len(source.netlist.cut_levels()) - 1
    assert [first for first, _ in gates] == np.cumsum([0, *(n for _, n in gates)])[:-1].tolist()
    assert sum(n for _, n in gates) == source.netlist.n_gates
    assert max(n for _, n in gates) == 128


def test_circuits_that_fit_no_buffer_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    circuit = Circuit(2, gate=[6], a=[2], b=[3], outputs=[4], group_ptr=[0, 1])
    monkeypatch.setattr(wgsl, "MOST_BYTES", 100)
    with pytest.raises(ValueError, match="model must have fewer groups for buffers of 100 bytes, got 128 bytes per 32"):
        to_wgsl(circuit)


def test_the_same_model_gives_the_same_bytes() -> None:
    first, second = (to_wgsl(make_model(make_encoder(), HEADS["logit"])) for _ in range(2))
    assert first == second


def test_it_says_what_is_not_tested() -> None:
    readme = to_wgsl(make_model(make_encoder(), HEADS["classes"]))["README.md"].decode()
    assert "They do not run it on a GPU" in readme


def test_the_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.chdir(tmp_path)
    model = make_model(make_encoder(), HEADS["classes"])
    model.save("m.gw")
    assert main(["export", "m.gw", "--to", "wgsl", "-o", "out", "--name", "m", "--dtype", "float32"]) == 0
    assert "out/m.wgsl: " in capsys.readouterr().out
    assert {path.name: path.read_bytes() for path in Path("out").iterdir()} == to_wgsl(model, name="m", dtype="float32")
