"""What native code is given is checked there, whatever Python promised."""

import re
import threading

import numpy as np
import pytest

from gatewise import Circuit, Engine, _native
from gatewise.machine import TARGETS

GOOD = {"n_inputs": 2, "gate": [6, 1], "a": [2, 4], "b": [3, 3], "outputs": [4, 5], "group_ptr": [0, 1, 2]}
POOL = _native.Pool(1)


def make_circuit(**changes: object) -> _native.Circuit:
    """The circuit above, but for the changes."""
    parts = GOOD | changes
    arrays = [np.array(parts[name], np.uint8 if name == "gate" else np.int32) for name in list(parts)[1:]]
    return _native.Circuit(parts["n_inputs"], *arrays)


def make_engine(keep_outputs: bool = False, **changes: object) -> _native.Engine:
    """An engine of that circuit."""
    options = {"keep_outputs": keep_outputs, "target": TARGETS[-1], "words": 0, "band": 0} | changes
    return _native.Engine(make_circuit(), **options)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"gate": [6, 16]}, "gate[1] must be below 16, got 16"),
        ({"gate": [6]}, "gate, a and b must have equal lengths"),
        ({"a": [2, 5]}, "a[1] must be a wire below the gate's own, got 5"),
        ({"a": [1_000_000, 4]}, "a[0] must be a wire below the gate's own, got 1000000"),
        ({"b": [3, -1]}, "b[1] must be a wire below the gate's own, got -1"),
        ({"outputs": [4, 6]}, "outputs[1] must be a wire, got 6"),
        ({"outputs": [-7, 5]}, "outputs[0] must be a wire, got -7"),
        ({"group_ptr": [0, 1]}, "group_ptr must rise from 0 to the number of outputs"),
        ({"group_ptr": [0, 3, 2]}, "group_ptr must rise"),
        ({"group_ptr": [1, 1, 2]}, "group_ptr must rise"),
        ({"group_ptr": []}, "group_ptr must rise"),
        ({"n_inputs": 2**31}, "wires must number at most 2147483647"),
    ],
)
def test_malformed_circuits_are_refused(change: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=re.escape(message)):
        make_circuit(**change)


def test_a_circuit_whose_arrays_were_changed_is_refused() -> None:
    circuit = Circuit(**GOOD)  # type: ignore[arg-type]
    circuit.a.flags.writeable = True
    circuit.a[0] = 1_000_000_000
    with pytest.raises(ValueError, match="must be a wire below"):
        Engine(circuit)


def test_changes_during_a_plan_do_not_reach_it() -> None:
    rng = np.random.default_rng(0)
    n = 20_000
    wild = Circuit(4, rng.integers(0, 16, n), rng.integers(0, 6, n), rng.integers(0, 6, n), [n + 5], [0, 1])
    wild.a.flags.writeable = True
    stop = threading.Event()

    def change() -> None:
        while not stop.is_set():
            np.copyto(wild.a, 2_000_000_000)
            np.copyto(wild.a, 3)

    other = threading.Thread(target=change)
    other.start()
    answers = set()
    try:
        for _ in range(50):
            try:
                answers.add(Engine(wild).counts(np.zeros((1, 4), bool)).shape)
            except ValueError as error:
                answers.add("must be a wire below" in str(error))
    finally:
        stop.set()
        other.join()
    assert answers <= {(1, 1), True}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"target": "mmx"}, "target must be one of targets()"),
        ({"words": 3}, "words must be 0, 1, 4, 8 or 16"),
    ],
)
def test_bad_plans_are_refused(change: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=re.escape(message)):
        make_engine(**change)


@pytest.mark.parametrize(
    ("shape", "n_rows", "layout", "message"),
    [
        ((3, 2), 4, "bytes", "data must have the engine's shape"),
        ((3, 3), 3, "bytes", "data must have the engine's shape"),
        ((2, 8), 65, "planes", "data must have the engine's shape"),
        ((2, 0), 2**64 - 1, "planes", "n_rows must be at most 2**48"),
        ((3, 2), 3, "bits", "layout must be bytes, big, little or planes"),
    ],
)
def test_bad_data_is_refused(shape: tuple[int, int], n_rows: int, layout: str, message: str) -> None:
    data = np.zeros(shape, np.uint8)
    for call in (make_engine().counts, make_engine().classify, make_engine(keep_outputs=True).outputs):
        with pytest.raises(ValueError, match=re.escape(message)):
            call(data, n_rows, layout, POOL)


def test_an_engine_does_what_it_was_planned_for() -> None:
    rows = np.zeros((1, 2), np.uint8)
    with pytest.raises(ValueError, match="does not keep them"):
        make_engine().outputs(rows, 1, "bytes", POOL)
    for call in (make_engine(keep_outputs=True).counts, make_engine(keep_outputs=True).classify):
        with pytest.raises(ValueError, match="does not count them"):
            call(rows, 1, "bytes", POOL)


@pytest.mark.parametrize(
    ("ptr", "questions", "message"),
    [
        ([0, 2], [0], "test_ptr must rise from 0"),
        ([0, 3, 1], [0], "test_ptr must not fall"),
        ([0, 1], [3], "questions must be below 3"),
    ],
)
def test_bad_encoders_are_refused(ptr: list[int], questions: list[int], message: str) -> None:
    arrays = np.array(ptr, np.uint32), np.array(questions, np.uint8), np.zeros(len(questions))
    with pytest.raises(ValueError, match=message):
        _native.Encoder(*arrays, TARGETS[0])


def make_step() -> _native.TrainStep:
    """A step of one layer of four gates in two groups."""
    wires = np.arange(4, dtype=np.int32)
    stack = _native.RelaxedStack(4, [(wires, wires, 4)], 2)
    arrays = [[np.zeros((16, 4), np.float32)] for _ in range(3)]
    return _native.TrainStep(stack, np.arange(16, dtype=np.uint8), *arrays, [1.0])


@pytest.mark.parametrize(
    ("make_loss", "message"),
    [
        (lambda: _native.Loss.cross_entropy(np.array([0, 2, 1]), 0.0, head=(1, 0), weight=None), "0 .. groups - 1"),
        (lambda: _native.Loss.cross_entropy(np.array([0, -1, 1]), 0.0, head=(1, 0), weight=None), "0 .. groups - 1"),
        (lambda: _native.Loss.cross_entropy(np.array([0, 1]), 0.0, head=(1, 0), weight=None), "equal lengths"),
        (lambda: _native.Loss.squared(np.zeros((3, 3), np.float32), head=(1, 0), weight=None), "one column per group"),
        (
            lambda: _native.Loss.binary(np.zeros((3, 2), np.float32), head=(1, 0), weight=np.zeros(2, np.float32)),
            "one value per row",
        ),
    ],
)
def test_bad_targets_are_refused(make_loss: object, message: str) -> None:
    options = {"logits": None, "temperature": 1.0, "hard": False, "adam": (0.1, 0.9, 0.999, 1e-8, 1), "pool": POOL}
    with pytest.raises(ValueError, match=message):
        make_step().run(np.zeros((3, 4), np.float32), make_loss(), **options)  # type: ignore[operator]


def test_logits_are_one_per_layer() -> None:
    loss = _native.Loss.cross_entropy(np.array([0]), 0.0, head=(1, 0), weight=None)
    options = {"logits": [], "temperature": 1.0, "hard": False, "adam": (0.1, 0.9, 0.999, 1e-8, 1), "pool": POOL}
    with pytest.raises(ValueError, match="one per layer"):
        make_step().run(np.zeros((1, 4), np.float32), loss, **options)
