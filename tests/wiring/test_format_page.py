"""The values that `docs/format.md` gives to test another implementation against are the ones that the wirings give."""

import re
from pathlib import Path

import pytest

from gatewise.wiring import WIRINGS, ButterflyWiring, NearbyWiring, Wiring

PAGE = Path(__file__).parents[2] / "docs" / "format.md"
ROWS = [line.strip("| \n").split(" | ") for line in PAGE.read_text().splitlines() if re.search(r"( \d+){5} \|$", line)]
IMAGES = {"nearby": NearbyWiring((1, 4, 4), 1, reach=(2, 3), margin=1), "butterfly": ButterflyWiring((1, 4, 4), 1)}
NAMES = [row[0].strip("`").partition(",")[0] for row in ROWS]


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
