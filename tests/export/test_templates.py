"""Templates: they are files of their languages as they stand, and part of the package."""

import subprocess
import sys
from collections.abc import Callable, Iterator
from importlib import resources
from pathlib import Path

import pytest
from support.exported_models import HEADS, make_encoder, make_model
from support.programs.c import WARNINGS
from support.programs.cuda import WARNINGS as CPP_WARNINGS
from support.tools import require_tool

from gatewise import Model
from gatewise.export import package, to_c, to_cuda, to_verilog, to_wasm, to_wgsl

FOLDER = resources.files("gatewise.export") / "templates"
TARGETS = {"c", "cuda", "logic", "onnx", "verilog", "wasm", "wgsl"}


@pytest.fixture
def split(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder in which exports leave their templates as they are, and what these include in files of its own."""

    def keep(path: str, name: str, parts: dict[str, str] | None = None) -> str:
        for file, text in (parts or {}).items():
            if text:  # what a template stands for has its own file
                (tmp_path / file).write_text(text)
        (tmp_path / Path(path).name).write_text(package.read_template(path))
        return ""

    for module in ("export.source", "export.wasm", "export.wgsl", "export.verilog.bench"):
        monkeypatch.setattr(sys.modules[f"gatewise.{module}"], "fill_template", keep)
    monkeypatch.setattr("gatewise.export.wasm.compile_files", lambda *_: b"")
    return tmp_path


def run(folder: Path, *command: str) -> None:
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("style", ["unrolled", "table"])
@pytest.mark.parametrize("head", HEADS)
def test_c(head: str, style: str, split: Path) -> None:
    to_c(make_model(make_encoder(), HEADS[head]), style=style)
    compiler = require_tool("gcc", "apt-get install gcc")
    run(split, compiler, *WARNINGS, "-fsyntax-only", "model.c", "check.c")


@pytest.mark.parametrize("head", HEADS)
def test_cuda(head: str, split: Path) -> None:
    package = to_cuda(make_model(make_encoder(), HEADS[head]))
    (split / "cpu.h").write_bytes(package["cpu.h"])
    compiler = require_tool("g++", "apt-get install g++")
    run(split, compiler, *CPP_WARNINGS, "-fsyntax-only", "-x", "c++", "model.cu", "check.c")


@pytest.mark.parametrize("to", [to_wasm, to_wgsl])
def test_javascript(to: Callable[[Model], package.Package], split: Path) -> None:
    to(make_model(make_encoder(), HEADS["classes"]))
    node = require_tool("node", "apt-get install nodejs")
    for file in ("model.mjs", "check.mjs", "rows.mjs"):
        run(split, node, "--check", file)
    sizes = (split / "sizes.mjs").read_text()
    (split / "sizes.mjs").write_text(sizes.replace("const ", "export const "))
    code = "import { columns, toRow } from './model.mjs'; if (toRow({}).length !== columns.length) process.exit(1);"
    run(split, node, "--input-type=module", "-e", code)


def test_verilog(split: Path) -> None:
    package = to_verilog(make_model(make_encoder(), HEADS["classes"]))
    (split / "model.v").write_bytes(package["model.v"])
    (split / "vectors.txt").write_bytes(package["vectors.txt"])
    run(split, require_tool("iverilog", "apt-get install iverilog"), "-Wall", "-o", "tb", "testbench.v", "model.v")
    done = subprocess.run([require_tool("vvp", ""), "-n", "tb"], cwd=split, capture_output=True, text=True)
    assert done.stdout == "PASS: 256 rows\n"


def test_all_targets_have_templates_in_the_package() -> None:
    assert {folder.name for folder in FOLDER.iterdir() if folder.is_dir() and folder.name[0] != "_"} == TARGETS
    for target in TARGETS:
        assert (FOLDER / target / "README.md").read_text().startswith("# $name\n")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('#include "model.h"\n#include <stdint.h>', '#include "m.h"\n#include <stdint.h>'),
        ("model_word MODEL_LANES remodel_x xmodel_", "m_word M_LANES remodel_x xmodel_"),
        ('new URL("./model.wasm"); model.counts', 'new URL("./m.wasm"); model.counts'),
    ],
)
def test_renaming(text: str, expected: str) -> None:
    assert package.rename(text, "m") == expected
