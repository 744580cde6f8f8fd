"""Models so small that every row can be looked at, for tests of proofs."""

from collections.abc import Iterator
from itertools import product
from typing import Any

import numpy as np
from support.corpus import random_layers

from gatewise import Encoder, Model
from gatewise.encode import Categorical, Numeric
from gatewise.heads import Affine, Classes

ENCODER = Encoder(
    (
        Numeric("age", [17.5, 37.5, 60.0], missing=True),
        Categorical("job", ("nurse", "smith", "clerk"), missing=True),
        Numeric("gain", [0.0, 100.0]),
        Categorical("member", (True,)),
    ),
    named=True,
)
VALUES: dict[str, list[Any]] = {
    "age": [10, 20, 40, 90, None],
    "job": ["nurse", "smith", "clerk", "pilot", None],
    "gain": [-5, 50, 5000],
    "member": [True, False],
}
"""Values of each cell of each column."""

GIVEN: list[dict[str, Any]] = [
    {},
    {"age": (18, 37)},
    {"job": ["nurse", None], "gain": (None, 100)},
    {"age": [None, 90], "member": True},
]


def make_model(seed: int, *, n_groups: int = 2, values: bool = False, encoder: Encoder = ENCODER) -> Model:
    """A model of random gates, some of whose outputs are several times in their group."""
    rng = np.random.default_rng(seed)
    size = 6
    circuit = random_layers(rng, encoder.n_bits, [14, size * n_groups], n_groups, gates=(1, 2, 4, 6, 7, 8, 14))
    outputs = circuit.outputs.reshape(n_groups, size)[:, rng.integers(0, size, size)]
    repeated = type(circuit)(circuit.n_inputs, circuit.gate, circuit.a, circuit.b, outputs.ravel(), circuit.group_ptr)
    head = (
        Affine((10.0,) * n_groups, (-2.0,) * n_groups, size)
        if values
        else Classes(tuple("abcdef"[:n_groups]), 2.0, size)
    )
    return Model.build(encoder, repeated, head)


def list_rows(given: dict[str, Any] | None = None) -> list[dict[str, Any]]:
    """A row of each cell that fulfils the conditions."""
    return [
        row for row in map(dict, _products()) if all(_holds(row[name], each) for name, each in (given or {}).items())
    ]


def _products() -> Iterator[Iterator[tuple[str, Any]]]:
    for values in product(*VALUES.values()):
        yield zip(VALUES, values, strict=True)


def _holds(value: Any, condition: Any) -> bool:
    if isinstance(condition, tuple):
        low, high = condition
        return value is not None and (low is None or value >= low) and (high is None or value <= high)
    return value in (condition if isinstance(condition, list) else [condition])
