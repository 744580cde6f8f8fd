"""Learned wires in files: a choice per pin that is read, the same circuit again, and clear refusals."""

import hashlib
import json
import tracemalloc

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.sealing import seal, unseal

from gatewise import Encoder, FileError, Model, SeededCircuit
from gatewise.heads import Classes
from gatewise.store import from_bytes, to_bytes
from gatewise.wiring import AllInputs, LearnedWiring, NearbyCandidates, RandomCandidates, SeededCandidates

SHAPE = (1, 20, 20)
NEARBY = NearbyCandidates(SHAPE, 2, radius=3, k=32)
KINDS: list[SeededCandidates] = [RandomCandidates(21), NEARBY, AllInputs()]
ENCODER = Encoder.images(SHAPE, 2)
HEAD = Classes(tuple(range(10)), tau=5.0, group_size=100)
READ_BOTH = [1, 2, 4, 6, 7, 8, 9, 11, 13, 14]


def make_circuit(
    candidates: SeededCandidates = NEARBY, widths: tuple[int, ...] = (1000, 1000), gates: list[int] = READ_BOTH
) -> SeededCircuit:
    rng = np.random.default_rng(1)
    n_wires = [800, *widths]
    choices = [
        rng.integers(0, candidates.count(i, n_wires[i]), (2, width), dtype=np.int32) for i, width in enumerate(widths)
    ]
    wiring = LearnedWiring(candidates, choices)
    return SeededCircuit(800, [rng.choice(gates, width) for width in widths], 10, 2**64 - 1, wiring)


def read_document(circuit: SeededCircuit) -> dict[str, object]:
    document: dict[str, object] = json.loads(unseal(to_bytes(circuit))[1])
    return document


@pytest.mark.parametrize("candidates", KINDS, ids=repr)
@pytest.mark.parametrize("gates", [READ_BOTH, [*range(16)], [0], [3, 10]], ids=str)
def test_learned_wires_round_trip(candidates: SeededCandidates, gates: list[int]) -> None:
    circuit = make_circuit(candidates, gates=gates)
    for each in (circuit, circuit.clear_unread()):
        data = to_bytes(each)
        restored = from_bytes(data)
        assert isinstance(restored, SeededCircuit)
        assert restored == each
        assert restored.expand() == each.expand()
        assert to_bytes(restored) == data


@given(st.integers(0, 2**32), st.integers(1, 9), st.lists(st.integers(1, 30), min_size=1, max_size=5))
def test_any_learned_circuit_round_trips(seed: int, k: int, widths: list[int]) -> None:
    rng = np.random.default_rng(seed)
    n_candidates = [k, *(min(k, width) for width in widths)]
    choices = [rng.integers(0, n, (2, width)) for n, width in zip(n_candidates, widths, strict=False)]
    gates = [rng.integers(0, 16, width) for width in widths]
    circuit = SeededCircuit(9, gates, widths[-1], seed, LearnedWiring(NearbyCandidates((1, 3, 3), k=k), choices))
    for each in (circuit, circuit.clear_unread()):
        assert from_bytes(to_bytes(each)) == each


