"""Layers in a row, as in a Sequential: one backward pass through all, and every gradient that is asked for."""

import weakref
from collections.abc import Callable

import pytest
from support.tools import require_module

require_module("torch", "pip install -c constraints.txt torch==2.13.0")

import torch
from support.networks import seeded
from torch import Tensor, nn

from gatewise.nn import HardStraightThrough, LogicLayer
from gatewise.nn.kernels import native
from gatewise.nn.layer import run_layers

Use = Callable[[list[LogicLayer], Tensor], list[Tensor]]


def make_layers(n: int = 4, **options: object) -> list[LogicLayer]:
    return [LogicLayer(20, 20, seed=3, position=i, **options) for i in range(n)]


def leaf_gradients(layers: list[LogicLayer], x: Tensor, loss: Tensor) -> list[Tensor]:
    return list(torch.autograd.grad(loss, [x, *(layer.weight for layer in layers)]))


def square(y: Tensor) -> Tensor:
    return y.square().sum()


def run_in_a_row(layers: list[LogicLayer], x: Tensor) -> list[Tensor]:
    return leaf_gradients(layers, x, square(nn.Sequential(*layers)(x)))


def use_twice(layers: list[LogicLayer], x: Tensor) -> list[Tensor]:
    def run() -> Tensor:
        h = layers[1](layers[0](x))
        return layers[3](layers[2](h)) + h + layers[2](h)

    return leaf_gradients(layers, x, square(run()))


def share_weights(layers: list[LogicLayer], x: Tensor) -> list[Tensor]:
    return leaf_gradients(layers[:1], x, square(layers[0](layers[0](layers[0](x)))))


def change_between(layers: list[LogicLayer], x: Tensor) -> list[Tensor]:
    return leaf_gradients(layers, x, square(layers[3](layers[2](layers[1](layers[0](x)).mul_(0.5)))))


def ask_in_between(layers: list[LogicLayer], x: Tensor) -> list[Tensor]:
    h = layers[1](layers[0](x))
    loss = square(layers[3](layers[2](h)))
    return [torch.autograd.grad(loss, h, retain_graph=True)[0], *leaf_gradients(layers, x, loss)]


def retain(layers: list[LogicLayer], x: Tensor) -> list[Tensor]:
    h = layers[1](layers[0](x))
    h.retain_grad()
    square(layers[3](layers[2](h))).backward()
    return [h.grad, x.grad, *(layer.weight.grad for layer in layers)]


def retain_after_use(layers: list[LogicLayer], x: Tensor) -> list[Tensor]:
    h = layers[1](layers[0](x))
    loss = square(layers[3](layers[2](h)))
    h.retain_grad()
    loss.backward()
    return [h.grad, x.grad, *(layer.weight.grad for layer in layers)]


def hook(layers: list[LogicLayer], x: Tensor) -> list[Tensor]:
    seen: list[Tensor] = []

    def run() -> Tensor:
        h = layers[1](layers[0](x))
        h.register_hook(seen.append)
        return layers[3](layers[2](h))

    return [*leaf_gradients(layers, x, square(run())), *seen]


def hook_modules(layers: list[LogicLayer], x: Tensor) -> list[Tensor]:
    seen: list[Tensor] = []
    handle = layers[1].register_full_backward_hook(lambda module, grad_in, grad_out: seen.extend([*grad_in, *grad_out]))
    gradients = run_in_a_row(layers, x)
    handle.remove()
    return [*gradients, *seen]


def penalize(layers: list[LogicLayer], x: Tensor) -> list[Tensor]:
    loss = square(nn.Sequential(*layers)(x))
    (slope,) = torch.autograd.grad(loss, x, create_graph=True)
    return leaf_gradients(layers, x, square(slope))


def penalize_in_between(layers: list[LogicLayer], x: Tensor) -> list[Tensor]:
    h = layers[1](layers[0](x))
    (slope,) = torch.autograd.grad(square(layers[3](layers[2](h))), h, create_graph=True)
    return leaf_gradients(layers, x, square(slope))


