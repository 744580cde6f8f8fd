"""nn.LogicConv2d, nn.LearnedConv2d, nn.OrPool2d: what they compute, their gradients, their circuits, and misuse."""

import copy
from itertools import product

import numpy as np
import pytest
from support.tools import require_module

require_module("torch", "pip install -c constraints.txt torch==2.13.0")

import torch
from support.networks import PARAMETRIZATIONS, SAMPLINGS
from torch import Tensor
from torch.nn import Flatten, Sequential

from gatewise import Engine, simplify
from gatewise.gates import coefficients
from gatewise.nn import (
    Anchored,
    Bitwise,
    FeatureMaps,
    GroupSum,
    HardStraightThrough,
    LearnedConv2d,
    LearnedLayer,
    Light,
    LogicConv2d,
    LogicLayer,
    OrPool2d,
    Soft,
    anchored_network,
    discretize,
    discretize_shared,
    with_sampling,
)
from gatewise.nn.convolution.base import Convolution
from gatewise.run import reference
from gatewise.wiring import NearbyTaps, RandomTaps, SeededCircuit, TapCandidates

SHAPE, N_THRESHOLDS = (2, 7, 6), 2
N_BITS = 2 * 7 * 6 * N_THRESHOLDS


def draw_bits(n_rows: int, n_bits: int = N_BITS) -> Tensor:
    return torch.rand(n_rows, n_bits, generator=torch.Generator().manual_seed(5)) > 0.5


def make_net(**options: object) -> Sequential:
    """Every kind of stage: padding, strides, a pool that leaves rows out, depth 1, a kernel that is not square."""
    return Sequential(
        FeatureMaps(SHAPE, N_THRESHOLDS),
        LogicConv2d(4, 6, 3, depth=3, padding=1, seed=0, position=0, **options),
        OrPool2d(2),
        LogicConv2d(6, 12, (2, 3), depth=1, stride=(1, 2), padding=(1, 1), seed=0, position=1, **options),
        Flatten(-3),
        LogicLayer(96, 60, seed=0, position=0, **options),
        LogicLayer(60, 30, seed=0, position=1, **options),
        GroupSum(3, tau=2.0),
    )


