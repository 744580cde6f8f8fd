"""Networks inside the tools of torch: compilers, exporters, autocast, transforms of functions."""

import copy
import io
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from support.tools import require_module

require_module("torch", "pip install -c constraints.txt torch==2.13.0")

import torch
from support.networks import seeded
from support.processes import call_apart
from support.training.compiled import take_steps, train_compiled
from torch import Tensor, nn
from torch.func import functional_call, grad, jvp, vmap

from gatewise.nn import (
    Bitwise,
    FeatureMaps,
    GroupSum,
    Gumbel,
    HardStraightThrough,
    LearnedConv2d,
    Light,
    LogicConv2d,
    LogicLayer,
    OrPool2d,
    Soft,
    logic_network,
    lut_network,
)
from gatewise.wiring import RandomCandidates

N_BITS = 12


def straight(**options: Any) -> nn.Module:
    return logic_network(N_BITS, [20, 18], 3, seed=0, **options)


def learned(sampling: Any) -> nn.Module:
    return straight(candidates=RandomCandidates(4), sampling=sampling)


def maps(layer: Any) -> nn.Module:
    of_maps = layer(1, 4, 3, depth=2, padding=1, seed=0, sampling=Bitwise())
    dense = LogicLayer(4 * 2 * 1, 12, seed=0)
    return nn.Sequential(FeatureMaps((4, 3)), of_maps, OrPool2d(2), nn.Flatten(), dense, GroupSum(3))


NETWORKS: dict[str, Callable[[], nn.Module]] = {
    "soft": straight,
    "hard": lambda: straight(sampling=HardStraightThrough()),
    "bits": lambda: straight(sampling=Bitwise()),
    "light": lambda: straight(parametrization=Light()),
    "mixed": lambda: nn.Sequential(LogicLayer(N_BITS, 9, seed=0, grad_factor=1.5), LogicLayer(9, 6, seed=0)),
    "learned soft": lambda: learned(Soft()),
    "learned hard": lambda: learned(HardStraightThrough()),
    "learned bits": lambda: learned(Bitwise()),
}
EXPORTED: dict[str, Callable[[], nn.Module]] = {
    **{name: NETWORKS[name] for name in ("soft", "hard", "bits", "light", "learned hard", "learned bits")},
    "tables": lambda: lut_network(N_BITS, [30, 20], 2, k=4, seed=0),
    "maps": lambda: maps(LogicConv2d),
    "learned maps": lambda: maps(LearnedConv2d),
}


@pytest.fixture(autouse=True)
def forget_graphs() -> Iterator[None]:
    torch._dynamo.reset()  # those of other tests, too
    yield
    torch._dynamo.reset()


def make_bits(n: int = 10) -> Tensor:
    return torch.rand(n, N_BITS, generator=seeded()) > 0.5


@pytest.mark.parametrize("name", ["soft", "hard", "light", "mixed", "learned bits"])
@torch._dynamo.config.patch(error_on_recompile=True)
def test_compiled_networks_train_as_they_are(name: str) -> None:
    net = NETWORKS[name]()
    twin = copy.deepcopy(net)
    compiled = torch.compile(net, fullgraph=True, backend="aot_eager")
    found, expected = take_steps(net, compiled, make_bits()), take_steps(twin, twin, make_bits())
    before = NETWORKS[name]().state_dict()
    assert not any(torch.equal(p, before[key]) for key, p in net.named_parameters())
    for ours, plain in zip(found, expected, strict=True):
        torch.testing.assert_close(ours, plain, rtol=1e-5, atol=1e-6)


