"""Settings for all tests."""

from pathlib import Path
from typing import Any

import hypothesis
import pytest

# Deadlines would be timing tests; derandomizing makes every run the same.
hypothesis.settings.register_profile("gatewise", deadline=None, derandomize=True)
hypothesis.settings.load_profile("gatewise")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """The current folder of a test of the command line, with its files."""
    from support.cli_files import Folder

    monkeypatch.chdir(tmp_path)
    return Folder(tmp_path)
