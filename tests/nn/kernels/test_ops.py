"""The operators of torch: what torch asks of them, and values as those of plain torch, in either precision."""

import gc
from typing import Any

import pytest
from support.processes import call_apart
from support.tools import require_module

require_module("torch", "pip install -c constraints.txt torch==2.13.0")

import torch
from support.networks import seeded
from torch import Tensor, nn
from torch.library import opcheck

from gatewise import _native
from gatewise.nn import functional
from gatewise.nn.kernels import ops
from gatewise.nn.kernels.ops import Way, choose_way

OPERATORS = [1, 6, 7, 8, 14]
CHECKS = "test_schema", "test_autograd_registration", "test_faketensor", "test_aot_dispatch_dynamic"


def make_logits(kind: torch.dtype = torch.float32) -> list[Tensor]:
    return [torch.randn(5, n, generator=seeded(n)).to(kind).requires_grad_() for n in (7, 6)]


def make_layers(kind: torch.dtype = torch.float32, groups: int = 2) -> tuple[Any, ...]:
    """Rows, coefficients, wires and settings of two layers."""
    x = torch.rand(9, 4, generator=seeded()).to(kind).requires_grad_()
    coefficients = torch.randn(13, 4, generator=seeded(1)).to(kind).requires_grad_()
    a, b = ([torch.randint(n, (m,), generator=seeded(i)).int() for n, m in ((4, 7), (7, 6))] for i in (2, 3))
    return x, coefficients, a, b, groups, [1.0, 1.5]


def test_torch_accepts_mixtures() -> None:
    logits, temperature = make_logits(), torch.tensor(0.7, dtype=torch.float64)
    opcheck(ops.mix_gates, (logits, OPERATORS, temperature, False), test_utils=CHECKS)
    detached = [z.detach() for z in logits]
    opcheck(ops.mix_gates_backward, (detached, OPERATORS, temperature, torch.ones(13, 4)), test_utils=CHECKS)


@pytest.mark.parametrize("kind", [torch.float32, torch.bool, torch.float64])
def test_torch_accepts_layers(kind: torch.dtype) -> None:
    x, *rest = make_layers(torch.float64 if kind == torch.float64 else torch.float32)
    x = x.detach() > 0.5 if kind == torch.bool else x
    opcheck(ops.evaluate_layers, (x, *rest), test_utils=CHECKS)
    grad_y = torch.ones(9, 2, dtype=rest[0].dtype)
    needs_x = kind != torch.bool
    given = [each.detach() for each in (x, rest[0])]
    opcheck(ops.evaluate_layers_backward, (*given, *rest[1:], grad_y, needs_x), test_utils=CHECKS)


def test_torch_accepts_numbers() -> None:
    number = torch.tensor(1.0, dtype=torch.float64)
    opcheck(ops.read_number, (number,), test_utils=CHECKS)
    opcheck(ops.write_number, (number, torch.tensor(2.0, dtype=torch.float64)), test_utils=CHECKS)


