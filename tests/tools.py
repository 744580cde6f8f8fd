"""Finding the external tools that some tests need."""

import os
import shutil

import pytest


def require_tool(name: str, install: str) -> str:
    """Path of `name`; without it the test is skipped, or fails when GATEWISE_NO_SKIP is set, as in CI."""
    path = shutil.which(name)
    if path is None:
        reason = f"{name} is not on the PATH; get it with: {install}"
        if os.environ.get("GATEWISE_NO_SKIP"):
            pytest.fail(reason)
        pytest.skip(reason)
    return path
