"""What the kernels compute, by Triton's interpreter: against plain torch in float64, and the native kernels."""

import subprocess
import sys
import weakref
from typing import Any
from unittest import mock

import pytest
from support.processes import Failure, call_all, call_interpreted, missing
from support.tools import require_module

require_module("torch", "pip install -c constraints.txt torch==2.13.0")
require_module("triton", "pip install -c constraints.txt triton==3.7.1")

import torch
from support.interpreted import fill_memory_with_nan, reverse_grids, take_cpu_for_cuda
from support.networks import seeded
from torch import Tensor

from gatewise.nn import Gumbel, HardStraightThrough, Soft, logic_network
from gatewise.nn.kernels import cuda, ops
from gatewise.nn.kernels.ops import Way, choose_way

OPERATORS = [1, 6, 7, 8, 14]


def measure_deviations() -> None:
    """All checks that users may run on a GPU of their own pass."""
    from gatewise.nn.kernels.triton import checks

    fill_memory_with_nan()
    deviations = checks.run_checks("cpu")
    assert len(deviations) >= 3
    assert max(deviations.values()) < checks.TOLERANCE, deviations


def run_network(sampling: Any, kind: torch.dtype = torch.float32, rows: int = 37) -> list[Tensor]:
    """Scores and gradients of a network, all of them in float64."""
    net = logic_network(9, [40, 30], 3, sampling=sampling, seed=0)
    x = torch.rand(rows, 9, generator=seeded()).round().to(kind)
    x.requires_grad_(x.is_floating_point())
    y = net(x)
    y.backward(torch.randn(y.shape, generator=seeded(1)))
    grads = [each.grad for each in (x, *net.parameters()) if each.grad is not None]
    return [each.detach().double() for each in (y, *grads)]


def check_memory() -> None:
    """Without gradients two layers are in memory, and the scores are the same."""
    from gatewise.nn.kernels.triton import layers

    net, x = logic_network(9, [40] * 4, 2, seed=0), torch.rand(20, 9, generator=seeded())
    scores, alive = net(x), []
    forward = layers.forward_layer

    def count(plan: Any, values: Tensor, own: Tensor) -> Tensor:
        y = forward(plan, values, own)
        alive.append(weakref.ref(y))
        of_layers.append(sum(ref() is not None for ref in alive))
        return y

    of_layers: list[int] = []
    with mock.patch.object(layers, "forward_layer", count), torch.no_grad():
        assert torch.equal(net(x), scores)
    assert of_layers == [1, 2, 2, 2]


def compare_networks() -> None:
    """Scores and gradients are those of native kernels, and the same in any order of programs."""
    samplings = Soft, HardStraightThrough, lambda: Gumbel(generator=seeded(2))
    runs = list(zip(samplings, (torch.float32, torch.bool, torch.bfloat16), strict=True))
    torch.use_deterministic_algorithms(False)
    native = [run_network(make(), kind) for make, kind in runs]
    fill_memory_with_nan()
    with take_cpu_for_cuda():
        assert choose_way([torch.zeros(1)]) is Way.TRITON
        found = [run_network(make(), kind) for make, kind in runs]
        with reverse_grids():
            reversed_grids = [run_network(make(), kind) for make, kind in runs]
        assert run_network(Soft(), rows=0)[0].shape == (0, 3)
        check_memory()
    for one, other, again in zip(found, native, reversed_grids, strict=True):
        for mine, theirs, backwards in zip(one, other, again, strict=True):
            assert theirs.abs().sum() > 0
            torch.testing.assert_close(mine, theirs, rtol=1e-4, atol=2e-6)
            assert torch.equal(mine, backwards)


def run_operators() -> list[Tensor]:
    """What the operators of torch give, and their gradients."""
    logits = [torch.randn(5, n, generator=seeded(n)).requires_grad_() for n in (7, 6)]
    a, b = ([torch.randint(n, (m,), generator=seeded(i)).int() for n, m in ((4, 7), (7, 6))] for i in (2, 3))
    x = torch.rand(9, 4, generator=seeded()).requires_grad_()
    mixed, confidence = ops.mix_gates(logits, OPERATORS, torch.tensor(0.7, dtype=torch.float64), False)
    y = ops.evaluate_layers(x, mixed, a, b, 2, [1.0, 1.5])
    assert y.stride() == (1, 9)
    y.backward(torch.randn(9, 2, generator=seeded()))
    slope = torch.zeros(0)
    if choose_way([mixed]) is Way.TRITON:
        (slope,) = torch.autograd.grad(cuda.run_layers(x, mixed, a, b, 2, [1.0, 1.5]).sum(), x, create_graph=True)
        (slope,) = torch.autograd.grad(slope.square().sum(), x)
        assert slope.abs().sum() > 0
    return [each.detach().double() for each in (confidence, y, x.grad, *(z.grad for z in logits))]


def compare_operators() -> None:
    """The operators of torch run kernels."""
    torch.use_deterministic_algorithms(False)
    native = run_operators()
    fill_memory_with_nan()
    with take_cpu_for_cuda():
        found = run_operators()
    for mine, theirs in zip(found, native, strict=True):
        torch.testing.assert_close(mine, theirs, rtol=1e-4, atol=1e-6)


APART = [measure_deviations, compare_networks, compare_operators]


@pytest.fixture(scope="module")
def outcomes() -> dict[str, Any]:
    found: dict[str, Any] = call_interpreted(call_all, APART)
    return found


@pytest.mark.parametrize("function", APART)
def test_values(function: Any, outcomes: dict[str, Any]) -> None:
    assert not isinstance(outcomes[function.__name__], Failure), outcomes[function.__name__]


WITHOUT_TRITON = """
from gatewise.nn import *
import torch
net = logic_network(9, [40, 30], 3, seed=0)
net(torch.rand(5, 9)).sum().backward()
step = TrainStep(net)
print(step(torch.rand(5, 9), torch.tensor([0, 1, 2, 0, 1])) > 0, "gatewise.nn.kernels.triton" in sys.modules)
"""


def test_the_cpu_needs_no_triton() -> None:
    done = subprocess.run([sys.executable, "-c", missing("triton") + WITHOUT_TRITON], capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, "True False\n"), done.stderr


def test_kernels_run_where_they_were_compiled_for(monkeypatch: pytest.MonkeyPatch) -> None:
    def ask() -> bool:
        cuda._is_able.cache_clear()
        return cuda.has_kernels(torch.device("cuda:0"))

    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "get_device_capability", lambda _: (8, 0))
    assert ask()
    monkeypatch.setenv(cuda.VARIABLE, "0")
    assert not ask()
    monkeypatch.delenv(cuda.VARIABLE)
    monkeypatch.setattr(torch.cuda, "get_device_capability", lambda _: (7, 5))
    assert not ask()
    monkeypatch.setattr(torch.cuda, "get_device_capability", lambda _: (9, 0))
    monkeypatch.setattr(cuda, "find_spec", lambda _: None)
    assert not ask()
    monkeypatch.undo()
    assert not ask()


@pytest.mark.parametrize("device", ["cpu", "meta"])
def test_other_devices_have_no_kernels(device: str) -> None:
    assert not cuda.has_kernels(torch.device(device))
