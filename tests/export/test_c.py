"""Models as C: raw rows to answers in all dtypes, heads and styles; libraries; names, numbers and errors."""

import ctypes
import re
import subprocess
from itertools import cycle
from pathlib import Path
from typing import Any

import hypothesis
import numpy as np
import pytest
from hypothesis import strategies as st
from support.exported_models import HEADS, WORDS, make_encoder, make_model, make_rows, make_whole_encoder, spoil_vectors
from support.programs.c import compile_program, find_machine
from support.tools import require_tool

from gatewise import Circuit, Encoder, save
from gatewise.cli import main
from gatewise.encode import Numeric
from gatewise.export import load_library, save_package, to_c, to_lib
from gatewise.export.comparisons import ask, encode_numbers
from gatewise.export.package import format_number
from gatewise.export.pins import escape_names
from gatewise.heads import Classes
from gatewise.tools.compilers import PREFIX, SUFFIX, build_library

STYLES = ("unrolled", "table")


def run_check(package: dict[str, bytes], folder: Path, machine: str, *flags: str) -> int:
    """Exit code of the package's own check."""
    for file, data in package.items():
        (folder / file).write_bytes(data)
    sources = [file for file in package if file.endswith(".c")]
    command = compile_program(find_machine(machine), folder, sources, "-O2", *flags)
    return subprocess.run(command, cwd=folder, timeout=300).returncode


@pytest.mark.parametrize("style", STYLES)
@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("head", HEADS)
def test_packages_check_themselves(head: str, dtype: str, style: str, tmp_path: Path) -> None:
    package = to_c(make_model(make_encoder(), HEADS[head]), style=style, dtype=dtype)
    assert run_check(package, tmp_path, "sanitized gcc") == 0


@pytest.mark.parametrize("style", STYLES)
@pytest.mark.parametrize("dtype", ["int32", "uint8"])
@pytest.mark.filterwarnings("ignore:columns must be compared")
def test_rows_of_integers(dtype: str, style: str, tmp_path: Path) -> None:
    package = to_c(make_model(make_whole_encoder(), HEADS["classes"]), style=style, dtype=dtype)
    assert run_check(package, tmp_path, "sanitized gcc") == 0


def test_columns_out_of_the_range_of_a_dtype_are_named() -> None:
    model = make_model(make_whole_encoder(), HEADS["classes"])
    with pytest.warns(
        UserWarning, match="numbers that int16 can hold, got others for 'x'.*choose a wider dtype"
    ) as found:
        to_c(model, dtype="int16")
    assert [Path(warning.filename).name for warning in found] == ["test_c.py"]
    to_c(model, dtype="int32")  # a threshold of 1e9 is in range, and a missing value is not a number


def test_readmes_speak_of_nan_where_numbers_have_it() -> None:
    model = make_model(make_whole_encoder(), HEADS["classes"])
    whole, real = (to_c(model, dtype=dtype)["README.md"].decode() for dtype in ("int32", "float32"))
    assert "NaN" not in whole
    assert "fast-math" not in whole
    assert "Do not compile with `-ffast-math`: missing values are NaN." in real
    assert "6 if it is missing" in whole
    assert "NaN if it is missing" in real


@pytest.mark.parametrize("machine", ["clang", "zig", "aarch64", "cortex-m3"])
def test_other_compilers_and_machines(machine: str, tmp_path: Path) -> None:
    for i, (head, style) in enumerate(zip(HEADS, cycle(STYLES), strict=False)):
        folder = tmp_path / str(i)
        folder.mkdir()
        package = to_c(make_model(make_encoder(), HEADS[head]), style=style)
        assert run_check(package, folder, machine, f"-DMODEL_LANES={8 if style == 'table' else 64}") == 0


@pytest.mark.parametrize(
    ("matrix", "code"), [("counts", 1), ("scores", 2), ("proba", 2), ("classes", 2), ("bits", 3), ("rows", 1)]
)
def test_the_check_finds_wrong_answers(matrix: str, code: int, tmp_path: Path) -> None:
    package = to_c(make_model(make_encoder(), HEADS["classes"]), style="table")
    assert run_check(spoil_vectors(package, matrix), tmp_path, "gcc") == code


@pytest.mark.parametrize("text", [b"", b"rows 70 7\n1.0 2.0\n", b"rows 1 3\n1 2 3\n"])
def test_the_check_finds_vectors_that_it_cannot_read(text: bytes, tmp_path: Path) -> None:
    package = to_c(make_model(make_encoder(), HEADS["classes"]), style="table")
    assert run_check(package | {"vectors.txt": text}, tmp_path, "gcc") == 4


