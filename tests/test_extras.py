"""A missing optional package is named, with who needs it and how to install it."""

import re
import sys
import tomllib
from pathlib import Path

import pytest

from gatewise.extras import require


def test_a_module_that_is_there_is_returned() -> None:
    assert require("json.decoder", "torch", needed_by="a test") is sys.modules["json.decoder"]


def test_the_missing_package_is_named_even_if_another_one_imports_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "outer_package.py").write_text("import missing_package.part\n")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(ModuleNotFoundError) as caught:
        require("outer_package", "plot", needed_by="History.plot")
    assert str(caught.value) == (
        "History.plot needs missing_package, which is not installed; get it by: "
        "pip install -c constraints.txt '.[plot]' in a checkout of gatewise, or pip install 'gatewise[plot]'"
    )
    assert caught.value.name == "missing_package"


def test_a_package_that_is_there_but_broken_keeps_its_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "broken_package.py").write_text("raise ImportError('libfoo.so: cannot open shared object file')\n")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(ImportError, match="libfoo"):
        require("broken_package", "torch", needed_by="gatewise.nn")


def test_every_extra_that_the_package_names_exists() -> None:
    root = Path(__file__).parent.parent
    extras = tomllib.loads((root / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    sources = "\n".join(path.read_text() for path in (root / "src/gatewise").rglob("*.py"))
    named = set(re.findall(r"""(?:require\([^()]*?,\s*|install_command\()["'](\w+)["']""", sources))
    assert "torch" in named
    assert named <= set(extras)
