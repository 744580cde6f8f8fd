"""TrainStep on CUDA, by Triton's interpreter on the CPU: the native steps' weights, and one graph for each batch size.

Only the recording itself needs a GPU: it is replaced by the step that would be recorded.
"""

import copy
from contextlib import nullcontext
from typing import Any
from unittest import mock

import pytest
from support.processes import Failure, call_all, call_interpreted
from support.tools import require_module

require_module("torch", "pip install -c constraints.txt torch==2.13.0")
require_module("triton", "pip install -c constraints.txt triton==3.7.1")

import numpy as np
import torch
from support.interpreted import fill_memory_with_nan, take_cpu_for_cuda
from support.training.steps import N_GROUPS, N_INPUTS, make_batch
from torch import Tensor

from gatewise import train
from gatewise.nn import (
    Bitwise,
    FeatureMaps,
    GroupSum,
    Gumbel,
    HardStraightThrough,
    Light,
    LogicLayer,
    LogicNetwork,
    Soft,
    TrainStep,
    device_steps,
    logic_network,
)
from gatewise.nn.obstacles import find_obstacle

run = device_steps.DeviceSteps.run
SIZES = [20, 17, 20, 20, 20]
RATES = [0.05, 0.1, 0.1, 0.02, 0.1]


def make_network(sampling: Any = Soft, **options: Any) -> LogicNetwork:
    net = logic_network(N_INPUTS, [40, 36], N_GROUPS, sampling=sampling(), seed=0, grad_factor=1.5, **options)
    net[-1].beta = 0.25
    return net


def make_data(loss: str) -> tuple[Tensor, Tensor, Tensor]:
    x, classes, targets, weight = make_batch(sum(SIZES))
    return x, classes if loss == "cross_entropy" else targets, weight


def train_network(net: LogicNetwork, loss: str, *, weighted: bool, **options: Any) -> tuple[list[float], TrainStep]:
    x, y, weight = make_data(loss)
    step = TrainStep(net, loss, eps=1e-2, **options)  # type: ignore[arg-type]
    return step.run(x, y, SIZES, RATES, weight if weighted else None), step


def compare_steps() -> None:
    """Losses, weights, moments and the state of the sampling are those of the native steps."""
    runs = [
        (Soft, "cross_entropy", True, {"label_smoothing": 0.1}),
        (HardStraightThrough, "binary_cross_entropy", False, {}),
        (lambda: Gumbel(generator=torch.Generator().manual_seed(1)), "squared_error", True, {}),
    ]
    for sampling, loss, weighted, options in runs:
        net = make_network(sampling)
        torch.use_deterministic_algorithms(False)
        before, native = copy.deepcopy(net), make_network(sampling)
        expected, native_step = train_network(native, loss, weighted=weighted, **options)
        fill_memory_with_nan()
        with take_cpu_for_cuda():
            found, step = train_network(net, loss, weighted=weighted, **options)
        np.testing.assert_allclose(found, expected, rtol=1e-5)
        for name, value in net.state_dict().items():
            if isinstance(value, Tensor):
                torch.testing.assert_close(value, native.state_dict()[name], rtol=1e-3, atol=1e-4)
        assert not torch.allclose(net[0].weight, before[0].weight, atol=0.01)
        state, others = step.state_dict()["state"], native_step.state_dict()["state"]
        assert state.keys() == others.keys() == {0, 1}
        for i in state:
            for name in ("step", "exp_avg", "exp_avg_sq"):
                assert state[i][name].abs().sum() > 0
                torch.testing.assert_close(state[i][name], others[i][name], rtol=1e-3, atol=1e-5)


