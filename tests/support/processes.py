"""Processes that tests start and kill: forked from one that has torch loaded, so that each starts in milliseconds."""

import multiprocessing
import os
import time
import traceback
from collections.abc import Sequence
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any
from unittest import mock

CONTEXT = multiprocessing.get_context("forkserver")
CONTEXT.set_forkserver_preload(["gatewise.train", "torch._dynamo"])


def start(target: Any, *args: Any, context: Any = CONTEXT) -> BaseProcess:
    """A running process; it ends with the tests."""
    process: BaseProcess = context.Process(target=target, args=args, daemon=True)
    process.start()
    return process


def wait_for_write(path: Path, process: BaseProcess) -> None:
    """Until a file is written, or the process has ended."""
    before = path.stat().st_mtime_ns if path.exists() else 0
    while process.is_alive() and not (path.exists() and path.stat().st_mtime_ns > before):
        time.sleep(0.001)


def wait_for_end(process: BaseProcess) -> None:
    """Until the process has ended; one that hangs is a failure."""
    process.join(120)
    if process.is_alive():
        process.kill()
        raise TimeoutError(f"{process.name} must end, got none after two minutes")


def missing(*modules: str) -> str:
    """Code that makes packages look as if they were not installed, also to those who ask `sys.modules`."""
    return f"""
import sys
class Missing:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {modules!r}:
            raise ModuleNotFoundError(name, name=name)
sys.meta_path.insert(0, Missing())
"""


def call_interpreted(function: Any, *args: Any) -> Any:
    """The same as `call_apart` in a new process where Triton's kernels run on the CPU.

    Triton decides how kernels run when they are imported.
    """
    with mock.patch.dict(os.environ, TRITON_INTERPRET="1", OMP_NUM_THREADS="1"):
        return call_apart(function, *args, context=multiprocessing.get_context("spawn"))


class Failure(str):
    """A traceback."""


def call_all(functions: Sequence[Any]) -> dict[str, Any]:
    """What functions give, one after the other, by name; a `Failure` for one that fails."""
    outcomes = {}
    for function in functions:
        try:
            outcomes[function.__name__] = function()
        except Exception:
            outcomes[function.__name__] = Failure(traceback.format_exc())
    return outcomes


def call_apart(function: Any, *args: Any, context: Any = CONTEXT) -> Any:
    """What a function gives in a process of its own; an AssertionError with its traceback if it fails."""
    mine, its = context.Pipe(duplex=False)
    process = start(_answer, its, function, args, context=context)
    its.close()
    try:
        kind, value = mine.recv()
    except EOFError:
        kind, value = "traceback", "the process died"
    wait_for_end(process)
    assert kind == "value", value
    return value


def _answer(pipe: Any, function: Any, args: tuple[Any, ...]) -> None:
    try:
        pipe.send(("value", function(*args)))
    except BaseException:
        pipe.send(("traceback", traceback.format_exc()))
