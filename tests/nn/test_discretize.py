"""From networks to circuits, seeded circuits and heads."""

import copy

import numpy as np
import pytest
from support.tools import require_module

require_module("torch", "pip install -c constraints.txt torch==2.13.0")

import torch
from support.networks import PARAMETRIZATIONS, SAMPLINGS, seeded
from torch import nn

from gatewise import Engine, heads, simplify
from gatewise.nn import (
    Affine,
    GroupSum,
    LearnedLayer,
    LogicLayer,
    Logit,
    discretize,
    discretize_seeded,
    logic_network,
    make_head,
    read_counts,
)
from gatewise.run import reference
from gatewise.wiring import (
    WIRINGS,
    AllInputs,
    LearnedWiring,
    NearbyCandidates,
    NearbyWiring,
    RandomCandidates,
    unique_wiring,
)


@pytest.mark.parametrize("sampling", SAMPLINGS)
@pytest.mark.parametrize("parametrization", PARAMETRIZATIONS)
def test_circuit_equals_eval_bit_for_bit(parametrization: str, sampling: str) -> None:
    options = {"parametrization": PARAMETRIZATIONS[parametrization], "sampling": SAMPLINGS[sampling]()}
    net = logic_network(30, [50, 40, 36], 4, tau=2.0, generator=seeded(), **options)
    state = copy.deepcopy(net.state_dict())
    circuit = discretize(net)
    rows = np.random.default_rng(0).integers(0, 2, (100, 30)).astype(bool)
    counts = reference.count_groups(circuit, rows)
    net.eval()
    for x in (torch.from_numpy(rows), torch.from_numpy(rows).float(), torch.from_numpy(rows).double()):
        np.testing.assert_array_equal((net(x) * 2.0).detach().numpy(), counts)
    np.testing.assert_array_equal(Engine(simplify(circuit)).counts(rows), counts)
    assert all(torch.equal(value, state[name]) for name, value in net.state_dict().items())


@pytest.mark.parametrize("seed", [0, 7, 2**64 - 1])
@pytest.mark.parametrize("wiring", ["random", "unique", "local"])
def test_a_network_from_a_seed_is_a_seeded_circuit(wiring: str, seed: int) -> None:
    net = logic_network(2000, [2600, 1302], 3, wiring=WIRINGS[wiring], seed=seed)
    circuit = discretize_seeded(net)
    assert (circuit.seed, circuit.wiring) == (seed, wiring)
    assert circuit.expand() == discretize(net)


def test_a_network_with_nearby_wires_is_a_seeded_circuit() -> None:
    nearby = NearbyWiring((1, 6, 6), 1, reach=(2, 3))
    net = logic_network(36, [40, 40, 30], 3, wiring=nearby, seed=3)
    circuit = discretize_seeded(net, nearby)
    assert circuit.wiring == nearby
    assert circuit.expand() == discretize(net)
    with pytest.raises(ValueError, match=r"layer . must have the random or unique or local wiring of seed 3"):
        discretize_seeded(net)


LEARNED = [RandomCandidates(5), NearbyCandidates((1, 6, 6), 1, radius=1, k=7), AllInputs()]


@pytest.mark.parametrize("candidates", LEARNED, ids=repr)
def test_a_network_with_learned_wires_is_a_seeded_circuit(candidates: RandomCandidates) -> None:
    net = logic_network(36, [40, 30], 3, candidates=candidates, seed=2**64 - 1)
    circuit = discretize_seeded(net)
    assert isinstance(circuit.wiring, LearnedWiring)
    assert circuit.wiring.candidates == candidates
    assert circuit.expand() == discretize(net)
    assert not (circuit.expand().a == circuit.expand().b).any()
    twice = copy.deepcopy(net)
    with torch.no_grad():  # pin b wants the wire of pin a, and takes the next one instead
        for layer in twice[:2]:
            layer.candidates[1] = layer.candidates[0]
            layer.pins[1] = layer.pins[0]
    if isinstance(candidates, AllInputs):
        assert discretize_seeded(twice).expand() == discretize(twice)
    else:
        with pytest.raises(ValueError, match=r"layer . must have the LearnedWiring"):
            discretize_seeded(twice)


