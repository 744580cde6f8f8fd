"""Layers, heads and training on a device that is not the CPU: a second one in pure Python, in processes of its own."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from support.processes import call_apart
from support.tools import require_module

require_module("torch", "pip install -c constraints.txt torch==2.13.0")

import torch
from torch import Tensor, nn

from gatewise import train
from gatewise.nn import (
    Affine,
    Bitwise,
    FeatureMaps,
    GroupSum,
    Gumbel,
    HardStraightThrough,
    LearnedConv2d,
    LearnedLayer,
    Light,
    LogicConv2d,
    LogicLayer,
    Logit,
    LutLayer,
    OrPool2d,
    Soft,
    Yager,
    anchored_network,
    logic_network,
    lut_network,
)
from gatewise.train.problem import Problem
from gatewise.train.state import State
from gatewise.train.stepper import Stepper, make_optimizer
from gatewise.wiring import RandomCandidates

N_BITS = 36
SAMPLINGS = (Soft, HardStraightThrough, Gumbel, Bitwise)


def straight(**options: Any) -> nn.Module:
    return logic_network(N_BITS, [40, 30], 2, seed=0, **options)


def maps(layer: Any, sampling: Any) -> nn.Module:
    of_maps = layer(1, 4, 3, depth=2, padding=1, seed=0, sampling=sampling)
    rows = LogicLayer(36, 20, seed=0, sampling=sampling)
    return nn.Sequential(FeatureMaps((1, 6, 6)), of_maps, OrPool2d(2), nn.Flatten(), rows, GroupSum(2))


NETWORKS: dict[str, Callable[[], nn.Module]] = {
    **{f"fixed {each.__name__}": lambda each=each: straight(sampling=each()) for each in SAMPLINGS},
    **{
        f"learned {each.__name__}": lambda each=each: straight(sampling=each(), candidates=RandomCandidates(4))
        for each in SAMPLINGS
    },
    "light": lambda: straight(parametrization=Light()),
    "relaxation": lambda: straight(relaxation=Yager(2.0)),
    "generator": lambda: straight(sampling=Gumbel(generator=torch.Generator().manual_seed(1))),
    "tables": lambda: lut_network(N_BITS, [30, 20], 2, k=4, seed=0),
    "learned tables": lambda: lut_network(N_BITS, [30, 20], 2, k=4, candidates=RandomCandidates(5), seed=0),
    "anchored": lambda: anchored_network(N_BITS, [20, 20], 2, seed=0),
    **{f"maps {each.__name__}": lambda each=each: maps(LogicConv2d, each()) for each in SAMPLINGS},
    **{f"learned maps {each.__name__}": lambda each=each: maps(LearnedConv2d, each()) for each in SAMPLINGS},
}


def make_rows() -> np.ndarray:
    return np.random.default_rng(0).integers(0, 2, (60, N_BITS)).astype(bool)


def make_stepper(net: nn.Module, task: Any, targets: np.ndarray, device: str) -> tuple[Stepper, State, Any]:
    """A stepper that trains by autograd, whatever the device, and the chunk that it is to be given."""
    recipe = train.Recipe(batch_size=30, schedule=train.Constant(0.002), clip=1.0)
    data = train.Bits(make_rows(), targets)
    problem = Problem.check(net.to(device), task, data, None, recipe, train.distributed.Team())
    state = State(net, make_optimizer(net, problem), score_name=task.score_name, maximize=task.maximize)
    (chunk,) = train.data.draw_chunks(problem.data, np.arange(60), 30)
    return Stepper(problem, state), state, chunk


def take_steps(name: str, device: str) -> tuple[list[float], list[Tensor], list[str]]:
    """Losses and weights after four steps, and what was waited for in the last two of them."""
    from support.training import second_device

    torch.manual_seed(0)
    rows = make_rows()
    stepper, state, chunk = make_stepper(NETWORKS[name](), train.Classification(2), rows[:, 0].astype(int), device)
    losses = list(stepper.take(chunk))
    before = len(second_device.waits)
    state.note_steps(losses, chunk.sizes)
    losses += stepper.take(chunk)
    waits = second_device.waits[before:]
    return [float(loss) for loss in losses], [each.detach().cpu() for each in state.net.state_dict().values()], waits


def compare_training(names: list[str]) -> list[str]:
    """What differs from the CPU for each network, or makes a step wait."""
    from support.training import second_device

    second_device.install()
    found = []
    for name in names:
        (ours, here, _), (theirs, there, waits) = take_steps(name, "cpu"), take_steps(name, "second")
        if waits:
            found.append(f"{name}: waited for {waits}")
        if not np.allclose(ours, theirs, rtol=1e-3):
            found.append(f"{name}: losses {ours} and {theirs}")
        pairs = zip(here, there, strict=True)
        close = [float(torch.isclose(one.double(), other.double(), atol=1e-3).double().mean()) for one, other in pairs]
        if min(close) < 0.95:  # where a gradient is nothing but rounding, Adam takes whole steps with its sign
            found.append(f"{name}: shares of equal weights {close}")
    return found


@pytest.mark.parametrize("part", range(3))
def test_steps_are_those_of_the_cpu_and_wait_for_nothing(part: int) -> None:
    assert call_apart(compare_training, list(NETWORKS)[part::3]) == []


def fit_regressions() -> list[tuple[float, float]]:
    from support.training import second_device

    second_device.install()
    rows = make_rows()
    values = rows[:, :4].sum(1).astype(np.float32)
    scores = []
    for head in (Affine.fitted(values), Logit.fitted(values)):
        recipe = train.Recipe(epochs=10, batch_size=20, schedule=train.Constant(0.05), clip=5.0)
        both = []
        for device in ("cpu", "second"):
            task = train.Regression(head.to(device))
            net = task.network(N_BITS, [60, 60], seed=0).to(device)
            both.append(train.fit(net, task, train.Bits(rows, values), recipe=recipe).history[-1].score)
        scores.append((both[0], both[1]))
    return scores


def test_regressions_are_fitted() -> None:
    for here, there in call_apart(fit_regressions):
        assert there == pytest.approx(here, rel=0.05)
        assert there < 1.0  # the variance of the targets


def build_on_device() -> tuple[set[str], bool, list[str]]:
    from support.training import second_device

    second_device.install()

    def build() -> nn.ModuleList:
        layers = [LogicLayer(N_BITS, 40, seed=0), LearnedLayer(N_BITS, 40, seed=0), LutLayer(N_BITS, 40, seed=0)]
        trees = [LogicConv2d(1, 4, 3, seed=0), LearnedConv2d(1, 4, 3, seed=0)]
        others = [LogicLayer(4, 4, seed=0, parametrization=Light()), Affine(1.0, 0.0), HardStraightThrough(), Bitwise()]
        return nn.ModuleList([*layers, *trees, *others, LogicLayer(4, 4)])

    here = build().state_dict()
    with torch.device(second_device.NAME):
        made = build()
    made.load_state_dict(made.state_dict())
    there = made.state_dict()
    same = all(torch.equal(here[name], each.cpu()) for name, each in there.items() if not name.startswith("9."))
    messages = []
    for layer, x in ((made[0], torch.ones(3, N_BITS)), (made[3], torch.ones(1, 6, 6)), (made[2], torch.ones(N_BITS))):
        with pytest.raises(ValueError, match="x must be on second:0") as error:
            layer(x)
        messages.append(str(error.value))
    return {each.device.type for each in there.values()}, same, messages


def test_layers_are_built_where_torch_is_told() -> None:
    devices, same, messages = call_apart(build_on_device)
    assert devices == {"second"}
    assert same
    assert messages[0].endswith('got a tensor on cpu; move it by x.to("second:0")')


def train_on_values_between() -> list[bool]:
    from support.training import second_device

    second_device.install()
    x = torch.full((3, N_BITS), 0.5).to("second")
    nets = [straight(sampling=Bitwise()), lut_network(N_BITS, [30, 20], 2, k=4, seed=0)]
    return [bool(net.to("second")(x).isnan().all()) for net in nets]


def test_values_that_are_no_bits_become_nan() -> None:
    assert call_apart(train_on_values_between) == [True, True]


def count_waits_of_mistakes() -> tuple[list[str], str]:
    from support.training import second_device

    second_device.install()
    x = torch.ones(3).to("second")
    float(x.sum()), x.cpu(), x[x > 0]
    with pytest.raises(RuntimeError) as error:
        x * torch.ones(3)
    return second_device.waits, str(error.value)


def test_the_second_device_sees_mistakes() -> None:
    waits, message = call_apart(count_waits_of_mistakes)
    assert waits == ["copy", "_local_scalar_dense", "copy", "nonzero", "index"]
    assert "cpu" in message
