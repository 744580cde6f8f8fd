"""Installs the peers, pinned by constraints.txt, each in an environment of its own below the peers' folder.

In: the folder. Out: the command prefix and environment variables that start a peer's runner.
"""

import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
from dataclasses import dataclass, field, replace
from pathlib import Path

from benchmarks.process import REPOSITORY

CONSTRAINTS = REPOSITORY / "constraints.txt"

# difflogic's setup script asks torch for these two names, and a download asks the setup script for the name.
EXTENSION_STAND_IN = """
from setuptools import Extension as CUDAExtension
from setuptools.command.build_ext import build_ext as BuildExtension
"""


class NotInstallableError(RuntimeError):
    """The peer cannot run here; the message says what is missing and how to give it."""


@dataclass(frozen=True)
class Peer:
    """How to start a peer's runner."""

    name: str
    python: Path
    environment: dict[str, str] = field(default_factory=dict)
    runner: str = "net"

    def command(self) -> list[str]:
        """The words that start it, from the repository."""
        return [str(self.python), "-m", f"benchmarks.peers.{self.name}_{self.runner}"]


def find_folder() -> Path:
    """Where the peers and what they compile are kept: $GATEWISE_PEERS, or build/peers."""
    return Path(os.environ.get("GATEWISE_PEERS", REPOSITORY / "build" / "peers")).absolute()


def pinned_version(name: str) -> str:
    """The version of a peer that constraints.txt asks for."""
    for line in CONSTRAINTS.read_text().splitlines():
        package, _, version = line.partition("==")
        if package == name:
            return version
    raise ValueError(f"name must be pinned by constraints.txt, got {name!r}")


def install(name: str, folder: Path, peer_python: str | None) -> Peer:
    """Install the peer unless it is there already."""
    if name == "difflogic":
        return _install_difflogic(folder / name)
    if name == "torchlogix":
        return _install_torchlogix(folder / name, peer_python)
    raise ValueError(f"name must be difflogic or torchlogix, got {name!r}")


def install_for_training(name: str, folder: Path) -> Peer:
    """Install the peer's training half unless it is there already; both peers share one torch."""
    difflogic = _install_difflogic(folder / "difflogic")
    if name == "difflogic":
        return replace(difflogic, runner="train")
    if name != "torchlogix":
        raise ValueError(f"name must be difflogic or torchlogix, got {name!r}")
    packages = folder / "torchlogix_train"
    if not packages.exists():
        _pip(difflogic.python, "install", "--no-deps", "--target", str(packages), "torchlogix")
    return Peer("torchlogix", difflogic.python, {"PYTHONPATH": str(packages)}, "train")


def _install_difflogic(folder: Path) -> Peer:
    python = folder / "venv" / "bin" / "python"
    source = folder / "source"
    if not source.exists():
        _make_environment(sys.executable, folder / "venv")
        _pip(python, "install", "torch", "numpy", "setuptools>=77")
        with tempfile.TemporaryDirectory() as temporary:
            utils = Path(temporary) / "stand-in" / "torch" / "utils"
            utils.mkdir(parents=True)
            (utils / "cpp_extension.py").write_text(EXTENSION_STAND_IN)
            for package in (utils, utils.parent):
                (package / "__init__.py").touch()
            from_source = ["--no-deps", "--no-binary", "difflogic", "--no-build-isolation"]
            stand_in = {"PYTHONPATH": str(utils.parents[1])}
            _pip(python, "download", "-d", temporary, *from_source, "difflogic", **stand_in)
            (archive,) = Path(temporary).glob("difflogic-*.tar.gz")
            with tarfile.open(archive) as tar:
                tar.extractall(temporary, filter="data")
            shutil.copytree(Path(temporary) / archive.name.removesuffix(".tar.gz"), source)
    return Peer("difflogic", python, {"PYTHONPATH": str(source)})


def _install_torchlogix(folder: Path, peer_python: str | None) -> Peer:
    python = folder / "venv" / "bin" / "python"
    ready = folder / "ready"
    if not ready.exists():
        _make_environment(_find_python(peer_python), folder / "venv")
        _pip(python, "install", "numpy")
        _pip(python, "install", "--no-deps", "torchlogix")
        ready.touch()
    return Peer("torchlogix", python)


def _find_python(wanted: str | None) -> str:
    """A Python of at least 3.12 that runs; a command that is found may still refuse to."""
    candidates = [wanted] if wanted else [sys.executable, "python3.14", "python3.13", "python3.12"]
    for candidate in candidates:
        path = shutil.which(candidate)
        is_recent = "import sys; sys.exit(sys.version_info < (3, 12))"
        if path and subprocess.run([path, "-c", is_recent], capture_output=True).returncode == 0:
            return path
    raise NotInstallableError(
        f"torchlogix needs a Python of at least 3.12, looked for {', '.join(candidates)}; name one with --peer-python"
    )


def _make_environment(python: str, venv: Path) -> None:
    shutil.rmtree(venv, ignore_errors=True)
    subprocess.run([python, "-m", "venv", venv], check=True)


def _pip(python: Path, command: str, *arguments: str, **variables: str) -> None:
    full: list[str | Path] = [python, "-m", "pip", command, "-q", "-c", CONSTRAINTS, *arguments]
    subprocess.run(full, check=True, env=os.environ | variables)
