"""Records: what was measured, one JSON object per line, appended and never changed.

In: what an experiment found. Out: lines of `results.jsonl`, and the latest one of each experiment.
"""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

Record = dict[str, Any]
Records = dict[tuple[str, str], Record]  # by name and recipe

PATH = Path(__file__).parents[1] / "results.jsonl"


def append(record: Record, path: Path = PATH) -> None:
    """Add a line."""
    with open(path, "a") as file:
        file.write(json.dumps(record) + "\n")


def read(path: Path = PATH) -> Iterator[Record]:
    """All records, oldest first."""
    if path.exists():
        yield from map(json.loads, path.read_text().splitlines())


def latest(path: Path = PATH) -> Records:
    """The last record of each name and recipe."""
    return {(record["name"], record["recipe"]): record for record in read(path)}
