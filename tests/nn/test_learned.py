"""nn.LearnedLayer: pins that choose their wires, their gradients, what they stand for, and misuse."""

import copy
from collections.abc import Callable

import numpy as np
import pytest
from support.tools import require_module

require_module("torch", "pip install -c constraints.txt torch==2.13.0")

import torch
from torch import Tensor

from gatewise import nn
from gatewise.run import reference
from gatewise.wiring import AllInputs, NearbyCandidates, RandomCandidates

N_IN, N_OUT, K = 9, 12, 4


def make_layer(**options: object) -> nn.LearnedLayer:
    return nn.LearnedLayer(N_IN, N_OUT, candidates=RandomCandidates(K), seed=3, **options)


def draw_bits(n_rows: int = 20) -> Tensor:
    return torch.rand(n_rows, N_IN, generator=torch.Generator().manual_seed(5)) > 0.5


def test_soft_pins_read_mixtures() -> None:
    layer = make_layer(sampling=nn.Soft()).double()
    x = torch.rand(7, N_IN, dtype=torch.float64)
    shares = layer.pins.softmax(-1)
    a, b = (torch.einsum("sik,ik->si", x[:, layer.candidates[pin].long()], shares[pin]) for pin in range(2))
    coefficients = layer.parametrization.coefficients([layer.weight], layer.sampling, training=True)
    expected = coefficients[:, 0] + coefficients[:, 1] * a + coefficients[:, 2] * b + coefficients[:, 3] * a * b
    torch.testing.assert_close(layer(x), expected)


def test_soft_gradients() -> None:
    layer = make_layer(sampling=nn.Soft(), grad_factor=1.0).double()
    x = torch.rand(3, N_IN, dtype=torch.float64, requires_grad=True)

    def run(x: Tensor, weight: Tensor, pins: Tensor) -> Tensor:
        return torch.func.functional_call(layer, {"weight": weight, "pins": pins}, (x,))

    values = [each.detach().clone().requires_grad_() for each in (layer.weight, layer.pins)]
    assert torch.autograd.gradcheck(run, (x, *values))


def test_straight_through_gradients_are_those_of_the_mixture() -> None:
    layer = make_layer(sampling=nn.Bitwise(2.0)).double()
    x = draw_bits().double().requires_grad_()
    a, b = layer.wires()
    layer(x).sum().backward()
    mixed = nn.functional.mix_gates(layer.weight, layer.parametrization.operators, 2.0)
    by_a, by_b = mixed[:, 1] + mixed[:, 3] * x[:, b], mixed[:, 2] + mixed[:, 3] * x[:, a]
    of_x = torch.zeros_like(x).index_add(1, a, by_a).index_add(1, b, by_b)
    torch.testing.assert_close(x.grad, of_x)
    shares = (layer.pins / 2.0).softmax(-1)
    read = x[:, layer.candidates.long()]
    sums = torch.einsum("psi,spik->pik", torch.stack([by_a, by_b]), read)
    expected = shares * (sums - (shares * sums).sum(-1, keepdim=True)) / 2.0
    torch.testing.assert_close(layer.pins.grad, expected)


@pytest.mark.parametrize("sampling", [nn.Bitwise, nn.Soft, nn.HardStraightThrough, nn.Gumbel])
def test_eval_is_the_circuit(sampling: type) -> None:
    net = nn.logic_network(N_IN, [14, 12], 3, candidates=RandomCandidates(K), sampling=sampling(), seed=2, tau=2.0)
    x = draw_bits()
    counts = reference.count_groups(nn.discretize(net), x.numpy())
    assert torch.equal(net.eval()(x), torch.from_numpy(counts).float() / 2.0)


def test_training_on_bits_has_no_gap() -> None:
    net = nn.logic_network(N_IN, [14, 12], 3, candidates=RandomCandidates(K), seed=2)
    x = draw_bits()
    assert torch.equal(net.train()(x), copy.deepcopy(net).eval()(x))
    fixed = nn.logic_network(N_IN, [14, 12], 3, sampling=nn.Bitwise(), seed=2)
    assert torch.equal(fixed.train()(x), copy.deepcopy(fixed).eval()(x))


def test_pins_read_two_wires_where_they_can() -> None:
    candidates = np.array([[[0, 1], [2, 2]], [[0, 3], [2, 2]]])
    layer = nn.LearnedLayer(4, 2, candidates=candidates, seed=0)
    with torch.no_grad():
        layer.pins.copy_(torch.tensor([[[1.0, 0.0], [0.0, 0.0]], [[5.0, 0.0], [0.0, 0.0]]]))
    a, b = layer.wires()
    assert (a.tolist(), b.tolist()) == ([0, 2], [3, 2])