def test_exchanged_candidates_are_the_seeds_until_they_are_chosen() -> None:
    net = logic_network(36, [40, 30], 3, candidates=RandomCandidates(5), seed=1)
    lost = net[1].exchange(0.5, draw=1)
    assert discretize_seeded(net).expand() == discretize(net)
    with torch.no_grad():
        net[1].pins[lost] += 10.0
    with pytest.raises(ValueError, match=r"layer 1 must have the LearnedWiring\(.*\) wiring of seed 1, got others"):
        discretize_seeded(net)


def test_learned_wires_of_several_kinds_are_refused() -> None:
    options = {"seed": 1, "candidates": RandomCandidates(3)}
    first = LearnedLayer(8, 12, **options)
    for other in (
        LogicLayer(12, 12, seed=1, position=1),
        LearnedLayer(12, 12, seed=1, position=1, candidates=RandomCandidates(4)),
        LearnedLayer(12, 12, seed=1, position=1, candidates=RandomCandidates(3)(1, 1, in_features=12, out_features=12)),
        LearnedLayer(12, 12, seed=2, position=1, candidates=RandomCandidates(3)),
    ):
        with pytest.raises(ValueError, match=r"layer . must have the .* wiring of seed 1, got others"):
            discretize_seeded(nn.Sequential(first, other))


def test_a_network_that_is_not_from_one_seed_is_refused() -> None:
    layers = [LogicLayer(8, 12, seed=1, position=0), LogicLayer(12, 12, seed=2, position=1)]
    with pytest.raises(ValueError, match=r"layer . must have the random wiring of seed 1"):
        discretize_seeded(nn.Sequential(*layers, GroupSum(2)))
    mixed = [LogicLayer(8, 12, seed=1), LogicLayer(12, 12, seed=1, position=1, wiring=unique_wiring)]
    with pytest.raises(ValueError, match=r"layer . must have the random wiring of seed 1"):
        discretize_seeded(nn.Sequential(*mixed))


@pytest.mark.parametrize("head", [None, Affine([2.0, 3.0], [1.0, -1.0]), Logit([2.0, 3.0], [1.0, -1.0])])
def test_the_head_of_a_model_reads_counts_as_the_network_does(head: Affine | None) -> None:
    counts = np.array([[0, 6], [2, 5], [6, 3]])
    net = nn.Sequential(logic_network(4, [8, 12], 2, tau=6.0, seed=0))
    if head is not None:
        net.append(head)
    made = make_head(net)
    assert made.group_size == 6
    expected = read_counts(net, torch.from_numpy(counts)).numpy()
    np.testing.assert_allclose(made.scores(counts), expected, rtol=1e-5)


def test_labels_are_those_of_the_classes() -> None:
    net = logic_network(4, [8, 12], 3, seed=0)
    made = make_head(net, ["a", "b", "c"])
    assert isinstance(made, heads.Classes)
    assert made.labels == ("a", "b", "c")
    assert made.tau == net[-1].temperature(12)
    assert make_head(net).labels == (0, 1, 2)


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda: discretize(nn.Sequential(nn.Linear(3, 3))), TypeError, "got Linear at 0"),
        (lambda: discretize(nn.Sequential(LogicLayer(4, 8), Affine(1.0, 0.0))), TypeError, "got Affine at 1"),
        (lambda: discretize(nn.Sequential(GroupSum(2), LogicLayer(4, 8))), TypeError, "got LogicLayer at 1"),
        (lambda: discretize(nn.Sequential()), ValueError, "at least one layer of gates"),
        (lambda: discretize(nn.Sequential(LogicLayer(4, 8), GroupSum(3))), ValueError, "must divide the 8 features"),
        (lambda: read_counts(LogicLayer(4, 8), torch.zeros(1, 1)), ValueError, "must hold a GroupSum"),
        (lambda: make_head(LogicLayer(4, 8)), ValueError, "must hold a GroupSum"),
        (lambda: make_head(logic_network(4, [8], 2), ["yes"]), ValueError, "labels must be 2, one per group, got 1"),
        (
            lambda: make_head(nn.Sequential(LogicLayer(4, 8), GroupSum(1, 8.0), Affine(1.0, 0.0)), ["x"]),
            ValueError,
            "labels must be None for a network that ends in Affine",
        ),
        (
            lambda: make_head(nn.Sequential(LogicLayer(4, 8), GroupSum(1, 3.0), Affine(1.0, 0.0))),
            ValueError,
            "must end in a GroupSum with tau 8 and beta 0",
        ),
    ],
)
def test_what_cannot_be_discretized_is_refused(make: object, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        make()  # type: ignore[operator]
