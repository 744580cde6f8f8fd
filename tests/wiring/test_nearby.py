"""The wiring of images: pinned values, a second implementation, and that gates read what is near."""

import hashlib

import numpy as np
import pytest
from support.wiring_specification import nearby_as_specified

from gatewise.wiring import NearbyWiring, unique_wiring
from gatewise.wiring.nearby import PIXEL

WIRING = NearbyWiring((2, 12, 12), 3, reach=(4, 6), margin=2)
WIDTH = 600


def wire(wiring: NearbyWiring, seed: int, layer: int, width: int) -> tuple[np.ndarray, np.ndarray]:
    in_features = width if layer else wiring.n_inputs
    return wiring(seed, layer, in_features=in_features, out_features=width)


@pytest.mark.parametrize(
    "wiring",
    [
        WIRING,
        NearbyWiring((1, 4, 5), 1, reach=(2, 3, 1), margin=1),
        NearbyWiring((1, 1, 1), 1, reach=(1, 9)),
        NearbyWiring((1, 1, 2), 1, reach=(1,)),
        NearbyWiring((3, 3, 3), 1, reach=(1, 2), margin=1),
        NearbyWiring((1, 3, 7), 2, reach=(100, 100)),
    ],
    ids=repr,
)
@pytest.mark.parametrize("width", [0, 1, 2, 7, 300])
def test_equals_the_specification(wiring: NearbyWiring, width: int) -> None:
    for layer in range(len(wiring.reach) + 1):
        if width or not layer:
            a, b = wire(wiring, 2**63 + 11, layer, width)
            assert a.dtype == b.dtype == np.int32
            n = width if layer else wiring.n_inputs
            assert (a.tolist(), b.tolist()) == tuple(nearby_as_specified(wiring, 2**63 + 11, layer, n, width))


def test_golden_hash() -> None:
    digest = hashlib.sha256()
    for wiring, width in ((WIRING, WIDTH), (NearbyWiring((1, 28, 28), 1, reach=(5, 8), margin=4), 8000)):
        for layer in range(3):
            for operand in wire(wiring, 12345, layer, width):
                digest.update(operand.astype("<i4").tobytes())
    assert digest.hexdigest() == "8803c4cd3d3d0a5d8a128ae61c65b9b1b52d291c10f9ff0e6f731dd5a66b17f7"


@pytest.mark.parametrize("layer", [0, 1])
def test_nearby_wires_are_paired(layer: int) -> None:
    a, b = wire(WIRING, 7, layer, WIDTH)
    assert len(a) == len(b) == WIDTH
    assert (a < b).all()
    assert len(set(zip(a.tolist(), b.tolist(), strict=True))) == WIDTH
    uses = np.bincount(np.concatenate([a, b]))
    assert uses.max() <= 2 * WIDTH / np.count_nonzero(uses) + 3
    places = {}
    if layer == 0:
        inputs = np.arange(WIRING.n_inputs).reshape(2, 12, 12, 3)[:, 2:-2, 2:-2].reshape(-1)
        places = dict(zip(inputs.tolist(), WIRING.place(7, 0, WIRING.n_inputs), strict=True))
        assert set(a.tolist()) | set(b.tolist()) == set(inputs.tolist())  # nothing in the margin is read
    else:
        places = dict(enumerate(WIRING.place(7, 1, WIDTH)))
    distance = [np.abs(places[x] - places[y]).max() for x, y in zip(a.tolist(), b.tolist(), strict=True)]
    assert np.mean(np.array(distance) < WIRING.reach[layer] * PIXEL) > 0.9  # but for the odd wires of squares


def test_gates_lie_halfway_between_what_they_read() -> None:
    a, b = wire(WIRING, 7, 0, WIDTH)
    row, column = (np.stack([a, b]) // 3 // 12 % 12, np.stack([a, b]) // 3 % 12)
    halfway = np.stack([row.sum(axis=0), column.sum(axis=0)], axis=1) * PIXEL // 2
    np.testing.assert_array_equal(WIRING.place(7, 1, WIDTH), halfway)


def test_seeds_and_layers_differ() -> None:
    first = [wire(WIRING, seed, layer, WIDTH)[0] for seed in (7, 8) for layer in (0, 1)]
    for i, x in enumerate(first):
        assert all(np.mean(x == y) < 0.05 for y in first[:i])


def test_pairs_are_read_again_when_there_are_no_others() -> None:
    a, b = wire(NearbyWiring((1, 2, 2), 1, reach=(500,)), 0, 0, 6 * 5000)
    pairs, counts = np.unique(np.stack([a, b]), axis=1, return_counts=True)
    assert pairs.T.tolist() == [[0, 1], [0, 2], [0, 3], [1, 2], [1, 3], [2, 3]]
    assert counts.min() > 4000


def test_later_layers_are_wired_everywhere() -> None:
    wiring = NearbyWiring((1, 12, 12), 1, reach=(4,))
    expected = unique_wiring(0, 1, in_features=400, out_features=400)
    np.testing.assert_array_equal(wiring(0, 1, in_features=400, out_features=400), expected)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"shape": (12, 12)}, r"shape must be \(channels, rows, columns\), got \(12, 12\)"),
        ({"shape": 12}, r"shape must be \(channels, rows, columns\), got 12"),
        ({"shape": (1, 0, 12)}, r"shape\[1\] must be an integer in 1\.\.1048576, got 0"),
        ({"shape": (3, 1024, 1024)}, "shape and n_thresholds must make at most 1048576 inputs, got 3145728"),
        ({"n_thresholds": 0}, "n_thresholds must be an integer in 1"),
        ({"reach": ()}, r"reach must be a tuple of 1\.\.16 integers, got \(\)"),
        ({"reach": 5}, r"reach must be a tuple of 1\.\.16 integers, got 5"),
        ({"reach": (5.0,)}, r"reach\[0\] must be an integer in 1"),
        ({"margin": 6}, r"margin must be an integer in 0\.\.5, got 6"),
    ],
)
def test_bad_geometries(change: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        NearbyWiring(**({"shape": (1, 12, 12), "n_thresholds": 1, "reach": (4,)} | change))  # type: ignore[arg-type]


def test_the_first_layer_reads_the_image() -> None:
    with pytest.raises(ValueError, match=r"in_features must be 864 for images of NearbyWiring.*, got 863"):
        WIRING(0, 0, in_features=863, out_features=10)
