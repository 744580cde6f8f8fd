"""What the packages hold, and that the one list of dependencies and the pinned versions agree."""

import subprocess
import tarfile
import tomllib
from importlib.metadata import distribution, version
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from scripts import oldest
from support.tools import require_module

import gatewise

ROOT = Path(__file__).parents[2]
LIST_SOURCES = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "src"]
PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
PINS = [Requirement(line) for line in (ROOT / "constraints.txt").read_text().splitlines() if not line.startswith("#")]


def list_requirements() -> list[Requirement]:
    """All that pyproject.toml asks for, to build, to run and in extras."""
    project = PYPROJECT["project"]
    extras = [package for packages in project["optional-dependencies"].values() for package in packages]
    return [Requirement(text) for text in (*PYPROJECT["build-system"]["requires"], *project["dependencies"], *extras)]


def read_pins() -> dict[str, str]:
    """The exact version of each package in constraints.txt."""
    pins = {}
    for pin in PINS:
        (specifier,) = pin.specifier
        assert specifier.operator == "=="
        pins[canonicalize_name(pin.name)] = specifier.version
    assert len(pins) == len(PINS)
    return pins


def test_every_dependency_is_pinned_within_its_range() -> None:
    pins = read_pins()
    asked = [requirement for requirement in list_requirements() if requirement.name != "gatewise"]
    assert len(asked) > 30
    wrong = [str(r) for r in asked if not r.specifier.contains(pins.get(canonicalize_name(r.name), "0"))]
    assert wrong == []


def test_ranges_have_a_lower_bound_and_no_other() -> None:
    operators = {r.name: [s.operator for s in r.specifier] for r in list_requirements() if r.name != "gatewise"}
    assert set(map(tuple, operators.values())) == {(">=",)}


def test_extras_name_each_other_rightly() -> None:
    extras = PYPROJECT["project"]["optional-dependencies"]
    named = {extra for r in list_requirements() if r.name == "gatewise" for extra in r.extras}
    assert named <= extras.keys()


def test_oldest_versions_are_the_lower_bounds(capsys: pytest.CaptureFixture[str]) -> None:
    oldest.main()
    printed = [Requirement(line) for line in capsys.readouterr().out.splitlines() if not line.startswith("#")]
    assert [pin.name for pin in printed] == [pin.name for pin in PINS]
    changed = {pin.name: next(iter(pin.specifier)).version for pin in printed if pin not in PINS}
    assert changed["numpy"] == "2.0"
    for requirement in list_requirements():
        if requirement.name in changed:
            assert requirement.specifier.contains(changed[requirement.name])


def test_licenses_of_what_is_linked_are_packed() -> None:
    linked = {path.name: path.read_text() for path in (ROOT / "src" / "native" / "licenses").iterdir()}
    assert linked.keys() == {"nanobind.txt", "robin_map.txt"}
    assert PYPROJECT["project"]["license-files"] == ["LICENSE", "src/native/licenses/*.txt"]
    nanobind = distribution("nanobind")
    (own,) = [path for path in nanobind.files or [] if path.name == "LICENSE"]
    assert linked["nanobind.txt"] == own.read_text()
    assert "Thibaut Goetghebuer-Planchon" in linked["robin_map.txt"]


def test_version_is_written_once() -> None:
    assert PYPROJECT["project"]["dynamic"] == ["version"]
    assert version("gatewise") == gatewise.__version__


def test_sdist_holds_the_sources_and_no_records(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    backend = require_module("scikit_build_core.build", "pip install -c constraints.txt scikit-build-core")
    monkeypatch.chdir(ROOT)
    with tarfile.open(tmp_path / backend.build_sdist(str(tmp_path))) as archive:
        packed = {Path(*Path(name).parts[1:]).as_posix() for name in archive.getnames()}
    listed = subprocess.run(LIST_SOURCES, capture_output=True, text=True, check=True).stdout.split()
    sources = {name for name in listed if (ROOT / name).exists()}
    others = {"pyproject.toml", "CMakeLists.txt", "README.md", "CHANGELOG.md", "LICENSE", "PKG-INFO"}
    assert packed == sources | others
