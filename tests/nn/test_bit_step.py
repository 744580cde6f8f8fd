"""nn.TrainStep on bits: equal to autograd on the plain definition, frozen layers, exchange, independent of threads."""

import copy

import pytest
from support.tools import require_module
from support.training import steps
from support.training.steps import LOSSES, N_GROUPS, N_INPUTS, make_batch

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
    steps.check_equals_autograd(make_net(wiring, parametrization, grad_factor=1.5), loss)


@pytest.mark.parametrize("grad_factor", [1.0, 1.5])
@pytest.mark.parametrize("candidates", [None, RandomCandidates(7)])
def test_gradients_of_fixed_layers_are_rounded(
    candidates: RandomCandidates | None, grad_factor: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    x, y, _, _ = make_batch()
    options = {"parametrization": PARAMETRIZATIONS["some"], "sampling": nn.Bitwise(2.0), "grad_factor": grad_factor}
    first = make_net("fixed" if candidates is None else "learned", grad_factor=grad_factor)[0]
    fixed = [nn.LogicLayer(50, 50, seed=1, position=i, **options) for i in (1, 2)]
    last = nn.LogicLayer(50, 40, seed=1, position=3, **options)
    net = torch.nn.Sequential(first, *fixed, last, nn.GroupSum(N_GROUPS, 3.0))
    for layer in net[1:-1]:
        layer.sampling = first.sampling

    def train_by_torch() -> torch.Tensor:
        twin = copy.deepcopy(net)
        adam = torch.optim.Adam(twin.parameters(), lr=1.0, eps=1.0)
        torch.nn.functional.cross_entropy(twin(x), y).backward()
        adam.step()
        return torch.cat([layer.weight.flatten() for layer in twin[:-1]])

    rounded = train_by_torch()
    monkeypatch.setattr(nn.functional, "round_gradient", lambda x: x)
    exact = train_by_torch()
    nn.TrainStep(net, learning_rate=1.0, eps=1.0)(x, y)
    native = torch.cat([layer.weight.flatten() for layer in net[:-1]]).detach()
    assert 10 * (native - rounded).abs().max() < (exact - rounded).abs().max()


@pytest.mark.parametrize("n_rows", [1, 63, 64, 65, 255, 256, 257, 1000])
def test_any_number_of_rows(n_rows: int) -> None:
    x, y, _, _ = make_batch(n_rows)
    steps.check_first_loss(make_net(), x, y)


def test_threads_do_not_matter() -> None:
    x, y, _, _ = make_batch(200)

    def make_wide() -> nn.LogicNetwork:
        candidates = RandomCandidates(7)
        return nn.logic_network(
            N_INPUTS, [2000, 400], N_GROUPS, candidates=candidates, sampling=nn.Bitwise(2.0), seed=1
        )

    steps.check_threads_do_not_matter(make_wide, x, y, 1, 2)


@pytest.mark.parametrize("frozen", [0, 1])
def test_frozen_layers_stay(frozen: int) -> None:
    x, y, _, _ = make_batch()
    steps.check_frozen_layer_stays(make_net(), frozen, x, y)


def test_exchange_forgets_moments() -> None:
    x, y, _, _ = make_batch()
    steps.check_exchange_forgets_moments(make_net(), x, y)


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
    steps.check_state_goes_to_torch_and_back(make_net(), x, y)


def test_refusals() -> None:
    steps.check_rows_are_checked(make_net())
    with pytest.raises(ValueError, match="have Bitwise as the sampling of a LearnedLayer, got Soft"):
        nn.TrainStep(make_net(sampling=nn.Soft()))
    half = make_net()
    half[0].pins.requires_grad_(False)
    with pytest.raises(ValueError, match="weight and pins that are frozen together"):
        nn.TrainStep(half)