def evaluate_by_hand(layer: Convolution, maps: np.ndarray) -> np.ndarray:
    """One position, one tree, one gate at a time."""
    (kernel, stride, padding), taps = (getattr(layer.window, n) for n in ("kernel_size", "stride", "padding")), None
    taps = layer.taps().numpy()
    padded = np.pad(maps, ((0, 0), (padding[0],) * 2, (padding[1],) * 2))
    _, rows, columns = layer.shape_after(maps.shape)
    found = np.zeros((layer.out_channels, rows, columns))
    for channel, row, column in product(range(layer.out_channels), range(rows), range(columns)):
        top, left = row * stride[0], column * stride[1]
        window = padded[:, top : top + kernel[0], left : left + kernel[1]].reshape(-1)
        n_leaves = 2 ** (layer.depth - 1)
        values = [window[taps[i % 2, channel * n_leaves + i // 2]] for i in range(2 * n_leaves)]
        for level, weight in enumerate(layer.weights):
            gates = layer.parametrization.gates(weight)
            n = n_leaves >> level
            pairs = zip(gates[channel * n : (channel + 1) * n], values[0::2], values[1::2], strict=True)
            values = [coefficients()[gate] @ [1, a, b, a * b] for gate, a, b in pairs]
        [found[channel, row, column]] = values
    return found


CONVOLUTIONS = {
    "plain": lambda: LogicConv2d(3, 5, 3, depth=3, seed=1),
    "padded": lambda: LogicConv2d(3, 5, (3, 2), depth=2, padding=(2, 1), stride=(2, 1), seed=1),
    "one gate, one channel": lambda: LogicConv2d(3, 5, 3, depth=1, stride=2, taps=RandomTaps(1), seed=1),
    "near": lambda: LogicConv2d(3, 5, 4, depth=2, taps=NearbyTaps(3, reach=2), seed=1),
    "learned": lambda: LearnedConv2d(3, 5, 3, depth=3, padding=1, candidates=TapCandidates(3, 5), seed=1),
}


@pytest.mark.parametrize("name", CONVOLUTIONS)
def test_trees_are_the_same_at_every_position(name: str) -> None:
    layer = CONVOLUTIONS[name]().double().eval()
    with torch.no_grad():  # away from gates that only pass a value on
        for weight in layer.weights:
            weight.copy_(torch.randn(weight.shape, generator=torch.Generator().manual_seed(2)))
    for maps in (np.random.default_rng(0).random((3, 6, 5)), np.random.default_rng(1).integers(0, 2, (3, 6, 5))):
        expected = evaluate_by_hand(layer, maps)
        np.testing.assert_allclose(layer(torch.from_numpy(maps)).detach().numpy(), expected, atol=1e-12)
    batch = torch.rand(2, 3, 3, 6, 5, dtype=torch.float64)
    torch.testing.assert_close(layer(batch)[1, 2], layer(batch[1, 2]))


@pytest.mark.parametrize("name", CONVOLUTIONS)
def test_levels_are_what_the_layer_computes(name: str) -> None:
    layer = CONVOLUTIONS[name]().double().train()
    layer.sampling = Soft()
    if isinstance(layer, LearnedConv2d):
        layer.eval()
    maps = torch.rand(3, 6, 5, dtype=torch.float64)
    values = maps.flatten()
    for weight, a, b, n_positions in layer.unroll(maps.shape):
        assert a.dtype == b.dtype == np.int32
        before = torch.cat([values, values.new_zeros(1)])
        mixed = layer.parametrization.coefficients([weight], Soft(), layer.training).repeat_interleave(n_positions, 0)
        c0, c1, c2, c3 = mixed.unbind(1)
        a, b = before[torch.from_numpy(a)], before[torch.from_numpy(b)]
        values = c0 + c1 * a + c2 * b + c3 * a * b
    torch.testing.assert_close(layer(maps).flatten(), values)


@pytest.mark.parametrize("kernel", [2, 3, (1, 3), (2, 1)])
def test_pools_are_ors(kernel: int | tuple[int, int]) -> None:
    pool = OrPool2d(kernel)
    maps = (torch.rand(2, 7, 8, generator=torch.Generator().manual_seed(0)) > 0.7).float()
    values = maps.flatten()
    for weight, a, b, _ in pool.unroll(maps.shape):
        assert weight is None
        before = torch.cat([values, values.new_zeros(1)])
        values = torch.maximum(before[torch.from_numpy(a)], before[torch.from_numpy(b)])
    assert torch.equal(pool(maps).flatten(), values)
    assert torch.equal(pool(maps.bool()), pool(maps))


def test_the_gradient_of_a_pool_goes_to_the_first_of_the_largest() -> None:
    maps = torch.tensor([[[0.0, 1.0, 0.0, 0.0], [1.0, 1.0, 0.0, 0.0]]], requires_grad=True)
    OrPool2d(2)(maps).sum().backward()
    assert maps.grad.tolist() == [[[0, 1, 1, 0], [0, 0, 0, 0]]]


@pytest.mark.parametrize("parametrization", PARAMETRIZATIONS)
@pytest.mark.parametrize("make", [LogicConv2d, LearnedConv2d])
def test_soft_gradients(make: type[Convolution], parametrization: str) -> None:
    own = {"parametrization": PARAMETRIZATIONS[parametrization], "sampling": Soft()}
    layer = make(2, 2, 2, depth=2, padding=1, seed=3, **own).double()
    names = [name for name, _ in layer.named_parameters()]
    values = [p.detach().clone().requires_grad_() for p in layer.parameters()]
    x = torch.rand(2, 2, 3, 2, dtype=torch.float64, requires_grad=True)

    def run(x: Tensor, *values: Tensor) -> Tensor:
        return torch.func.functional_call(layer, dict(zip(names, values, strict=True)), (x,))

    assert torch.autograd.gradcheck(run, (x, *values))


def test_gradients_on_bits_see_the_mixtures() -> None:
    layer = LogicConv2d(2, 3, 2, depth=2, seed=3, sampling=Bitwise(2.0), grad_factor=1.5).double()
    soft = with_sampling(layer, Soft())
    x = (torch.rand(4, 2, 4, 4, generator=torch.Generator().manual_seed(1)) > 0.5).double().requires_grad_()
    g = torch.rand(4, 3, 3, 3, dtype=torch.float64)
    y = layer(x)
    (y * g).sum().backward()
    # By hand: bits forward, each level's derivative that of its mixture at these bits.
    mixed = [layer.parametrization.relax(w, 2.0)[0].detach().requires_grad_() for w in layer.weights]
    levels = layer.unroll((2, 4, 4))
    bits, operands = x.detach().flatten(1), []
    for weight, a, b, n_positions in levels:
        chosen = layer.parametrization.relax(weight, 2.0)[1].repeat_interleave(n_positions, 0)
        operands.append((bits[:, a], bits[:, b]))
        bits = chosen[:, 0] + chosen[:, 1] * bits[:, a] + bits[:, b] * (chosen[:, 2] + chosen[:, 3] * bits[:, a])
    assert torch.equal(y.flatten(1), bits)
    grad = g.flatten(1)
    for level, (a, b), m in zip(reversed(levels), reversed(operands), reversed(mixed), strict=True):
        own = torch.stack([grad, grad * a, grad * b, grad * a * b], -1).sum(0)
        m.grad = own.unflatten(0, (-1, level.n_positions)).sum(1)
        wide = m.detach().repeat_interleave(level.n_positions, 0)
        by_a, by_b = grad * (wide[:, 1] + wide[:, 3] * b), grad * (wide[:, 2] + wide[:, 3] * a)
        n_below = 32 if level is levels[0] else len(levels[0].a)
        below = torch.zeros(4, n_below + 1, dtype=torch.float64)
        grad = below.index_add(1, torch.from_numpy(level.a), by_a).index_add(1, torch.from_numpy(level.b), by_b)[:, :-1]
    torch.testing.assert_close(x.grad.flatten(1), 1.5 * grad)
    for weight, m in zip(layer.weights, mixed, strict=True):
        again = weight.detach().clone().requires_grad_()
        layer.parametrization.relax(again, 2.0)[0].backward(m.grad)
        torch.testing.assert_close(weight.grad, again.grad)
    assert isinstance(soft.sampling, Soft)


@pytest.mark.parametrize("sampling", SAMPLINGS)
@pytest.mark.parametrize("parametrization", PARAMETRIZATIONS)
def test_circuit_equals_eval_bit_for_bit(parametrization: str, sampling: str) -> None:
    net = make_net(parametrization=PARAMETRIZATIONS[parametrization], sampling=SAMPLINGS[sampling]())
    rows = draw_bits(50)
    net.train()(rows.float()).sum().backward()
    assert all(p.grad is not None for p in net.parameters())
    circuit = discretize(net)
    counts = reference.count_groups(circuit, rows.numpy())
    net.eval()
    for x in (rows, rows.float(), rows.double(), rows.int()):
        np.testing.assert_array_equal((net(x) * 2.0).detach().numpy(), counts)
    assert torch.equal(net(rows[0]), net(rows)[0])
    np.testing.assert_array_equal(Engine(simplify(circuit)).counts(rows.numpy()), counts)


def test_training_on_bits_has_no_gap() -> None:
    net, rows = make_net(sampling=Bitwise()), draw_bits(30)
    net[1] = LearnedConv2d(4, 6, 3, depth=3, padding=1, sampling=net[3].sampling, seed=4)
    assert torch.equal(net.train()(rows), copy.deepcopy(net).eval()(rows))


@pytest.mark.parametrize("sampling", [Soft, HardStraightThrough, Bitwise])
def test_learned_taps_get_gradients_and_choose(sampling: type) -> None:
    layer = LearnedConv2d(1, 4, 3, depth=2, candidates=TapCandidates(1, 5), sampling=sampling(), seed=0)
    x = (torch.rand(8, 1, 6, 6, generator=torch.Generator().manual_seed(0)) > 0.5).float()
    layer(x).square().sum().backward()
    assert float(layer.pins.grad.abs().sum()) > 0
    before = layer.taps()
    with torch.no_grad():
        layer.pins.copy_(-layer.pins)
    assert not torch.equal(layer.taps(), before)
    assert not bool((layer.taps()[0] == layer.taps()[1]).any())


def test_shared_circuits_expand_to_what_discretize_gives() -> None:
    net = make_net()
    shared = discretize_shared(net)
    assert isinstance(shared.dense, SeededCircuit)
    assert shared.expand() == discretize(net)
    assert shared.n_gates == discretize(net).n_gates
    assert shared.n_stored == 6 * 7 + 12 + 90
    learned = Sequential(*net[:5], LearnedLayer(96, 60, seed=3, position=5), GroupSum(3))
    assert discretize_shared(learned).expand() == discretize(learned)
    bare = Sequential(*net[:5], GroupSum(3))
    assert discretize_shared(bare).expand() == discretize(bare)
    assert discretize_shared(bare).dense.n_gates == 0
    with pytest.raises(TypeError, match="must begin with FeatureMaps to have shared gates, got LogicLayer at 0"):
        discretize_shared(Sequential(LogicLayer(4, 4)))


def test_everything_is_in_the_state() -> None:
    net, other = make_net(), make_net()
    with torch.no_grad():
        for p in other.parameters():
            p.normal_()
    other[1].tap_idx.zero_()
    assert discretize(net) != discretize(other)
    other.load_state_dict(net.state_dict())
    assert discretize(net) == discretize(other) == discretize(copy.deepcopy(net))


def test_weights_begin_near_a_gate_that_passes_on() -> None:
    layer = LogicConv2d(1, 4, 3, seed=0)
    assert set(layer.gates().tolist()) == {3}
    maps = torch.rand(1, 5, 5)
    taps = layer.taps().reshape(2, 4, 4)[0, :, 0]
    torch.testing.assert_close(layer.eval()(maps)[:, 0, 0], maps[0, :3, :3].flatten()[taps])


@pytest.mark.parametrize("make", [LogicConv2d, LearnedConv2d])
def test_layers_run_where_their_tensors_are(make: type[Convolution]) -> None:
    layer = make(2, 4, 3, seed=0, parametrization=Light(), sampling=Soft()).to("meta")
    net = Sequential(FeatureMaps((8, 8), 2), layer, OrPool2d(2), Flatten()).to("meta")
    assert net(torch.zeros(5, 128, device="meta")).shape == (5, 36)
    half = make(2, 4, 3, seed=0, sampling=Soft()).bfloat16()
    assert half(torch.rand(5, 2, 8, 8).bfloat16()).dtype == torch.bfloat16


def test_anchored_layers_read_the_input_again() -> None:
    net = anchored_network(12, [20, 20, 15], 3, tau=1.0, seed=0)
    rows = draw_bits(40, 12)
    anchored = net[0]
    y = anchored.layers[0](rows.float())
    for layer in list(anchored.layers)[1:]:
        a, b = layer.wires()
        assert bool((a < layer.in_features - 12).all())
        assert bool((b >= layer.in_features - 12).all())
        y = layer(torch.cat([y, rows.float()], -1))
    torch.testing.assert_close(net(rows.float()), y.unflatten(-1, (3, -1)).sum(-1))
    with torch.no_grad():
        for p in net.parameters():
            p.normal_(generator=torch.Generator().manual_seed(0))
    counts = reference.count_groups(discretize(net), rows.numpy())
    np.testing.assert_array_equal(net.eval()(rows).detach().numpy(), counts)


NET = make_net


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (
            lambda: LogicConv2d(3, 8, 3, taps=RandomTaps(4)),
            ValueError,
            r"channels must be at most 3.*LogicConv2d\(3",
        ),
        (lambda: LogicConv2d(1, 8, 1), ValueError, r"window of at least 2 values.*in LogicConv2d\(1, 8"),
        (lambda: LogicConv2d(1, 8, 2, taps=NearbyTaps(1, reach=0)), ValueError, "reach must be at least 1"),
        (
            lambda: LearnedConv2d(1, 8, 2, candidates=TapCandidates(1, 5)),
            ValueError,
            "k must be at most 4.*LearnedConv",
        ),
        (lambda: LogicConv2d(1, 8, 3, depth=0), ValueError, "depth must be an integer in 1..10, got 0"),
        (lambda: LogicConv2d(0, 8, 3), ValueError, "in_channels must be an integer"),
        (lambda: LogicConv2d(1, 8, 3, padding=3), ValueError, "padding must be an integer in 0..2, got 3"),
        (lambda: LogicConv2d(1, 8, (3, 3, 3)), ValueError, r"kernel_size must be an integer or \(rows, columns\)"),
        (
            lambda: LogicConv2d(1, 1, 2, depth=1, taps=[[0], [4]]),
            ValueError,
            r"taps must be in 0..3, .*4 at operand b .*in LogicConv2d\(",
        ),
        (lambda: LogicConv2d(1, 1, 2, depth=1, taps=[0, 1]), ValueError, r"shape \(2, 1\), got .*in LogicConv2d\(1, 1"),
        (
            lambda: LogicConv2d(1, 1, 9)(torch.rand(1, 8, 9)),
            ValueError,
            "at most the maps of 8 x 9, got 9 x 9, in L",
        ),
        (
            lambda: LogicConv2d(2, 1, 3)(torch.rand(1, 8, 9)),
            ValueError,
            "maps must have 2 channels.*got 1 x 8 x 9, in",
        ),
        (lambda: LogicConv2d(2, 1, 3)(torch.rand(9)), ValueError, "maps must have 2 channels, rows and columns, got 9"),
        (lambda: LogicConv2d(1, 1, 3)(np.zeros((1, 8, 8))), TypeError, "x must be a torch.Tensor"),
        (
            lambda: LogicConv2d(1, 1, 3, sampling=Bitwise())(torch.full((1, 8, 8), 0.5)),
            ValueError,
            "x must be 0 or 1 for training on bits",
        ),
        (
            lambda: OrPool2d(3)(torch.rand(1, 2, 3)),
            ValueError,
            "must be at most the maps of 2 x 3.*OrPool2d",
        ),
        (lambda: FeatureMaps((2, 2))(torch.rand(5)), ValueError, "x must have 4 features for FeatureMaps"),
        (lambda: FeatureMaps((2,)), ValueError, r"shape must be \(channels, rows, columns\)"),
        (lambda: discretize(Sequential(*NET()[1:])), ValueError, "must begin with FeatureMaps .* got LogicConv2d at 0"),
        (lambda: discretize(NET()[:4]), ValueError, r"must end in rows, got maps of \(12, 4, 2\)"),
        (
            lambda: discretize(Sequential(*NET()[:4], LogicLayer(96, 60))),
            ValueError,
            "LogicLayer.* must read rows, got maps of 12 x 4 x 2; put a torch.nn.Flatten before it, at 4",
        ),
        (
            lambda: discretize(Sequential(*NET()[:5], LogicLayer(95, 60))),
            ValueError,
            "must read 95 features, got 96, at 5",
        ),
        (
            lambda: discretize(Sequential(LogicLayer(4, 8), OrPool2d(2))),
            ValueError,
            "must read maps, as FeatureMaps gives, got rows of 8, at 1",
        ),
        (lambda: discretize(Sequential(*NET()[:4], Flatten(2))), ValueError, r"must be Flatten\(1\) or Flatten\(-3\)"),
        (lambda: discretize(Sequential(FeatureMaps((2, 2)), Flatten())), ValueError, "at least one layer of gates"),
        (lambda: discretize(Sequential(*NET()[:4], FeatureMaps((2, 2)))), ValueError, "must read rows, got maps"),
        (lambda: Anchored(), ValueError, "layers must be at least one"),
        (lambda: Anchored(OrPool2d(2)), TypeError, "must be layers of gates, got OrPool2d at 0"),
        (lambda: Anchored(LogicLayer(4, 8), LogicLayer(8, 8)), ValueError, "in_features must be 12 at layer 1"),
    ],
)
def test_misuse_is_named(call: object, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        call()  # type: ignore[operator]
