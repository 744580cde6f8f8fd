"""The wiring of a seed is part of the file format: pinned values, a second implementation, statistics."""

import hashlib
import warnings

import numpy as np
import pytest
from support.wiring_specification import AS_SPECIFIED, local_as_specified

from gatewise.wiring import WIRINGS, SeededCircuit, local_wiring, random_wiring, unique_wiring, warn_unread

GOLDEN = [
    ((0, 0, 6, 6), [1, 4, 3, 0, 4, 3], [2, 5, 0, 2, 5, 1]),
    ((1, 0, 5, 7), [2, 0, 4, 4, 1, 4, 2], [3, 1, 2, 3, 0, 1, 0]),
    ((1, 1, 5, 7), [1, 4, 2, 1, 0, 4, 0], [3, 0, 3, 2, 4, 2, 3]),
    ((2**64 - 1, 3, 100, 5), [45, 28, 49, 11, 44], [46, 18, 66, 98, 25]),
    ((7, 0, 1, 2), [0, 0], [0, 0]),
    ((7, 0, 2, 3), [1, 1, 1], [0, 0, 0]),
    ((42, 9, 1_000_000, 3), [318204, 559936, 143896], [438894, 187334, 443111]),
    ((42, 9, 1_000_000, 0), [], []),
]
GOLDEN_SHA256 = [
    (8000, 100_000, "f5c1b18517ebb61f6fe672cae7915e3edc333016faad4fa32bc9594a8c42922b"),
    (2**31 - 1, 1000, "658db1354696ecfab7c9e27159ef7f7ce3d9a83536649c12950356816c3cd46f"),
    (17, 30_000, "0ab952ce3fbfde2e4c09bce33e759f47970c5bfd89546eca8a73b79e576a4935"),
]


GOLDEN_OF_WIRING = {
    "random": "fb267fd206261c724638f4514e922c39d85ccc9dc6c920bb1388c33d2e26719c",
    "unique": "e6c6e204554d3b28e604825c96c7b6f38760d0f0bda6559369ff331f86c8b2b1",
    "local": "f84a8429f460069bed4e067f8d7c975c4fbb2df5621cfb1bb83b7be39a57a4eb",
}


def wire(seed, layer, in_features, out_features):
    return random_wiring(seed, layer, in_features=in_features, out_features=out_features)


@pytest.mark.parametrize(("arguments", "a", "b"), GOLDEN)
def test_golden_values(arguments, a, b):
    wires = wire(*arguments)
    assert [pin.dtype for pin in wires] == [np.int32, np.int32]
    assert [pin.tolist() for pin in wires] == [a, b]


@pytest.mark.parametrize(("in_features", "out_features", "sha256"), GOLDEN_SHA256)
def test_golden_hashes(in_features, out_features, sha256):
    a, b = wire(12345, 2, in_features, out_features)
    assert hashlib.sha256(a.astype("<i4").tobytes() + b.astype("<i4").tobytes()).hexdigest() == sha256


@pytest.mark.parametrize(
    ("name", "n"),
    [(name, n) for name in WIRINGS for n in [1, 2, 3, 4, 5, 7, 8, 9, 63, 64, 65, 100, 129, 1001, 12345]]
    + [("random", 2**31 - 1), ("unique", 2**31 - 1), ("unique", 2**31 - 2)],
)
def test_equals_the_specification(name, n):
    for layer in (4, 6):
        a, b = WIRINGS[name](2**63 + 11, layer, in_features=n, out_features=40)
        assert (a.tolist(), b.tolist()) == AS_SPECIFIED[name](2**63 + 11, layer, n, 40)


@pytest.mark.parametrize("name", WIRINGS)
@pytest.mark.parametrize("n", [2, 3, 5, 9, 15, 16, 31, 784, 1000])
@pytest.mark.parametrize("out_features", [0, 1, 2, 499, 500, 2501])
def test_even_and_never_one_wire_twice(name, n, out_features):
    for seed in range(20):
        a, b = WIRINGS[name](seed, 0, in_features=n, out_features=out_features)
        uses = np.bincount(np.concatenate([a, b]), minlength=n)
        assert uses.max() - uses.min() <= 1
        assert not (a == b).any()


