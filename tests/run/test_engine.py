"""The engine as it is set up in every way, against the reference evaluator, and its answers to bad input."""

import threading

import hypothesis
import numpy as np
import pytest
from hypothesis import strategies as st
from support.corpus import circuits, random_dag, random_layers, random_rows

from gatewise import Circuit, Engine
from gatewise.bits import PackedRows, Planes
from gatewise.machine import TARGETS
from gatewise.run import reference
from gatewise.wiring.seeded import SeededCircuit

CORPUS = circuits()
ROW_COUNTS = (0, 1, 63, 64, 65, 255, 256, 257, 1000)
WIDTHS = (1, 4, 8, 16)


class BandedEngine(Engine):
    """Plans few outputs together, as engines otherwise do for wide circuits only."""

    _band = 5


def assert_equals_reference(engine: Engine, rows: np.ndarray, given: object = None) -> None:
    """All three results for `given` (a layout of `rows`, or `rows` itself) equal the reference's."""
    given = rows if given is None else given
    circuit = engine.circuit
    np.testing.assert_array_equal(engine.outputs(given), reference.evaluate_outputs(circuit, rows), strict=True)
    np.testing.assert_array_equal(engine.counts(given), reference.count_groups(circuit, rows), strict=True)
    if circuit.n_groups:
        np.testing.assert_array_equal(engine.classify(given), reference.classify(circuit, rows), strict=True)


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("name", CORPUS)
def test_every_width_and_batch_size(name: str, target: str) -> None:
    rng = np.random.default_rng(0)
    for n_rows in ROW_COUNTS:
        rows = random_rows(rng, n_rows, CORPUS[name].n_inputs)
        for block_words in WIDTHS:
            assert_equals_reference(Engine(CORPUS[name], target=target, block_words=block_words), rows)


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("name", CORPUS)
def test_bands_do_not_change_results(name: str, target: str) -> None:
    rng = np.random.default_rng(5)
    for n_rows, block_words in zip((1, 64, 257, 1000), WIDTHS, strict=True):
        rows = random_rows(rng, n_rows, CORPUS[name].n_inputs)
        engine = BandedEngine(CORPUS[name], target=target, block_words=block_words)
        assert_equals_reference(engine, rows)
        assert_equals_reference(engine, rows, Planes.pack(rows))


def test_local_circuits_run_in_bands_and_others_in_levels() -> None:
    rng = np.random.default_rng(6)
    gates = [rng.choice([1, 6, 7], 24_000) for _ in range(3)]
    rows = random_rows(rng, 130, 9000)
    n_slots = {}
    for wiring in ("random", "local"):
        circuit = SeededCircuit(9000, gates=gates, n_groups=10, seed=1, wiring=wiring).expand()
        engine = Engine(circuit)
        assert_equals_reference(engine, rows)
        n_slots[wiring] = engine.n_slots
    assert n_slots["local"] < 13_000 < 24_000 < n_slots["random"]


@pytest.mark.parametrize("engine_class", [Engine, BandedEngine])
@pytest.mark.parametrize("target", TARGETS)
@hypothesis.given(data=st.data())
def test_random_circuits(target: str, engine_class: type[Engine], data: st.DataObject) -> None:
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32 - 1)))
    sizes = [data.draw(st.integers(0, limit)) for limit in (40, 200, 60)]
    circuit = random_dag(rng, *sizes)
    rows = random_rows(rng, data.draw(st.integers(0, 300)), circuit.n_inputs)
    assert_equals_reference(engine_class(circuit, target=target), rows)


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("n_inputs", [1, 7, 8, 9, 15, 16, 17, 31, 33, 63, 64, 65, 127, 129, 200, 2049, 4100])
def test_every_layout_and_width(n_inputs: int, target: str) -> None:
    rng = np.random.default_rng(n_inputs)
    circuit = random_layers(rng, n_inputs, [64, 60], 3)
    engine = Engine(circuit, target=target)
    for n_rows in (1, 64, 130):
        rows = random_rows(rng, n_rows, n_inputs)
        wide = np.zeros((2 * n_rows, 3 * n_inputs), bool)
        wide[::2, ::3] = rows
        layouts = {
            "uint8": rows.astype(np.uint8),
            "columns first": np.asfortranarray(rows),
            "strided": wide[::2, ::3],
            "reversed": rows[::-1, ::-1].copy()[::-1, ::-1],
            "packed": PackedRows(np.packbits(rows, axis=1), n_inputs),
            "packed little": PackedRows(np.packbits(rows, axis=1, bitorder="little"), n_inputs, "little"),
            "packed columns first": PackedRows(np.asfortranarray(np.packbits(rows, axis=1)), n_inputs),
            "planes": Planes.pack(rows),
        }
        for given in layouts.values():
            assert_equals_reference(engine, rows, given)


