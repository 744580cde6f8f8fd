"""Files of the first version of the format: they load forever, and their bytes are still the ones that are written.

`version_1.json` holds the files themselves, one of every kind, as text. Kinds may be added, but what is there stays.
"""

import base64
import json
from pathlib import Path

import numpy as np
import pytest

from gatewise import Circuit, Encoder, Model, SeededCircuit, load, save
from gatewise.encode import Categorical, Numeric
from gatewise.heads import Affine, Classes, Logit
from gatewise.wiring import (
    AllInputs,
    LearnedWiring,
    NearbyCandidates,
    NearbyWiring,
    RandomCandidates,
    SeededCandidates,
)

FILES = json.loads((Path(__file__).parent / "version_1.json").read_text())


def make_gates(widths: tuple[int, ...]) -> list[np.ndarray]:
    """Gate ids by a formula, so that they are the same with every numpy."""
    return [(7 * np.arange(width) ** 2 + 3 * width) % 16 for width in widths]


def make_contents() -> dict[str, Circuit | SeededCircuit | Model]:
    """What the files hold, by their names."""
    mixed = Encoder(
        [
            Numeric("age", [17.5, 37.5, 1e300], True),
            Categorical("work", ("state", "é", 3, 2.5, True), True),
            Numeric("nothing", []),
            Categorical("single", ("yes",)),
        ],
        named=True,
    )
    circuit = SeededCircuit(mixed.n_bits, gates=make_gates((20, 8)), n_groups=2, seed=3).expand()
    image = Encoder.images((2, 5, 5), 3)
    seeded = SeededCircuit(image.n_bits, gates=make_gates((140, 12)), n_groups=3, seed=2**64 - 2, wiring="unique")
    constant = Circuit(0, [], [], [], [1], [0, 1])
    contents: dict[str, Circuit | SeededCircuit | Model] = {
        "circuit": Circuit(3, [6, 1, 14], [2, 2, 5], [3, 4, 6], [7, 5, 0, 1, 3], [0, 2, 2, 5]),
        "circuit-empty": Circuit(0, [], [], [], [], [0]),
        "circuit-wide": seeded.expand(),
        "model-classes": Model(mixed, circuit, Classes(("no", 7), 2.5, 4)),
        "model-labels": Model(image, seeded.expand(), Classes((False, 1.5, "é"), 0.1, 4)),
        "model-affine": Model(mixed, circuit, Affine((1.0, 2.0), (0.5, -1e-300), 4)),
        "model-logit": Model(Encoder([Numeric("x0", [])]), constant, Logit((1.0,), (0.0,), 1)),
    }
    head = Classes((0, 1, 2), 1.0, 100)
    contents["model-seeded"] = Model.build(image, SeededCircuit(150, make_gates((300, 300)), 3, seed=1), head)
    nearby = NearbyWiring((2, 5, 5), 3, reach=(2, 3), margin=1)
    contents["seeded-nearby"] = SeededCircuit(150, make_gates((61, 61, 10)), 5, seed=2**63, wiring=nearby)
    for wiring in ("random", "unique", "local"):
        contents[f"seeded-{wiring}"] = SeededCircuit(31, make_gates((61, 10)), n_groups=5, seed=2**63, wiring=wiring)
    for candidates in (RandomCandidates(9), NearbyCandidates((2, 5, 5), 3, radius=1, k=20), AllInputs()):
        learned = make_learned(candidates, (61, 10))
        contents[f"seeded-{type(candidates).__name__}"] = learned
        contents[f"seeded-{type(candidates).__name__}-cleared"] = learned.clear_unread()
    nearby_learned = make_learned(NearbyCandidates((2, 5, 5), 3, radius=1, k=20), (300, 300))
    contents["model-learned"] = Model.build(image, nearby_learned, Classes(tuple("abcde"), 1.0, 60))
    return contents


def make_learned(candidates: SeededCandidates, widths: tuple[int, ...]) -> SeededCircuit:
    """Choices by a formula, too."""
    choices = [
        (5 * np.arange(2 * width).reshape(2, width) ** 2 + layer) % candidates.count(layer, n)
        for layer, (n, width) in enumerate(zip((150, *widths), widths, strict=False))
    ]
    return SeededCircuit(150, make_gates(widths), 5, seed=2**63, wiring=LearnedWiring(candidates, choices))


CONTENTS = make_contents()


@pytest.mark.parametrize("name", CONTENTS)
def test_files_load_and_are_written_as_ever(name: str, tmp_path: Path) -> None:
    data = base64.b64decode(FILES[name])
    (tmp_path / "old.gw").write_bytes(data)
    loaded = load(tmp_path / "old.gw")
    assert type(loaded) is type(CONTENTS[name])
    assert loaded == CONTENTS[name]
    save(tmp_path / "new.gw", CONTENTS[name])
    assert (tmp_path / "new.gw").read_bytes() == data


def test_every_file_is_tried() -> None:
    assert FILES.keys() == CONTENTS.keys()