@pytest.mark.parametrize("hard", [False, True])
def test_mixtures_are_those_of_plain_torch(hard: bool) -> None:
    temperature, grad = torch.tensor(0.7, dtype=torch.float64), torch.randn(13, 4, generator=seeded())
    results = []
    for kind in (torch.float32, torch.float64):
        logits = make_logits(kind)
        mixed, confidence = ops.mix_gates(logits, OPERATORS, temperature, hard)
        results.append([mixed, confidence, *torch.autograd.grad(mixed, logits, grad.to(kind))])
    own = make_logits(torch.float64)
    plain = torch.cat([functional.mix_gates(z, OPERATORS, 0.7, hard=hard) for z in own])
    expected = [plain, torch.cat([z.softmax(0).amax(0) for z in own]).mean()]
    expected += torch.autograd.grad(plain, own, grad.double())
    for found in results:
        for one, other in zip(found, expected, strict=True):
            assert other.detach().abs().sum() > 0
            torch.testing.assert_close(one.double(), other, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("groups", [0, 2])
def test_layers_are_those_of_plain_torch(groups: int) -> None:
    results = []
    for kind in (torch.float32, torch.float64):
        x, coefficients, *rest = make_layers(kind, groups)
        y = ops.evaluate_layers(x, coefficients, *rest)
        grads = torch.autograd.grad(y, (x, coefficients), torch.ones_like(y).cumsum(1))
        results.append([y, *grads])
    x, coefficients, a, b, _, factors = make_layers(torch.float64, groups)
    wiring = list(zip(a, b, strict=True))
    y = functional.evaluate_layers(x, coefficients, wiring, groups=groups, grad_factors=factors)
    expected = [y, *torch.autograd.grad(y, (x, coefficients), torch.ones_like(y).cumsum(1))]
    for found in results:
        for one, other in zip(found, expected, strict=True):
            torch.testing.assert_close(one.double(), other, rtol=1e-4, atol=1e-5)


def run_on(device: str) -> list[Tensor]:
    """What the operators give on a device, and their gradients."""
    logits = [z.detach().to(device, non_blocking=True).requires_grad_() for z in make_logits()]
    x, _, a, b, *rest = make_layers()
    a, b = ([each.to(device, non_blocking=True) for each in wires] for wires in (a, b))
    rows = x.detach().to(device, non_blocking=True).requires_grad_()
    temperature = torch.full((), 0.7, dtype=torch.float64, device=device)
    mixed, confidence = ops.mix_gates(logits, OPERATORS, temperature, False)
    y = ops.evaluate_layers(rows, mixed, a, b, *rest)
    y.backward(torch.ones_like(y))
    return [each.detach() for each in (confidence, y, rows.grad, *(z.grad for z in logits))]


def compare_devices() -> list[str]:
    """What the operators waited for on the second device."""
    from support.training import second_device

    second_device.install()
    run_on(second_device.NAME)  # brings the table of operators to the device
    before = len(second_device.waits)
    there = run_on(second_device.NAME)
    waits = second_device.waits[before:]
    for ours, theirs in zip(run_on("cpu"), there, strict=True):
        assert theirs.device.type == second_device.NAME
        assert ours.abs().sum() > 0
        torch.testing.assert_close(theirs.cpu(), ours, rtol=1e-4, atol=1e-5)
    return waits


def test_operators_run_on_other_devices_and_wait_for_nothing() -> None:
    assert call_apart(compare_devices) == []


def test_bits_have_coefficients_with_gradients() -> None:
    x, coefficients, *rest = make_layers()
    bits = x.detach() > 0.5
    ops.evaluate_layers(bits, coefficients, *rest).sum().backward()
    found = coefficients.grad.clone()
    coefficients.grad = None
    ops.evaluate_layers(bits.float(), coefficients, *rest).sum().backward()
    assert torch.equal(found, coefficients.grad)


def test_gradients_of_gradients_are_an_error() -> None:
    x, coefficients, *rest = make_layers()
    (slope,) = torch.autograd.grad(ops.evaluate_layers(x, coefficients, *rest).sum(), x, create_graph=True)
    with pytest.raises(RuntimeError, match="no autograd formula was registered"):
        slope.sum().backward()


def test_autocast_does_not_reach_the_operators() -> None:
    x, coefficients, *rest = make_layers()
    expected = ops.evaluate_layers(x, coefficients, *rest)
    with torch.autocast("cpu", torch.bfloat16):
        assert torch.equal(ops.evaluate_layers(x, coefficients, *rest), expected)
        assert ops.evaluate_layers(x.bfloat16(), coefficients, *rest).dtype == torch.float32
        mixed, _ = ops.mix_gates([z.bfloat16() for z in make_logits()], OPERATORS, torch.tensor(1.0), True)
    assert mixed.dtype == torch.float32


def test_wiring_is_taken_in_once_until_it_changes(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[int] = []
    twin = _native.RelaxedStack
    monkeypatch.setattr(_native, "RelaxedStack", lambda *given: (made.append(1), twin(*given))[1])
    x, coefficients, a, b, _, factors = make_layers()

    def run(groups: int = 2) -> Tensor:
        return ops.evaluate_layers(x, coefficients, a, b, groups, factors)

    before = run()
    run().sum().backward()
    assert len(made) == 1
    run(groups=3)
    run(groups=2)
    assert len(made) == 2
    b[1].copy_((b[1] + 1) % 7)
    changed = run()
    assert len(made) == 3
    wiring = list(zip(a, b, strict=True))
    plain = functional.evaluate_layers(x, coefficients, wiring, groups=2, grad_factors=factors)
    torch.testing.assert_close(changed, plain)
    assert not torch.equal(changed, before)
    b[1] = b[1].clone()  # another tensor, perhaps at the place of one that is gone
    run()
    assert len(made) == 4


def test_wiring_is_not_kept_alive() -> None:
    x, coefficients, a, b, groups, factors = make_layers()
    gc.collect()
    before = len(ops._twins)
    ops.evaluate_layers(x, coefficients, a, b, groups, factors)
    assert len(ops._twins) == before + 1
    del a, b
    gc.collect()
    assert len(ops._twins) == before


def test_the_way_follows_from_what_is_given() -> None:
    weight, x = nn.Parameter(torch.zeros(2)), torch.zeros(3)
    assert choose_way([weight], x.bool()) is choose_way([weight], x.half()) is choose_way([weight]) is Way.NATIVE
    assert choose_way([weight], x.double()) is choose_way([weight.double()], x) is Way.PLAIN
    assert choose_way([weight.half()]) is choose_way([weight.to("meta")], x.to("meta")) is Way.PLAIN
    with torch._subclasses.FakeTensorMode() as mode:
        assert choose_way([mode.from_tensor(weight)], mode.from_tensor(x)) is Way.OPERATOR
    assert choose_way([mode.from_tensor(weight)]) is Way.OPERATOR
    ways: list[Way] = []
    torch.func.vmap(lambda each: (ways.append(choose_way([weight], each)), each)[1])(torch.zeros(2, 3))
    assert ways == [Way.PLAIN]
