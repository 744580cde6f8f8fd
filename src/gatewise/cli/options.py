"""What the commands share: how they are added, their common options, and how they print."""

import argparse
import json
import os
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

from gatewise.model import Model, load

if TYPE_CHECKING:
    Commands: TypeAlias = argparse._SubParsersAction[argparse.ArgumentParser]
else:
    Commands = Any

Run: TypeAlias = Callable[[argparse.Namespace], int]


@dataclass(frozen=True)
class Dialect:
    """How a CSV file is written: what separates its cells, and what more spells a missing value."""

    delimiter: str = ","
    missing: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if len(self.delimiter) != 1 or not self.delimiter.isascii():
            raise ValueError(f"--delimiter must be one character, got {self.delimiter!r}; a tab is $'\\t' in a shell")

    @classmethod
    def given(cls, args: argparse.Namespace) -> "Dialect":
        """The dialect that the options of `add_reading` say."""
        return cls(args.delimiter, tuple(args.missing))


def new_command(commands: Commands, run: Run, name: str, *, summary: str, text: str) -> argparse.ArgumentParser:
    """A parser for a command; its help ends with `text`, which shows examples."""
    parser = commands.add_parser(
        name,
        help=summary,
        description=summary[0].upper() + summary[1:] + ".",
        epilog=text,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.set_defaults(run=run)
    return parser


def add_reading(parser: argparse.ArgumentParser) -> None:
    """Options that say how CSV files are written."""
    parser.add_argument("--delimiter", default=",", metavar="CHAR", help="what separates the cells of a CSV file: ','")
    parser.add_argument(
        "--missing",
        action="append",
        default=[],
        metavar="TEXT",
        help="one more spelling of a missing value in CSV files, as -999; may be repeated. Empty cells, ?, NA, N/A, "
        "NaN, None and null always are missing. Give the same to train and predict",
    )


def add_json(parser: argparse.ArgumentParser) -> None:
    """The option for output that programs read."""
    parser.add_argument("--json", action="store_true", help="print one JSON object and nothing else")


def add_threads(parser: argparse.ArgumentParser, default: int | None, text: str) -> None:
    """The number of threads."""
    parser.add_argument("--threads", type=int, default=default, metavar="N", help=text)


def split_names(text: str) -> list[str]:
    """Column names from an option, separated by commas."""
    return [name for name in text.split(",") if name]


def usable_cores() -> int:
    """Cores that this process may run on."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def load_model(path: str, threads: int) -> Model:
    """A model from a file; a file that holds a circuit only is refused."""
    content = load(path)
    if not isinstance(content, Model):
        raise ValueError(
            f"{path} must hold a model, got a {type(content).__name__}, which reads bits instead of tables; "
            "use gatewise.Engine, or save a Model"
        )
    return content.with_threads(threads)


def show(report: dict[str, Any], lines: Iterable[str], *, as_json: bool) -> None:
    """Print a report, for programs or, as `lines`, for people."""
    if as_json:
        print(json.dumps(report, allow_nan=False, ensure_ascii=False))
    else:
        print(*lines, sep="\n")
