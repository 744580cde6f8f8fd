"""Programs of others, found and run as processes: compilers and logic synthesis.

In: where a program may be; a command and files. Out: the command; what it printed, and a file that it made.
Invariant: no shell is involved; files are in a folder that only this user reads, which is removed.
"""

import importlib.util
import os
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path


class ToolError(OSError):
    """A tool that is needed is missing, or failed."""


@dataclass(frozen=True)
class Tool:
    """A program, and where it is looked for.

    Parameters
    ----------
    title : str
        What errors call it.
    commands : tuple of str
        Commands that run it, the best first: ``"zig cc"`` is a program on the PATH with its argument, ``"python -m
        ziglang cc"`` a module of a Python package, and ``"pyosys/yosys-abc"`` a file in the folder of a Python package.
    install : str
        How to get it.
    variable : str, optional
        An environment variable; a command that it holds is taken instead.

    Examples
    --------
    >>> Tool("Python", ("no-such-python", "python -m this"), install="apt-get install python3").find()[1:]
    ['-m', 'this']
    """

    title: str
    commands: tuple[str, ...]
    install: str
    variable: str | None = None

    def find(self) -> list[str]:
        """The command, its program as a path; raises ToolError, which says where it was looked for, without one."""
        named = os.environ.get(self.variable or "")
        if named:
            found = _find_program(named)
            if found is None:
                raise ToolError(f"{self.variable} must be a command that runs {self.title}, got {named!r}")
            return found
        for command in self.commands:
            found = _find_program(command)
            if found is not None:
                return found
        places = (f"the variable {self.variable} and " if self.variable else "") + ", ".join(self.commands)
        raise ToolError(f"{self.title} must be installed, looked for {places}; get it by: {self.install}")


def _find_program(command: str) -> list[str] | None:
    program, *arguments = shlex.split(command)
    if program == "python" and arguments[:1] == ["-m"]:
        return [sys.executable, *arguments] if importlib.util.find_spec(arguments[1]) else None
    package, _, file = program.partition("/")
    spec = importlib.util.find_spec(package) if package and file else None
    folders = (spec and spec.submodule_search_locations) or []
    for candidate in [*(str(Path(folder, file)) for folder in folders), program]:
        path = shutil.which(candidate)
        if path is not None:
            return [path, *arguments]
    return None


def run_tool(command: Sequence[str], files: Mapping[str, bytes], wanted: str | None = None) -> tuple[str, bytes]:
    """Run a command in a folder of its own.

    Parameters
    ----------
    command : sequence of str
        The program and its arguments.
    files : mapping of str to bytes
        What the folder holds at the start.
    wanted : str, optional
        The file to be read at the end.

    Returns
    -------
    printed : str
    content : bytes
        Of the file that was wanted.

    Examples
    --------
    >>> run_tool(["cat", "greeting.txt"], {"greeting.txt": b"hello"})
    ('hello', b'')
    """
    with tempfile.TemporaryDirectory(prefix="gatewise-") as folder:
        for name, content in files.items():
            (Path(folder) / name).write_bytes(content)
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, errors="replace")
        made = Path(folder) / (wanted or "")
        if done.returncode or (wanted and not made.exists()):
            printed = f"{done.stdout}{done.stderr}"
            raise ToolError(f"{shlex.join(command)} must succeed, got exit code {done.returncode}: {printed:.2000}")
        return done.stdout, made.read_bytes() if wanted else b""