@pytest.mark.parametrize(
    ("layer", "n", "out_features"),
    [(0, 5000, 3000), (1, 5000, 3072), (2, 3, 2049), (3, 300, 3500), (4, 100_000, 4096), (5, 2**31 - 1, 2100)],
)
def test_local_blocks_equal_the_specification(layer, n, out_features):
    a, b = local_wiring(7, layer, in_features=n, out_features=out_features)
    assert (a.tolist(), b.tolist()) == local_as_specified(7, layer, n, out_features)


@pytest.mark.parametrize("layer", [0, 1, 2])
@pytest.mark.parametrize("n", [2, 3, 37, 784, 2049, 9217, 95_232])
@pytest.mark.parametrize("out_features", [1023, 1025, 2048, 2049, 3071, 3073, 40_000])
def test_local_blocks_are_even_and_never_read_one_wire_twice(layer, n, out_features):
    a, b = local_wiring(5, layer, in_features=n, out_features=out_features)
    uses = np.bincount(np.concatenate([a, b]), minlength=n)
    assert uses.max() - uses.min() <= 1
    assert not (a == b).any()


@pytest.mark.parametrize(("n", "out_features"), [(50_000, 50_000), (50_000, 30_000), (30_000, 100_000)])
def test_local_gates_read_around_their_own_position(n, out_features):
    for layer in (1, 2):
        a, b = local_wiring(3, layer, in_features=n, out_features=out_features)
        own = np.arange(out_features) * n / out_features
        reach = 3 * 2048 * n / out_features  # the longest block has three halves
        assert max(abs(a - own).max(), abs(b - own).max()) < reach
        assert max(abs(a - own).max(), abs(b - own).max()) > reach / 4


def test_local_layers_mix_neighboring_blocks():
    width, wires = 40_000, np.arange(40_000)
    reach = (wires == 0)[None, :]  # which gates depend on wire 0 of the layer before the first
    for layer in range(1, 7):
        a, b = local_wiring(1, layer, in_features=width, out_features=width)
        reach = np.vstack([reach, reach[-1][a] | reach[-1][b]])
    last = [int(np.flatnonzero(row).max(initial=0)) for row in reach]
    assert last[1] < 2048 < last[3] < last[6]
    assert reach[6].sum() > 20


