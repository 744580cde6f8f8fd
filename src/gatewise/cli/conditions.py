"""Conditions on rows as words of a command line, and rows of files as `gatewise.verify` takes them.

In: a model; texts such as ``age=18..25`` and ``job=nurse|smith``; a file. Out: conditions, labels and rows for
`gatewise.verify`.
"""

import argparse
import datetime
from collections.abc import Sequence
from difflib import get_close_matches
from typing import Any

from gatewise.cli.options import Dialect
from gatewise.encode import Categorical, Encoder
from gatewise.encode.columns import Column
from gatewise.encode.timed import Timed
from gatewise.encode.times import DURATION
from gatewise.heads import Classes
from gatewise.model import Model

GIVEN_HELP = (
    "a condition on all rows: COLUMN=LOW..HIGH, either of which may be left out, COLUMN=VALUE, COLUMN=VALUE|VALUE, or "
    "COLUMN= for a missing value; dates as 2026-01-31, durations in seconds; may be repeated"
)
UNDECIDED = 3
EXIT_CODES = {"proved": 0, "refuted": 1, "undecided": UNDECIDED}


def add_given(parser: argparse.ArgumentParser) -> None:
    """Add the option for conditions."""
    parser.add_argument("--given", action="append", default=[], metavar="CONDITION", help=GIVEN_HELP)


def add_limit(parser: argparse.ArgumentParser, what: str) -> None:
    """Add the option for the time limit."""
    parser.add_argument("--limit", type=float, default=60.0, metavar="S", help=f"seconds for {what} (default: 60)")


def parse_given(encoder: Encoder, texts: Sequence[str]) -> dict[str, Any]:
    """Conditions by name of the column.

    Examples
    --------
    >>> encoder = Encoder.fit([{"age": 39, "job": "nurse"}, {"age": 50, "job": "smith"}, {"age": 60, "job": "clerk"}])
    >>> parse_given(encoder, ["age=18..", "job=nurse|clerk"])
    {'age': (18.0, None), 'job': ['nurse', 'clerk']}
    """
    given: dict[str, Any] = {}
    for text in texts:
        name, value = split_name(encoder, text)
        column = next(each for each in encoder.columns if each.table_name == name)
        low, dots, high = value.partition("..")
        if dots and not isinstance(column, Categorical):
            given[name] = (parse_value(column, low), parse_value(column, high))
        else:
            given[name] = [parse_value(column, each) for each in value.split("|")]
    return given


def parse_within(encoder: Encoder, texts: Sequence[str]) -> dict[str, float | None]:
    """How far columns may go: COLUMN=AMOUNT, or COLUMN=any.

    Examples
    --------
    >>> parse_within(Encoder.fit([[1.0, 2.0], [2.0, 3.0]]), ["x0=0.5", "x1=any"])
    {'x0': 0.5, 'x1': None}
    """
    pairs = [split_name(encoder, text) for text in texts]
    return {name: None if value == "any" else _as_number(f"{name}={value}", value) for name, value in pairs}


def split_name(encoder: Encoder, text: str) -> tuple[str, str]:
    """The column and the value of a text such as ``age=3``; names may hold = themselves."""
    names = [name for name in encoder.table_names if text.startswith(f"{name}=")]
    if not names:
        near = ", ".join(map(repr, get_close_matches(text.partition("=")[0], encoder.table_names)))
        near = near or repr(encoder.table_names)
        raise ValueError(f"a condition must begin with a column and =, got {text!r:.80}; see {near:.300}")
    name = max(names, key=len)
    return name, text[len(name) + 1 :]


def parse_value(column: Column, text: str) -> Any:
    """A value of a column, None if it is missing."""
    if text == "":
        return None
    if isinstance(column, Categorical):
        known = {str(value): value for value in column.values}
        if text in known or not column.of_numbers:
            return known.get(text, text)
        if all(isinstance(value, bool) for value in column.values) and text in ("True", "False"):
            return text == "True"
    if isinstance(column, Timed):
        return _as_moment(column, text)
    return _as_number(f"{column.name}={text}", text)


def _as_moment(column: Timed, text: str) -> datetime.datetime | datetime.timedelta:
    if column.part == DURATION:
        return datetime.timedelta(seconds=_as_number(f"{column.source}={text}", text) or 0.0)
    try:
        return datetime.datetime.fromisoformat(text)
    except ValueError:
        raise ValueError(
            f"a value of {column.source!r:.60} must be a date such as 2026-01-31 or 2026-01-31T12:30, got {text!r:.60}"
        ) from None


def parse_label(model: Model, text: str) -> Any:
    """The class that a text names."""
    labels = model.head.labels if isinstance(model.head, Classes) else ()
    for label in labels:
        if str(label) == text:
            return label
    raise ValueError(f"a class must be one of {', '.join(map(str, labels))}, got {text!r:.60}")


def read_rows(model: Model, source: str, dialect: Dialect, first: int, n: int) -> list[dict[str, Any]]:
    """Rows of a file, from number `first` on, which starts at 1."""
    from gatewise.cli.asking import feature_types, find_features
    from gatewise.cli.tables.reading import open_table
    from gatewise.verify.robustness import list_rows
    from gatewise.verify.space import Space

    if n < 1:
        raise ValueError(f"--rows must be at least 1, got {n}")
    space = Space([model.encoder])
    rows: list[dict[str, Any]] = []
    n_seen = 0
    with open_table(source, dialect) as table:
        names = find_features(model.encoder, table, [])
        for block in table.blocks(feature_types(model.encoder, names)):
            start = max(0, first - 1 - n_seen)
            part = block.select(names).slice(start, n - len(rows))
            rows += list_rows(space, part) if part.num_rows else []
            n_seen += block.num_rows
            if len(rows) == n:
                break
    if not rows:
        raise ValueError(f"{source} must have a row number {first}, got {n_seen} rows")
    return rows


def _as_number(text: str, number: str) -> float | None:
    """A number, None if the text is empty."""
    try:
        return float(number) if number else None
    except ValueError:
        raise ValueError(f"a condition on numbers must hold numbers, got {text!r:.80}") from None
