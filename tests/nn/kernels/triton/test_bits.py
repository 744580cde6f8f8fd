"""TrainStep on CUDA on bits, by Triton's interpreter: the native steps' losses, weights, wires and moments."""

import copy
from typing import Any
from unittest import mock

import pytest
from support.processes import Failure, call_all, call_interpreted
from support.tools import require_module

require_module("torch", "pip install -c constraints.txt torch==2.13.0")
require_module("triton", "pip install -c constraints.txt triton==3.7.1")

import numpy as np
import torch
from support.interpreted import fill_memory_with_nan, reverse_grids, take_cpu_for_cuda
from support.training.steps import N_GROUPS, N_INPUTS, are_equal, make_batch
from torch import Tensor

from gatewise.nn import (
    NO_CONSTANTS,
    Bitwise,
    GroupSum,
    LearnedLayer,
    LogicLayer,
    Softmax,
    TrainStep,
    device_steps,
)
from gatewise.wiring import RandomCandidates

SIZES, RATES, TEMPERATURES = [33, 140], [0.3, 0.5], [2.0, 1.0]


def make_network(layout: str) -> torch.nn.Sequential:
    """A layer for each letter: f for fixed wires, l for learned ones."""
    widths, sampling = [N_INPUTS, 44, 30, 16], Bitwise(2.0)
    layers: list[torch.nn.Module] = []
    for i, kind in enumerate(layout):
        shape = widths[i], widths[i + 1] if i + 1 < len(layout) else 16
        options = {"sampling": sampling, "seed": 3, "position": i, "grad_factor": 1.5}
        if kind == "l":
            layers.append(LearnedLayer(*shape, candidates=RandomCandidates(5), **options))
        else:
            layers.append(LogicLayer(*shape, parametrization=Softmax(NO_CONSTANTS), **options))
    return torch.nn.Sequential(*layers, GroupSum(N_GROUPS, 2.0, beta=0.5))


def train_network(net: torch.nn.Sequential, kind: torch.dtype = torch.bool) -> tuple[list[float], TrainStep]:
    x, classes, _, weight = make_batch(sum(SIZES))
    step = TrainStep(net, eps=1e-2)
    return step.run(x.to(kind), classes, SIZES, RATES, weight, TEMPERATURES), step


def compare_steps() -> None:
    """Losses, weights, wires and moments are those of the native steps."""
    for layout, kind in (("ff", torch.bool), ("ll", torch.float32), ("lff", torch.uint8)):
        net, native = make_network(layout), make_network(layout)
        torch.use_deterministic_algorithms(False)
        before = copy.deepcopy(net)
        expected, native_step = train_network(native, kind)
        fill_memory_with_nan()
        with take_cpu_for_cuda():
            found, step = train_network(net, kind)
        np.testing.assert_allclose(found, expected, rtol=1e-4)
        # Gradients that are rounded to bfloat16 may fall on the other side.
        for own, other, given in zip(net.parameters(), native.parameters(), before.parameters(), strict=True):
            torch.testing.assert_close(own, other, rtol=1e-3, atol=5e-4)
            assert (own - given).abs().max() > 5e-3
        state, others = step.state_dict()["state"], native_step.state_dict()["state"]
        assert state.keys() == others.keys()
        for i in state:
            torch.testing.assert_close(state[i]["exp_avg_sq"], others[i]["exp_avg_sq"], rtol=1e-2, atol=1e-6)
        assert float(net[0].sampling.temperature) == TEMPERATURES[-1]


def repeat_steps() -> None:
    """Weights are the same to the bit whatever the order of programs, and whether steps are recorded."""
    nets = [make_network("lf") for _ in range(3)]
    recorded: list[Any] = []

    def record(step: Any) -> Any:
        recorded.append(step)
        return step

    with take_cpu_for_cuda():
        train_network(nets[0])
        with reverse_grids():
            train_network(nets[1])
        always = mock.patch.multiple(device_steps, can_be_recorded=are_cpu, record=record, N_UNRECORDED=0)
        with always:
            train_network(nets[2])
        assert len(recorded) == len(SIZES)
        assert are_equal(nets[0], nets[1])
        assert are_equal(nets[0], nets[2])
        _, classes, _, _ = make_batch(5)
        step = TrainStep(make_network("f"))
        with pytest.raises(ValueError, match="x must be 0 or 1 for training on bits"):
            step(torch.full((5, N_INPUTS), 0.5), classes)
        with mock.patch.object(device_steps, "check_bits", lambda x: x * torch.nan):  # as on a device
            assert np.isnan(step(torch.ones(5, N_INPUTS), classes))


def are_cpu(values: Tensor) -> bool:
    return values.device.type == "cpu"


APART = [compare_steps, repeat_steps]


@pytest.fixture(scope="module")
def outcomes() -> dict[str, Any]:
    found: dict[str, Any] = call_interpreted(call_all, APART)
    return found


@pytest.mark.parametrize("function", APART)
def test_steps_on_bits(function: Any, outcomes: dict[str, Any]) -> None:
    assert not isinstance(outcomes[function.__name__], Failure), outcomes[function.__name__]