USES: list[Use] = [
    run_in_a_row,
    use_twice,
    share_weights,
    change_between,
    ask_in_between,
    retain,
    retain_after_use,
    hook,
    hook_modules,
    penalize,
    penalize_in_between,
]


@pytest.mark.parametrize("use", USES, ids=lambda use: use.__name__)
@pytest.mark.parametrize("options", [{}, {"grad_factor": 1.5}], ids=["plain", "factor"])
def test_gradients_are_those_of_plain_torch(use: Use, options: dict[str, float]) -> None:
    x = torch.rand(33, 20, generator=seeded())
    found = use(make_layers(**options), x.clone().requires_grad_())
    expected = use([layer.double() for layer in make_layers(**options)], x.double().requires_grad_())
    for ours, plain in zip(found, expected, strict=True):
        assert plain.abs().sum() > 0
        torch.testing.assert_close(ours.double(), plain, rtol=1e-3, atol=1e-4)


def count_backward_calls(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many layers each native backward pass went through."""
    calls: list[int] = []
    backward = native.run_backward

    def count(stack: native.Stack, *rest: object) -> object:
        calls.append(len(stack.wiring))
        return backward(stack, *rest)  # type: ignore[arg-type]

    monkeypatch.setattr(native, "run_backward", count)
    return calls


def test_a_sequential_goes_back_in_one_call_and_keeps_no_values(monkeypatch: pytest.MonkeyPatch) -> None:
    calls = count_backward_calls(monkeypatch)
    net = nn.Sequential(*make_layers(5, sampling=HardStraightThrough()))
    passed: list[weakref.ref[Tensor]] = []
    for layer in net[1:]:
        layer.register_forward_pre_hook(lambda module, args: passed.append(weakref.ref(args[0])))
    y = net(torch.rand(33, 20, generator=seeded()))
    assert [each() for each in passed] == [None] * 4
    y.sum().backward()
    assert calls == [5]


def test_long_chains_are_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    calls = count_backward_calls(monkeypatch)
    layers = make_layers(40)
    x = torch.rand(33, 20, generator=seeded())
    found = run_in_a_row(layers, x.requires_grad_())
    assert sum(calls) == 40
    assert max(calls) == native.MAX_CHAIN
    expected = run_in_a_row([layer.double() for layer in make_layers(40)], x.detach().double().requires_grad_())
    for ours, plain in zip(found, expected, strict=True):
        torch.testing.assert_close(ours.double(), plain, rtol=1e-3, atol=1e-4)


def test_sums_of_groups_begin_a_chain_of_their_own() -> None:
    layers, following = make_layers(2), LogicLayer(4, 8, seed=0)
    x = torch.rand(5, 20, generator=seeded())
    found = torch.autograd.grad(following(run_layers(layers, x, groups=4)).sum(), layers[0].weight)
    doubles, last = [layer.double() for layer in make_layers(2)], LogicLayer(4, 8, seed=0).double()
    expected = torch.autograd.grad(last(run_layers(doubles, x.double(), groups=4)).sum(), doubles[0].weight)
    torch.testing.assert_close(found[0].double(), expected[0], rtol=1e-3, atol=1e-4)


def test_values_can_be_used_after_their_graph_is_freed() -> None:
    first, second = make_layers(2)
    h = first(torch.rand(5, 20, generator=seeded()))
    h.sum().backward()
    torch.testing.assert_close(second(h), second(h.detach()))
    with pytest.raises(RuntimeError, match="backward through the graph a second time"):
        second(h).sum().backward()


def test_values_that_are_changed_after_their_use_are_an_error() -> None:
    first, second = make_layers(2)
    h = first(torch.rand(5, 20, generator=seeded()))
    y = second(h)
    h.mul_(0.5)
    with pytest.raises(RuntimeError, match="x must stay as it was until the backward pass"):
        y.sum().backward()
