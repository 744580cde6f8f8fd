"""Finding the external tools and optional modules that some tests need."""

import importlib
import os
from types import ModuleType
from typing import NoReturn

import pytest

from gatewise.tools.process import Tool, ToolError


def require(tool: Tool) -> list[str]:
    """The command of a tool; without it the test is skipped, or fails when GATEWISE_NO_SKIP is set, as in CI."""
    try:
        return tool.find()
    except ToolError as error:
        give_up(str(error))


def require_tool(name: str, install: str) -> str:
    """Path of a program on the PATH; without it the test is skipped or fails like `require`."""
    return require(Tool(name, (name,), install))[0]


def require_module(name: str, install: str) -> ModuleType:
    """The module `name`, for the top of a test file; without it the file is skipped, or fails like `require`."""
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name != name:  # it is there, but broken
            raise
        give_up(f"{name} is not installed; get it with: {install}")


def give_up(reason: str) -> NoReturn:
    """Skip the test, or the file, or fail when GATEWISE_NO_SKIP is set, as in CI."""
    if os.environ.get("GATEWISE_NO_SKIP"):
        pytest.fail(reason)
    pytest.skip(reason, allow_module_level=True)
