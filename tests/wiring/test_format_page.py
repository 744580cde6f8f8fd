"""The values that `docs/format.md` gives to test another implementation against are the ones that the wirings give."""

import re
from pathlib import Path

import pytest

from gatewise.wiring import WIRINGS, NearbyWiring, Wiring

PAGE = Path(__file__).parents[2] / "docs" / "format.md"
ROWS = [line.strip("| \n").split(" | ") for line in PAGE.read_text().splitlines() if re.search(r"( \d+){5} \|$", line)]
NEARBY = NearbyWiring((1, 4, 4), 1, reach=(2, 3), margin=1)


def test_the_page_has_values_of_every_wiring() -> None:
    assert [row[0].strip("`").split(",")[0] for row in ROWS] == [
        *["random"] * 2, *["unique"] * 2, *["local"] * 2, "nearby", "the same"
    ]  # fmt: skip


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row[0]}-{row[2]}")
def test_values(row: list[str]) -> None:
    name, seed, layer, n, m, a, b = row
    wiring: Wiring = WIRINGS.get(name.strip("`"), NEARBY)
    wires = wiring(int(seed), int(layer), in_features=int(n), out_features=int(m))
    assert [operand.tolist() for operand in wires] == [[int(wire) for wire in side.split()] for side in (a, b)]
