"""nn.LutLayer: what tables compute, their gradients, their wires, the circuits they stand for, and misuse."""

import copy
from collections.abc import Callable

import numpy as np
import pytest
from support.tools import require_module

require_module("torch", "pip install -c constraints.txt torch==2.13.0")

import torch
from torch import Tensor

from gatewise import nn
from gatewise.nn.lut.functional import interpolate, read_tables
from gatewise.run import reference
from gatewise.wiring import AllInputs, NearbyCandidates, RandomCandidates

N_IN, N_OUT, N_CANDIDATES = 13, 12, 4
SIZES = (3, 4, 5, 6)


def make_layer(k: int = 4, **options: object) -> nn.LutLayer:
    return nn.LutLayer(N_IN, N_OUT, k, **{"candidates": RandomCandidates(N_CANDIDATES), "seed": 3} | options)


def make_net(k: int, *, learned: bool = True, **options: object) -> torch.nn.Sequential:
    candidates = RandomCandidates(N_CANDIDATES) if learned else None
    first = nn.LutLayer(N_IN, 14, k, candidates=candidates, seed=2, **options)
    return torch.nn.Sequential(first, nn.LutLayer(14, 12, k, seed=2, position=1, **options), nn.GroupSum(3, 2.0))


def draw_bits(n_rows: int = 50) -> Tensor:
    return torch.rand(n_rows, N_IN, generator=torch.Generator().manual_seed(5)) > 0.5


@pytest.mark.parametrize("k", SIZES)
def test_value_is_looked_up(k: int) -> None:
    layer = make_layer(k).eval().requires_grad_(False)
    x = draw_bits()
    read = x.numpy()[:, layer.wires().numpy()]  # (n, k, n_out)
    expected = np.zeros((len(x), N_OUT))
    for row in range(len(x)):
        for table in range(N_OUT):
            entry = int("".join(str(int(bit)) for bit in read[row, :, table]), 2)
            expected[row, table] = float(layer.weight[table, entry]) > 0
    assert np.array_equal(layer(x).numpy(), expected)
    assert torch.equal(layer.train()(x), layer.eval()(x))
    assert 0.2 < expected.mean() < 0.8


@pytest.mark.parametrize("k", SIZES)
def test_gradients_of_bits_are_those_of_the_interpolation(k: int) -> None:
    generator = torch.Generator().manual_seed(k)
    bits = (torch.rand(20, k, 7, generator=generator) > 0.5).double()
    tables = torch.rand(7, 2**k, generator=generator, dtype=torch.float64) * 2 - 1
    weights = torch.randn(20, 7, generator=generator, dtype=torch.float64)
    x = bits.clone().requires_grad_()
    (read_tables(x, tables) * weights).sum().backward()
    soft = bits.clone().requires_grad_()
    (interpolate(0.25 + 0.5 * soft, tables) * weights).sum().backward()
    torch.testing.assert_close(x.grad, soft.grad)
    assert torch.autograd.gradcheck(interpolate, (torch.rand(2, k, 7, dtype=torch.float64).requires_grad_(), tables))


def test_interpolation_meets_the_tables() -> None:
    tables = torch.arange(8.0)[None]
    corners = torch.tensor([[i >> 2 & 1, i >> 1 & 1, i & 1] for i in range(8)]).float()[..., None]
    assert interpolate(corners, tables).flatten().tolist() == list(range(8))


@pytest.mark.parametrize("k", SIZES)
def test_straight_through_gradients(k: int) -> None:
    layer = make_layer(k, sampling=nn.Bitwise(2.0)).double()
    x = draw_bits().double().requires_grad_()
    weights = torch.randn(len(x), N_OUT, dtype=torch.float64)
    (layer(x) * weights).sum().backward()
    wires = layer.wires().long()
    read = x.detach()[:, wires].requires_grad_()
    (interpolate(0.25 + 0.5 * read, layer.weight.detach()) * weights).sum().backward()
    of_pins = read.grad
    of_x = torch.zeros_like(x).index_add(1, wires.flatten(), of_pins.flatten(1))
    torch.testing.assert_close(x.grad, of_x)
    of_tables = torch.zeros_like(layer.weight)
    entry = (read.detach().long() * 2 ** torch.arange(k - 1, -1, -1)[:, None]).sum(1)
    for table in range(N_OUT):
        of_tables[table].index_add_(0, entry[:, table], weights[:, table])
    torch.testing.assert_close(layer.weight.grad, of_tables)
    shares = (layer.pins / 2.0).softmax(-1)
    sums = torch.einsum("spi,spik->pik", of_pins, x.detach()[:, layer.candidates.long()])
    expected = shares * (sums - (shares * sums).sum(-1, keepdim=True)) / 2.0
    torch.testing.assert_close(layer.pins.grad, expected)


