"""nn.TrainStep of convolutions, on bits and on floats: equal to autograd on the plain definition, clear refusals."""

import copy
from collections.abc import Callable
from typing import Any

import pytest
from support.tools import require_module
from support.training import steps

require_module("torch", "pip install -c constraints.txt torch==2.13.0")

import torch
from torch import Tensor
from torch.nn import Flatten, Sequential

from gatewise import nn
from gatewise.wiring import RandomCandidates

N_ROWS, N_GROUPS = 70, 4
PARAMETRIZATIONS = {"some": nn.Softmax(nn.NO_CONSTANTS), "light": nn.Light()}
SHAPES = {"gray": ((9, 8), 1), "colors": ((2, 9, 8), 3)}


def make_net(shape: str = "colors", wiring: str = "fixed", **options: Any) -> Sequential:
    """Two convolutions, pooled, with strides and borders, and two layers of gates."""
    maps = nn.FeatureMaps(*SHAPES[shape])
    shared: Callable[..., Any] = nn.LogicConv2d
    given = {"parametrization": PARAMETRIZATIONS["some"], "sampling": nn.Bitwise(0.5), "seed": 1, **options}
    dense: Callable[..., Any] = nn.LogicLayer
    own: dict[str, Any] = {}
    if wiring == "learned":
        dense, own, shared = nn.LearnedLayer, {"candidates": RandomCandidates(5)}, nn.LearnedConv2d
    return Sequential(
        maps,
        shared(maps.maps_shape[0], 6, 3, depth=3, padding=1, position=0, **given),
        nn.OrPool2d(2),
        shared(6, 8, (3, 2), depth=1, stride=(1, 2), padding=(0, 1), position=1, **given),
        nn.OrPool2d((1, 3), stride=1),
        Flatten(),
        nn.LogicLayer(16, 30, position=2, **given),
        dense(30, 20, position=3, **given, **own),
        nn.GroupSum(N_GROUPS, 2.0),
    )


def make_batch(net: Sequential, n_rows: int = N_ROWS) -> tuple[Tensor, Tensor]:
    generator = torch.Generator().manual_seed(2)
    x = torch.randint(2, (n_rows, net[0].in_features), generator=generator).bool()
    return x, torch.randint(N_GROUPS, (n_rows,), generator=generator)


def train_both(net: Sequential, x: Tensor) -> tuple[Sequential, list[float], list[float]]:
    """A copy by autograd, the network itself by native steps; the copy and the losses of both."""
    _, y = make_batch(net)
    twin = copy.deepcopy(net)
    # A large epsilon keeps Adam from making a sign of gradients that are rounding errors.
    adam = torch.optim.Adam(twin.parameters(), lr=0.3, eps=1e-2)
    step = nn.TrainStep(net, learning_rate=0.3, eps=1e-2)
    losses: tuple[list[float], list[float]] = [], []
    for _ in range(5):
        loss = torch.nn.functional.cross_entropy(twin(x), y)
        adam.zero_grad()
        loss.backward()
        adam.step()
        losses[0].append(loss.item())
        losses[1].append(step(x, y))
    return twin, *losses


@pytest.mark.parametrize("shape", list(SHAPES))
@pytest.mark.parametrize("wiring", ["fixed", "learned"])
@pytest.mark.parametrize("parametrization", list(PARAMETRIZATIONS))
def test_steps_on_bits_equal_autograd(shape: str, wiring: str, parametrization: str) -> None:
    # Gradients shrink from level to level.
    net = make_net(shape, wiring, parametrization=PARAMETRIZATIONS[parametrization], grad_factor=4.0)
    before = copy.deepcopy(net)
    twin, expected, losses = train_both(net, make_batch(net)[0])
    assert losses == pytest.approx(expected, rel=1e-5)
    for own, other, given in zip(net.parameters(), twin.parameters(), before.parameters(), strict=True):
        torch.testing.assert_close(own, other, rtol=1e-3, atol=2e-4)
        assert not torch.allclose(own, given, atol=0.01)


