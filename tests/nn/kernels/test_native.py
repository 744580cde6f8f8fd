"""Native kernels equal plain torch: values, gradients, gradients of gradients."""

import copy

import pytest
from support.tools import require_module

require_module("torch", "pip install -c constraints.txt torch==2.13.0")

import torch
from support.networks import PARAMETRIZATIONS, SAMPLINGS, seeded
from torch import Tensor, nn

from gatewise.nn import LogicLayer, LogicNetwork, functional, logic_network
from gatewise.nn.kernels import native


@pytest.mark.parametrize("shape", [(1, 1, 1), (3, 5, 7), (16, 9, 33), (100, 40, 64), (130, 17, 200)])
@pytest.mark.parametrize("as_bool", [False, True])
def test_native_layer_equals_plain_torch(shape: tuple[int, int, int], as_bool: bool) -> None:
    n, n_in, n_out = shape
    layer = LogicLayer(n_in, n_out, generator=seeded())
    x = torch.rand(n, n_in, generator=seeded(1))
    x = (x > 0.5) if as_bool else x.requires_grad_()
    grad_y = torch.randn(n, n_out, generator=seeded(2))
    y = layer(x)
    y.backward(grad_y)
    weight = layer.weight.detach().double().requires_grad_()
    plain_x = x.detach().double().requires_grad_()
    coefficients = functional.mix_gates(weight, range(16))
    plain = functional.evaluate_gates(plain_x, layer.a, layer.b, coefficients)
    plain.backward(grad_y.double())
    torch.testing.assert_close(y, plain.float())
    torch.testing.assert_close(layer.weight.grad, weight.grad.float(), rtol=1e-4, atol=1e-5)
    if not as_bool:
        torch.testing.assert_close(x.grad, plain_x.grad.float())


@pytest.mark.parametrize("hard", [False, True])
@pytest.mark.parametrize("temperature", [0.3, 1.0, 3.0])
@pytest.mark.parametrize("operators", [tuple(range(16)), (1, 7, 8, 14), (6,)])
def test_native_mixture_equals_plain_torch(operators: tuple[int, ...], temperature: float, hard: bool) -> None:
    logits = [(3 * torch.randn(len(operators), n, generator=seeded(n))).requires_grad_() for n in (1, 15, 16, 37)]
    mixed, confidence = native.MixStack.apply(operators, temperature, hard, *logits)
    grad = torch.randn(mixed.shape, generator=seeded())
    mixed.backward(grad)
    doubles = [z.detach().double().requires_grad_() for z in logits]
    plain = torch.cat([functional.mix_gates(z, operators, temperature, hard=hard) for z in doubles])
    plain.backward(grad.double())
    torch.testing.assert_close(mixed, plain.float(), rtol=1e-5, atol=1e-6)
    for z, double in zip(logits, doubles, strict=True):
        torch.testing.assert_close(z.grad, double.grad.float(), rtol=1e-3, atol=1e-5)
    expected = torch.cat([z.detach().softmax(0).amax(0) for z in doubles]).mean()
    assert confidence == pytest.approx(float(expected.detach()), rel=1e-5)


def test_plain_torch_passes_gradcheck() -> None:
    weight = torch.randn(16, 6, dtype=torch.float64, generator=seeded()).requires_grad_()
    x = torch.rand(4, 5, dtype=torch.float64, generator=seeded(1)).requires_grad_()
    a, b = torch.tensor([0, 1, 2, 3, 4, 0]), torch.tensor([1, 2, 3, 4, 0, 0])
    assert torch.autograd.gradcheck(
        lambda x, w: functional.evaluate_gates(x, a, b, functional.mix_gates(w, range(16), 0.7)), (x, weight)
    )


@pytest.mark.filterwarnings("ignore:Input #0 requires gradient and is not a double")
def test_native_layer_passes_a_float32_gradcheck() -> None:
    layer = LogicLayer(6, 9, generator=seeded())
    x = torch.rand(5, 6, generator=seeded(1)).requires_grad_()
    assert torch.autograd.gradcheck(layer, (x,), eps=1e-2, atol=1e-2, rtol=1e-2)


def test_activations_between_layers_are_kept_feature_major_and_in_their_precision() -> None:
    first, second = (LogicLayer(20, 20, generator=seeded(i)) for i in range(2))
    hidden = first(torch.rand(7, 20).half())
    assert (hidden.dtype, hidden.stride()) == (torch.float16, (1, 7))
    assert second(hidden).grad_fn.saved_tensors[0].data_ptr() == hidden.data_ptr()


def penalize_gradient(net: nn.Module, x: Tensor, target: Tensor) -> list[Tensor]:
    """Gradients of a loss that contains the norm of another gradient, as a gradient penalty has it."""
    x = x.clone().requires_grad_()
    net.zero_grad()
    loss = nn.functional.cross_entropy(net(x), target)
    (slope,) = torch.autograd.grad(loss, x, create_graph=True)
    (loss + slope.square().sum()).backward()
    return [x.grad, *(p.grad for p in net.parameters())]


@pytest.mark.parametrize("grad_factor", [1.0, 1.7])
@pytest.mark.parametrize("sampling", ["soft", "hard"])
@pytest.mark.parametrize("parametrization", PARAMETRIZATIONS)
def test_gradients_of_gradients_equal_those_of_plain_torch(
    parametrization: str, sampling: str, grad_factor: float
) -> None:
    options = {"parametrization": PARAMETRIZATIONS[parametrization], "sampling": SAMPLINGS[sampling]()}
    net = logic_network(9, [14, 12], 3, seed=0, grad_factor=grad_factor, **options)
    x, target = torch.rand(17, 9, generator=seeded()), torch.randint(3, (17,), generator=seeded(1))
    twin = copy.deepcopy(net).double()  # float64 runs in plain torch
    found, expected = penalize_gradient(net, x, target), penalize_gradient(twin, x.double(), target)
    assert all(grad.abs().sum() > 0 for grad in expected[: 1 if parametrization == "one operator" else None])
    for ours, plain in zip(found, expected, strict=True):
        torch.testing.assert_close(ours.double(), plain, rtol=1e-3, atol=1e-5)


def test_second_derivatives_pass_a_float32_gradcheck() -> None:
    layer = LogicLayer(5, 7, seed=0)
    x = torch.rand(3, 5, generator=seeded()).requires_grad_()
    with pytest.warns(UserWarning, match="not a double"):
        assert torch.autograd.gradgradcheck(layer, (x,), eps=1e-2, atol=1e-2, rtol=1e-2)


def test_a_gradient_of_a_gradient_leaves_frozen_weights_alone() -> None:
    net = LogicNetwork(*logic_network(9, [14, 12], 3, seed=0)).requires_grad_(False)
    x = torch.rand(17, 9, generator=seeded()).requires_grad_()
    (slope,) = torch.autograd.grad(net(x).square().sum(), x, create_graph=True)
    slope.square().sum().backward()
    assert x.grad.abs().sum() > 0
    assert all(p.grad is None for p in net.parameters())
