"""Networks: equal to their layers in a Sequential, whatever the settings; equal settings are equal."""

import copy
import io
import pickle

import numpy as np
import pytest
from support.tools import require_module

require_module("torch", "pip install -c constraints.txt torch==2.13.0")

import torch
from support.networks import PARAMETRIZATIONS, SAMPLINGS, seeded
from torch import Tensor, nn

from gatewise import Engine
from gatewise.nn import (
    GroupSum,
    Gumbel,
    HardStraightThrough,
    Light,
    LogicLayer,
    LogicNetwork,
    Residual,
    Soft,
    Softmax,
    Yager,
    discretize,
    logic_network,
    with_sampling,
)
from gatewise.nn.kernels import native
from gatewise.wiring import local_wiring, unique_wiring


@pytest.mark.parametrize("grad_factor", [1.0, 1.7])
@pytest.mark.parametrize("parametrization", PARAMETRIZATIONS)
def test_network_equals_its_layers(parametrization: str, grad_factor: float) -> None:
    net = logic_network(
        11,
        [20, 30, 24],
        3,
        parametrization=PARAMETRIZATIONS[parametrization],
        grad_factor=grad_factor,
        generator=seeded(),
    )
    x = torch.rand(37, 11, generator=seeded(1)).requires_grad_()
    grad = torch.randn(37, 3, generator=seeded(2))
    results = []
    for module in (net, nn.Sequential(*net)):
        x.grad = None
        net.zero_grad()
        y = module(x)
        y.backward(grad)
        results.append([y.detach(), x.grad, *(p.grad for p in net.parameters())])
    for one_call, layer_by_layer in zip(*results, strict=True):
        torch.testing.assert_close(one_call, layer_by_layer, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("sampling", [Soft, HardStraightThrough])
def test_training_reduces_the_loss(sampling: type[nn.Module]) -> None:
    x = (torch.rand(64, 12, generator=seeded()) > 0.5).float()
    target = x[:, 0].long()
    net = logic_network(12, [64, 64], 2, sampling=sampling(), generator=seeded())
    optimizer = torch.optim.Adam(net.parameters(), lr=0.05)
    losses = []
    for _ in range(80):
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(net(x), target)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    assert sum(losses[-10:]) < 0.8 * sum(losses[:10])


def test_local_wiring() -> None:
    net = logic_network(50, [3000, 2500], 2, wiring=local_wiring, seed=1).eval()
    a, b = local_wiring(1, 1, in_features=3000, out_features=2500)
    np.testing.assert_array_equal(net[1].a.numpy(), a)
    np.testing.assert_array_equal(net[1].b.numpy(), b)
    rows = np.random.default_rng(0).integers(0, 2, (70, 50)).astype(bool)
    counts = Engine(discretize(net)).counts(rows)
    expected = net(torch.from_numpy(rows)).detach().numpy() * net[-1].temperature(2500)
    np.testing.assert_allclose(counts, expected, rtol=1e-5)


def test_unique_wiring() -> None:
    net = logic_network(6, [15, 20], 2, wiring=unique_wiring, seed=1)
    pairs = {frozenset(pair) for pair in zip(net[0].a.tolist(), net[0].b.tolist(), strict=True)}
    assert len(pairs) == 15


def test_same_seed_same_network_whatever_the_threads() -> None:
    x = torch.rand(150, 20, generator=seeded(1))
    target = torch.randint(3, (150,), generator=seeded(2))
    trained = []
    threads = torch.get_num_threads()
    try:
        for n_threads in (1, 2, 3, 1):
            torch.set_num_threads(n_threads)
            net = logic_network(20, [60, 60], 3, generator=seeded())
            for _ in range(3):
                net.zero_grad()
                nn.functional.cross_entropy(net(x), target).backward()
                with torch.no_grad():
                    for p in net.parameters():
                        p -= 0.1 * p.grad
            trained.append([p.detach() for p in net.parameters()])
    finally:
        torch.set_num_threads(threads)
    for again in trained[1:]:
        assert all(torch.equal(p, q) for p, q in zip(trained[0], again, strict=True))


def test_with_sampling_changes_a_copy_only() -> None:
    net = logic_network(6, [12, 12], 2, tau=2.0, seed=0, generator=seeded())
    hard = with_sampling(net, HardStraightThrough())
    x = (torch.rand(9, 6, generator=seeded(1)) > 0.5).float()
    torch.testing.assert_close(hard.train()(x), net.eval()(x))
    assert not torch.allclose(net.train()(x), net.eval()(x))
    assert torch.equal(hard[0].weight, net[0].weight)
    assert hard[0].sampling is hard[1].sampling


def test_state_holds_everything() -> None:
    net = logic_network(9, [12, 8], 2, sampling=HardStraightThrough(), generator=seeded())
    other = logic_network(9, [12, 8], 2, sampling=HardStraightThrough(), generator=seeded(1))
    x = torch.rand(5, 9, generator=seeded(2))
    net(x)
    assert not torch.equal(net(x), other(x))
    buffer = io.BytesIO()
    torch.save(net.state_dict(), buffer)
    buffer.seek(0)
    other.load_state_dict(torch.load(buffer, weights_only=True))
    for again in (other, copy.deepcopy(net), pickle.loads(pickle.dumps(net))):
        assert torch.equal(net.eval()(x), again.eval()(x))


def run(net: nn.Module, x: Tensor, grad: Tensor) -> list[Tensor]:
    """Outputs, and gradients of input and weights."""
    x = x.clone().requires_grad_()
    net.zero_grad()
    y = net(x)
    y.backward(grad)
    return [y.detach(), x.grad, *(p.grad.clone() for p in net.parameters())]


MIXTURES = {
    "own soft": lambda i: {"sampling": Soft()},
    "own straight-through": lambda i: {"sampling": HardStraightThrough()},
    "parametrizations": lambda i: {"parametrization": Light() if i == 1 else Softmax()},
    "operators": lambda i: {"parametrization": Softmax([1, 7, 14]) if i == 2 else Softmax()},
    "factors": lambda i: {"grad_factor": 1.0 + i},
}


@pytest.mark.parametrize("mixture", MIXTURES)
def test_layers_of_any_settings_run_in_one_call(mixture: str, monkeypatch: pytest.MonkeyPatch) -> None:
    widths = [11, 20, 30, 24]
    make = MIXTURES[mixture]
    layers = [LogicLayer(widths[i], widths[i + 1], seed=0, position=i, **make(i)) for i in range(3)]
    x, grad = torch.rand(37, 11, generator=seeded(1)), torch.randn(37, 3, generator=seeded(2))
    twin = copy.deepcopy(layers)
    one_by_one = run(nn.Sequential(*twin, GroupSum(3)), x, grad)
    calls: list[int] = []
    forward = native.RunStack.forward
    monkeypatch.setattr(native.RunStack, "forward", lambda ctx, *rest: (calls.append(1), forward(ctx, *rest))[1])
    for ours, expected in zip(run(LogicNetwork(*layers, GroupSum(3)), x, grad), one_by_one, strict=True):
        torch.testing.assert_close(ours, expected, rtol=1e-4, atol=1e-5)
    assert len(calls) == 1


def test_equal_settings_are_equal() -> None:
    generator = seeded()
    for make in (
        Soft,
        lambda: Gumbel(0.5),
        lambda: Gumbel(0.5, generator=generator),
        Light,
        lambda: Softmax([1, 7], initialization=Residual(2.0)),
        lambda: Yager(2.0),
    ):
        assert make() == make()
        assert hash(make()) == hash(make())
    assert Gumbel(generator=seeded()) != Gumbel(generator=seeded())  # their noise differs
    assert HardStraightThrough() != HardStraightThrough()  # each adapts on its own
    assert Softmax([1, 7]) != Softmax([7, 1])


def test_hooks_of_layers_are_called() -> None:
    net = logic_network(6, [12, 12], 2, seed=0)
    x = torch.rand(5, 6, generator=seeded())
    expected, seen = net(x), []
    for module in (net[0], net[1], net[2]):
        handle = module.register_forward_hook(lambda module, args, y: seen.append(y.shape))
        torch.testing.assert_close(net(x), expected)
        handle.remove()
    assert seen == [(5, 12), (5, 12), (5, 2)]


def test_layers_with_a_forward_of_their_own_are_called() -> None:
    class Negated(LogicLayer):
        def forward(self, x: Tensor) -> Tensor:
            return 1 - super().forward(x)

    layers = LogicLayer(6, 12, seed=0), Negated(12, 12, seed=0)
    x = torch.rand(5, 6, generator=seeded())
    expected = nn.Sequential(*layers, GroupSum(2))(x)
    assert torch.equal(LogicNetwork(*layers, GroupSum(2))(x), expected)


def test_the_seed_fixes_wires_and_weights() -> None:
    before = torch.get_rng_state()
    first = logic_network(9, [12, 8], 2, seed=5)
    assert torch.equal(torch.get_rng_state(), before)
    torch.rand(3)
    again, other = logic_network(9, [12, 8], 2, seed=5), logic_network(9, [12, 8], 2, seed=6)
    for name, tensor in first.state_dict().items():
        assert torch.equal(tensor, again.state_dict()[name])
    assert not torch.equal(first[0].weight, other[0].weight)
    assert not torch.equal(first[0].a, other[0].a)
    assert not torch.equal(first[0].weight[:, :8], first[1].weight)


def test_without_a_seed_torch_decides() -> None:
    networks = []
    for seed in (0, 0, 1):
        torch.manual_seed(seed)
        networks.append(logic_network(9, [12, 8], 2))
    first, again, other = (net[0].weight for net in networks)
    assert torch.equal(first, again)
    assert not torch.equal(first, other)


@pytest.mark.parametrize("old", SAMPLINGS)
@pytest.mark.parametrize("new", SAMPLINGS)
def test_any_sampling_takes_the_place_of_any_other(old: str, new: str) -> None:
    net = logic_network(6, [12, 12], 2, seed=0, sampling=SAMPLINGS[old]())
    changed = with_sampling(net, SAMPLINGS[new]())
    assert type(changed[0].sampling) is SAMPLINGS[new]
    assert any("sampling" in name for name in changed.state_dict()) == (new == "hard")
    assert changed(torch.rand(3, 6)).shape == (3, 2)
