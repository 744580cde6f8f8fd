"""Relaxed layers: native against plain torch, gradients, state, determinism, and equality with the circuit."""

import copy
import io
import pickle

import numpy as np
import pytest
from tools import require_module

require_module("torch", "pip install -c constraints.txt torch==2.13.0")

import torch
from torch import nn

from gatewise import Engine, optimize
from gatewise.nn import (
    GroupSum,
    Gumbel,
    HardStraightThrough,
    Light,
    LogicLayer,
    Residual,
    Soft,
    Softmax,
    discretize,
    functional,
    logic_network,
    with_sampling,
)
from gatewise.nn.relaxation import Einstein, Minimum, Yager
from gatewise.run import reference
from gatewise.wiring import local_wiring, unique_wiring

PARAMETRIZATIONS = {
    "softmax": lambda: Softmax(),
    "residual": lambda: Softmax(initialization=Residual()),
    "subset": lambda: Softmax([1, 7, 8, 14]),
    "one operator": lambda: Softmax([6]),
    "light": lambda: Light(),
}
SAMPLINGS = {"soft": Soft, "hard": HardStraightThrough, "gumbel": Gumbel}


def seeded(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


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
    ids = np.array(operators, np.uint8)
    mixed, confidence = functional.MixStack.apply(ids, temperature, hard, *logits)
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


@pytest.mark.parametrize("grad_factor", [1.0, 1.7])
@pytest.mark.parametrize("parametrization", PARAMETRIZATIONS)
def test_network_equals_its_layers(parametrization: str, grad_factor: float) -> None:
    make = PARAMETRIZATIONS[parametrization]
    net = logic_network(11, [20, 30, 24], 3, parametrization=make(), grad_factor=grad_factor, generator=seeded())
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


def test_activations_between_layers_are_kept_feature_major_and_in_their_precision() -> None:
    first, second = (LogicLayer(20, 20, generator=seeded(i)) for i in range(2))
    hidden = first(torch.rand(7, 20).half())
    assert (hidden.dtype, hidden.stride()) == (torch.float16, (1, 7))
    run = second(hidden).grad_fn.next_functions[0][
        0
    ]  # before the last step, which only gives the leading dimensions back
    assert run.saved_tensors[0].data_ptr() == hidden.data_ptr()


@pytest.mark.parametrize("sampling", SAMPLINGS)
@pytest.mark.parametrize("parametrization", PARAMETRIZATIONS)
def test_circuit_equals_eval_bit_for_bit(parametrization: str, sampling: str) -> None:
    options = {"parametrization": PARAMETRIZATIONS[parametrization](), "sampling": SAMPLINGS[sampling]()}
    net = logic_network(30, [50, 40, 36], 4, tau=2.0, generator=seeded(), **options)
    state = copy.deepcopy(net.state_dict())
    circuit = discretize(net)
    rows = np.random.default_rng(0).integers(0, 2, (100, 30)).astype(bool)
    counts = reference.count_groups(circuit, rows)
    net.eval()
    for x in (torch.from_numpy(rows), torch.from_numpy(rows).float(), torch.from_numpy(rows).double()):
        np.testing.assert_array_equal((net(x) * 2.0).detach().numpy(), counts)
    np.testing.assert_array_equal(Engine(optimize(circuit)).counts(rows), counts)
    assert all(torch.equal(value, state[name]) for name, value in net.state_dict().items())


@pytest.mark.parametrize("relaxation", [Minimum(), Einstein(), Yager(2.0)])
def test_other_relaxations_are_hard_in_eval(relaxation: object) -> None:
    layer = LogicLayer(8, 20, relaxation=relaxation, generator=seeded())  # type: ignore[arg-type]
    x = torch.rand(6, 8, generator=seeded(1)).requires_grad_()
    layer(x).sum().backward()
    assert torch.isfinite(x.grad).all()
    rows = x.detach() > 0.5
    np.testing.assert_array_equal(
        layer.eval()(rows).detach().numpy(), reference.evaluate_outputs(discretize(layer), rows)
    )


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16, torch.float16])
def test_activations_of_any_dtype_and_shape(dtype: torch.dtype) -> None:
    layer = LogicLayer(7, 12, generator=seeded())
    x = torch.rand(2, 3, 7, generator=seeded(1)).to(dtype)
    y = layer(x)
    assert y.shape == (2, 3, 12)
    assert y.dtype == dtype
    torch.testing.assert_close(y.float(), layer(x.float()), rtol=1e-2, atol=1e-2)


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


