"""What the commands share: how they are added, their common options, and how they print."""

import argparse
import json
import os
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from gatewise.model import Model
from gatewise.store import load


@dataclass(frozen=True)
class Dialect:
    """How a CSV file is written: what separates its cells, and which further words stand for a missing value."""

    delimiter: str = ","
    missing: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if len(self.delimiter) != 1 or not self.delimiter.isascii():
            raise ValueError(f"--delimiter must be one character, got {self.delimiter!r}; a tab is $'\\t' in a shell")

    @classmethod
    def given(cls, args: argparse.Namespace) -> "Dialect":
        """The dialect that the options of `add_reading` say."""
        return cls(args.delimiter, tuple(args.missing))


def add_reading(parser: argparse.ArgumentParser) -> None:
    """Add the options that say how CSV files are written."""
    parser.add_argument(
        "--delimiter", default=",", metavar="CHAR", help="what separates the cells of a CSV file (default: a comma)"
    )
    parser.add_argument(
        "--missing",
        action="append",
        default=[],
        metavar="TEXT",
        help="one more spelling of a missing value in CSV files, for instance -999; may be repeated. Empty cells, ?, "
        "NA, N/A, NaN, None and null are always missing values. Give the same spellings to train and to predict",
    )


def add_json(parser: argparse.ArgumentParser) -> None:
    """Add the option for output that programs read."""
    parser.add_argument("--json", action="store_true", help="print one JSON object and nothing else")


def add_threads(parser: argparse.ArgumentParser, default: int | None, text: str) -> None:
    """Add the option for the number of threads."""
    parser.add_argument("--threads", type=int, default=default, metavar="N", help=text)


def split_names(text: str) -> list[str]:
    """Column names from an option, separated by commas."""
    return [name for name in text.split(",") if name]


def usable_cores() -> int:
    """Cores that this process may run on."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def load_model(path: str, threads: int) -> Model:
    """Load a model; a file that holds only a circuit is refused."""
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


def count(n: int, noun: str) -> str:
    """A number with its noun.

    Examples
    --------
    >>> count(1, "row"), count(1200, "row"), count(0, "class")
    ('1 row', '1,200 rows', '0 classes')
    """
    return f"{n:,} {noun}" if n == 1 else f"{n:,} {noun}{'es' if noun.endswith('s') else 's'}"
