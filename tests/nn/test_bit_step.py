"""nn.TrainStep on bits: equal to autograd on the plain definition, frozen layers, exchange, independent of threads."""

import copy

import pytest
from nn.test_step import LOSSES, N_GROUPS, N_INPUTS, make_batch, mean_of_rows
from support.tools import require_module

require_module("torch", "pip install -c constraints.txt torch==2.13.0")

import torch

from gatewise import nn
from gatewise.wiring import RandomCandidates

CANDIDATES = {"fixed": None, "learned": RandomCandidates(7)}
PARAMETRIZATIONS = {
    "all": nn.Softmax(),
    "some": nn.Softmax(nn.NO_CONSTANTS, initialization=nn.Residual(3.0)),
    "light": nn.Light(),
}


def make_net(wiring: str = "learned", parametrization: str = "some", **options: object) -> nn.LogicNetwork:
    given = {"parametrization": PARAMETRIZATIONS[parametrization], "sampling": nn.Bitwise(2.0), "tau": 3.0}
    return nn.logic_network(N_INPUTS, [50, 40], N_GROUPS, candidates=CANDIDATES[wiring], seed=1, **given | options)


@pytest.mark.parametrize("loss", list(LOSSES))
@pytest.mark.parametrize("wiring", list(CANDIDATES))
@pytest.mark.parametrize("parametrization", list(PARAMETRIZATIONS))
def test_equals_autograd(loss: str, wiring: str, parametrization: str) -> None:
    expected, net = (make_net(wiring, parametrization, grad_factor=1.5) for _ in range(2))
    x, classes, targets, weight = make_batch()
    y = classes if loss == "cross_entropy" else targets
    # A large epsilon keeps Adam from making a sign of gradients that are rounding errors.
    adam = torch.optim.Adam(expected.parameters(), lr=0.5, eps=1e-2)
    step = nn.TrainStep(net, loss, learning_rate=0.5, eps=1e-2, label_smoothing=0.1)
    for _ in range(5):
        adam.zero_grad()
        value = mean_of_rows(LOSSES[loss](expected(x), y), weight)
        value.backward()
        adam.step()
        assert step(x, y, weight) == pytest.approx(value.item(), rel=1e-5)
    changed = False
    given = make_net(wiring, parametrization).parameters()
    for parameter, own, before in zip(expected.parameters(), net.parameters(), given, strict=True):
        torch.testing.assert_close(own, parameter, rtol=1e-3, atol=2e-4)
        changed |= not torch.allclose(own, before, atol=0.01)
    assert changed


@pytest.mark.parametrize("n_rows", [1, 63, 64, 65, 255, 256, 257, 1000])
def test_any_number_of_rows(n_rows: int) -> None:
    x, y, _, _ = make_batch(n_rows)
    net, other = (make_net() for _ in range(2))
    step = nn.TrainStep(net)
    outputs = other.eval()(x)
    assert step(x, y) == pytest.approx(torch.nn.functional.cross_entropy(outputs, y).item(), rel=1e-5)
    assert step(x[:3], y[:3]) > 0


def test_threads_do_not_matter() -> None:
    x, y, _, _ = make_batch(200)
    wide = {"candidates": RandomCandidates(7), "sampling": nn.Bitwise(2.0), "seed": 1}
    nets = [nn.logic_network(N_INPUTS, [2000, 400], N_GROUPS, **copy.deepcopy(wide)) for _ in range(2)]
    before = torch.get_num_threads()
    try:
        for net, threads in zip(nets, (1, 2), strict=True):
            torch.set_num_threads(threads)
            step = nn.TrainStep(net, learning_rate=0.1)
            for _ in range(10):
                step(x, y)
    finally:
        torch.set_num_threads(before)
    assert all(torch.equal(a, b) for a, b in zip(nets[0].parameters(), nets[1].parameters(), strict=True))


@pytest.mark.parametrize("frozen", [0, 1])
def test_frozen_layers_stay(frozen: int) -> None:
    x, y, _, _ = make_batch()
    net, trained = make_net(), make_net()
    trained[frozen].requires_grad_(False)
    step = nn.TrainStep(trained, learning_rate=0.1)
    for _ in range(3):
        step(x, y)
    for i in range(2):
        for own, before in zip(trained[i].parameters(), net[i].parameters(), strict=True):
            assert torch.equal(own, before) == (i == frozen)


def test_exchange_forgets_moments() -> None:
    x, y, _, _ = make_batch()
    net = make_net()
    step = nn.TrainStep(net, learning_rate=0.1)
    step(x, y)
    before = net[0].candidates.clone()
    step.exchange(0.5, draw=1)
    lost = net[0].candidates != before
    moments = step.state_dict()["state"][1]
    assert lost.any()
    assert not moments["exp_avg"][lost].any()
    assert moments["exp_avg"].any()
    outputs = copy.deepcopy(net).eval()(x)
    assert step(x, y) == pytest.approx(torch.nn.functional.cross_entropy(outputs, y).item(), rel=1e-5)


def test_temperatures_of_a_run() -> None:
    x, y, _, _ = make_batch()
    nets = [make_net() for _ in range(3)]
    steps = [nn.TrainStep(net, learning_rate=0.1) for net in nets]
    steps[0].run(x, y, [20, 17], [0.1, 0.1], temperatures=[4.0, 1.0])
    for part, temperature in ((slice(0, 20), 4.0), (slice(20, 37), 1.0)):
        nets[1][0].sampling.temperature.fill_(temperature)
        steps[1](x[part], y[part])
    steps[2].run(x, y, [20, 17], [0.1, 0.1])
    assert float(nets[0][0].sampling.temperature) == 1.0
    assert torch.equal(nets[0][0].pins, nets[1][0].pins)
    assert not torch.equal(nets[0][0].pins, nets[2][0].pins)


def test_state_goes_to_torch_and_back() -> None:
    x, y, _, _ = make_batch()
    net = make_net()
    step = nn.TrainStep(net, learning_rate=0.1)
    step(x, y)
    adam = torch.optim.Adam(net.parameters())
    adam.load_state_dict(adam.state_dict() | step.state_dict())
    resumed = copy.deepcopy(net)
    other = nn.TrainStep(resumed, learning_rate=0.1)
    other.load_state_dict(adam.state_dict())
    step(x, y)
    other(x, y)
    assert all(torch.equal(a, b) for a, b in zip(net.parameters(), resumed.parameters(), strict=True))


def test_refusals() -> None:
    _, y, _, _ = make_batch()
    step = nn.TrainStep(make_net())
    with pytest.raises(ValueError, match="x must be 0 or 1 for training on bits"):
        step(torch.full((3, N_INPUTS), 0.5), y[:3])
    with pytest.raises(ValueError, match="x must have at most 32768 rows"):
        step(torch.zeros(40_000, N_INPUTS, dtype=torch.bool), torch.zeros(40_000, dtype=torch.long))
    with pytest.raises(ValueError, match="have Bitwise as the sampling of a LearnedLayer, got Soft"):
        nn.TrainStep(make_net(sampling=nn.Soft()))
    half = make_net()
    half[0].pins.requires_grad_(False)
    with pytest.raises(ValueError, match="weight and pins that are frozen together"):
        nn.TrainStep(half)