def test_gumbel_draws_gates_with_their_probabilities() -> None:
    weight = torch.tensor([[0.0], [1.0], [2.0]]).expand(3, 30_000).contiguous().requires_grad_()
    softmax = Softmax([0, 3, 15])  # coefficients (0, 0, 0, 0), (0, 1, 0, 0) and (1, 0, 0, 0)
    coefficients = softmax.coefficients([weight], Gumbel(generator=seeded()), training=True)
    drawn = coefficients.detach().mean(0)
    expected = torch.tensor([0.0, 1.0, 2.0]).softmax(0)
    torch.testing.assert_close(drawn[[1, 0]], expected[1:], atol=0.01, rtol=0)
    coefficients.square().sum().backward()
    assert torch.isfinite(weight.grad).all()
    assert weight.grad.abs().sum() > 0


def test_unread_inputs_are_a_warning() -> None:
    with pytest.warns(UserWarning, match="2 inputs are not read"):
        LogicLayer(10, 4)


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


def test_straight_through_cools_down_as_gates_become_sure() -> None:
    sampling = HardStraightThrough()
    assert sampling.prepare([])[1] == 3.0
    sampling.observe(1 / 16, 16)
    assert sampling.prepare([])[1] == pytest.approx(3.0)
    for _ in range(2000):
        sampling.observe(1.0, 16)
    assert sampling.prepare([])[1] == pytest.approx(0.5, abs=1e-6)
    assert set(sampling.state_dict()) == {"confidence", "temperature"}


@pytest.mark.parametrize("tau", [None, 2.5])
def test_state_holds_the_head(tau: float | None) -> None:
    head, other = GroupSum(2, tau, beta=0.5), GroupSum(2, 9.0)
    other.load_state_dict(head.state_dict())
    assert (other.tau, other.beta) == (tau, 0.5)


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


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda: LogicLayer(4, 8)(torch.rand(2, 5)), ValueError, "x must have 4 features for LogicLayer"),
        (lambda: LogicLayer(0, 8), ValueError, "must be at least 1"),
        (lambda: GroupSum(3, tau=1.0)(torch.rand(2, 8)), ValueError, "groups must divide the 8 features, got 3"),
        (lambda: logic_network(4, [8], 3)(torch.rand(2, 4)), ValueError, "groups must divide the 8 features, got 3"),
        (lambda: GroupSum(2, tau=0.0), ValueError, "tau must be positive, got 0.0"),
        (lambda: GroupSum(1), ValueError, "tau must be given for a single group"),
        (lambda: Softmax([]), ValueError, "operators must be distinct gate ids, at least one"),
        (lambda: Softmax([16]), ValueError, "operators must be gate ids in 0..15"),
        (lambda: LogicLayer(4, 8, parametrization=Softmax([1], initialization=Residual())), ValueError, "the gate A"),
        (lambda: Gumbel(0.0), ValueError, "tau must be positive"),
        (lambda: discretize(nn.Sequential(nn.Linear(3, 3))), TypeError, "got Linear at 0"),
        (lambda: discretize(nn.Sequential()), ValueError, "at least one LogicLayer"),
    ],
)
def test_misuse_is_refused(make: object, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        make()  # type: ignore[operator]


def test_with_sampling_changes_a_copy_only() -> None:
    net = logic_network(6, [12, 12], 2, tau=2.0, seed=0, generator=torch.Generator().manual_seed(0))
    hard = with_sampling(net, HardStraightThrough())
    x = (torch.rand(9, 6, generator=torch.Generator().manual_seed(1)) > 0.5).float()
    torch.testing.assert_close(hard.train()(x), net.eval()(x))
    assert not torch.allclose(net.train()(x), net.eval()(x))
    assert torch.equal(hard[0].weight, net[0].weight)
    assert hard[0].sampling is hard[1].sampling
