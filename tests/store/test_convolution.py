"""Convolutional circuits in files: shared gates once, the same circuit again, and refusals of what would not fit."""

import copy
import json
import pickle
import tracemalloc

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.corpus import random_convolution
from support.sealing import seal, unseal

from gatewise import Circuit, ConvolutionalCircuit, Encoder, FileError, Model, SeededCircuit
from gatewise.heads import Classes
from gatewise.store import from_bytes, to_bytes
from gatewise.store.convolution import MAX_UNROLLED
from gatewise.store.model import MAX_LAYERS
from gatewise.wiring import AllInputs, LearnedWiring, OrPooling, RandomTaps, SharedTrees, Window

SHAPE = (1, 28, 28)


def make_circuit(channels: int = 16, dense: str = "seeded") -> ConvolutionalCircuit:
    """As large networks are: two convolutions of depth 3, each pooled, and a layer that reads them."""
    rng = np.random.default_rng(1)
    stages: list[SharedTrees | OrPooling] = []
    for n_in, n_out in ((1, channels), (channels, 3 * channels)):
        sizes = {"in_channels": n_in, "out_channels": n_out, "kernel_size": (3, 3), "depth": 3}
        taps = RandomTaps(1)(3, len(stages), **sizes)
        gates = [rng.choice([1, 6, 7, 14, 3], n_out << level) for level in (2, 1, 0)]
        stages += [SharedTrees(Window(3, padding=1), taps, gates), OrPooling(Window(2, stride=2))]
    n_wires, gates = 49 * 3 * channels, [rng.integers(0, 16, 100 * channels)]
    seeded = SeededCircuit(n_wires, gates, n_groups=10, seed=5)
    if dense == "learned":
        wiring = LearnedWiring(AllInputs(), [rng.integers(0, n_wires, (2, 100 * channels))])
        seeded = SeededCircuit(n_wires, gates, n_groups=10, seed=5, wiring=wiring)
    return ConvolutionalCircuit(SHAPE, 1, stages, seeded.expand() if dense == "circuit" else seeded)


def build(circuit: Circuit | ConvolutionalCircuit) -> Model:
    head = Classes(tuple(range(10)), tau=5.0, group_size=160)
    return Model.build(Encoder.images(SHAPE, 1), circuit, head)


@pytest.mark.parametrize("dense", ["seeded", "learned", "circuit"])
def test_circuits_round_trip(dense: str) -> None:
    circuit = make_circuit(dense=dense)
    for each in (circuit, circuit.clear_unread()):
        data = to_bytes(each)
        restored = from_bytes(data)
        assert isinstance(restored, ConvolutionalCircuit)
        assert restored == each
        assert hash(restored) == hash(each)
        assert restored.expand() == each.expand()
        assert to_bytes(restored) == data


@given(st.integers(0, 2**32))
def test_any_circuit_round_trips(seed: int) -> None:
    circuit = random_convolution(np.random.default_rng(seed), (2, 9, 7), n_thresholds=2)
    assert from_bytes(to_bytes(circuit)) == circuit == pickle.loads(pickle.dumps(circuit)) == copy.deepcopy(circuit)


def test_a_model_holds_shared_gates_once() -> None:
    circuit = make_circuit()
    model, plain = build(circuit), build(circuit.expand())
    assert model == plain
    data = model.to_bytes()
    n_bits = sum(4 * stage.n_gates + 8 * stage.taps.size for stage in circuit.stages if isinstance(stage, SharedTrees))
    assert len(data) < n_bits / 8 + circuit.dense.n_gates / 2 + 2500  # the container, the document and the encoder
    assert len(data) < len(plain.to_bytes()) / 10
    loaded = Model.from_bytes(data)
    assert loaded == model
    assert loaded.to_bytes() == data
    assert loaded.origin is not None
    assert loaded.origin[1] == circuit
    images = np.random.default_rng(0).integers(0, 256, (50, 784), dtype=np.uint8)
    np.testing.assert_array_equal(loaded.scores(images), plain.scores(images))
    learned = build(make_circuit(dense="learned"))
    assert Model.from_bytes(learned.to_bytes()) == learned


