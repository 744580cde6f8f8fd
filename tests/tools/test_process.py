"""Finding programs of others, and what is said when there is none."""

import sys
from pathlib import Path

import pytest
from support.corpus import adder

from gatewise import simplify
from gatewise.tools.abc import ABC
from gatewise.tools.compilers import COMPILER, WASM_COMPILER
from gatewise.tools.process import Tool, ToolError


@pytest.fixture
def bare(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """An environment without programs but those that a test makes in this folder, and without Python packages."""
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr("importlib.util.find_spec", lambda _: None)
    for variable in ("CC", "GATEWISE_ABC"):
        monkeypatch.delenv(variable, raising=False)
    return tmp_path


def make_program(path: Path) -> str:
    path.parent.mkdir(exist_ok=True)
    path.touch(mode=0o755)
    return str(path)


def test_the_variable_comes_before_the_commands(bare: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = make_program(bare / "cc")
    assert COMPILER.find() == [first]
    monkeypatch.setenv("CC", f"{sys.executable} -c 'a pass'")
    assert COMPILER.find() == [sys.executable, "-c", "a pass"]
    monkeypatch.setenv("CC", "no-such-compiler")
    with pytest.raises(ToolError, match="CC must be a command that runs a C compiler, got 'no-such-compiler'"):
        COMPILER.find()


def test_commands_are_tried_in_order(bare: Path) -> None:
    third = make_program(bare / "third")
    tool = Tool("it", ("first", "python -m second", "third --flag"), "apt-get install it")
    assert tool.find() == [third, "--flag"]
    second = make_program(bare / "first")
    assert tool.find() == [second]


def test_programs_inside_python_packages_are_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(tmp_path)
    program = make_program(tmp_path / "some_package" / "tool")
    assert Tool("it", ("some_package/tool",), "").find() == [program]
    assert Tool("it", ("python -m some_package",), "").find() == [sys.executable, "-m", "some_package"]


@pytest.mark.parametrize(
    ("tool", "message"),
    [
        (COMPILER, "a C compiler must be installed, looked for the variable CC and cc, gcc, clang, python -m ziglang"),
        (
            WASM_COMPILER,
            "zig, which compiles C to WebAssembly, must be installed, looked for python -m ziglang",
        ),
        (ABC, "ABC must be installed, looked for the variable GATEWISE_ABC and pyosys/yosys-abc, yosys-abc, berk"),
    ],
)
def test_a_missing_tool_is_named_with_where_it_was_looked_for_and_the_fix(tool: Tool, message: str, bare: Path) -> None:
    with pytest.raises(ToolError, match=rf"{message}.*get it by: pip install .*'gatewise\[export\]'"):
        tool.find()


def test_what_needs_a_tool_says_so(bare: Path) -> None:
    with pytest.raises(ToolError, match="ABC must be installed"):
        simplify(adder(2), effort="abc")
