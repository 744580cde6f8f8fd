"""Finding the external tools and optional modules that some tests need."""

import importlib
import os
import shutil
from types import ModuleType
from typing import NoReturn

import pytest

from gatewise.abc import find_abc
from gatewise.toolchain import ToolError


def require_tool(name: str, install: str) -> str:
    """Path of `name`; without it the test is skipped, or fails when GATEWISE_NO_SKIP is set, as in CI."""
    path = shutil.which(name)
    if path is None:
        give_up(f"{name} is not on the PATH; get it with: {install}")
    return path


def require_module(name: str, install: str) -> ModuleType:
    """The module `name`, for the top of a test file; without it the file is skipped, or fails like `require_tool`."""
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name != name:  # it is there, but broken
            raise
        give_up(f"{name} is not installed; get it with: {install}")


def require_abc() -> None:
    """Go on only if there is an ABC, for the top of a test file."""
    try:
        find_abc()
    except ToolError as error:
        give_up(str(error))


def give_up(reason: str) -> NoReturn:
    """Skip the test, or the file, or fail when GATEWISE_NO_SKIP is set, as in CI."""
    if os.environ.get("GATEWISE_NO_SKIP"):
        pytest.fail(reason)
    pytest.skip(reason, allow_module_level=True)