def test_local_first_layer_reads_inputs_from_everywhere():
    n = 95_232
    a, b = local_wiring(1, 0, in_features=n, out_features=256_000)
    pool = np.unique(np.concatenate([a[:2048], b[:2048]]))
    assert 700 < len(pool) < 800  # 4,096 pins that read each wire about 5.4 times
    counts = np.bincount(pool * 16 // n, minlength=16)
    assert abs(excess(counts, len(pool) / 16, 15)) < 4


@pytest.mark.parametrize("n", [784, 9216])
def test_local_blocks_draw_from_many_inputs_in_wide_layers(n):
    a, b = local_wiring(1, 0, in_features=n, out_features=256_000)
    assert len(np.unique(np.concatenate([a[:2048], b[:2048]]))) >= min(n, 800)


@pytest.mark.parametrize("n", [2, 3, 4, 5, 6, 7, 9, 12, 15])
def test_unique_pairs_and_wires_are_even_at_every_width(n):
    n_pairs = n * (n - 1) // 2
    a, b = unique_wiring(11, 2, in_features=n, out_features=3 * n_pairs)
    pair = np.minimum(a, b).astype(np.int64) * n + np.maximum(a, b)
    for end in range(3 * n_pairs + 1):
        counts = np.unique(pair[:end], return_counts=True)[1]
        assert len(counts) == min(end, n_pairs)
        assert counts.max(initial=0) - (counts.min() if end >= n_pairs else 0) <= 1
        uses = np.bincount(np.concatenate([a[:end], b[:end]]), minlength=n)
        assert uses.max() - uses.min() <= 1


@pytest.mark.parametrize("n", [1000, 9217, 100_001])
def test_unique_pairs_in_wide_layers(n):
    a, b = unique_wiring(5, 0, in_features=n, out_features=256_000)
    assert len(np.unique(np.minimum(a, b).astype(np.int64) * n + np.maximum(a, b))) == 256_000


def test_unique_pairs_differ_between_seeds_and_rounds():
    n = 1000
    a, b = unique_wiring(1, 0, in_features=n, out_features=2 * n)
    other = unique_wiring(2, 0, in_features=n, out_features=2 * n)[0]
    assert np.mean(a == other) < 0.01
    apart = (b - a) % n
    assert len(np.unique(apart)) > 0.7 * n


@pytest.mark.parametrize("name", WIRINGS)
def test_golden_hashes_of_every_wiring(name):
    digest = hashlib.sha256()
    for layer, n, out_features in [(0, 9216, 20_000), (1, 20_000, 12_345), (2, 12_345, 7), (6, 7, 100)]:
        for operand in WIRINGS[name](2**64 - 1, layer, in_features=n, out_features=out_features):
            digest.update(operand.astype("<i4").tobytes())
    assert digest.hexdigest() == GOLDEN_OF_WIRING[name]


def test_warns_of_unread_inputs():
    with pytest.warns(UserWarning, match="3 gates read at most 6 of 10 inputs: 4 inputs are not read"):
        warn_unread(10, 3)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warn_unread(10, 5)
        SeededCircuit(10, gates=[[6]], n_groups=1, seed=0).expand()


def test_narrow_layer_is_a_prefix():
    wide, narrow = wire(3, 1, 5, 50_000), wire(3, 1, 5, 777)
    for full, part in zip(wide, narrow, strict=True):
        np.testing.assert_array_equal(full[:777], part)


def test_seeds_and_layers_are_independent():
    n, wirings = 1000, [wire(seed, layer, 1000, 1000)[0] for seed in range(10) for layer in range(10)]
    equal = [np.mean(x == y) * n for i, x in enumerate(wirings) for y in wirings[:i]]
    assert np.mean(equal) == pytest.approx(1, abs=0.1)  # two random wirings agree in one place of n
    assert max(equal) < 12


def excess(counts, expected, freedom):
    """Chi-square as standard deviations above what chance gives."""
    return (((counts - expected) ** 2 / expected).sum() - freedom) / np.sqrt(2 * freedom)


@pytest.mark.parametrize("n", [8, 13, 16, 32, 64, 100, 300])
def test_pairs_are_uniform(n):
    n_pairs = 20 * n * n
    a, b = wire(9, 0, n, n_pairs)
    counts = np.bincount(a.astype(np.int64) * n + b, minlength=n * n).reshape(n, n)
    off_diagonal = counts[~np.eye(n, dtype=bool)]
    assert abs(excess(off_diagonal, n_pairs / (n * (n - 1)), n * (n - 1) - 1)) < 4


@pytest.mark.parametrize("n", [5, 12, 64, 200, 1000])
def test_positions_are_uniform(n):
    n_deals = 200
    a, b = wire(10, 3, n, n_deals * n // 2)
    deals = np.stack([a, b], axis=1).reshape(n_deals, n)
    counts = np.array([np.bincount(deals[:, position], minlength=n) for position in range(n)])
    assert abs(excess(counts, n_deals / n, (n - 1) ** 2)) < 4


def test_small_permutations_are_uniform():
    n_deals = 120 * 400
    a, b = wire(5, 0, 5, n_deals * 5 // 2)
    deals = np.stack([a, b], axis=1).reshape(n_deals, 5)
    counts = np.unique(deals, axis=0, return_counts=True)[1]
    assert len(counts) == 120
    assert abs(excess(counts, 400, 119)) < 4


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((-1, 0, 4, 4), "seed must be an integer in 0..18446744073709551615, got -1"),
        ((2**64, 0, 4, 4), "seed must be"),
        ((1.0, 0, 4, 4), "seed must be"),
        ((True, 0, 4, 4), "seed must be"),
        ((0, -1, 4, 4), "layer must be"),
        ((0, 0, 0, 4), "in_features must be"),
        ((0, 0, 4, -1), "out_features must be"),
    ],
)
def test_bad_arguments(arguments, message):
    with pytest.raises(ValueError, match=message):
        wire(*arguments)