@pytest.mark.parametrize("as_bits", [False, True])
def test_steps_on_floats_equal_autograd(as_bits: bool) -> None:
    net = make_net(sampling=nn.Soft(), grad_factor=1.5)
    x = make_batch(net)[0] if as_bits else torch.rand(N_ROWS, net[0].in_features)
    twin, expected, losses = train_both(net, x)
    assert losses == pytest.approx(expected, rel=1e-5)
    for own, other in zip(net.parameters(), twin.parameters(), strict=True):
        torch.testing.assert_close(own, other, rtol=1e-3, atol=5e-4)


@pytest.mark.parametrize("n_rows", [1, 63, 64, 65, 257])
def test_any_number_of_rows(n_rows: int) -> None:
    net = make_net()
    x, y = make_batch(net, n_rows)
    steps.check_first_loss(net, x, y)


def test_threads_do_not_matter() -> None:
    x, y = make_batch(make_net("colors", "learned"), 3000)
    steps.check_threads_do_not_matter(lambda: make_net("colors", "learned"), x, y, 1, 2, 3, n_steps=4)


@pytest.mark.parametrize("frozen", [1, 3, 6, 7])
def test_frozen_layers_stay(frozen: int) -> None:
    net = make_net("gray", "learned")
    x, y = make_batch(net)
    steps.check_frozen_layer_stays(net, frozen, x, y)


def test_state_goes_to_torch_and_back() -> None:
    net = make_net("gray", "learned")
    x, y = make_batch(net)
    steps.check_state_goes_to_torch_and_back(net, x, y)


def test_taps_that_change_are_seen() -> None:
    net = make_net("gray")
    x, y = make_batch(net)
    step = nn.TrainStep(net, learning_rate=0.0)
    first = step(x, y)
    net[1].tap_idx.copy_(net[1].tap_idx.flip(1))
    expected = torch.nn.functional.cross_entropy(copy.deepcopy(net).eval()(x), y).item()
    assert step(x, y) == pytest.approx(expected, rel=1e-5)
    assert step(x, y) != first


def replaced(position: int, module: torch.nn.Module) -> Sequential:
    net = make_net()
    net[position] = module
    return net


def half_frozen() -> Sequential:
    net = make_net()
    net[1].weights[0].requires_grad_(False)
    return net


OBSTACLES: dict[str, tuple[Callable[[], Sequential], str]] = {
    "nested": (
        lambda: replaced(5, Sequential(Flatten())),
        "hold layers of gates without hooks before the GroupSum, got Sequential at 5",
    ),
    "shapes": (lambda: replaced(2, nn.OrPool2d(20)), "hold layers that fit together: kernel_size must be .* at 2"),
    "no flatten": (lambda: replaced(5, nn.OrPool2d(1)), "hold layers that fit together: LogicLayer.* at 6"),
    "own sampling": (
        lambda: replaced(3, nn.LogicConv2d(6, 8, 3, parametrization=PARAMETRIZATIONS["some"])),
        "one sampling, which all layers share, .* layer 3",
    ),
    "half frozen": (half_frozen, "weights that are frozen together, got one of them that is not at layer 1"),
    "hooks": (
        lambda: replaced(2, torch.nn.MaxPool2d(2)),
        "hold layers of gates without hooks before the GroupSum, got MaxPool2d at 2",
    ),
    "maps": (
        lambda: Sequential(nn.FeatureMaps((4, 4)), nn.LogicConv2d(1, 2, 3), nn.GroupSum(2)),
        r"end in rows, got maps of \(2, 2, 2\); put a torch.nn.Flatten behind them",
    ),
    "no gates": (lambda: Sequential(nn.FeatureMaps((4, 4)), Flatten(), nn.GroupSum(2)), "hold layers of gates"),
}


@pytest.mark.parametrize("obstacle", OBSTACLES)
def test_the_refusal_names_the_layer_and_the_reason(obstacle: str) -> None:
    make, message = OBSTACLES[obstacle]
    net = make()
    assert not nn.TrainStep.supports(net)
    with pytest.raises(ValueError, match=f"(?s)^net must .*{message}.*; train it by autograd"):
        nn.TrainStep(net)
