"""Seeded circuits: values that expand to the circuit that their seed and wiring say."""

import copy
import pickle

import numpy as np
import pytest

from gatewise.wiring import WIRINGS, NearbyWiring, SeededCircuit, random_wiring


def test_seeded_circuit_expands_layer_by_layer():
    seeded = SeededCircuit(5, gates=[[1, 2, 3], [4, 5, 6, 7]], n_groups=2, seed=8)
    circuit = seeded.expand()
    a0, b0 = random_wiring(8, 0, in_features=5, out_features=3)
    a1, b1 = random_wiring(8, 1, in_features=3, out_features=4)
    np.testing.assert_array_equal(circuit.a, np.concatenate([a0 + 2, a1 + 7]))
    np.testing.assert_array_equal(circuit.b, np.concatenate([b0 + 2, b1 + 7]))
    assert circuit.gate.tolist() == [1, 2, 3, 4, 5, 6, 7]
    assert circuit.outputs.tolist() == [10, 11, 12, 13]
    assert circuit.group_ptr.tolist() == [0, 2, 4]


@pytest.mark.parametrize("name", WIRINGS)
def test_seeded_circuit_expands_by_its_wiring(name):
    circuit = SeededCircuit(300, gates=[[6] * 9000], n_groups=1, seed=8, wiring=name).expand()
    a, b = WIRINGS[name](8, 0, in_features=300, out_features=9000)
    np.testing.assert_array_equal(circuit.a, a + 2)
    np.testing.assert_array_equal(circuit.b, b + 2)


def test_seeded_circuit_is_a_value():
    seeded = SeededCircuit(5, gates=[[1, 2, 3], [4, 5]], n_groups=1, seed=8)
    same = SeededCircuit(5, gates=[np.array([1, 2, 3]), np.array([4, 5])], n_groups=1, seed=np.uint64(8))
    assert seeded == same
    assert hash(seeded) == hash(same)
    assert seeded != SeededCircuit(5, gates=[[1, 2, 3], [4, 6]], n_groups=1, seed=8)
    assert seeded != SeededCircuit(5, gates=[[1, 2, 3]], n_groups=1, seed=8)
    assert seeded != SeededCircuit(5, gates=[[1, 2, 3], [4, 5]], n_groups=1, seed=9)
    assert seeded != SeededCircuit(5, gates=[[1, 2, 3], [4, 5]], n_groups=1, seed=8, wiring="unique")
    assert seeded != "seeded"
    with pytest.raises(ValueError, match="read-only"):
        seeded.gates[0][0] = 1


@pytest.mark.parametrize("wiring", [*WIRINGS, NearbyWiring((1, 2, 2), 2, reach=(1,))])
def test_copies_are_equal_and_frozen(wiring):
    seeded = SeededCircuit(8, gates=[[1, 2, 3], [4, 5]], n_groups=1, seed=8, wiring=wiring)
    for other in (copy.copy(seeded), copy.deepcopy(seeded), pickle.loads(pickle.dumps(seeded))):
        assert other == seeded
        assert other.wiring == wiring
        for layer in other.gates:
            with pytest.raises(ValueError, match="read-only"):
                layer[0] = 1


def test_seeded_circuit_repr_stays_short():
    assert len(repr(SeededCircuit(1, gates=[[1]] * 100, n_groups=1, seed=2**64 - 1))) < 120


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"n_inputs": 0}, "n_inputs must be"),
        ({"n_inputs": 2**31 - 2}, "wires must number at most"),
        ({"gates": []}, "at least one layer"),
        ({"gates": [[1], []]}, r"gates\[1\] must hold at least one gate id"),
        ({"gates": [[1.5]]}, r"gates\[0\] must hold"),
        ({"gates": [[3, 16]]}, r"gates\[0\]\[1\] must be in 0..15, got 16"),
        ({"gates": [[-1]]}, r"gates\[0\]\[0\] must be in 0..15, got -1"),
        ({"n_groups": 0}, "n_groups must be"),
        ({"n_groups": 3}, "n_groups must divide the last layer's 4 gates, got 3"),
        ({"seed": -1}, "seed must be"),
        ({"wiring": NearbyWiring((1, 2, 2), 1, reach=(1,))}, "n_inputs must be 4 for NearbyWiring.* got 3"),
        ({"wiring": "blocks"}, "wiring must be one of random, unique, local, a wiring of images or a learned one, got"),
    ],
)
def test_seeded_circuit_rejects(change, message):
    arguments = {"n_inputs": 3, "gates": [[1, 2, 3, 4]], "n_groups": 2, "seed": 0} | change
    with pytest.raises(ValueError, match=message):
        SeededCircuit(**arguments)