def test_code_of_the_default_compiler_trains_as_well(tmp_path: Path) -> None:
    found, expected = call_apart(
        train_compiled, str(tmp_path)
    )  # apart, for code that is loaded has ended crowded processes
    for ours, plain in zip(found, expected, strict=True):
        torch.testing.assert_close(torch.tensor(ours), torch.tensor(plain), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("name", ["hard", "learned hard"])
def test_compiled_networks_are_exact_under_autocast(name: str) -> None:
    net = logic_network(N_BITS, [3000], 2, tau=1.0, seed=0) if name == "hard" else NETWORKS[name]()
    net.eval()
    expected = net(make_bits())
    with torch.autocast("cpu", torch.bfloat16):
        found = torch.compile(net, fullgraph=True, backend="aot_eager")(make_bits())
    assert found.dtype == torch.float32
    assert torch.equal(found, expected)
    if name == "hard":  # so large that bfloat16 would round them
        assert not torch.equal(expected.bfloat16().float(), expected)


def test_gradients_of_values_go_through_compiled_networks() -> None:
    net = NETWORKS["soft"]()
    x = torch.rand(2, 5, N_BITS, generator=seeded())
    slopes = []
    for forward in (net, torch.compile(net, fullgraph=True, backend="aot_eager", dynamic=True)):
        given = x.clone().requires_grad_()
        forward(given).square().sum().backward()
        slopes.append(given.grad)
    assert torch.equal(*slopes)


@pytest.mark.parametrize("name", EXPORTED)
def test_exported_programs_compute_the_circuit_for_any_batch(name: str) -> None:
    net = EXPORTED[name]().eval()
    rows = {0: torch.export.Dim.DYNAMIC}
    program = torch.export.export(net, (make_bits(),), dynamic_shapes=[rows])
    file = io.BytesIO()
    torch.export.save(program, file)
    file.seek(0)
    loaded = torch.export.load(file).module()
    for n in (2, 10, 65):
        assert torch.equal(loaded(make_bits(n)), net(make_bits(n)))


def test_exported_programs_can_be_trained() -> None:
    net = NETWORKS["hard"]()
    program = torch.export.export(copy.deepcopy(net), (make_bits(),)).module()  # it shares its weights
    found, expected = take_steps(program, program, make_bits()), take_steps(net, net, make_bits())
    for ours, plain in zip(found[:3], expected[:3], strict=True):
        torch.testing.assert_close(ours, plain, rtol=1e-5, atol=1e-6)


def sum_squares(net: nn.Module, x: Tensor) -> Callable[[dict[str, Tensor], Tensor], Tensor]:
    return lambda parameters, row: functional_call(net, parameters, (row,)).square().sum()


@pytest.mark.parametrize("name", ["soft", "bits", "light", "learned soft", "learned bits"])
def test_gradients_of_single_rows(name: str) -> None:
    net, x = NETWORKS[name](), make_bits().float()
    parameters = {key: p.detach() for key, p in net.named_parameters()}
    of_rows = vmap(grad(sum_squares(net, x)), in_dims=(None, 0))(parameters, x)
    net(x).square().sum().backward()
    for (key, p), each in zip(net.named_parameters(), of_rows.values(), strict=True):
        assert len(each) == len(x), key
        assert p.grad.abs().sum() > 0
        torch.testing.assert_close(each.sum(0), p.grad, rtol=1e-4, atol=1e-5)


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_forward_derivatives() -> None:
    net, x = NETWORKS["soft"](), torch.rand(3, N_BITS, generator=seeded())
    direction = torch.randn(3, N_BITS, generator=seeded(1))
    _, found = jvp(net, (x,), (direction,))
    step = 1e-3 * direction
    difference = net.double()(x.double() + step) - net(x.double() - step)
    torch.testing.assert_close(found, difference.float() / 2e-3, rtol=1e-3, atol=1e-3)


def test_many_networks_at_once() -> None:
    nets = [logic_network(N_BITS, [20, 18], 3, seed=0, generator=seeded(i)) for i in range(3)]
    parameters, buffers = torch.func.stack_module_state(nets)
    buffers = {key: each[0] for key, each in buffers.items()}
    x = make_bits()
    run = vmap(lambda own: functional_call(nets[0], (own, buffers), (x,)))
    torch.testing.assert_close(run(parameters), torch.stack([net(x) for net in nets]))


def test_state_that_a_transform_would_change_is_an_error() -> None:
    net = NETWORKS["hard"]()
    with pytest.raises(RuntimeError, match=r"sampling must keep no state within transforms of torch\.func"):
        vmap(net)(make_bits().float())
    torch.testing.assert_close(vmap(net.eval())(make_bits()), net(make_bits()))


def test_recorders_see_operators() -> None:
    net = NETWORKS["soft"]()
    with torch._subclasses.FakeTensorMode(allow_non_fake_inputs=True):
        y = net(torch.empty(5, N_BITS))
    assert type(y).__name__ == "FakeTensor"
    assert y.shape == (5, 3)


def test_noise_can_be_compiled() -> None:
    net = straight(sampling=Gumbel(0.5))
    compiled = torch.compile(net, fullgraph=True, backend="aot_eager")
    first, second = compiled(make_bits()), compiled(make_bits())
    assert not torch.equal(first, second)
    first.sum().backward()
    assert all(p.grad.abs().sum() > 0 for p in net.parameters())
