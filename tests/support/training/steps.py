"""What every native training step must do, whatever network it trains."""

import copy
from collections.abc import Callable

import pytest
from support.tools import require_module

require_module("torch", "pip install -c constraints.txt torch==2.13.0")

import torch
from torch import Tensor
from torch.nn import Sequential

from gatewise import nn

N_ROWS, N_INPUTS, N_GROUPS = 37, 30, 4

LOSSES: dict[str, Callable[[Tensor, Tensor], Tensor]] = {
    "cross_entropy": lambda z, y: torch.nn.functional.cross_entropy(z, y, reduction="none", label_smoothing=0.1),
    "binary_cross_entropy": lambda z, y: torch.nn.functional.binary_cross_entropy_with_logits(z, y, reduction="none"),
    "squared_error": lambda z, y: torch.nn.functional.mse_loss(z, y, reduction="none"),
}


def make_batch(n_rows: int = N_ROWS) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Bits, classes, targets and weights."""
    generator = torch.Generator().manual_seed(2)
    x = torch.randint(2, (n_rows, N_INPUTS), generator=generator).bool()
    classes = torch.randint(N_GROUPS, (n_rows,), generator=generator)
    return x, classes, torch.rand(n_rows, N_GROUPS, generator=generator), torch.rand(n_rows, generator=generator)


def mean_of_rows(losses: Tensor, weight: Tensor) -> Tensor:
    return (losses.reshape(N_ROWS, -1).mean(1) * weight).mean()


def are_equal(net: Sequential, other: Sequential) -> bool:
    """Whether all parameters are the same."""
    return all(torch.equal(a, b) for a, b in zip(net.parameters(), other.parameters(), strict=True))


def check_equals_autograd(net: Sequential, loss: str) -> None:
    """Five weighted steps: losses and weights are those of a copy that autograd trains."""
    x, classes, targets, weight = make_batch()
    y = classes if loss == "cross_entropy" else targets
    before, twin = copy.deepcopy(net), copy.deepcopy(net)
    # A large epsilon keeps Adam from making a sign of gradients that are rounding errors.
    adam = torch.optim.Adam(twin.parameters(), lr=0.5, eps=1e-2)
    step = nn.TrainStep(net, loss, learning_rate=0.5, eps=1e-2, label_smoothing=0.1)
    for _ in range(5):
        adam.zero_grad()
        value = mean_of_rows(LOSSES[loss](twin(x), y), weight)
        value.backward()
        adam.step()
        assert step(x, y, weight) == pytest.approx(value.item(), rel=1e-5)
    twin(x)  # tables clamp their entries when they are read
    changed = False
    for own, other, given in zip(net.parameters(), twin.parameters(), before.parameters(), strict=True):
        torch.testing.assert_close(own, other, rtol=1e-3, atol=2e-4)
        changed |= not torch.allclose(own, given, atol=0.01)
    assert changed


def check_first_loss(net: Sequential, x: Tensor, y: Tensor) -> None:
    """The loss that a step returns is that of the hard network before it; a smaller batch may follow."""
    outputs = copy.deepcopy(net).eval()(x)
    expected = torch.nn.functional.cross_entropy(outputs, y).item()
    step = nn.TrainStep(net)
    assert step(x, y) == pytest.approx(expected, rel=1e-5)
    assert step(x[:3], y[:3]) > 0


def check_threads_do_not_matter(
    make_net: Callable[[], Sequential], x: Tensor, y: Tensor, *threads: int, n_steps: int = 10
) -> None:
    """Losses and weights are the same to the bit."""
    before, losses, nets = torch.get_num_threads(), [], []
    try:
        for n_threads in threads:
            torch.set_num_threads(n_threads)
            nets.append(make_net())
            step = nn.TrainStep(nets[-1], learning_rate=0.1)
            losses.append([step(x, y) for _ in range(n_steps)])
    finally:
        torch.set_num_threads(before)
    assert losses[0][0] != losses[0][-1]
    for other, of_other in zip(nets[1:], losses[1:], strict=True):
        assert of_other == losses[0]
        assert are_equal(nets[0], other)


def check_frozen_layer_stays(net: Sequential, frozen: int, x: Tensor, y: Tensor) -> None:
    """Three steps change every weight tensor but those of one layer."""
    before = copy.deepcopy(net)
    net[frozen].requires_grad_(False)
    step = nn.TrainStep(net, learning_rate=0.1)
    for _ in range(3):
        step(x, y)
    for i, (own, given) in enumerate(zip(net, before, strict=True)):
        for parameter, other in zip(own.parameters(), given.parameters(), strict=True):
            assert torch.equal(parameter, other) == (i == frozen)


def check_exchange_forgets_moments(net: Sequential, x: Tensor, y: Tensor) -> None:
    """Candidates of the first layer that are exchanged begin without moments, and the next step reads them."""
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


def check_state_goes_to_torch_and_back(net: Sequential, x: Tensor, y: Tensor) -> None:
    """A copy that goes on from torch's state of Adam takes the same next step."""
    step = nn.TrainStep(net, learning_rate=0.1)
    step(x, y)
    adam = torch.optim.Adam(net.parameters())
    adam.load_state_dict(adam.state_dict() | step.state_dict())
    resumed = copy.deepcopy(net)
    other = nn.TrainStep(resumed, learning_rate=0.1)
    other.load_state_dict(adam.state_dict())
    step(x, y)
    other(x, y)
    assert are_equal(net, resumed)


def check_rows_are_checked(net: Sequential) -> None:
    """Values between 0 and 1, and more rows than steps on bits take, are refused."""
    _, y, _, _ = make_batch()
    step = nn.TrainStep(net)
    with pytest.raises(ValueError, match="x must be 0 or 1 for training on bits"):
        step(torch.full((3, N_INPUTS), 0.5), y[:3])
    with pytest.raises(ValueError, match="x must have at most 32768 rows"):
        step(torch.zeros(40_000, N_INPUTS, dtype=torch.bool), torch.zeros(40_000, dtype=torch.long))
