"""The rule that imports go one way, and that running a model needs numpy, safetensors and the native module only."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import gatewise

PACKAGE = Path(gatewise.__file__).parent

# What each module or folder of the package may import from the others.
ALLOWED = {
    "__init__": {"circuit", "container", "encode", "estimators", "model", "passes", "run", "seeded"},
    "gates": set(),
    "circuit": {"gates"},
    "wiring": {"circuit"},
    "seeded": {"circuit", "gates", "wiring"},
    "packing": set(),
    "container": set(),
    "files": set(),
    "io": {"circuit", "container", "packing", "seeded", "wiring"},
    "encode": {"_native", "container", "packing", "run", "wiring"},
    "heads": {"container", "wiring"},
    "model": {"_native", "circuit", "container", "encode", "files", "heads", "io", "passes", "run", "seeded"},
    "aiger": {"circuit", "gates"},
    "toolchain": set(),
    "abc": {"aiger", "circuit", "toolchain"},
    "passes": {"_native", "abc", "circuit", "gates"},
    "run": {"_native", "circuit", "gates"},
    "export": {"aiger", "circuit", "encode", "files", "gates", "heads", "model", "run", "toolchain"},
    "nn": {"_native", "circuit", "gates", "heads", "seeded", "wiring"},
    "train": {"circuit", "container", "files", "gates", "nn", "run"},
    "defaults": set(),
    "estimators": {"circuit", "defaults", "encode", "heads", "model", "nn", "train", "wiring"},
    "cli": {"circuit", "encode", "estimators", "export", "files", "gates", "heads", "model", "run", "seeded"},
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
    for path in PACKAGE.rglob("*.py"):
        part = path.relative_to(PACKAGE).parts[0].removesuffix(".py")
        assert part in ALLOWED, f"{path.name} is new: say in this test what it may import"
        assert imported_parts(path) - {part} <= ALLOWED[part], f"{path.name} imports what it must not"


def test_running_needs_numpy_and_safetensors_only() -> None:
    code = "import sys, gatewise; print(*{name.split('.')[0] for name in sys.modules})"
    printed = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    others = {name for name in printed.split() if not name.startswith("_")} - set(sys.stdlib_module_names)
    assert others == {"gatewise", "numpy", "safetensors"}


@pytest.mark.parametrize("part", ["nn", "train"])
def test_missing_torch_is_named_with_the_fix(part: str) -> None:
    code = f"import sys; sys.modules['torch'] = None; import gatewise.{part}"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 1
    assert "gatewise.nn needs torch: pip install 'gatewise[torch]'" in done.stderr
