"""The values that `docs/format.md` gives to test another implementation against are those of the code."""

import re
from pathlib import Path

import pytest

from gatewise.wiring import (
    WIRINGS,
    ButterflyWiring,
    Candidates,
    NearbyCandidates,
    NearbyWiring,
    RandomCandidates,
    Wiring,
)

PAGE = Path(__file__).parents[2] / "docs" / "format.md"
ROWS = [line.strip("| \n").split(" | ") for line in PAGE.read_text().splitlines() if re.search(r"( \d+){5} \|$", line)]
IMAGES = {"nearby": NearbyWiring((1, 4, 4), 1, reach=(2, 3), margin=1), "butterfly": ButterflyWiring((1, 4, 4), 1)}
NAMES = [row[0].strip("`").partition(",")[0] for row in ROWS]
CHOICES = [
    line.strip("| \n").split(" | ") for line in PAGE.read_text().splitlines() if re.search(r"\d, (\d+ )+\|$", line)
]
NEARBY = NearbyCandidates((1, 4, 4), 1, radius=1, k=3)


def test_the_page_has_values_of_every_wiring() -> None:
    assert [
        *["random"] * 2, *["unique"] * 2, *["local"] * 2, "nearby", "the same", "butterfly", "the same"
    ] == NAMES  # fmt: skip


@pytest.mark.parametrize("i", range(len(ROWS)), ids=lambda i: f"{NAMES[i]}-{i}")
def test_values(i: int) -> None:
    _, seed, layer, n, m, a, b = ROWS[i]
    name = NAMES[i - 1] if NAMES[i] == "the same" else NAMES[i]
    wiring: Wiring = (WIRINGS | IMAGES)[name]
    wires = wiring(int(seed), int(layer), in_features=int(n), out_features=int(m))
    assert [operand.tolist() for operand in wires] == [[int(wire) for wire in side.split()] for side in (a, b)]


def test_the_page_has_values_of_all_candidates() -> None:
    assert [row[0].partition(",")[0] for row in CHOICES] == ["`random`", "`random`", "nearby", "the same"]


@pytest.mark.parametrize("i", range(len(CHOICES)))
def test_candidates(i: int) -> None:
    name, seed, layer, n, *pins = CHOICES[i]
    candidates: Candidates = RandomCandidates(3) if name == "`random`" else NEARBY
    found = candidates(int(seed), int(layer), in_features=int(n), out_features=2)
    assert found.tolist() == [[[int(wire) for wire in gate.split()] for gate in pin.split(", ")] for pin in pins]
