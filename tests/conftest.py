"""Settings for all tests."""

import os
import signal
from pathlib import Path
from typing import Any

import hypothesis
import pytest

# Tests run in a process per core: threads of a library's own would only wait for each other.
os.environ.setdefault("OMP_NUM_THREADS", "1")
# Ignored where nohup or a shell in the background starts the tests, some of which send them.
signal.signal(signal.SIGHUP, signal.SIG_DFL)
signal.signal(signal.SIGINT, signal.default_int_handler)
# Deadlines would be timing tests; derandomizing makes every run the same.
hypothesis.settings.register_profile("gatewise", deadline=None, derandomize=True)
hypothesis.settings.load_profile("gatewise")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """The current folder of a test of the command line, with its files."""
    from support.cli_files import Folder

    monkeypatch.chdir(tmp_path)
    return Folder(tmp_path)
