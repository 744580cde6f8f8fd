"""The names of the package itself: what is there, what it is to a type checker, and what it needs."""

import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import pytest
from support.processes import missing
from support.tools import require_module

import gatewise

WITHOUT_TORCH = """
import sys
sys.modules["torch"] = sys.modules["sklearn"] = None
from gatewise import *
"""
USER = """from gatewise import FileError, LogicClassifier, LogicRegressor, Model, load
reveal_type(LogicClassifier(random_state=0))
reveal_type(LogicRegressor())
reveal_type(load)
reveal_type(FileError)
reveal_type(Model.load("model.gw").predict)
"""
REVEALED = [
    "gatewise.estimators.boosted.LogicClassifier",
    "gatewise.estimators.boosted.LogicRegressor",
    "gatewise.model.Model | gatewise.circuit.Circuit | gatewise.wiring.seeded.SeededCircuit | "
    "gatewise.wiring.convolution.ConvolutionalCircuit",
    "gatewise.store.container.FileError",
    "def (X: Any) -> numpy.ndarray[",
]


def run_python(code: str) -> str:
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout


def test_version() -> None:
    assert gatewise.__version__ == version("gatewise")


def test_every_name_is_there() -> None:
    require_module("torch", "pip install 'gatewise[torch]'")
    require_module("sklearn", "pip install 'gatewise[sklearn]'")
    assert {"BitEncoder", "LogicClassifier", "LogicRegressor", *gatewise.__all__} <= set(dir(gatewise))
    for name in dir(gatewise):
        assert getattr(gatewise, name) is not None
    assert gatewise.load is gatewise.store.load
    assert gatewise.LogicClassifier is gatewise.estimators.LogicClassifier
    with pytest.raises(AttributeError, match="module 'gatewise' has no attribute 'LogicClassifer'"):
        gatewise.LogicClassifer  # type: ignore[attr-defined] # noqa: B018


def test_star_imports_without_torch() -> None:
    printed = run_python(WITHOUT_TORCH + "print(*sorted(name for name in dir() if name != 'sys'))")
    assert set(gatewise.__all__) <= set(printed.split())


def test_networks_without_torch_name_what_is_missing() -> None:
    use = "from gatewise import estimators\ntry: estimators.NetworkClassifier\nexcept ImportError as e: print(e)"
    assert "gatewise.estimators.NetworkClassifier needs torch" in run_python(missing("torch") + use)
    assert run_python(missing("torch") + "import gatewise; print(gatewise.LogicClassifier())") == "LogicClassifier()\n"


def test_a_type_checker_sees_every_type(tmp_path: Path) -> None:
    require_module("mypy", "pip install 'gatewise[lint]'")
    (tmp_path / "user.py").write_text(USER)
    # Packages that gatewise only builds on are not looked into, which takes most of the time.
    skipped = "".join(f"[mypy-{name}.*]\nfollow_imports = skip\n" for name in ("torch", "sklearn", "scipy", "pandas"))
    (tmp_path / "mypy.ini").write_text(f"[mypy]\nmypy_path = {Path(gatewise.__file__).parents[1]}\n{skipped}")
    command = [sys.executable, "-m", "mypy", "--config-file=mypy.ini", "--cache-dir=cache", "user.py"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    revealed = [line for line in done.stdout.splitlines() if "Revealed type" in line]
    assert len(revealed) == len(REVEALED), done.stdout
    for expected, line in zip(REVEALED, revealed, strict=True):
        assert expected in line