def test_what_would_be_too_large_to_expand_unasked_is_written_out_or_refused() -> None:
    wide = SharedTrees(Window(2), taps=np.zeros((2, 1100), int), gates=[np.full(1100, 7)])
    image = Circuit(1100 * 99 * 99, [], [], [], outputs=np.arange(2, 12), group_ptr=np.arange(11))
    circuit = ConvolutionalCircuit((1, 100, 100), 1, [wide], image)
    assert circuit.n_gates > MAX_UNROLLED
    encoder = Encoder.images((100, 100), 1)
    head = Classes(tuple(range(10)), tau=1.0, group_size=1)
    small = Model.build(encoder, Circuit(10_000, [], [], [], np.arange(2, 12), np.arange(11)), head)
    stored, document = unseal(small.to_bytes())
    tensors = {name: tensor for name, tensor in stored.items() if name.startswith("encoder.")}
    inner, text = unseal(to_bytes(circuit))
    changed = json.loads(document) | {"circuit": json.loads(text)}
    tensors |= {f"circuit.{name}": tensor for name, tensor in inner.items()}
    hostile = seal(tensors, json.dumps(changed))
    tracemalloc.start()
    try:
        with pytest.raises(FileError, match=f"must number at most {MAX_UNROLLED} at all positions, got 1078"):
            from_bytes(hostile)
        assert tracemalloc.get_traced_memory()[1] < 2**23
    finally:
        tracemalloc.stop()


def test_too_many_layers_behind_convolutions_are_refused() -> None:
    deep = SeededCircuit(2, gates=[[6, 1]] * (MAX_LAYERS + 1), n_groups=1, seed=0)
    both = SharedTrees(Window((1, 2)), taps=[[0], [1]], gates=[[1]])
    model = Model.build(
        Encoder.images((1, 3), 1), ConvolutionalCircuit((1, 1, 3), 1, [both], deep), Classes(("a",), 1.0, 2)
    )
    assert json.loads(unseal(model.to_bytes())[1])["circuit"]["kind"] == "circuit"


def change(document: dict[str, object], path: tuple[object, ...], value: object) -> None:
    *above, last = path
    for name in above:
        document = document[name]  # type: ignore[index,assignment]
    document[last] = value  # type: ignore[index]


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        (("shape",), [1, 28], r"shape must be \(channels, rows, columns\)"),
        (("shape",), [1, 27, 28], "dense must read"),
        (("shape",), [1, 2, 2], r"kernel_size must be at most the maps of 1 x 1, got 2 x 2, in stages\[3\]"),
        (("n_thresholds",), 0, "n_thresholds must be an integer"),
        (("n_thresholds",), 2**24, "shape and n_thresholds must make at most"),
        (("stages",), {}, "stages must be a list of at most"),
        (("stages", 0), 7, r"stages\[0\] must be a JSON object"),
        (("stages", 0, "kind"), "and", r"kind of stages\[0\] must be trees or or, got 'and'; upgrade"),
        (("stages", 0, "channels"), 17, "gates must take"),
        (("stages", 0, "channels"), 2**20 + 1, r"channels of stages\[0\] must be an integer"),
        (("stages", 0, "depth"), 11, r"depth of stages\[0\] must be an integer"),
        (("stages", 0, "stride"), 1, r"kernel_size, stride and padding of stages\[0\] must be lists"),
        (("stages", 0, "padding"), [3, 0], r"padding\[0\] must be an integer in 0..2"),
        (("stages", 0, "kernel_size"), [2, 2], "choices must take"),
        (("stages", 1, "depth"), 1, "must have no 'depth'"),
        (("dense",), None, "kind of the dense circuit must be circuit or seeded, got None"),
        (("dense", "n_inputs"), 5, "dense must read"),
        (("more",), 1, "document must have no 'more'"),
    ],
)
def test_inconsistent_files_are_refused(path: tuple[object, ...], value: object, message: str) -> None:
    tensors, text = unseal(to_bytes(make_circuit()))
    document = json.loads(text)
    change(document, path, value)
    with pytest.raises(FileError, match=message):
        from_bytes(seal(tensors, json.dumps(document)))


def test_taps_outside_their_window_are_refused() -> None:
    tensors, text = unseal(to_bytes(make_circuit()))
    tensors["tap"] = bytes([255]) * len(tensors["tap"])
    with pytest.raises(FileError, match=r"taps must be below 9, .* got 15, in stages\[0\]"):
        from_bytes(seal(tensors, text))
