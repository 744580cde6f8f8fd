"""What tests of the command line share: a table with everything that is awkward, a model for it, and calls."""

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
import pytest
from support.corpus import random_layers

from gatewise import Encoder, Model
from gatewise.cli import main
from gatewise.heads import Affine, Classes, Head

N_ROWS = 400
FEATURES = ["age", "work", "is new", "zone"]
GATES = (1, 2, 6, 7, 8, 14)


def make_table() -> pa.Table:
    """Numbers, strings, bools and numbered categories, all with missing values; an id, a class, a value."""
    rng = np.random.default_rng(0)
    age = rng.normal(40, 10, N_ROWS).round(1)
    words = np.array(["private", "with, comma", 'a "quote"', "two\nlines", "été 漢字", " padded "], object)
    columns = {
        "id": [f"{i:05d}" for i in range(N_ROWS)],
        "age": age,
        "work": words[rng.integers(0, len(words), N_ROWS)],
        "is new": rng.random(N_ROWS) < 0.3,
        "zone": rng.integers(1, 6, N_ROWS),
    }
    masked = {name: pa.array(columns[name], mask=rng.random(N_ROWS) < 0.1) for name in FEATURES}
    label = np.where(rng.random(N_ROWS) < 0.9, np.where(age > 40, "old", "young"), "young")
    return pa.table({"id": columns["id"], **masked, "label": label, "value": 2.0 * age + rng.normal(size=N_ROWS)})


def build(encoder: Encoder, head: Head, seed: int = 0) -> Model:
    """A model of random gates."""
    rng = np.random.default_rng(seed)
    n_outputs = head.n_groups * head.group_size
    return Model.build(encoder, random_layers(rng, encoder.n_bits, [90, n_outputs], head.n_groups, gates=GATES), head)


class Folder:
    """A folder with the table as data.csv and data.parquet, and models of random gates."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.table = make_table()
        self.features = self.table.select(FEATURES)
        encoder = Encoder.fit(self.features, categorical=["zone"])
        self.classifier = build(encoder, Classes(("old", "young"), tau=3.0, group_size=20))
        self.regressor = build(encoder, Affine((100.0,), (20.0,), group_size=60))
        self.classifier.save(path / "classes.gw")
        self.regressor.save(path / "values.gw")
        pyarrow.csv.write_csv(self.table, path / "data.csv")
        pyarrow.parquet.write_table(self.table, path / "data.parquet")

    def write(self, name: str, text: str | bytes) -> str:
        """A file of that content."""
        (self.path / name).write_bytes(text if isinstance(text, bytes) else text.encode())
        return name


def read_csv(path: str | Path) -> pa.Table:
    """A CSV file with every cell as it is written."""
    names = Path(path).read_text().splitlines()[0].split(",")
    return pyarrow.csv.read_csv(
        path,
        parse_options=pyarrow.csv.ParseOptions(newlines_in_values=True),
        convert_options=pyarrow.csv.ConvertOptions(column_types=dict.fromkeys(names, pa.string())),
    )


def call_json(capsys: pytest.CaptureFixture[str], *argv: str) -> dict[str, Any]:
    """The JSON object that a command prints, with nothing beside it."""
    capsys.readouterr()
    code = main([*argv, "--json"])
    printed = capsys.readouterr()
    assert code == 0, printed.err
    lines = printed.out.splitlines()
    assert len(lines) == 1
    return json.loads(lines[0], parse_constant=pytest.fail)


def call_fails(capsys: pytest.CaptureFixture[str], *argv: str) -> str:
    """The one line on stderr with which a command refuses."""
    capsys.readouterr()
    assert main(list(argv)) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    lines = printed.err.splitlines()
    assert len(lines) == 1
    assert lines[0].startswith(f"gatewise {argv[0]}: ")
    return lines[0]


def command(*argv: str) -> list[str]:
    """A command to be started as a process."""
    return [sys.executable, "-m", "gatewise", *argv]
