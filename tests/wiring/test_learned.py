"""LearnedWiring: the operands that choices stand for, what is left out where nothing reads it, and misuse."""

import copy
import pickle

import numpy as np
import pytest

from gatewise import Engine
from gatewise.gates import FALSE
from gatewise.run import reference
from gatewise.wiring import AllInputs, LearnedWiring, NearbyCandidates, RandomCandidates, SeededCircuit

NEARBY = NearbyCandidates((1, 4, 5), 2, radius=1, k=9)
N_INPUTS, WIDTHS = NEARBY.n_inputs, (30, 6, 12)


def make_circuit(candidates: object = NEARBY, seed: int = 3) -> SeededCircuit:
    rng = np.random.default_rng(seed)
    choices = [rng.integers(0, 6, (2, width)) for width in WIDTHS]
    gates = [rng.integers(0, 16, width) for width in WIDTHS]
    wiring = LearnedWiring(candidates, choices)  # type: ignore[arg-type]
    return SeededCircuit(N_INPUTS, gates, n_groups=3, seed=2**64 - 1, wiring=wiring)


@pytest.mark.parametrize("candidates", [RandomCandidates(6), NEARBY, AllInputs()], ids=repr)
def test_pins_read_what_they_chose(candidates: RandomCandidates) -> None:
    seeded = make_circuit(candidates)
    assert isinstance(seeded.wiring, LearnedWiring)
    circuit, at, before = seeded.expand(), 0, 2
    for layer, (n, m) in enumerate(zip([N_INPUTS, *WIDTHS], WIDTHS, strict=False)):
        found = candidates(seeded.seed, layer, in_features=n, out_features=m)
        for pin, operands in enumerate((circuit.a, circuit.b)):
            expected = found[pin, np.arange(m), seeded.wiring.choices[layer][pin]]
            np.testing.assert_array_equal(operands[at : at + m], expected + before)
        at, before = at + m, before + n


def test_few_candidates_of_many_take_little_memory() -> None:
    """A pin is computed alone: a layer of all these candidates would take terabytes."""
    n = 2**20
    for candidates in (RandomCandidates(n), NearbyCandidates((1, 2**10, 2**10), 1, radius=2**20, k=n), AllInputs()):
        wiring = LearnedWiring(candidates, [np.full((2, 2**18), n - 1)])
        a, b = wiring(1, 0, in_features=n, out_features=2**18)
        assert max(a.max(), b.max()) < n


@pytest.mark.parametrize("seed", range(5))
def test_what_nothing_reads_is_cleared(seed: int) -> None:
    seeded = make_circuit(seed=seed)
    cleared = seeded.clear_unread()
    assert cleared.clear_unread() == cleared
    rows = np.random.default_rng(0).integers(0, 2, (200, N_INPUTS)).astype(bool)
    np.testing.assert_array_equal(Engine(cleared.expand()).counts(rows), reference.count_groups(seeded.expand(), rows))
    n_changed = [int((new != old).sum()) for new, old in zip(cleared.gates, seeded.gates, strict=True)]
    assert n_changed[0] > 0  # the 6 gates of the next layer read at most 12 of 30
    assert n_changed[-1] == 0
    assert (cleared.gates[0][cleared.gates[0] != seeded.gates[0]] == FALSE).all()
    assert isinstance(cleared.wiring, LearnedWiring)
    assert (cleared.wiring.choices[0][:, cleared.gates[0] == FALSE] == 0).all()


def test_fixed_wirings_have_nothing_to_clear() -> None:
    seeded = SeededCircuit(4, gates=[[6, 6, 1], [3]], n_groups=1, seed=1)
    assert seeded.clear_unread() is seeded


def test_copies_are_equal_and_frozen() -> None:
    seeded = make_circuit()
    for other in (copy.copy(seeded), copy.deepcopy(seeded), pickle.loads(pickle.dumps(seeded))):
        assert other == seeded
        assert hash(other) == hash(seeded)
        assert other.expand() == seeded.expand()
        with pytest.raises(ValueError, match="read-only"):
            other.wiring.choices[0][0, 0] = 1


def test_it_is_a_value() -> None:
    wiring = LearnedWiring(RandomCandidates(4), [[[0], [3]]])
    assert wiring == LearnedWiring(RandomCandidates(4), [np.array([[0], [3]], np.uint8)])
    assert wiring != LearnedWiring(RandomCandidates(4), [[[0], [2]]])
    assert wiring != LearnedWiring(RandomCandidates(5), [[[0], [3]]])
    assert wiring != LearnedWiring(RandomCandidates(4), [[[0], [3]]] * 2)
    assert wiring != "random"
    assert repr(wiring) == "LearnedWiring(RandomCandidates(k=4))"


@pytest.mark.parametrize(
    ("candidates", "choices", "message"),
    [
        (RandomCandidates(2), [[[0, 2], [0, 0]]], r"choices\[0\] must be below 2, the number of candidates, got 2"),
        (RandomCandidates(2), [[[0, -1], [0, 0]]], r"choices\[0\] must be in 0..1048575, got -1..0"),
        (RandomCandidates(2), [[[0, 0.5], [0, 0]]], r"choices\[0\] must be integers of shape \(2, n_gates\)"),
        (RandomCandidates(2), [[0, 0]], r"must be integers of shape \(2, n_gates\), got shape \(2,\)"),
        (RandomCandidates(2), [[[0], [0]]], r"choices\[0\] must be those of 2 gates, got 1"),
        (RandomCandidates(2), [], "choices must be those of 1 layers, got 0"),
        (RandomCandidates(2), [[[0, 0], [0, 0]]] * 2, "choices must be those of 1 layers, got 2"),
        (RandomCandidates(5), [[[0, 0], [0, 0]]], "k must be at most 4 for a layer of 4 inputs, got 5"),
        (NEARBY, [[[0, 0], [0, 0]]], "in_features must be 40 for images of NearbyCandidates.* got 4"),
    ],
)
def test_choices_that_do_not_fit_are_refused(candidates: RandomCandidates, choices: list, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        SeededCircuit(4, [[6, 1]], n_groups=1, seed=0, wiring=LearnedWiring(candidates, choices))


def test_other_layers_and_candidates_are_refused() -> None:
    wiring = LearnedWiring(RandomCandidates(2), [[[0], [1]]])
    with pytest.raises(ValueError, match="layer must be one of the 1 that have choices, got 1"):
        wiring(0, 1, in_features=4, out_features=1)
    with pytest.raises(TypeError, match="candidates must be RandomCandidates, NearbyCandidates or AllInputs, got str"):
        LearnedWiring("random", [])  # type: ignore[arg-type]
