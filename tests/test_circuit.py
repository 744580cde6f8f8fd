"""Circuit: construction, validation, text, equality."""

import copy
import pickle
import re
from collections.abc import Callable

import numpy as np
import pytest
from support.corpus import circuits

from gatewise import Circuit

GOOD = {"n_inputs": 2, "gate": [6, 1], "a": [2, 4], "b": [3, 3], "outputs": [4, 5], "group_ptr": [0, 1, 2]}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"gate": [6, 16]}, "gate[1] must be below 16, got 16"),
        ({"gate": [6, 256]}, "gate[1] must fit uint8, got 256"),
        ({"gate": [6]}, "gate, a and b must have equal lengths, got 1, 2 and 2"),
        ({"a": [2, 5]}, "a[1] must be a wire below the gate's own, got 5"),
        ({"b": [3, -1]}, "b[1] must be a wire below the gate's own, got -1"),
        ({"a": [4, 4]}, "a[0] must be a wire below the gate's own, got 4"),
        ({"a": [2.0, 4.0]}, "a must hold integers, got dtype float64"),
        ({"a": [[2, 4]]}, "a must be one-dimensional, got shape (1, 2)"),
        ({"a": [2, 2**31]}, "a[1] must fit int32, got 2147483648"),
        ({"outputs": [4, 6]}, "outputs[1] must be a wire in 0..5, got 6"),
        ({"group_ptr": [0, 1]}, "group_ptr must rise from 0 to the number of outputs 2, got [0, 1]"),
        ({"group_ptr": [0, 3, 2]}, "group_ptr must rise from 0"),
        ({"group_ptr": []}, "group_ptr must rise from 0"),
        ({"n_inputs": -1}, "n_inputs must be a non-negative integer, got -1"),
        ({"n_inputs": 2.5}, "n_inputs must be a non-negative integer, got 2.5"),
        ({"n_inputs": 2**31}, "wires must number at most 2147483647"),
    ],
)
def test_malformed_circuits_name_the_offender(change: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=re.escape(message)):
        Circuit(**{**GOOD, **change})  # type: ignore[arg-type]


def test_from_layers_numbers_wires() -> None:
    circuit = Circuit.from_layers(3, [([0, 2], [1, 0], [1, 7]), ([1, 0], [0, 1], [6, 9])], n_groups=2)
    assert circuit.to_text() == (
        "circuit 3 inputs, 4 gates, 2 outputs, 2 groups\n"
        "w5 = AND w2 w3\nw6 = OR w4 w2\nw7 = XOR w6 w5\nw8 = XNOR w5 w6\n"
        "group 0: w7\ngroup 1: w8\n"
    )


def test_no_layers_output_the_inputs() -> None:
    assert Circuit.from_layers(4, [], n_groups=2).outputs.tolist() == [2, 3, 4, 5]


@pytest.mark.parametrize(
    ("layers", "n_groups", "message"),
    [
        ([([0], [3], [1])], 1, "b[0] of layer 0 must be in 0..2 (the width of what it reads), got 3"),
        ([([0], [1], [1]), ([0], [1], [1])], 1, "b[0] of layer 1 must be in 0..0"),
        ([([0, 1], [1], [1])], 1, "layer 0 must have as many gates as operands a and b"),
        ([([0, 1], [1, 2], [1, 1])], 3, "n_groups must divide the last layer's 2 gates, got 3"),
        ([([0, 1], [1, 2], [1, 1])], 0, "n_groups must divide"),
    ],
)
def test_malformed_layers(layers: list, n_groups: int, message: str) -> None:
    with pytest.raises(ValueError, match=re.escape(message)):
        Circuit.from_layers(3, layers, n_groups)


def test_arrays_are_frozen_copies() -> None:
    gate = np.array([6, 1], np.uint8)
    circuit = Circuit(**{**GOOD, "gate": gate})  # type: ignore[arg-type]
    gate[0] = 0
    assert circuit.gate[0] == 6
    with pytest.raises(ValueError, match="read-only"):
        circuit.a[0] = 3


COPIES: dict[str, Callable[[Circuit], Circuit]] = {
    "copy": copy.copy,
    "deepcopy": copy.deepcopy,
    "deepcopy inside a list": lambda circuit: copy.deepcopy([circuit])[0],
    **{f"pickle {p}": lambda circuit, p=p: pickle.loads(pickle.dumps(circuit, p)) for p in range(2, 6)},
}


@pytest.mark.parametrize("kind", COPIES)
def test_copies_are_frozen(kind: str) -> None:
    circuit = Circuit(**GOOD)  # type: ignore[arg-type]
    again = COPIES[kind](circuit)
    assert again == circuit
    for array in again.arrays:
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1


def test_a_pickle_is_validated() -> None:
    circuit = Circuit(**GOOD)  # type: ignore[arg-type]
    circuit.a.flags.writeable = True
    circuit.a[0] = 1_000_000
    with pytest.raises(ValueError, match=re.escape("a[0] must be a wire below the gate's own, got 1000000")):
        pickle.loads(pickle.dumps(circuit))


def test_equality_is_that_of_the_text() -> None:
    texts = {name: circuit.to_text() for name, circuit in circuits().items()}
    for name, circuit in circuits().items():
        again = pickle.loads(pickle.dumps(circuit))
        assert again == circuit
        assert hash(again) == hash(circuit)
        equal = [other for other, text in texts.items() if text == texts[name]]
        assert equal == [other for other, c in circuits().items() if c == circuit]
    assert Circuit(**GOOD) != "circuit"  # type: ignore[arg-type]
