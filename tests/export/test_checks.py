"""Packages that are checked by a program in Python: AIGER, BLIF and ONNX; and their commands."""

import runpy
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from support.corpus import circuits
from support.exported_models import HEADS, make_encoder, make_model, make_whole_encoder
from support.tools import require_module

from gatewise import Circuit, Encoder, Model, export
from gatewise.cli import main

require_module("onnx", "pip install 'gatewise[export]'")
require_module("onnxruntime", "pip install onnxruntime")

CORPUS = circuits()
FORMATS: dict[str, tuple[Callable[..., export.Package], dict[str, Any]]] = {
    "aig": (export.to_aiger, {}),
    "aag": (export.to_aiger, {"ascii": True}),
    "blif": (export.to_blif, {}),
    "onnx": (export.to_onnx, {}),
}


def run_check(package: export.Package, folder: Path) -> str:
    """What check.py says when it ends with an error, or nothing."""
    export.save_package(package, folder)
    try:
        runpy.run_path(str(folder / "check.py"), run_name="__main__")
    except SystemExit as error:
        return str(error.code or "")
    raise AssertionError("check.py must end with an exit code")


@pytest.mark.parametrize("suffix", FORMATS)
@pytest.mark.parametrize("name", CORPUS)
def test_circuits_pass_their_check(name: str, suffix: str, tmp_path: Path) -> None:
    to, options = FORMATS[suffix]
    assert run_check(to(CORPUS[name], **options), tmp_path / "out") == ""


@pytest.mark.parametrize("suffix", ["aig", "aag", "blif"])
@pytest.mark.parametrize("form", ["bits", "counts", "class"])
@pytest.mark.parametrize("head", HEADS.values(), ids=HEADS)
def test_models_with_their_heads_as_gates_pass(head: Any, form: str, suffix: str, tmp_path: Path) -> None:
    to, options = FORMATS[suffix]
    package = to(make_model(make_encoder(), head), head=form, **options)
    assert package == to(make_model(make_encoder(), head), head=form, **options)
    assert run_check(package, tmp_path / "out") == ""


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("head", HEADS.values(), ids=HEADS)
def test_onnx_of_models_passes(head: Any, dtype: str, tmp_path: Path) -> None:
    columns = make_whole_encoder().columns
    for i, chosen in enumerate((columns, columns[::2])):  # with strings, and without
        encoder = Encoder(chosen, named=True)
        package = export.to_onnx(make_model(encoder, head), dtype=dtype, name="m")
        assert run_check(package, tmp_path / str(i)) == ""


@pytest.mark.parametrize("suffix", FORMATS)
def test_wrong_answers_are_found(suffix: str, tmp_path: Path) -> None:
    to, options = FORMATS[suffix]
    conjunction, disjunction = (to(_gate(gate), **options) for gate in (1, 7))
    mixed = conjunction | {f"model.{suffix}": disjunction[f"model.{suffix}"]}
    assert run_check(mixed, tmp_path / "out").startswith("FAIL: ")


def test_readmes_state_pins_and_answers() -> None:
    model = make_model(make_encoder(), HEADS["classes"])
    page = export.to_blif(model, head="class", name="net")["README.md"].decode()
    for text in (
        "`net.blif` is a model as BLIF",
        "| `input 0` | */ int > -inf |",
        "`class_0_I`",
        '0 = `"no"`, 1 = `"ja?"`',
    ):
        assert text in page
    page = export.to_onnx(make_model(make_whole_encoder(), HEADS["affine"]))["README.md"].decode()
    for text in ('| `"word"` | string | (n_rows, 1) |', '| `"value"` | double | (n_rows) |', "share = count / 30"):
        assert text in page


@pytest.mark.parametrize(
    ("target", "flags", "options"),
    [
        ("aiger", ["--head", "class", "--ascii"], {"head": "class", "ascii": True}),
        ("blif", ["--head", "counts"], {"head": "counts"}),
        ("onnx", ["--dtype", "float32"], {"dtype": "float32"}),
        (
            "verilog",
            ["--fixed-point", "40.8", "--pipeline", "3", "--lut-inputs", "4", "--head", "counts"],
            {"fixed_point": (40, 8), "pipeline": 3, "lut_inputs": 4, "head": "counts"},
        ),
    ],
)
def test_command_line(target: str, flags: list[str], options: dict[str, Any], tmp_path: Path) -> None:
    model = make_model(make_whole_encoder(), HEADS["classes"])
    model.save(tmp_path / "m.gw")
    out = tmp_path / "out"
    assert main(["export", str(tmp_path / "m.gw"), "--to", target, "--name", "m", "-o", str(out), *flags]) == 0
    written = {path.name: path.read_bytes() for path in out.iterdir()}
    assert written == getattr(export, f"to_{target}")(Model.load(tmp_path / "m.gw"), name="m", **options)


@pytest.mark.filterwarnings("default")
@pytest.mark.parametrize(
    ("flags", "holder"),
    [
        (["--to", "c", "--dtype", "uint8"], "uint8"),
        (["--to", "verilog", "--fixed-point", "8.4"], "8 bits, 4 of them below the point,"),
    ],
)
def test_columns_out_of_range_are_named(
    flags: list[str], holder: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    make_model(make_whole_encoder(), HEADS["classes"]).save(tmp_path / "m.gw")
    assert main(["export", str(tmp_path / "m.gw"), "-o", str(tmp_path / "out"), *flags]) == 0
    message = f"gatewise export: columns must be compared with numbers that {holder} can hold, got others for 'x'"
    assert capsys.readouterr().err.startswith(message)


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        (["--to", "blif", "--ascii"], "--ascii must be left out for --to blif, got True"),
        (["--to", "c", "--fixed-point", "8.0"], "--fixed-point must be left out for --to c"),
        (["--to", "verilog", "--fixed-point", "8"], "must be two numbers with a point between, as 16.4, got '8'"),
        (["--to", "verilog", "--pipeline", "0"], "pipeline must be at least 1, got 0"),
    ],
)
def test_bad_flags_are_refused(
    flags: list[str], message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    make_model(make_whole_encoder(), HEADS["classes"]).save(tmp_path / "m.gw")
    assert run_command(["export", str(tmp_path / "m.gw"), "-o", str(tmp_path / "out"), *flags]) == 2
    assert message in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


def run_command(arguments: list[str]) -> Any:
    """The exit code, also where the parser of arguments ends the program."""
    try:
        return main(arguments)
    except SystemExit as error:
        return error.code


def _gate(gate: int) -> Circuit:
    return Circuit(2, gate=[gate], a=[2], b=[3], outputs=[4], group_ptr=[0, 1])
