"""Models in files: the smaller of two forms, and the same model from either."""

import copy
import json
import pickle
import tracemalloc
from pathlib import Path

import numpy as np
import pytest
from support.sealing import seal, unseal

from gatewise import Circuit, Encoder, FileError, Model, SeededCircuit
from gatewise.heads import Classes
from gatewise.store import from_bytes
from gatewise.wiring import WIRINGS, NearbyWiring

SHAPE = (1, 20, 20)
HEAD = Classes(tuple(range(10)), tau=5.0, group_size=100)
IMAGES = np.random.default_rng(0).integers(0, 256, (300, 400), dtype=np.uint8)


def make_seeded(wiring: str | NearbyWiring = "unique", widths: tuple[int, ...] = (1000, 1000)) -> SeededCircuit:
    rng = np.random.default_rng(1)
    gates = [rng.choice([1, 6, 7, 14, 3], width) for width in widths]
    return SeededCircuit(800, gates, n_groups=10, seed=2**64 - 1, wiring=wiring)


def build(circuit: Circuit | SeededCircuit) -> Model:
    return Model.build(Encoder.images(SHAPE, 2), circuit, HEAD)


def circuit_kind(model: Model) -> str:
    kind: str = json.loads(unseal(model.to_bytes())[1])["circuit"]["kind"]
    return kind


@pytest.mark.parametrize("wiring", [*WIRINGS, NearbyWiring(SHAPE, 2, reach=(4, 6), margin=2)])
def test_a_model_of_a_seeded_circuit_takes_half_a_byte_per_gate(wiring: str | NearbyWiring, tmp_path: Path) -> None:
    seeded = make_seeded(wiring)
    model, plain = build(seeded), build(seeded.expand())
    assert model == plain
    assert (circuit_kind(model), circuit_kind(plain)) == ("seeded", "circuit")
    overhead = 2000  # bytes of the container, the document and the encoder
    assert len(model.to_bytes()) < seeded.n_gates / 2 + overhead < len(plain.to_bytes())
    model.save(tmp_path / "model.gw")
    loaded = Model.load(tmp_path / "model.gw")
    assert (loaded.encoder, loaded.circuit, loaded.head) == (plain.encoder, plain.circuit, plain.head)
    assert loaded.to_bytes() == model.to_bytes()
    np.testing.assert_array_equal(loaded.scores(IMAGES), plain.scores(IMAGES))
    assert model.info()["bytes"] == len(model.to_bytes())


def test_bits_that_are_not_read_are_dropped_again_at_load() -> None:
    model = build(make_seeded(widths=(60, 1000)))
    assert model.encoder.n_bits <= 120
    assert circuit_kind(model) == "seeded"
    loaded = Model.from_bytes(model.to_bytes())
    assert loaded.encoder == model.encoder
    assert loaded.describe_bits() == model.describe_bits()
    assert loaded.origin == (Encoder.images(SHAPE, 2), make_seeded(widths=(60, 1000)))


def test_the_smaller_form_is_stored() -> None:
    constant = SeededCircuit(800, [np.zeros(5000, int), np.zeros(1000, int)], n_groups=10, seed=0)
    model = build(constant)
    assert model.circuit.n_gates == 0
    assert circuit_kind(model) == "circuit"
    assert Model.from_bytes(model.to_bytes()) == model
    assert Model.from_bytes(model.to_bytes()).to_bytes() == model.to_bytes()


def test_copies_are_stored_alike() -> None:
    model = build(make_seeded())
    for other in (copy.deepcopy(model), pickle.loads(pickle.dumps(model)), model.with_threads(2)):
        assert other == model
        assert other.to_bytes() == model.to_bytes()
        assert other.origin == model.origin


def test_deep_circuits_are_stored_written_out() -> None:
    gates = [[6] * 1000, *[[3] * 1000] * 1024]
    model = build(SeededCircuit(800, gates, n_groups=10, seed=0))
    assert circuit_kind(model) == "circuit"
    assert Model.from_bytes(model.to_bytes()) == model


def change_circuit(model: Model, gate: bytes | None = None, **change: object) -> bytes:
    tensors, text = unseal(model.to_bytes())
    document = json.loads(text)
    document["circuit"] |= change
    return seal(tensors | ({} if gate is None else {"circuit.gate": gate}), json.dumps(document))


@pytest.mark.parametrize(
    ("gate", "change", "message"),
    [
        (
            None,
            {"kind": "random"},
            "kind of a model's circuit must be circuit, seeded or convolutional, got 'random'; upgrade",
        ),
        (None, {"kind": "circuit"}, "tensors must have a, b, group_ptr, outputs"),
        (None, {"n_inputs": 801}, "circuit must have 800 inputs, as the encoder has bits, got 801"),
        (None, {"n_inputs": 2**24}, "circuit must have 800 inputs, as the encoder has bits, got 16777216"),
        (None, {"n_groups": 20}, "circuit must have 10 groups, as the head, got 20"),
        (None, {"layers": [500, 1500]}, "groups of the circuit must have 100 outputs, as the head says"),
        (None, {"layers": [2**31 - 1, 1000]}, "must take"),
        (b"\x66" * 1000, {"layers": [1] * 1000 + [1000]}, None),
        (b"\x66" * 1012, {"layers": [1] * 1024 + [1000]}, "must number at most 1024, got 1025"),
    ],
)
def test_hostile_files(gate: bytes | None, change: dict[str, object], message: str | None) -> None:
    data = change_circuit(build(make_seeded()), gate, **change)
    tracemalloc.start()
    try:
        if message is None:
            assert isinstance(from_bytes(data), Model)
        else:
            with pytest.raises(FileError, match=message):
                from_bytes(data)
        assert tracemalloc.get_traced_memory()[1] < 2**22
    finally:
        tracemalloc.stop()


def test_parts_must_fit_before_they_are_simplified() -> None:
    circuit = make_seeded().expand()
    with pytest.raises(ValueError, match="circuit must have 3 inputs, as the encoder has bits, got 2"):
        Model.build(Encoder.images((1, 3), 1), Circuit(2, [], [], [], [2], [0, 1]), Classes((0,), 1.0, 1))
    with pytest.raises(
        TypeError, match="circuit must be of type Circuit or SeededCircuit or ConvolutionalCircuit, got"
    ):
        build(Encoder.images(SHAPE, 2))  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="circuit must be of type Circuit, got SeededCircuit"):
        Model(Encoder.images(SHAPE, 2), make_seeded(), HEAD)  # type: ignore[arg-type]
    assert Model(Encoder.images(SHAPE, 2), circuit, HEAD).origin is None