def test_entries_stay_between_minus_one_and_one() -> None:
    layer = make_layer()
    assert layer.weight.abs().max() <= 1
    with torch.no_grad():
        layer.weight[0] = torch.linspace(-3, 3, 16)
    before = copy.deepcopy(layer).eval()(draw_bits())
    assert torch.equal(layer(draw_bits()), before)
    assert layer.weight.abs().max() == 1
    loss = layer(draw_bits()).sum() + layer(draw_bits(3)).sum()  # two passes, then one way back
    loss.backward()


def test_float64_and_float32_and_bool_agree() -> None:
    layer = make_layer()
    x = draw_bits()
    assert torch.equal(layer(x), layer(x.float()))
    assert torch.equal(layer(x).double(), copy.deepcopy(layer).double()(x.double()))
    assert layer(x.reshape(5, 10, N_IN)).shape == (5, 10, N_OUT)
    assert layer(x[:0]).shape == (0, N_OUT)


@pytest.mark.parametrize("k", SIZES)
@pytest.mark.parametrize("learned", [False, True])
def test_eval_is_the_circuit(k: int, learned: bool) -> None:
    net = make_net(k, learned=learned)
    x = draw_bits()
    circuit = nn.discretize(net)
    counts = reference.count_groups(circuit, x.numpy())
    assert torch.equal(net.eval()(x), torch.from_numpy(counts).float() / 2.0)
    assert torch.equal(net.train()(x), copy.deepcopy(net).eval()(x))
    assert len(np.unique(counts)) > 3


def test_layers_of_gates_and_tables_mix() -> None:
    gates = nn.LogicLayer(14, 12, seed=1, position=1, sampling=nn.Bitwise())
    net = torch.nn.Sequential(nn.LutLayer(N_IN, 14, 3, seed=1), gates, nn.LutLayer(12, 6, 5, seed=1), nn.GroupSum(2, 1))
    x = draw_bits()
    counts = reference.count_groups(nn.discretize(net), x.numpy())
    assert torch.equal(net.eval()(x), torch.from_numpy(counts).float())
    net.train()(x).sum().backward()
    assert all(parameter.grad is not None and parameter.grad.any() for parameter in net.parameters())


def test_tables_read_maps() -> None:
    trees = nn.LogicConv2d(1, 3, 2, depth=2, seed=0, sampling=nn.Bitwise())
    front = [nn.FeatureMaps((4, 5)), trees, nn.OrPool2d(2, stride=1), torch.nn.Flatten()]
    net = torch.nn.Sequential(*front, nn.LutLayer(18, 12, 4, seed=1), nn.LutLayer(12, 6, 3, seed=2), nn.GroupSum(2, 1))
    x = torch.rand(50, 20, generator=torch.Generator().manual_seed(0)) > 0.5
    counts = reference.count_groups(nn.discretize(net), x.numpy())
    assert torch.equal(net.eval()(x), torch.from_numpy(counts).float())
    assert len(np.unique(counts, axis=0)) > 3
    assert nn.discretize_shared(net).expand() == nn.discretize(net)
    assert not nn.TrainStep.supports(net)
    net.train()(x).sum().backward()
    assert all(parameter.grad is not None and parameter.grad.any() for parameter in net.parameters())


def test_tables_that_need_fewer_inputs_read_fewer() -> None:
    layer = nn.LutLayer(6, 4, 6, wiring=np.tile(np.arange(6)[:, None], 4), seed=0)
    entry = torch.arange(64)
    bit = [entry >> (5 - pin) & 1 for pin in range(6)]
    with torch.no_grad():
        rows = [torch.zeros(64), bit[2], 1 - bit[3], bit[1] ^ bit[4]]
        layer.weight.copy_(torch.stack([row.float() for row in rows]) * 2 - 1)
    circuit = nn.discretize(layer)
    assert circuit.n_gates == 2
    assert sorted({*circuit.a.tolist(), *circuit.b.tolist()}) == [3, 5, 6]
    assert circuit.outputs.tolist()[:2] == [0, 4]


def test_fixed_wires_are_dealt_evenly() -> None:
    layer = nn.LutLayer(50, 200, 6, seed=0)
    assert all(len(set(each)) == 6 for each in layer.wires().T.tolist())
    n_readers = np.bincount(layer.wires().numpy().ravel(), minlength=50)
    assert n_readers.min() >= 20
    assert n_readers.max() <= 28


