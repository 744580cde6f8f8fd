"""The rule that imports go one way, and that running a model needs numpy, safetensors and the native module only."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import gatewise
from gatewise.extras import install_command

PACKAGE = Path(gatewise.__file__).parent

# What each module or folder of the package imports from the others: no more and no less.
ALLOWED = {
    "__init__": {"bits", "circuit", "encode", "estimators", "model", "passes", "run", "store", "wiring"},
    "gates": set(),
    "extras": set(),
    "circuit": {"gates", "notebook"},
    "bits": set(),
    "lookup": {"_native"},
    "machine": {"_native", "checks"},
    "wiring": {"checks", "circuit", "gates"},
    "store": {"checks", "circuit", "encode", "gates", "heads", "model", "wiring"},
    "encode": {"_native", "bits", "machine", "notebook"},
    "boost": {"_native", "bits", "circuit", "encode", "gates", "heads", "machine", "model", "passes"},
    "heads": {"checks"},
    "checks": set(),
    "importance": {"bits", "circuit", "encode", "gates", "model", "run"},
    "notebook": {"extras"},
    "report": {
        "bits",
        "circuit",
        "encode",
        "heads",
        "importance",
        "machine",
        "model",
        "notebook",
        "run",
        "store",
    },
    "model": {
        "bits",
        "circuit",
        "encode",
        "heads",
        "machine",
        "notebook",
        "passes",
        "report",
        "run",
        "store",
        "verify",
        "wiring",
    },
    "verify": {
        "_native",
        "bits",
        "checks",
        "circuit",
        "encode",
        "export",
        "extras",
        "gates",
        "heads",
        "model",
        "passes",
        "run",
        "store",
    },
    "tools": {"circuit", "extras", "gates"},
    "passes": {"_native", "circuit", "tools"},
    "run": {"_native", "bits", "circuit", "gates", "machine"},
    "export": {"circuit", "encode", "extras", "gates", "heads", "model", "run", "store", "tools"},
    "nn": {"_native", "checks", "circuit", "extras", "gates", "heads", "lookup", "run", "wiring"},
    "train": {
        "bits",
        "checks",
        "circuit",
        "encode",
        "extras",
        "gates",
        "heads",
        "model",
        "nn",
        "notebook",
        "run",
        "store",
        "wiring",
    },
    "estimators": {
        "boost",
        "circuit",
        "encode",
        "extras",
        "heads",
        "importance",
        "model",
        "nn",
        "passes",
        "train",
        "wiring",
    },
    "cli": {
        "__version__",
        "circuit",
        "encode",
        "estimators",
        "export",
        "extras",
        "gates",
        "heads",
        "importance",
        "machine",
        "model",
        "nn",
        "run",
        "store",
        "tools",
        "train",
        "verify",
        "wiring",
    },
    "__main__": {"cli"},
}


def imported_parts(path: Path) -> set[str]:
    """Parts of the package that a file imports, by their first name below gatewise."""
    parts = set()
    for node in ast.walk(ast.parse(path.read_text())):
        names = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path.name}:{node.lineno} imports relatively"
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        parts |= {name.split(".")[1] for name in names if name.startswith("gatewise.")}
    return parts


def test_imports_go_one_way() -> None:
    found: dict[str, set[str]] = {}
    for path in PACKAGE.rglob("*.py"):
        part = path.relative_to(PACKAGE).parts[0].removesuffix(".py")
        found.setdefault(part, set()).update(imported_parts(path) - {part})
    assert found == ALLOWED


def test_running_needs_numpy_and_safetensors_only() -> None:
    code = "import sys, gatewise; gatewise.load; print(*{name.split('.')[0] for name in sys.modules})"
    printed = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    others = {name for name in printed.split() if not name.startswith("_")} - set(sys.stdlib_module_names)
    assert others == {"gatewise", "numpy", "safetensors"}


@pytest.mark.parametrize("part", ["nn", "train"])
def test_missing_torch_is_named_with_the_fix(part: str) -> None:
    code = f"import sys; sys.modules['torch'] = None; import gatewise.{part}"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 1
    assert f"gatewise.nn needs torch, which is not installed; get it by: {install_command('torch')}" in done.stderr
