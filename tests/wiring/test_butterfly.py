"""The butterfly wiring: pinned values, a second implementation, distances, files, and misuse."""

import hashlib
from pathlib import Path

import numpy as np
import pytest
from support.wiring_specification import butterfly_as_specified

from gatewise import SeededCircuit, load, save
from gatewise.wiring import ButterflyWiring

WIRINGS = [
    ButterflyWiring((1, 4, 5), 1),
    ButterflyWiring((3, 4, 4), 3),
    ButterflyWiring((1, 1, 1), 1),
    ButterflyWiring((2, 1, 1), 2),
    ButterflyWiring((1, 1, 9), 1),
]


def wire(wiring: ButterflyWiring, seed: int, layer: int, width: int) -> tuple[np.ndarray, np.ndarray]:
    in_features = width if layer else wiring.n_inputs
    return wiring(seed, layer, in_features=in_features, out_features=width)


@pytest.mark.parametrize("wiring", WIRINGS, ids=repr)
@pytest.mark.parametrize("width", [1, 2, 7, 200])
def test_equals_the_specification(wiring: ButterflyWiring, width: int) -> None:
    for layer in range(3):
        a, b = wire(wiring, 2**63 + 11, layer, width)
        assert a.dtype == b.dtype == np.int32
        n = width if layer else wiring.n_inputs
        assert (a.tolist(), b.tolist()) == tuple(butterfly_as_specified(wiring, 2**63 + 11, layer, n, width))


def test_golden_hash() -> None:
    digest = hashlib.sha256()
    for layer in range(3):
        for operand in wire(ButterflyWiring((3, 32, 32), 3), 12345, layer, 12_000):
            digest.update(operand.astype("<i4").tobytes())
    assert digest.hexdigest()[:16] == "8c9d39ef6c948db6"


def test_every_wire_is_read_equally_often_and_no_pixel_twice() -> None:
    wiring = ButterflyWiring((3, 8, 8), 2)
    a, b = wire(wiring, 7, 0, 3 * wiring.n_inputs)
    assert set(np.bincount(np.concatenate([a, b]))) == {6}
    assert (a != b).all()
    a, b = wire(wiring, 7, 0, 20 * wiring.n_inputs)
    assert (a // 2 != b // 2).all()


def test_few_layers_connect_everything() -> None:
    n = 64
    wiring, reached = ButterflyWiring((1, 1, n), 1), np.eye(n, dtype=bool)
    for layer in range(7):
        a, b = wiring(3, layer, in_features=n, out_features=n)
        reached = reached[a] | reached[b]
    assert reached.all(axis=1).mean() > 0.5


def test_files_hold_the_geometry(tmp_path: Path) -> None:
    seeded = SeededCircuit(48, [[6] * 40, [1] * 20], 2, seed=9, wiring=ButterflyWiring((3, 4, 4), 1))
    save(tmp_path / "seeded.gw", seeded)
    again = load(tmp_path / "seeded.gw")
    assert again == seeded
    assert again.expand() == seeded.expand()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (((4, 4), 1), "shape must be"),
        (((1, 0, 4), 1), r"shape\[1\] must be an integer in"),
        (((1, 4, 4), 0), "n_thresholds must be an integer in"),
        (((1, 2**10, 2**10), 2), "must make at most 1048576 inputs"),
    ],
)
def test_bad_geometries(arguments: tuple[tuple[int, ...], int], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        ButterflyWiring(*arguments)


def test_the_first_layer_reads_the_image() -> None:
    with pytest.raises(ValueError, match="in_features must be 16"):
        ButterflyWiring((1, 4, 4), 1)(0, 0, in_features=15, out_features=3)
    with pytest.raises(ValueError, match="n_inputs must be 16"):
        SeededCircuit(15, [[1]], 1, seed=0, wiring=ButterflyWiring((1, 4, 4), 1))
