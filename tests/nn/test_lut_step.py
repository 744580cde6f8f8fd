"""nn.TrainStep on tables: equal to autograd on the plain definition, frozen layers, exchange, and threads."""

from collections.abc import Callable

import pytest
from support.tools import require_module
from support.training import steps
from support.training.steps import LOSSES, N_GROUPS, N_INPUTS, make_batch

require_module("torch", "pip install -c constraints.txt torch==2.13.0")

import torch

from gatewise import nn
from gatewise.wiring import RandomCandidates

SIZES = (3, 4, 5, 6)
WIRINGS = {"fixed": (False, False), "first": (True, False), "last": (False, True), "learned": (True, True)}


def make_net(
    k: int = 4, wiring: str = "first", widths: tuple[int, int] = (50, 40), **options: object
) -> torch.nn.Sequential:
    sampling = nn.Bitwise(2.0)
    candidates = [RandomCandidates(7) if learned else None for learned in WIRINGS[wiring]]
    shapes = zip((N_INPUTS, widths[0]), widths, candidates, strict=True)
    layers = [
        nn.LutLayer(n_in, n_out, k, candidates=each, sampling=sampling, seed=1, position=i, **options)
        for i, (n_in, n_out, each) in enumerate(shapes)
    ]
    return torch.nn.Sequential(*layers, nn.GroupSum(N_GROUPS, 3.0))


@pytest.mark.parametrize("loss", list(LOSSES))
@pytest.mark.parametrize("wiring", list(WIRINGS))
@pytest.mark.parametrize("k", SIZES)
def test_equals_autograd(loss: str, wiring: str, k: int) -> None:
    net = make_net(k, wiring, grad_factor=1.5)
    steps.check_equals_autograd(net, loss)
    assert all(layer.weight.abs().max() <= 1 for layer in list(net)[:-1])


@pytest.mark.parametrize("n_rows", [1, 63, 64, 65, 255, 256, 257, 1000])
@pytest.mark.parametrize("k", SIZES)
def test_any_number_of_rows(n_rows: int, k: int) -> None:
    x, y, _, _ = make_batch(n_rows)
    steps.check_first_loss(make_net(k), x, y)


@pytest.mark.parametrize("wiring", list(WIRINGS))
def test_threads_do_not_matter(wiring: str) -> None:
    x, y, _, _ = make_batch(200)
    steps.check_threads_do_not_matter(lambda: make_net(6, wiring, widths=(900, 400)), x, y, 1, 3)


@pytest.mark.parametrize("frozen", [0, 1])
def test_frozen_layers_stay(frozen: int) -> None:
    x, y, _, _ = make_batch()
    steps.check_frozen_layer_stays(make_net(wiring="learned"), frozen, x, y)


def test_exchange_forgets_moments() -> None:
    x, y, _, _ = make_batch()
    steps.check_exchange_forgets_moments(make_net(5), x, y)


def test_state_goes_to_torch_and_back() -> None:
    x, y, _, _ = make_batch()
    steps.check_state_goes_to_torch_and_back(make_net(6), x, y)


def test_tables_learn_parity() -> None:
    x = torch.arange(64)[:, None] >> torch.arange(6) & 1 == 1
    y = x.sum(1) % 2
    net = torch.nn.Sequential(nn.LutLayer(6, 2, 6, wiring=[[i] * 2 for i in range(6)], seed=0), nn.GroupSum(2, 0.5))
    step = nn.TrainStep(net, learning_rate=0.1)
    for _ in range(100):
        step(x, y)
    assert torch.equal(net.eval()(x).argmax(1), y)


def _with_own_samplings() -> torch.nn.Sequential:
    net = make_net(wiring="learned")
    net[1].sampling = nn.Bitwise()
    return net


def _with_frozen_pins() -> torch.nn.Sequential:
    net = make_net()
    net[0].pins.requires_grad_(False)
    return net


def _mixed() -> torch.nn.Sequential:
    net = make_net()
    net[1] = nn.LogicLayer(50, 40, sampling=nn.Bitwise())
    return net


def _behind_gates() -> torch.nn.Sequential:
    net = make_net()
    net[0] = nn.LogicLayer(N_INPUTS, 50, sampling=nn.Bitwise())
    return net


def _behind_maps() -> torch.nn.Sequential:
    trees = nn.LogicConv2d(1, 2, 2, sampling=nn.Bitwise())
    return torch.nn.Sequential(nn.FeatureMaps((3, 3)), trees, torch.nn.Flatten(), nn.LutLayer(8, 4, 3), nn.GroupSum(2))


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (_with_own_samplings, "one sampling, which all layers that learn wires share, got .* at layer 1"),
        (_with_frozen_pins, "weight and pins that are frozen together, got one of them that is not at layer 0"),
        (_mixed, "hold LutLayers without hooks before the GroupSum, got LogicLayer at 1"),
        (_behind_gates, "hold layers of gates without hooks before the GroupSum, got LutLayer at 1"),
        (_behind_maps, "hold layers of gates without hooks before the GroupSum, got LutLayer at 3"),
        (lambda: make_net().double(), "weights in float32 on the CPU, got torch.float64 on cpu at layer 0"),
        (lambda: torch.nn.Sequential(nn.LutLayer(4, 8), nn.LutLayer(9, 6), nn.GroupSum(2)), "in_features must be"),
        (
            lambda: torch.nn.Sequential(nn.LutLayer(7, 8, 3), nn.LutLayer(9, 6, 3), nn.GroupSum(2)),
            "9 tables for the layer after it, got 8 at layer 0",
        ),
    ],
)
def test_refusals(make: Callable[[], torch.nn.Sequential], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        nn.TrainStep(make())


def test_refused_rows() -> None:
    steps.check_rows_are_checked(make_net())