def test_only_choices_of_pins_that_are_read_are_stored() -> None:
    circuit = make_circuit(gates=[*range(16)])
    cleared = circuit.clear_unread()
    stored = [unseal(to_bytes(each))[0]["choice"] for each in (circuit, cleared)]
    assert [read_document(each)["wiring"]["pins"] for each in (circuit, cleared)] == ["all", "read"]  # type: ignore[index]
    assert len(stored[0]) == 2 * 2000 * 5 / 8
    n_read = sum(gate not in (0, 15) for gate in np.concatenate(cleared.gates).tolist())
    n_read += sum(gate not in (0, 3, 5, 10, 12, 15) for gate in np.concatenate(cleared.gates).tolist())
    assert len(stored[1]) == -(-n_read * 5 // 8) < 0.7 * len(stored[0])


def test_the_document_is_as_documented() -> None:
    assert [read_document(make_circuit(candidates))["wiring"] for candidates in KINDS] == [
        {"kind": "learned", "candidates": {"kind": "random", "k": 21}, "pins": "read"},
        {
            "kind": "learned",
            "candidates": {"kind": "nearby", "shape": [1, 20, 20], "n_thresholds": 2, "radius": 3, "k": 32},
            "pins": "read",
        },
        {"kind": "learned", "candidates": {"kind": "all"}, "pins": "read"},
    ]


def test_golden_bytes() -> None:
    wiring = LearnedWiring(RandomCandidates(3), [[[0, 2, 1], [1, 1, 0]], [[2, 0], [0, 1]]])
    circuit = SeededCircuit(4, gates=[[6, 6, 3], [7, 14]], n_groups=2, seed=2**64 - 1, wiring=wiring)
    tensors, _ = unseal(to_bytes(circuit))
    assert tensors["choice"].hex() == "580901"  # 0 2 1, 1 1, 2 0, 0 1 in two bits each; gate A reads no b
    assert (
        hashlib.sha256(to_bytes(circuit)).hexdigest()
        == "ff754c9be1e5ed32f309f5d431c04282af2cb7c61a7b240885bbd6bd8ca9bb93"
    )


@pytest.mark.parametrize("candidates", KINDS[:2], ids=repr)
def test_a_model_holds_the_smaller_form(candidates: SeededCandidates) -> None:
    circuit = make_circuit(candidates)
    model, plain = Model.build(ENCODER, circuit, HEAD), Model.build(ENCODER, circuit.expand(), HEAD)
    assert model == plain
    assert len(model.to_bytes()) < len(plain.to_bytes())
    assert model.origin == (ENCODER, circuit.clear_unread())
    loaded = Model.from_bytes(model.to_bytes())
    assert loaded == model
    assert loaded.origin == model.origin
    assert loaded.to_bytes() == model.to_bytes()
    images = np.random.default_rng(0).integers(0, 256, (300, 400), dtype=np.uint8)
    np.testing.assert_array_equal(loaded.scores(images), plain.scores(images))


@pytest.mark.parametrize("circuit", [make_circuit(gates=[0] * 7 + [3]), make_circuit(AllInputs())], ids=repr)
def test_a_model_is_written_out_where_that_is_smaller(circuit: SeededCircuit) -> None:
    """If few gates matter, or a choice takes as many bits as a wire: sorted gates take fewer."""
    model = Model.build(ENCODER, circuit, HEAD)
    assert json.loads(unseal(model.to_bytes())[1])["circuit"]["kind"] == "circuit"
    assert Model.from_bytes(model.to_bytes()) == model


def change(wiring: dict[str, object] | None = None, choice: bytes | None = None, **document: object) -> bytes:
    tensors, text = unseal(to_bytes(make_circuit(widths=(30, 10))))
    content = json.loads(text)
    content["wiring"] |= wiring or {}
    return seal(tensors | ({} if choice is None else {"choice": choice}), json.dumps(content | document))


GEOMETRY = {"kind": "nearby", "shape": [1, 20, 20], "n_thresholds": 2, "radius": 3, "k": 32}


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (change({"pins": "some"}), "pins must be all or read, got 'some'"),
        (change({"pins": ["all"]}), "pins must be all or read, got"),
        (change({"color": 1}), "wiring must have no 'color'; upgrade"),
        (change({"candidates": "random"}), "candidates must be a JSON object with a kind, got 'random'"),
        (
            change({"candidates": {"kind": "far"}}),
            "kind of the candidates must be random or nearby or all, got 'far'; up",
        ),
        (change({"candidates": {"kind": "random"}}), "candidates must have k, got"),
        (change({"candidates": {"kind": "all", "k": 3}}), "candidates must have no 'k'; upgrade"),
        (change({"candidates": {"kind": "random", "k": 0}}), r"k must be an integer in 1\.\.1048576, got 0"),
        (change({"candidates": {"kind": "random", "k": 31}}), "k must be at most 30 for a layer of 30 inputs, got 31"),
        (change({"candidates": {"kind": "random", "k": 2**70}}), r"k must be an integer in 1\.\.1048576"),
        (change({"candidates": {"kind": "random", "k": 16}}), "80 choices must take 40 bytes, got 50"),
        (change({"candidates": {"kind": "random", "k": 17}}), "must be below 17, the number of candidates, got"),
        (change({"candidates": {"kind": "all"}}), "80 choices must take 88 bytes, got 50"),
        (change({"candidates": GEOMETRY | {"radius": -1}}), "radius must be an integer in 0"),
        (
            change({"candidates": GEOMETRY | {"k": 99}}),
            "k must be at most 98 for a window of 1 x 7 x 7 x 2 bits, got 99",
        ),
        (change({"candidates": GEOMETRY | {"shape": [20, 20]}}), r"shape must be \(channels, rows, columns\)"),
        (
            change({"candidates": GEOMETRY | {"shape": [2**20] * 3}}),
            "in_features must be 2305843009213693952 for images",
        ),
        (change({"candidates": GEOMETRY | {"n_thresholds": 3}}), "in_features must be 1200 for images"),
        (change(n_inputs=801), "in_features must be 800 for images of NearbyCandidates.* got 801"),
        (change(choice=b"\0" * 49), "80 choices must take 50 bytes, got 49"),
        (change(choice=b"\0" * 51), "80 choices must take 50 bytes, got 51"),
        (change(choice=b""), "80 choices must take 50 bytes, got 0"),
        (change(choice=b"\0" * 50, layers=[31, 10]), "gates must take"),
        (change(wiring={"kind": "nearby"}), "tensors must have no 'choice'; upgrade"),
        (change(layers=[10, 30]), "80 choices must take 43 bytes, got 50"),
    ],
)
def test_refusals_say_why(data: bytes, message: str) -> None:
    with pytest.raises(FileError, match=message) as caught:
        from_bytes(data)
    assert len(str(caught.value)) < 500


def test_hostile_numbers_allocate_nothing() -> None:
    wide = {"kind": "nearby", "shape": [1, 2**12, 2**12], "n_thresholds": 1, "radius": 2**20, "k": 2**20}
    cases = [
        change({"candidates": wide}, n_inputs=2**24),
        change({"candidates": wide}, n_inputs=2**24, choice=b"\xff" * (30 * 5 // 2 + 13)),
        change({"candidates": {"kind": "random", "k": 2**20}}, n_inputs=2**24),
        change(layers=[2**31 - 1, 10]),
    ]
    tracemalloc.start()
    for data in cases:
        with pytest.raises(FileError):
            from_bytes(data)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 2**20


@pytest.mark.parametrize(("candidates", "gate"), [(RandomCandidates(1), 6), (RandomCandidates(2), 6), (AllInputs(), 6)])
def test_dense_files_expand_by_a_bounded_factor(candidates: SeededCandidates, gate: int) -> None:
    n = 10**6
    wiring = LearnedWiring(candidates, [np.zeros((2, n), np.int32)])
    data = to_bytes(SeededCircuit(2**20, [np.full(n, gate)], 1, 0, wiring))
    tracemalloc.start()
    restored = from_bytes(data)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert isinstance(restored, SeededCircuit)
    assert peak < 100 * len(data) + 2**24


def test_every_truncated_choice_is_refused() -> None:
    data = to_bytes(make_circuit(widths=(30, 10)))
    for length in range(len(data)):
        with pytest.raises(FileError):
            from_bytes(data[:length])
