"""Models that exports are tested with: columns of all kinds, named to break code, and all heads."""

from typing import Any

import numpy as np
from support.corpus import random_layers

from gatewise import Encoder, Model
from gatewise.encode import Categorical, Numeric
from gatewise.heads import Affine, Classes, Exponential, Head, Logit

HEADS: dict[str, Head] = {
    "classes": Classes(("no", "ja?", 'a "quote"\\', "été"), tau=0.3, group_size=9),
    "affine": Affine((0.1,), (1e-17,), group_size=30),
    "affine, two outputs": Affine((0.1, 3.7e8), (-5.3, 0.2), group_size=11),
    "logit": Logit((2.3,), (0.7,), group_size=21),
    "exponential": Exponential((2.3,), (-0.7,), group_size=21),
}
LARGE = np.unique(np.round(np.random.default_rng(0).normal(0, 50, 40), 3))
WORDS = ("model_3", "private", "*/ ??/", "été", 'a "quote"\\', "two\nlines")


def make_encoder() -> Encoder:
    """Columns of all kinds, named to break comments and identifiers."""
    thresholds = [-np.inf, -1e300, -1.5, 0.0, 5e-324, 0.1, 16777217.0, 1.7976931348623157e308]
    columns = (
        Numeric("*/ int", np.array(thresholds), missing=True),
        Numeric("while", LARGE),
        Numeric("WHILE", np.empty(0)),
        Categorical("漢字", WORDS, missing=True),
        Categorical("a|b`", (1, 2.5, 3, -7, 1e9), missing=True),
        Categorical("mixed", (1, "one"), missing=False),
        Numeric("model_year", np.array([0.5, 7.0])),
    )
    return Encoder(columns, named=True)


def make_whole_encoder() -> Encoder:
    """Columns that rows of integers can be asked about."""
    columns = (
        Numeric("x", np.array([0.0, 0.5, 100.0, 254.5, 1e9]), missing=True),
        Categorical("word", WORDS, missing=True),
        Categorical("number", (0, 3, 255), missing=False),
    )
    return Encoder(columns, named=True)


def make_model(encoder: Encoder, head: Head) -> Model:
    rng = np.random.default_rng(1)
    n_outputs = head.n_groups * head.group_size
    circuit = random_layers(rng, encoder.n_bits, [300, 200, n_outputs], head.n_groups, gates=(1, 2, 6, 7, 8, 9, 14))
    return Model(encoder, circuit, head)


def make_rows(n_rows: int = 300) -> list[list[Any]]:
    """Rows for `make_encoder`, with everything that is special."""
    rng = np.random.default_rng(2)
    special = [np.nan, np.inf, -np.inf, -0.0, 0.0, 5e-324, 0.1, np.nextafter(0.1, 1), 16777216.0, 16777217.0, -2.0]
    words = [*WORDS, "other", "", "priv", None]
    numbers = [1, 2.5, 3, -7, 1e9, 0, np.nan, np.inf]
    pick = lambda values: values[rng.integers(len(values))]  # noqa: E731
    return [
        [pick(special), rng.choice(LARGE) + rng.choice([-1e-9, 0, 1e-9]), 1.0, pick(words), pick(numbers),
         pick([1, "one", "1", 2]), pick([0.5, 0.6, 7.0, 8.0, np.nan])]
        for _ in range(n_rows)
    ]  # fmt: skip


def spoil_vectors(package: dict[str, bytes], matrix: str) -> dict[str, bytes]:
    """The package with another first row of a matrix in vectors.txt: its bits flipped, or its numbers changed."""
    lines = package["vectors.txt"].decode().splitlines()
    at = next(i for i, line in enumerate(lines) if line.split()[0] == matrix) + 1
    changed = [str(1 - int(bit)) if matrix == "bits" else "77" for bit in lines[at].split()]
    lines[at] = " ".join(changed)
    return package | {"vectors.txt": "\n".join([*lines, ""]).encode()}
