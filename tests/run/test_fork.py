"""Processes that used native threads may be forked: parents and children go on, and end as they should."""

import subprocess
import sys
from pathlib import Path

import pytest
from support.tools import require_module

PROGRAM = Path(__file__).parents[1] / "scripts" / "forks.py"


@pytest.mark.parametrize("scenario", ["predict", "leave", "prefork", "busy", "pool", "train"])
def test_children_use_threads_again(scenario: str) -> None:
    if scenario == "train":
        require_module("torch", "pip install -c constraints.txt '.[torch]'")
    # Python warns of threads in a forking process, for which this test is there.
    command = [sys.executable, "-W", "ignore::DeprecationWarning", str(PROGRAM), scenario]
    done = subprocess.run(command, capture_output=True, text=True, timeout=240)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stderr == ""
