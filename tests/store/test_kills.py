"""A process that is killed while it writes a file leaves nothing of it behind."""

import signal
import subprocess
import sys
from pathlib import Path

import pytest
from support.tools import give_up

from gatewise.store import files

WRITE = """
import sys, time
from gatewise.store.files import replacing
with replacing(sys.argv[1]) as file:
    file.write(b"new" * 100_000)
    file.flush()
    print("ready", flush=True)
    time.sleep(60)
"""


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL, signal.SIGHUP])
@pytest.mark.parametrize("older", [None, b"older"])
def test_a_kill_leaves_nothing_behind(number: int, older: bytes | None, tmp_path: Path) -> None:
    unnamed = files._open_unnamed(tmp_path)
    if unnamed is None:
        give_up(f"the file system of {tmp_path} has no files without names")
    unnamed.close()
    if older is not None:
        (tmp_path / "x").write_bytes(older)
    command = [sys.executable, "-c", WRITE, str(tmp_path / "x")]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        process.send_signal(number)
        assert process.wait(30) == -number
    assert [path.read_bytes() for path in tmp_path.iterdir()] == ([] if older is None else [older])
