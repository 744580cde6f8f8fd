"""main: finds the command and runs it; the border where errors that a user can mend become one sentence.

Exit codes: 0 done, 2 an error, 130 ended by Ctrl-C, 141 nobody reads the output any more.
"""

import argparse
import os
import sys
import warnings
from collections.abc import Callable, Sequence
from importlib.metadata import version
from typing import Any

from gatewise.cli import bench, demo, evaluate, export, info, predict, train
from gatewise.cli.options import Commands

COMMANDS: tuple[Callable[[Commands], None], ...] = (
    train.add_command,
    evaluate.add_command,
    predict.add_command,
    info.add_command,
    export.add_command,
    bench.add_command,
    demo.add_command,
)
FAILED, INTERRUPTED, UNREAD = 2, 130, 141


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command.

    Parameters
    ----------
    argv : sequence of str, optional
        Arguments; those of the process by default.

    Returns
    -------
    int
        The exit code.

    Examples
    --------
    >>> import tempfile
    >>> from gatewise import Circuit, save
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save(f"{folder}/xor.gw", Circuit(2, gate=[6], a=[2], b=[3], outputs=[4], group_ptr=[0, 1]))
    ...     main(["info", f"{folder}/xor.gw", "--json"])
    {"kind": "circuit", "inputs": 2, "gates": 1, "levels": 1, "groups": 1, "outputs": 1, "bytes": 573}
    0
    """
    args = make_parser().parse_args(argv)

    def show_warning(message: Warning | str, *_: Any, **__: Any) -> None:
        print(f"gatewise {args.command}: {message}", file=sys.stderr)

    try:
        with warnings.catch_warnings():
            warnings.showwarning = show_warning
            code: int = args.run(args)
        sys.stdout.flush()
        return code
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # what is left has no reader
        return UNREAD
    except KeyboardInterrupt:
        print(f"gatewise {args.command}: interrupted, nothing was written", file=sys.stderr)
        return INTERRUPTED
    except Exception as error:
        if not is_expected(error):
            raise
        print(f"gatewise {args.command}: {describe(error)}", file=sys.stderr)
        return FAILED


def make_parser() -> argparse.ArgumentParser:
    """The parser of all commands."""
    parser = argparse.ArgumentParser(
        prog="gatewise",
        description="Learn logic circuits from tables and run them at nanoseconds a row.",
        epilog="Each command has examples: gatewise train --help",
    )
    parser.add_argument("--version", action="version", version=f"gatewise {version('gatewise')}")
    commands = parser.add_subparsers(dest="command", required=True, metavar="command")
    for add_command in COMMANDS:
        add_command(commands)
    return parser


def is_expected(error: Exception) -> bool:
    """Whether the cause is a file, an argument or a missing package, and not a mistake in this program."""
    is_arrow = type(error).__module__.startswith("pyarrow")
    return is_arrow or isinstance(error, ValueError | OSError | ModuleNotFoundError)


def describe(error: Exception) -> str:
    """One line that says what is wrong.

    Examples
    --------
    >>> describe(FileNotFoundError(2, "No such file or directory", "data.csv"))
    'data.csv cannot be opened: No such file or directory; check the path'
    """
    text = str(error)
    if isinstance(error, OSError) and error.filename is not None:
        text = f"{error.filename} cannot be opened: {error.strerror}; check the path"
    return " ".join(text.split())