def test_everything_is_in_the_state() -> None:
    net, other = (nn.logic_network(N_IN, [14, 12], 3, candidates=RandomCandidates(K), seed=i) for i in range(2))
    assert nn.discretize(net) != nn.discretize(other)
    net[0].sampling.temperature.fill_(1.5)
    other.load_state_dict(net.state_dict())
    assert nn.discretize(net) == nn.discretize(other)
    assert other[0].sampling.temperature == 1.5
    assert nn.discretize(copy.deepcopy(net)) == nn.discretize(net)


def test_one_seed_gives_one_network() -> None:
    make = {"candidates": NearbyCandidates((1, 4, 4), 1, radius=1, k=5), "seed": 9}
    nets = [nn.logic_network(16, [20, 10], 2, **make) for _ in range(2)]
    assert all(torch.equal(a, b) for a, b in zip(*(net.state_dict().values() for net in nets), strict=True))


def test_exchange_replaces_the_losers() -> None:
    layer = nn.LearnedLayer(200, 30, candidates=RandomCandidates(8), seed=0)
    before, pins, wires = layer.candidates.clone(), layer.pins.detach().clone(), layer.wires()
    lost = layer.exchange(0.5, draw=1)
    assert bool((lost.sum(-1) == 4).all())
    assert bool((pins[lost].view(2, 30, 4).amax(-1) < pins[~lost].view(2, 30, 4).amin(-1)).all())
    assert torch.equal(layer.candidates[~lost], before[~lost])
    assert float((layer.candidates[lost] == before[lost]).float().mean()) < 0.1
    assert all(torch.equal(a, b) for a, b in zip(layer.wires(), wires, strict=True))
    again = nn.LearnedLayer(200, 30, candidates=RandomCandidates(8), seed=0)
    again.exchange(0.5, draw=1)
    assert torch.equal(again.candidates, layer.candidates)


def test_few_inputs_can_all_be_candidates() -> None:
    layer = nn.LearnedLayer(5, 3, candidates=AllInputs())
    assert layer.k == 5
    assert nn.LearnedLayer(5, 3).k == 5


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: nn.LearnedLayer(4, 2, candidates=RandomCandidates(5)), "k must be at most 4 for a layer of 4 inputs"),
        (lambda: RandomCandidates(0), "k must be an integer in 1"),
        (lambda: NearbyCandidates((1, 3, 3), 1, radius=1, k=10), "k must be at most 9 for a window of 1 x 3 x 3 x 1"),
        (lambda: NearbyCandidates((3, 3), 1), r"shape must be \(channels, rows, columns\)"),
        (
            lambda: nn.LearnedLayer(5, 2, candidates=NearbyCandidates((1, 2, 2), 1, k=2)),
            "in_features must be 4 for images",
        ),
        (
            lambda: nn.LearnedLayer(4, 2, candidates=np.zeros((2, 2), int)),
            r"candidates must be integers of shape \(2, 2",
        ),
        (lambda: nn.LearnedLayer(4, 2, candidates=np.zeros((2, 2, 0), int)), "k at least 1"),
        (
            lambda: nn.LearnedLayer(4, 2, candidates=np.full((2, 2, 1), 4)),
            r"candidates must be in 0..3, the inputs of the layer, got 4 at pin a of gate 0",
        ),
        (lambda: nn.LearnedLayer(4, 2, candidates=np.zeros((2, 2, 1), int)).exchange(0.5, 1), "got an array"),
        (lambda: make_layer().exchange(1.0, 1), r"share must be in \[0, 1\)"),
        (lambda: nn.Bitwise(0.0), "temperature must be positive"),
        (lambda: make_layer()(torch.full((2, N_IN), 0.5)), "x must be 0 or 1 for training on bits"),
        (lambda: make_layer()(torch.zeros(2, 3)), "x must have 9 features"),
        (lambda: nn.Softmax(()), "operators must be distinct gate ids, at least one"),
    ],
)
def test_misuse(call: Callable[[], object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        call()


def test_repr_tells_what_differs() -> None:
    assert "k=4" in repr(make_layer())
    assert "parametrization=Light()" in repr(make_layer(parametrization=nn.Light()))
