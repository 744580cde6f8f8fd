"""Taps, windows, and circuits whose gates are shared by all positions."""

import numpy as np
import pytest

from gatewise import Circuit, ConvolutionalCircuit, SeededCircuit
from gatewise.run import reference
from gatewise.wiring import NearbyTaps, OrPooling, RandomTaps, SharedTrees, TapCandidates, Taps, Window

SIZES = {"in_channels": 6, "out_channels": 90, "kernel_size": (3, 4)}
TAPS: list[Taps] = [RandomTaps(1), RandomTaps(2), RandomTaps(4), NearbyTaps(1), NearbyTaps(2, 0), NearbyTaps(3, 5)]


@pytest.mark.parametrize("depth", [1, 3, 6])
@pytest.mark.parametrize("taps", TAPS, ids=repr)
def test_no_gate_reads_one_tap_twice_and_channels_are_dealt_evenly(taps: RandomTaps, depth: int) -> None:
    found = taps(7, 1, **SIZES, depth=depth)
    assert found.shape == (2, 90 << depth - 1)
    assert found.dtype == np.int32
    assert not (found[0] == found[1]).any()
    assert found.min() >= 0
    assert found.max() < 6 * 12
    of_tree = (found // 12).reshape(2, 90, -1).transpose(1, 0, 2).reshape(90, -1)
    sets = [set(row) for row in of_tree.tolist()]
    assert max(map(len, sets)) <= taps.channels
    if depth == 6:
        assert {len(each) for each in sets} == {taps.channels}
        reads = np.bincount([channel for each in sets for channel in each], minlength=6)
        assert np.ptp(reads) <= 0.15 * reads.mean()  # 0 if the channels of a tree divide all channels
    np.testing.assert_array_equal(taps(7, 1, **SIZES, depth=depth), found)
    assert (taps(8, 1, **SIZES, depth=depth) != found).any()
    assert (taps(7, 2, **SIZES, depth=depth) != found).any()


def test_trees_read_no_value_twice_before_all() -> None:
    found = RandomTaps(2)(0, 0, **SIZES, depth=4)
    of_tree = found.reshape(2, 90, 8).transpose(1, 0, 2).reshape(90, 16)
    assert all(len(set(row)) == 16 for row in of_tree.tolist())
    every = RandomTaps(1)(0, 0, in_channels=1, out_channels=4, kernel_size=(1, 4), depth=3)
    assert all(
        sorted(row) == [0, 0, 1, 1, 2, 2, 3, 3] for row in every.reshape(2, 4, 4).transpose(1, 0, 2).reshape(4, 8)
    )


def test_near_taps_are_near() -> None:
    for reach in (1, 2):
        a, b = NearbyTaps(3, reach)(0, 0, in_channels=3, out_channels=500, kernel_size=(5, 5), depth=2) % 25
        rows, columns = abs(a // 5 - b // 5), abs(a % 5 - b % 5)
        assert rows.max() == columns.max() == reach
        assert len(np.unique(a)) == 25


def test_candidates_differ_within_an_operand() -> None:
    found = TapCandidates(2, k=24)(3, 0, **SIZES, depth=3)
    assert found.shape == (2, 360, 24)
    assert (np.diff(np.sort(found)) > 0).all()
    of_tree = (found // 12).reshape(2, 90, -1)
    assert all(len(set(row.ravel().tolist())) == 2 for row in of_tree.transpose(1, 0, 2))


def evaluate_stage(stage: SharedTrees | OrPooling, maps: np.ndarray) -> np.ndarray:
    """A stage by the definition: window by window, tree by tree."""
    (rows, columns), stride, padding = stage.window.kernel_size, stage.window.stride, stage.window.padding
    padded = np.pad(maps, ((0, 0), (padding[0],) * 2, (padding[1],) * 2))
    channels, n_down, n_right = stage.shape_after(maps.shape)
    found = np.zeros((channels, n_down, n_right), np.uint8)
    for i in range(n_down):
        for j in range(n_right):
            window = padded[:, i * stride[0] :, j * stride[1] :][:, :rows, :columns]
            found[:, i, j] = window.any((1, 2)) if isinstance(stage, OrPooling) else evaluate_trees(stage, window)
    return found


def evaluate_trees(stage: SharedTrees, window: np.ndarray) -> np.ndarray:
    a, b = window.reshape(-1)[stage.taps]
    for gate in stage.gates:
        y = gate >> (3 - 2 * a - b) & 1
        a, b = y[0::2], y[1::2]
    return y


STAGES: list[list[SharedTrees | OrPooling]] = [
    [],
    [OrPooling(Window(3, stride=2))],
    [OrPooling(Window(2, padding=1)), OrPooling(Window((1, 3), stride=1))],
]


def random_trees(rng: np.random.Generator, n_in: int, n_out: int, depth: int, window: Window) -> SharedTrees:
    taps = rng.integers(0, n_in * window.n_values, (2, n_out << depth - 1))
    return SharedTrees(window, taps, [rng.integers(0, 16, n_out << level) for level in reversed(range(depth))])


@pytest.mark.parametrize("pools", STAGES, ids=len)
@pytest.mark.parametrize(
    "window", [Window(3), Window((2, 3), stride=(2, 1), padding=(1, 2)), Window(5, 3, 4)], ids=repr
)
def test_circuits_compute_what_their_stages_do(window: Window, pools: list[SharedTrees | OrPooling]) -> None:
    rng = np.random.default_rng(0)
    shape, n_thresholds = (2, 7, 6), 2
    stages = [random_trees(rng, 4, 5, 3, window), *pools, random_trees(rng, 5, 3, 1, Window(1))]
    rows = rng.integers(0, 2, (20, 2 * 7 * 6 * 2), dtype=np.uint8)
    maps = rows.reshape(-1, *shape, n_thresholds).transpose(0, 1, 4, 2, 3).reshape(-1, 4, 7, 6)
    expected = []
    for each in maps:
        for stage in stages:
            each = evaluate_stage(stage, each)
        expected.append(each.reshape(-1))
    n_wires = expected[0].size
    dense = SeededCircuit(n_wires, [rng.integers(0, 16, 12)], n_groups=3, seed=0)
    for last in (dense, dense.expand()):
        circuit = ConvolutionalCircuit(shape, n_thresholds, stages, last)
        expanded = circuit.expand()
        assert expanded.n_gates == circuit.n_gates
        counts = reference.count_groups(dense.expand(), np.array(expected).astype(bool))
        np.testing.assert_array_equal(reference.count_groups(expanded, rows.astype(bool)), counts)


TREES = SharedTrees(Window(2), [[0], [3]], [[6]])


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: SharedTrees(Window(2), [[0], [3]], []), "gates must have 1 to 10 levels"),
        (lambda: SharedTrees(Window(2), [[0], [3]], [[6], [6]]), r"gates must be halved .*\[2, 1\], got \[1, 1\]"),
        (lambda: SharedTrees(Window(2), [[0], [3]], [[16]]), r"gates\[0\] must be in 0..15, got 16..16"),
        (lambda: SharedTrees(Window(2), [0, 3], [[6]]), r"taps must be of shape \(2, 1\)"),
        (lambda: SharedTrees(Window(2), [[0.5], [3]], [[6]]), "taps must hold integers"),
        (lambda: SharedTrees(Window(2), [[-1], [3]], [[6]]), "taps must be in 0"),
        (lambda: SharedTrees(Window(1), [[0], [0]], [[6]]).shape_after((1, 3, 3)), "taps must be below 1, two or more"),
        (lambda: ConvolutionalCircuit((1, 1, 3), 1, [TREES], Circuit(1, [], [], [], [], [0])), r"in stages\[0\]"),
        (lambda: ConvolutionalCircuit((1, 3, 3), 1, [TREES], Circuit(5, [], [], [], [], [0])), "must read 4 inputs"),
        (
            lambda: ConvolutionalCircuit((1, 3, 3), 1, [Window(2)], Circuit(5, [], [], [], [], [0])),
            "must be SharedTrees",
        ),
        (lambda: ConvolutionalCircuit((1, 3, 3), 1, [TREES], TREES), "must be a Circuit or a SeededCircuit"),
        (
            lambda: ConvolutionalCircuit(
                (1, 2000, 2000), 1, [SharedTrees(Window(2), np.zeros((2, 2000), int), [[6] * 2000])], None
            ),
            "dense must be",
        ),
    ],
)
def test_misuse_is_named(call: object, message: str) -> None:
    with pytest.raises((TypeError, ValueError), match=message):
        call()  # type: ignore[operator]


def test_everything_is_frozen() -> None:
    circuit = ConvolutionalCircuit((1, 3, 3), 1, [TREES], Circuit(4, [], [], [], [], [0]))
    with pytest.raises(ValueError, match="read-only"):
        TREES.taps[0] = 1
    with pytest.raises(AttributeError):
        circuit.n_thresholds = 2  # type: ignore[misc]
    assert circuit != ConvolutionalCircuit((1, 3, 3), 1, [SharedTrees(Window(2), [[0], [3]], [[7]])], circuit.dense)