def count_graphs() -> None:
    """A batch size is recorded once, and again only when the network has other tensors; one seed gives one network."""
    recorded: list[int] = []

    def record(step: Any) -> Any:
        recorded.append(1)
        return step

    networks = [make_network(HardStraightThrough) for _ in range(3)]
    with take_cpu_for_cuda(), mock.patch.object(device_steps, "record", record):
        unrecorded, _ = train_network(networks[0], "cross_entropy", weighted=False)
        assert not recorded
        with mock.patch.object(device_steps, "can_be_recorded", bool_of_values):
            found, step = train_network(networks[1], "cross_entropy", weighted=False)
            assert len(recorded) == 1  # of the size that came more than twice
            x, y, _ = make_data("cross_entropy")
            for _ in range(2):
                step.run(x[20:], y[20:], SIZES[1:2], RATES[:1])
            assert len(recorded) == 2
            networks[1][0].weight = torch.nn.Parameter(networks[1][0].weight.detach().clone())
            step.run(x, y, SIZES, RATES)
            assert len(recorded) == 3  # graphs of tensors that are gone are not replayed
            noisy = make_network(lambda: Gumbel(0.5))
            train_network(noisy, "cross_entropy", weighted=False)
            assert len(recorded) == 3
        again, _ = train_network(networks[2], "cross_entropy", weighted=False)
    assert found == unrecorded == again
    assert torch.equal(networks[0][0].weight, networks[2][0].weight)


def bool_of_values(values: Tensor) -> bool:
    return values.device.type == "cpu"


def compare_bfloat16() -> None:
    """0 and 1 are exact in bfloat16, so that the loss of chosen gates is, too; weights go nearly the same way."""
    nets = [make_network(HardStraightThrough) for _ in range(2)]
    x, y, _ = make_data("cross_entropy")
    with take_cpu_for_cuda():
        exact, coarse = (
            TrainStep(net, activations=kind, eps=1e-2).run(x, y, SIZES[:2], RATES[:2])
            for net, kind in zip(nets, (torch.float32, torch.bfloat16), strict=True)
        )
        with pytest.raises(ValueError, match=r"torch.float32 or torch.bfloat16 on cpu, got torch.float16"):
            TrainStep(nets[0], activations=torch.float16)
    assert exact[0] == coarse[0]
    assert exact[1] == pytest.approx(coarse[1], rel=1e-2)
    assert not torch.equal(nets[0][0].weight, nets[1][0].weight)
    torch.testing.assert_close(nets[0][0].weight, nets[1][0].weight, rtol=0.02, atol=0.02)


def fit_network() -> None:
    """`fit` takes these steps."""
    x, classes, _, _ = make_batch(40)
    data = train.Values(x.float().numpy(), classes.numpy())
    recipe = train.Recipe(epochs=2, batch_size=16, seed=0)
    nets = []
    for place in (nullcontext(), take_cpu_for_cuda()):
        with place, mock.patch.object(device_steps.DeviceSteps, "run", autospec=True, side_effect=run) as ran:
            nets.append(train.fit(make_network(), train.Classification(N_GROUPS), data, recipe=recipe).net)
        assert bool(ran.call_count) == bool(nets[1:])
    torch.testing.assert_close(nets[0][0].weight, nets[1][0].weight, rtol=1e-3, atol=1e-3)


APART = [compare_steps, count_graphs, compare_bfloat16, fit_network]


@pytest.fixture(scope="module")
def outcomes() -> dict[str, Any]:
    found: dict[str, Any] = call_interpreted(call_all, APART)
    return found


@pytest.mark.parametrize("function", APART)
def test_steps(function: Any, outcomes: dict[str, Any]) -> None:
    assert not isinstance(outcomes[function.__name__], Failure), outcomes[function.__name__]


def test_other_networks_are_refused() -> None:
    maps = torch.nn.Sequential(FeatureMaps((1, 5, 6)), torch.nn.Flatten(), LogicLayer(30, 16), GroupSum(2))
    assert find_obstacle(maps) is None
    with take_cpu_for_cuda():
        assert find_obstacle(make_network()) is None
        assert find_obstacle(make_network(Bitwise)) is None
        assert find_obstacle(maps) == "hold LogicLayers or LearnedLayers on CUDA, got FeatureMaps at 0"
        light = make_network(Bitwise, parametrization=Light())
        assert find_obstacle(light) == "have Softmax as the parametrization of every layer on CUDA, got Light()"
        frozen = make_network(Bitwise)
        frozen[1].requires_grad_(False)
        rule = "hold layers on CUDA that are all trained, got one that requires no gradient at 1"
        assert find_obstacle(frozen) == rule
        half = make_network()
        half[0].half()
        assert find_obstacle(half) == "have weights in float32 on the CPU, got torch.float16 on cpu at layer 0"
        meta = make_network()
        meta[1].to("meta")
        assert find_obstacle(meta) == "be on one device, got cpu and meta"
