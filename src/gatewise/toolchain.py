"""Programs of others, run as processes: compilers and logic synthesis.

In: a command and files. Out: what it printed, and a file that it made.
Invariant: no shell is involved; files are in a folder that only this user reads, which is removed.
"""

import shlex
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path


class ToolError(OSError):
    """A tool that is needed is missing, or failed."""


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