@pytest.mark.parametrize("target", TARGETS)
def test_wide_packed_rows_in_blocks_that_are_not_full(target: str) -> None:
    n_inputs = 6000  # more than are packed in one pass, of any number of words
    rng = np.random.default_rng(3)
    rows = random_rows(rng, 64 * 16, n_inputs)
    circuit = Circuit(n_inputs, gate=[], a=[], b=[], outputs=np.arange(n_inputs) + 2, group_ptr=[0, n_inputs])
    engine = Engine(circuit, target=target, block_words=16)
    for n_words in range(1, 17):
        some = rows[: 64 * n_words]
        for order in ("big", "little"):
            given = PackedRows(np.packbits(some, axis=1, bitorder=order), n_inputs, order)
            np.testing.assert_array_equal(engine.outputs(given), some)


def test_bits_past_the_last_row_are_ignored() -> None:
    rng = np.random.default_rng(1)
    rows = random_rows(rng, 70, 12)
    words = Planes.pack(rows).words.copy()
    words[:, -1] |= np.uint64(0xFFFF_FFFF_FFFF_FFC0)
    assert_equals_reference(Engine(random_layers(rng, 12, [20], 2)), rows, Planes(words, 70))


def test_many_slots_use_wide_code() -> None:
    rng = np.random.default_rng(2)
    circuit = random_layers(rng, 70_000, [70_000], 7)
    rows = random_rows(rng, 65, circuit.n_inputs)
    expected = reference.count_groups(circuit, rows)
    for target in TARGETS:
        engine = Engine(circuit, target=target)
        assert engine.n_slots > 65_536
        np.testing.assert_array_equal(engine.counts(rows), expected)


@pytest.mark.parametrize("threads", range(1, 9))
def test_threads_do_not_change_results(threads: int) -> None:
    rng = np.random.default_rng(3)
    circuit = random_layers(rng, 50, [80, 80], 4)
    assert_equals_reference(Engine(circuit, threads, block_words=1), random_rows(rng, 1000, 50))


def test_many_python_threads_share_one_engine() -> None:
    rng = np.random.default_rng(4)
    circuit = random_layers(rng, 50, [80, 80], 4)
    engine = Engine(circuit, threads=2, block_words=1)
    batches = [random_rows(rng, 100 + 37 * i, 50) for i in range(16)]
    expected = [reference.count_groups(circuit, rows) for rows in batches]
    failures: list[int] = []

    def work(i: int) -> None:
        for _ in range(50):
            if not np.array_equal(engine.counts(batches[i]), expected[i]):
                failures.append(i)

    workers = [threading.Thread(target=work, args=(i,)) for i in range(16)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert failures == []


def test_ties_go_to_the_lowest_group() -> None:
    circuit = Circuit(1, gate=[], a=[], b=[], outputs=[0, 2, 2, 1], group_ptr=[0, 1, 2, 3, 4])
    assert Engine(circuit).classify(np.array([[False], [True]])).tolist() == [3, 1]


XOR = Circuit(2, gate=[6], a=[2], b=[3], outputs=[4], group_ptr=[0, 1])


@pytest.mark.parametrize(
    ("rows", "error", "message"),
    [
        (np.zeros((3, 5), bool), ValueError, "rows must have 2 features, as the circuit's inputs, got 5"),
        (np.zeros(2, bool), ValueError, r"rows must have shape \(n_rows, n_features\), got \(2,\)"),
        (np.array([[0.0, np.nan]]), TypeError, "bool or uint8 array, PackedRows or Planes, got float64 array"),
        (np.zeros((3, 2), np.int64), TypeError, "got int64 array"),
        ([[0, 1]], TypeError, "got list"),
        (np.array([[0, 1], [7, 0]], np.uint8), ValueError, "0 and 1 only, got 7 at row 1, column 0"),
        (PackedRows(np.zeros((3, 2), np.uint8), 9), ValueError, "rows must have 2 features"),
        (Planes(np.zeros((3, 1), np.uint64), 5), ValueError, "rows must have 2 features"),
    ],
)
def test_bad_rows_are_refused(rows: object, error: type[Exception], message: str) -> None:
    for call in (Engine(XOR).counts, Engine(XOR).classify, Engine(XOR).outputs):
        with pytest.raises(error, match=message):
            call(rows)


def test_more_than_two_to_the_31_cells() -> None:
    row = np.zeros((1, 70_000), np.uint8)
    row[0, -1] = 1
    circuit = Circuit(70_000, gate=[], a=[], b=[], outputs=[70_001, 2], group_ptr=[0, 1, 2])
    rows = np.broadcast_to(row, (31_000, 70_000))  # 2.17e9 cells that share one row's memory
    counts = Engine(circuit, threads=2).counts(rows)
    assert counts[:, 0].all()
    assert not counts[:, 1].any()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"threads": 0}, "threads must be an integer in 1..256, got 0"),
        ({"target": "mmx"}, "target must be one of"),
        ({"block_words": 3}, "block_words must be 1, 4, 8 or 16, got 3"),
    ],
)
def test_bad_options_are_refused(options: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Engine(XOR, **options)  # type: ignore[arg-type]


def test_no_groups_cannot_classify() -> None:
    with pytest.raises(ValueError, match="at least one group"):
        Engine(Circuit(1, [], [], [], [], [0])).classify(np.zeros((1, 1), bool))
