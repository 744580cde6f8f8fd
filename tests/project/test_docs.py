"""Every command and every piece of Python in README and docs runs; the site names all that is public."""

import importlib
import inspect
import os
import pkgutil
import re
import subprocess
import sys
import zlib
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest
from support.programs.wgsl import find_device
from support.tools import require_module, require_tool

import gatewise

require_module("torch", "pip install -c constraints.txt '.[torch]'")
require_module("sklearn", "pip install -c constraints.txt '.[sklearn]'")

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
TOOLS = {
    "cuda.md": {"g++": "apt-get install g++"},
    "wasm.md": {"node": "apt-get install nodejs"},
    "verilog.md": {"iverilog": "apt-get install iverilog"},
}
DEVICES = {"wgsl.md": find_device}
FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
RUN, SHOWN = {"python", "sh"}, {"text", "c", "cpp", "js", "html", "verilog"}


def find_blocks(page: Path) -> Iterator[tuple[str, str, int]]:
    """Language, text and first line of each block."""
    text = page.read_text()
    for match in FENCE.finditer(text):
        yield match[1], match[2], text[: match.start()].count("\n") + 2


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_page(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for tool, install in TOOLS.get(page.name, {}).items():
        require_tool(tool, install)
    if page.name in DEVICES:
        DEVICES[page.name]()
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    namespace: dict[str, object] = {"__name__": page.name}
    before = ""
    for language, code, line in find_blocks(page):
        assert language in RUN | SHOWN, f"{page.name}:{line}: a block must be one of {RUN | SHOWN}, got {language!r}"
        if language == "python":
            exec(compile("\n" * (line - 1) + code, page, "exec"), namespace)
        elif language == "sh":
            done = subprocess.run(["sh", "-ec", code], env=os.environ | {"PATH": path}, capture_output=True, text=True)
            assert done.returncode == 0, f"{page.name}:{line}: {code}\n{done.stderr}"
        elif language == "text" and before == "sh":
            assert make_pattern(code).fullmatch(done.stdout), f"{page.name}:{line}: {code}\n{done.stdout}"
        before = language


def make_pattern(shown: str) -> re.Pattern[str]:
    """What a command prints: the lines that a page shows, with any numbers, and any lines where it shows three dots."""
    lines = (r"(?:.*\n)*?" if line.strip() == "..." else re.escape(line) + r"\n" for line in shown.splitlines())
    return re.compile(re.sub(r"\d[\d,.]*", lambda _: r"\d[\d,.]*", "".join(lines).replace(r"\.", ".")))


@pytest.fixture(scope="module")
def documented(tmp_path_factory: pytest.TempPathFactory) -> set[str]:
    """The names that the site documents, with their modules, from the inventory that it leaves for other sites."""
    require_module("mkdocs", "pip install -c constraints.txt '.[docs]'")
    site = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(site)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    header, body = (site / "objects.inv").read_bytes().split(b"zlib.\n", 1)
    assert header.startswith(b"# Sphinx inventory version 2")
    return {line.split()[0] for line in zlib.decompress(body).decode().splitlines()}


def list_public(module: ModuleType) -> list[str]:
    """The names of a package's `__all__`, or the classes and functions that a module defines."""
    if hasattr(module, "__all__"):
        return [name for name in module.__all__ if name != "__version__"]
    members = inspect.getmembers(module, lambda value: inspect.isclass(value) or inspect.isfunction(value))
    return [name for name, value in members if not name.startswith("_") and value.__module__ == module.__name__]


def list_rooms() -> list[str]:
    """The packages with an `__all__`, and the modules that are public without one."""
    names = [f"gatewise.{info.name}" for info in pkgutil.iter_modules(gatewise.__path__) if info.ispkg]
    rooms = [name for name in names if hasattr(importlib.import_module(name), "__all__")]
    modules = ["gates", "circuit", "bits", "lookup", "model", "heads", "run.engine", "run.reference"]
    return ["gatewise", *rooms, *(f"gatewise.{name}" for name in modules)]


@pytest.mark.parametrize("room", list_rooms())
def test_reference_is_complete(room: str, documented: set[str]) -> None:
    module = importlib.import_module(room)
    public = list_public(module)
    assert public
    homes = {name: getattr(getattr(module, name), "__module__", room) for name in public}
    assert [name for name in public if not {f"{room}.{name}", f"{homes[name]}.{name}"} & documented] == []