def test_pins_read_different_wires_where_they_can() -> None:
    candidates = np.array([[[0, 1], [2, 2]], [[0, 3], [2, 2]], [[3, 0], [2, 1]]])
    layer = nn.LutLayer(4, 2, 3, candidates=candidates, seed=0)
    with torch.no_grad():
        layer.pins.copy_(torch.tensor([[1.0, 0.0], [5.0, 0.0], [4.0, 0.0]])[:, None].expand(3, 2, 2))
    assert layer.wires().tolist() == [[0, 2], [3, 2], [3, 1]]
    dense = nn.LutLayer(9, 40, 6, candidates=AllInputs(), seed=0)
    assert all(len(set(each)) == 6 for each in dense.wires().T.tolist())


def test_everything_is_in_the_state() -> None:
    net, other = make_net(4), make_net(4)
    with torch.no_grad():
        for parameter in net.parameters():
            parameter.uniform_(-1, 1)
    net[0].sampling.temperature.fill_(1.5)
    net[0].candidates.add_(1).remainder_(N_IN)
    assert nn.discretize(net) != nn.discretize(other)
    other.load_state_dict(net.state_dict())
    assert nn.discretize(net) == nn.discretize(other)
    assert other[0].sampling.temperature == 1.5
    assert all(torch.equal(a, b) for a, b in zip(make_net(4).parameters(), make_net(4).parameters(), strict=True))


def test_exchange_replaces_the_losers() -> None:
    layer = nn.LutLayer(200, 30, 5, candidates=RandomCandidates(8), seed=0)
    before, pins, wires = layer.candidates.clone(), layer.pins.detach().clone(), layer.wires()
    lost = layer.exchange(0.5, draw=1)
    assert lost.shape == (5, 30, 8)
    assert bool((lost.sum(-1) == 4).all())
    assert bool((pins[lost].view(5, 30, 4).amax(-1) < pins[~lost].view(5, 30, 4).amin(-1)).all())
    assert torch.equal(layer.candidates[~lost], before[~lost])
    assert float((layer.candidates[lost] == before[lost]).float().mean()) < 0.1
    assert torch.equal(layer.wires(), wires)


def test_nearby_candidates_of_one_table_share_a_window() -> None:
    layer = nn.LutLayer(100, 9, 5, candidates=NearbyCandidates((1, 10, 10), radius=1, k=6), seed=0)
    rows, columns = layer.candidates // 10, layer.candidates % 10
    for places in (rows, columns):
        of_table = places.permute(1, 0, 2).flatten(1)
        assert bool((of_table.amax(1) - of_table.amin(1) <= 2).all())


def test_repr_tells_the_shape() -> None:
    assert "in_features=13, out_features=12, k=4, candidates=4" in repr(make_layer())


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: nn.LutLayer(9, 2, 7), "k must be an integer in 3..6, got 7"),
        (lambda: nn.LutLayer(4, 2, 6), "in_features must be at least k = 6, the inputs of a table, got 4"),
        (lambda: make_layer(wiring=np.zeros((4, N_OUT), int)), "wiring must be None for pins that choose"),
        (lambda: nn.LutLayer(4, 2, 3, wiring=np.zeros((2, 2), int)), r"wiring must be integers of shape \(3, 2\)"),
        (lambda: nn.LutLayer(4, 2, 3, wiring=np.full((3, 2), 4)), "wiring must be in 0..3, the inputs of the layer"),
        (
            lambda: nn.LutLayer(4, 2, 3, candidates=np.full((3, 2, 1), -1)),
            "candidates must be in 0..3, the inputs of the layer, got -1 at pin 0 of table 0",
        ),
        (lambda: nn.LutLayer(4, 2, 3, candidates=np.zeros((3, 2, 0), int)), r"shape \(3, 2, at least 1\)"),
        (lambda: make_layer()(torch.full((2, N_IN), 0.5)), "x must be 0 or 1 for LutLayer"),
        (lambda: make_layer()(torch.zeros(2, 3)), "x must have 13 features for LutLayer"),
        (lambda: make_layer(candidates=None).exchange(0.5, 1), "got fixed wires"),
        (
            lambda: nn.LutLayer(4, 2, 3, candidates=np.zeros((3, 2, 1), int)).exchange(0.5, 1),
            "to be exchanged, got an array",
        ),
        (
            lambda: nn.discretize(torch.nn.Sequential(nn.LutLayer(5, 4, 3), nn.LutLayer(5, 4, 3))),
            "must read 5 features, got 4, at 1",
        ),
    ],
)
def test_misuse(call: Callable[[], object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        call()


def test_tables_have_no_wiring_of_one_seed() -> None:
    with pytest.raises(TypeError, match="must consist of straight layers of gates, got LutLayer at 0; use discretize"):
        nn.discretize_seeded(make_net(3))


def test_tables_are_trained_on_bits_only() -> None:
    with pytest.raises(TypeError, match="sampling must be Bitwise for a LutLayer, got Soft"):
        nn.LutLayer(4, 2, 3, sampling=nn.Soft())
