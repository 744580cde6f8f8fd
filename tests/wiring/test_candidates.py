"""Candidates from a seed: all different, in range, nearby where they should be, the same for ever."""

import hashlib

import numpy as np
import pytest
from support.wiring_specification import candidates_as_specified

from gatewise.wiring import AllInputs, NearbyCandidates, RandomCandidates, SeededCandidates

SHAPES = [(1, 6, 5), (3, 8, 8)]


CASES = [
    (RandomCandidates(1), 1),
    (RandomCandidates(5), 5),
    (RandomCandidates(7), 100),
    (NearbyCandidates((1, 1, 1), 1, radius=0, k=1), 1),
    (NearbyCandidates((2, 6, 5), 3, radius=1, k=11), 180),
    (NearbyCandidates((1, 3, 7), 2, radius=2**20, k=42), 42),
    (AllInputs(), 9),
]


@pytest.mark.parametrize("layer", [0, 1])
@pytest.mark.parametrize(("candidates", "n"), CASES, ids=repr)
def test_equals_the_specification(candidates: SeededCandidates, n: int, layer: int) -> None:
    found = candidates(2**63 + 11, layer, in_features=n, out_features=50)
    assert found.flags.c_contiguous
    assert found.reshape(100, -1).tolist() == candidates_as_specified(candidates, 2**63 + 11, layer, n, 50)


@pytest.mark.parametrize("layer", [0, 1])
@pytest.mark.parametrize(("candidates", "n"), CASES, ids=repr)
def test_what_is_chosen_is_at_its_place(candidates: SeededCandidates, n: int, layer: int) -> None:
    found = candidates(7, layer, in_features=n, out_features=50)
    places = np.random.default_rng(0).integers(0, candidates.count(layer, n), (2, 50)).astype(np.int32)
    chosen = candidates.choose(7, layer, places, in_features=n)
    assert chosen.dtype == np.int32
    assert found.shape[2] == candidates.count(layer, n)
    np.testing.assert_array_equal(chosen, np.take_along_axis(found, places[..., None], axis=2)[..., 0])
    assert candidates.choose(7, layer, places[:, :0], in_features=n).shape == (2, 0)


@pytest.mark.parametrize("draw", [0, 1])
@pytest.mark.parametrize(("in_features", "k"), [(1, 1), (6, 6), (100, 7)])
def test_random_candidates_differ(in_features: int, k: int, draw: int) -> None:
    found = RandomCandidates(k)(5, 2, in_features=in_features, out_features=40, draw=draw)
    assert found.shape == (2, 40, k)
    assert found.dtype == np.int32
    assert found.min() >= 0
    assert found.max() < in_features
    assert all(len(set(pin)) == k for pin in found.reshape(-1, k).tolist())


def test_random_candidates_are_even() -> None:
    found = RandomCandidates(8)(5, 0, in_features=50, out_features=500)
    counts = np.bincount(found.reshape(-1), minlength=50)
    assert counts.min() > 100
    assert counts.max() < 230


@pytest.mark.parametrize("n_thresholds", [1, 3])
@pytest.mark.parametrize("shape", SHAPES)
def test_nearby_candidates_share_a_window(shape: tuple[int, int, int], n_thresholds: int) -> None:
    nearby = NearbyCandidates(shape, n_thresholds, radius=1, k=9)
    draws = [nearby(5, 0, in_features=nearby.n_inputs, out_features=200, draw=draw) for draw in range(3)]
    assert not np.array_equal(draws[0], draws[1])
    found = np.concatenate(draws, axis=2)
    assert found.min() >= 0
    assert found.max() < nearby.n_inputs
    pixel = found // n_thresholds % (shape[1] * shape[2])
    for place in np.divmod(pixel, shape[2]):
        assert (np.ptp(place.transpose(1, 0, 2).reshape(200, -1), axis=1) <= 2).all()
    assert len(np.unique(found)) == nearby.n_inputs
    assert all(len(set(pin)) == 9 for pin in draws[0].reshape(-1, 9).tolist())


def test_later_layers_read_from_everywhere() -> None:
    shape = {"in_features": 30, "out_features": 20}
    nearby = NearbyCandidates((1, 6, 5), 1, radius=2, k=9)
    assert np.array_equal(nearby(5, 1, **shape), RandomCandidates(9)(5, 1, **shape))
    assert nearby(5, 1, in_features=4, out_features=2).shape == (2, 2, 4)


def test_all_inputs() -> None:
    assert (AllInputs()(0, 0, in_features=4, out_features=3) == np.arange(4)).all()


def test_candidates_stay_the_same_for_ever() -> None:
    parts = [
        RandomCandidates(5)(7, 1, in_features=33, out_features=50, draw=2),
        NearbyCandidates((2, 7, 9), 3, radius=2, k=11)(7, 0, in_features=378, out_features=50, draw=1),
    ]
    digest = hashlib.sha256(b"".join(part.astype("<i4").tobytes() for part in parts)).hexdigest()
    assert digest[:16] == "902c9c4383341301"