@pytest.mark.parametrize("style", STYLES)
@pytest.mark.parametrize("head", HEADS)
def test_a_library_answers_like_its_model(head: str, style: str, tmp_path: Path) -> None:
    require_tool("cc", "apt-get install gcc")
    model = make_model(make_encoder(), HEADS[head])
    save_package(to_lib(model, style=style, name="m"), tmp_path / "lib")
    library, rows = load_library(tmp_path / "lib"), make_rows()
    np.testing.assert_array_equal(library.predict(rows), model.predict(rows), strict=True)
    np.testing.assert_array_equal(library.scores(rows), model.scores(rows), strict=True)
    assert library.counts(np.empty((0, 7), object)).shape == (0, model.circuit.n_groups)


@pytest.mark.parametrize("style", STYLES)
@pytest.mark.parametrize("head", HEADS)
def test_functions_of_one_row_and_of_many(head: str, style: str, tmp_path: Path) -> None:
    require_tool("cc", "apt-get install gcc")
    model, rows = make_model(make_encoder(), HEADS[head]), make_rows()
    save_package(to_lib(model, style=style, name="m"), tmp_path / "lib")
    functions = ctypes.CDLL(str(tmp_path / "lib" / f"{PREFIX}m{SUFFIX}"))
    numbers, answers = model.encoder.to_numbers(rows), model.predict(rows)

    def call_both(name: str, kind: type = np.float64) -> np.ndarray:
        single, many = np.empty((2, len(rows), model.circuit.n_groups), kind)
        getattr(functions, f"m_{name}_rows")(numbers.ctypes, len(rows), many.ctypes)
        for row, result in zip(numbers, single, strict=True):
            getattr(functions, f"m_{name}")(row.ctypes, result.ctypes)
        np.testing.assert_array_equal(single, many)
        return many

    np.testing.assert_array_equal(call_both("scores"), model.scores(rows))
    if isinstance(model.head, Classes):
        np.testing.assert_allclose(call_both("proba"), model.predict_proba(rows), rtol=1e-12)
        functions.m_label.restype = ctypes.c_char_p
        classes = np.empty(len(rows), np.int32)
        functions.m_predict_rows(numbers.ctypes, len(rows), classes.ctypes)
        assert [functions.m_predict(row.ctypes) for row in numbers] == classes.tolist()
        assert [functions.m_label(index).decode() for index in classes.tolist()] == answers.tolist()
    elif model.head.n_groups > 1:
        np.testing.assert_array_equal(call_both("predict"), answers)
    else:
        functions.m_predict.restype = ctypes.c_double
        assert [functions.m_predict(row.ctypes) for row in numbers] == answers.tolist()


def test_codes_of_strings(tmp_path: Path) -> None:
    require_tool("cc", "apt-get install gcc")
    save_package(to_lib(make_model(make_encoder(), HEADS["classes"]), name="m"), tmp_path / "lib")
    functions = ctypes.CDLL(str(tmp_path / "lib" / f"{PREFIX}m{SUFFIX}"))
    functions.m_code.argtypes = [ctypes.c_int32, ctypes.c_char_p]
    for i, word in enumerate(WORDS):
        assert functions.m_code(3, word.encode()) == i
    assert [functions.m_code(3, text) for text in (b"priv", b"private2", b"")] == [-1] * 3
    assert [functions.m_code(column, b"one") for column in (5, 0, -1, 7)] == [1, -1, -1, -1]


@hypothesis.given(data=st.data())
def test_constants_of_every_dtype(data: st.DataObject) -> None:
    dtype = np.dtype(data.draw(st.sampled_from(["float32", "int32", "int16", "uint8"])))
    number = st.floats(allow_nan=False, width=32) | st.floats(-300, 300) | st.integers(-40_000, 40_000).map(float)
    thresholds = np.unique(data.draw(st.lists(number.filter(lambda x: x < np.inf), max_size=8))) + 0.0
    encoder = Encoder((Numeric("x0", np.unique(thresholds)),))
    try:
        (asked,) = ask(encoder, dtype.name)
    except ValueError:
        assert dtype.kind != "f"
        assert thresholds[0] < np.iinfo(dtype).min
        return
    near = np.array([*thresholds, *np.nextafter(thresholds, np.inf), *thresholds + 1, 0, 1, 255])
    if dtype.kind != "f":
        near = np.clip(np.concatenate([np.floor(near), np.ceil(near)]), np.iinfo(dtype).min, np.iinfo(dtype).max)
    with np.errstate(over="ignore"):
        values = near.astype(dtype)[:, np.newaxis]
        constants = np.array(asked.constants, dtype)
    expected = encoder.encode(values).unpack()
    np.testing.assert_array_equal(values > constants, expected)
    np.testing.assert_array_equal(encode_numbers(encoder, values), expected)


