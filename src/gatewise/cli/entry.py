"""main: finds the command and runs it; the border where errors that a user can mend become one sentence.

Exit codes: 0 done, 2 an error, 130 ended by Ctrl-C, 141 nobody reads the output any more, 143 ended by SIGTERM; of
`verify`, 1 refuted and 3 undecided; of `selfcheck`, 1 something wrong.
"""

import argparse
import importlib
import os
import signal
import sys
import threading
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NoReturn

from gatewise import __version__

COMMANDS = {
    "train": "learn a circuit from a CSV or Parquet file",
    "evaluate": "compare predictions with a column of a CSV or Parquet file",
    "predict": "predict the rows of a CSV or Parquet file of any size",
    "report": "write a page for a browser, with the model in it",
    "info": "describe a .gw file",
    "export": "write a model as code of another language",
    "verify": "prove a rule for all rows, or find a row that breaks it",
    "explain": "say which columns force an answer, and what would change it",
    "bench": "measure how fast a model runs on this machine",
    "selfcheck": "check that this machine computes right, and how fast",
    "demo": "train, save, load and measure a model of digits",
}
"""What each command does. Its module, in `commands`, has the same name."""

FAILED, INTERRUPTED, UNREAD, TERMINATED = 2, 130, 141, 143


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
    given = sys.argv[1:] if argv is None else argv
    parser = make_parser(next((word for word in given if not word.startswith("-")), None))
    if not given:
        parser.print_help()
        return FAILED
    args = parser.parse_args(given)

    def show_warning(message: Warning | str, *_: Any, **__: Any) -> None:
        print(f"gatewise {args.command}: {message}", file=sys.stderr)

    try:
        with stopping_cleanly(), warnings.catch_warnings():
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


def make_parser(command: str | None) -> argparse.ArgumentParser:
    """The parser of all commands, with the options of that one only."""
    parser = argparse.ArgumentParser(
        prog="gatewise",
        description="Learn logic circuits from tables and run them at nanoseconds per row.",
        epilog="Each command has options and examples of its own: gatewise train --help",
    )
    parser.add_argument("-V", "--version", action="version", version=f"gatewise {__version__}")
    commands = parser.add_subparsers(dest="command", required=True, metavar="command")
    for name, summary in COMMANDS.items():
        added = commands.add_parser(name, help=summary, description=f"{summary[0].upper()}{summary[1:]}.")
        if name == command:
            module = importlib.import_module(f"gatewise.cli.commands.{name}")
            added.formatter_class = argparse.RawDescriptionHelpFormatter
            added.epilog = module.EXAMPLES
            added.set_defaults(run=module.run)
            module.add_arguments(added)
    return parser


@contextmanager
def stopping_cleanly() -> Iterator[None]:
    """Lets SIGTERM and SIGHUP end the program like an exception, so that no temporary file is left behind."""

    def stop(*_: object) -> NoReturn:
        raise SystemExit(TERMINATED)

    changed = []
    if threading.current_thread() is threading.main_thread():
        wanted = [getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)]
        changed = [number for number in wanted if signal.getsignal(number) == signal.SIG_DFL]
    for number in changed:
        signal.signal(number, stop)
    try:
        yield
    finally:
        for number in changed:
            signal.signal(number, signal.SIG_DFL)


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