def test_the_same_model_gives_the_same_bytes() -> None:
    for style in STYLES:
        first, second = (to_c(make_model(make_encoder(), HEADS["logit"]), style=style) for _ in range(2))
        assert first == second


def test_code_needs_stdint_only() -> None:
    for style in STYLES:
        package = to_c(make_model(make_encoder(), HEADS["classes"]), style=style, name="m")
        included = re.findall("#include (.*)", package["m.c"].decode() + package["m.h"].decode())
        assert sorted(included) == ['"m.h"', "<stdint.h>"]


def test_names_are_escaped() -> None:
    package = to_c(make_model(make_encoder(), HEADS["classes"]), name="m")
    header, readme = package["m.h"].decode(), package["README.md"].decode()
    assert "model_year" in readme
    names = re.findall("M_COLUMN_(\\w*)", header)
    assert names == ["int", "while_1", "WHILE_2", "_3", "a_b", "mixed", "model_year"]
    assert escape_names(["x", "x_1", "x", "", "_"]) == ["x_0", "x_1_1", "x_2", "_3", "_4"]


@hypothesis.given(st.floats(allow_nan=False, allow_infinity=False))
def test_floats_are_exact(value: float) -> None:
    text = format_number(value, "float64")
    assert (float.fromhex(text) if "x" in text else float(text)) == value


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"name": "Model"}, "name must be a letter"),
        ({"name": "a-b"}, "all lower case, and no keyword, got 'a-b'"),
        ({"name": "check"}, "name must be none of check, cpu, math, stdint, which other files have, got 'check'"),
        ({"style": "fast"}, "style must be unrolled or table, got 'fast'"),
        ({"dtype": "int64"}, "dtype must be one of float64, float32, int32, int16, uint8, got 'int64'"),
        ({"dtype": "uint8"}, r"column '\*/ int' must ask for values of uint8"),
    ],
)
def test_bad_options_are_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        to_c(make_model(make_encoder(), HEADS["classes"]), **options)


def test_compilation_that_fails_says_why() -> None:
    compiler = [require_tool("gcc", "apt-get install gcc")]
    with pytest.raises(OSError, match=r"must succeed, got exit code 1: (?s:.*)'undeclared'|undeclared"):
        build_library({"x.c": b"int f(void) { return undeclared; }"}, ["x.c"], compiler)


def test_libraries_are_of_models_and_complete(tmp_path: Path) -> None:
    with pytest.raises(TypeError, match="model must be a Model to become a library, got Circuit"):
        to_lib(Circuit(1, [], [], [], [2], [0, 1]))  # type: ignore[arg-type]
    with pytest.raises(ValueError, match=r"must hold one \.gw file, as to_lib makes, got 0"):
        load_library(tmp_path)
    make_model(make_encoder(), HEADS["affine"]).save(tmp_path / "m.gw")
    with pytest.raises(FileNotFoundError, match="must exist, as to_lib makes it"):
        load_library(tmp_path)


def test_the_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.chdir(tmp_path)
    model = make_model(make_encoder(), HEADS["classes"])
    model.save("m.gw")
    assert main(["export", "m.gw", "--to", "c", "-o", "out", "--name", "m", "--style", "table"]) == 0
    assert "out/m.c: " in capsys.readouterr().out
    expected = to_c(model, name="m", style="table")
    assert {path.name: path.read_bytes() for path in Path("out").iterdir()} == expected
    assert main(["export", "m.gw", "--to", "c", "-o", "out", "--name", "m", "--dtype", "float32"]) == 0
    assert b"float m_value" in Path("out/m.h").read_bytes()
    Path("out/mine.txt").touch()
    assert main(["export", "m.gw", "--to", "c", "-o", "out", "--name", "m"]) == 2
    assert "folder out must be empty" in capsys.readouterr().err
    assert main(["export", "m.gw", "--to", "lib", "-o", "lib", "--dtype", "float32"]) == 2
    assert "--dtype must be left out for --to lib, got 'float32'" in capsys.readouterr().err
    assert main(["export", "m.gw", "--to", "c", "-o", "no/such"]) == 2
    save("xor.gw", Circuit(2, gate=[6], a=[2], b=[3], outputs=[4], group_ptr=[0, 1]))
    assert main(["export", "xor.gw", "--to", "c", "-o", "xor"]) == 0
    assert main(["export", "xor.gw", "--to", "lib", "-o", "lib"]) == 2
    assert "xor.gw must hold a model" in capsys.readouterr().err
    assert not list(tmp_path.glob(".gatewise*"))
