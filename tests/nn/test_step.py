"""nn.TrainStep: equal to autograd with torch's Adam, independent of threads, clear about misuse."""

import copy
from collections.abc import Callable

import pytest
from support.tools import require_module
from support.training.steps import LOSSES, N_GROUPS, N_INPUTS, make_batch, mean_of_rows

require_module("torch", "pip install -c constraints.txt torch==2.13.0")

import torch

from gatewise import nn


def make_net(**options: object) -> nn.LogicNetwork:
    generator = torch.Generator().manual_seed(1)
    return nn.logic_network(N_INPUTS, [50, 40], N_GROUPS, generator=generator, **options)


@pytest.mark.parametrize("loss", list(LOSSES))
@pytest.mark.parametrize("sampling", [nn.Soft, nn.HardStraightThrough])
@pytest.mark.parametrize("operators", [range(16), (1, 6, 7)])
def test_equals_autograd(loss: str, sampling: type, operators: tuple[int, ...]) -> None:
    options = {"parametrization": nn.Softmax(operators), "grad_factor": 1.5}
    expected, net = (make_net(sampling=sampling(), **options) for _ in range(2))
    x, classes, targets, weight = make_batch()
    y = classes if loss == "cross_entropy" else targets
    adam = torch.optim.Adam(expected.parameters(), lr=0.02)
    step = nn.TrainStep(net, loss, learning_rate=0.02, label_smoothing=0.1)
    for _ in range(5):
        adam.zero_grad()
        value = mean_of_rows(LOSSES[loss](expected(x), y), weight)
        value.backward()
        adam.step()
        assert step(x, y, weight) == pytest.approx(value.item(), rel=1e-5)
    for parameter, weights in zip(expected.parameters(), net.parameters(), strict=True):
        torch.testing.assert_close(weights, parameter, rtol=1e-3, atol=2e-4)


def test_gumbel_draws_the_noise_that_autograd_draws() -> None:
    x, y, _, _ = make_batch()
    losses = []
    for run in ("step", "autograd"):
        net = make_net(sampling=nn.Gumbel(generator=torch.Generator().manual_seed(3)))
        loss = nn.TrainStep(net)(x, y) if run == "step" else torch.nn.functional.cross_entropy(net(x), y).item()
        losses.append(loss)
    assert losses[0] == pytest.approx(losses[1], rel=1e-5)


@pytest.mark.parametrize("as_float", [False, True])
def test_same_weights_whatever_the_threads(as_float: bool) -> None:
    x, y, _, _ = make_batch(3000)
    before = torch.get_num_threads()
    results = []
    for threads in (1, 2, 3):
        torch.set_num_threads(threads)
        net = make_net()
        step = nn.TrainStep(net)
        for _ in range(3):
            step(x.float() if as_float else x, y)
        results.append([weight.detach().clone() for weight in net.parameters()])
    torch.set_num_threads(before)
    for other in results[1:]:
        assert all(torch.equal(a, b) for a, b in zip(results[0], other, strict=True))


@pytest.mark.parametrize("n_before", [0, 3])
def test_continues_from_its_state(n_before: int) -> None:
    x, y, _, _ = make_batch()
    net = make_net()
    step = nn.TrainStep(net)
    for _ in range(n_before):
        step(x, y)
    twin = copy.deepcopy(net)
    other = nn.TrainStep(twin)
    other(x, y)
    twin.load_state_dict(net.state_dict())
    other.load_state_dict(copy.deepcopy(step.state_dict()))
    assert step(x, y) == other(x, y)
    assert all(torch.equal(a, b) for a, b in zip(net.parameters(), twin.parameters(), strict=True))


def test_state_is_that_of_torch_adam() -> None:
    x, y, _, _ = make_batch()
    net = make_net()
    step = nn.TrainStep(net, learning_rate=0.02)
    step(x, y)
    twin = copy.deepcopy(net)
    adam = torch.optim.Adam(twin.parameters(), lr=0.02)
    adam.load_state_dict(adam.state_dict() | copy.deepcopy(step.state_dict()))
    torch.nn.functional.cross_entropy(twin(x), y).backward()
    adam.step()
    step(x, y)
    for parameter, weights in zip(twin.parameters(), net.parameters(), strict=True):
        torch.testing.assert_close(weights, parameter, rtol=1e-3, atol=2e-4)


def test_follows_weights_that_are_replaced() -> None:
    x, y, _, _ = make_batch()
    net = make_net()
    step = nn.TrainStep(net, learning_rate=0.0)
    first = step(x, y)
    for parameter in net.parameters():
        parameter.data = torch.zeros_like(parameter)
    assert step(x, y) == pytest.approx(torch.log(torch.tensor(4.0)).item(), rel=1e-5)
    assert step(x, y) != first


def test_takes_any_number_type() -> None:
    x, y, _, weight = make_batch()
    losses = {
        nn.TrainStep(make_net())(rows, classes, weights)
        for rows, classes, weights in [
            (x, y, weight),
            (x.half(), y.int(), weight.double()),
            (x.double(), y.byte(), weight),
            (x.long(), y, weight),
            (x.byte(), y, weight),
        ]
    }
    assert len(losses) == 1


def test_follows_a_factor_that_changes() -> None:
    x, y, _, _ = make_batch()
    nets = [make_net(grad_factor=1.0), make_net(grad_factor=3.0)]
    steps = [nn.TrainStep(net, eps=1.0) for net in nets]
    steps[0](x, y)
    nets[0].load_state_dict(nets[1].state_dict())
    steps[0].load_state_dict({"state": {}})
    for layer in list(nets[0])[:-1]:
        layer.grad_factor = 3.0
    for step in steps:
        step(x, y)
    assert all(torch.equal(a, b) for a, b in zip(nets[0].parameters(), nets[1].parameters(), strict=True))


X, CLASSES, TARGETS, WEIGHT = make_batch()


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: nn.TrainStep(make_net(), "hinge"), "loss must be one of"),
        (lambda: nn.TrainStep(make_net(), label_smoothing=1.0), "label_smoothing must be in"),
        (lambda: nn.TrainStep(make_net())(X[:, :3], CLASSES), "as many columns"),
        (lambda: nn.TrainStep(make_net())(X, CLASSES[:3]), "equal lengths"),
        (lambda: nn.TrainStep(make_net())(X[:0], CLASSES[:0]), "equal lengths, not 0"),
        (lambda: nn.TrainStep(make_net())(X, CLASSES + 4), "classes 0 .. groups - 1"),
        (lambda: nn.TrainStep(make_net())(X, CLASSES - 4), "classes 0 .. groups - 1"),
        (lambda: nn.TrainStep(make_net())(X, CLASSES, WEIGHT[:3]), "one value per row"),
        (lambda: nn.TrainStep(make_net(), "squared_error")(X, TARGETS[:, :2]), "one column per group"),
    ],
)
def test_misuse_is_refused(call: Callable[[], object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        call()


def by_hand(*options: dict[str, object], width: int = 40, head: bool = True) -> torch.nn.Sequential:
    """Layers put together by hand, each with its own options."""
    widths = [N_INPUTS, 50, width, 40]
    layers = [
        nn.LogicLayer(50 if i == 2 else widths[i], widths[i + 1], seed=1, position=i, **each)
        for i, each in enumerate(options)
    ]
    return torch.nn.Sequential(*layers, *[nn.GroupSum(N_GROUPS)] * head)


def frozen() -> torch.nn.Sequential:
    net = by_hand({}, {})
    net[1].weight.requires_grad_(False)
    return net


def hooked() -> torch.nn.Sequential:
    net = by_hand({}, {})
    net[1].register_forward_hook(lambda *_: None)
    return net


OBSTACLES = {
    "light": (lambda: by_hand({}, {"parametrization": nn.Light()}), r"Softmax as .*, got Light\(\) at layer 1"),
    "operators": (lambda: by_hand({}, {"parametrization": nn.Softmax([1])}), "the same operators .* at layer 1"),
    "relaxation": (lambda: by_hand({"relaxation": nn.Minimum()}), r"probabilistic relax.*, got Minimum\(\) at layer 0"),
    "sampling": (
        lambda: by_hand(*[{"sampling": nn.HardStraightThrough()} for _ in range(2)]),
        r"one sampling, which all layers share, got a HardStraightThrough\(\) that is not that of layer 0 at layer 1",
    ),
    "dtype": (lambda: by_hand({}).double(), "float32 on the CPU, got torch.float64 on cpu at layer 0"),
    "frozen": (frozen, "weights that require a gradient, got one that does not at layer 1"),
    "hooks": (hooked, "layers of gates without hooks before the GroupSum, got LogicLayer at 1"),
    "width": (lambda: by_hand({}, {}, {}), "50 gates for the layer after it, got 40 at layer 1"),
    "no head": (lambda: by_hand({}, head=False), "GroupSum at the end, got LogicLayer"),
    "empty": (torch.nn.Sequential, "GroupSum at the end, got nothing"),
    "linear": (lambda: torch.nn.Linear(2, 2), "be a LogicNetwork or Sequential, got Linear"),
    "in between": (
        lambda: torch.nn.Sequential(nn.LogicLayer(4, 8), torch.nn.Dropout(), nn.GroupSum(2)),
        "layers of gates without hooks before the GroupSum, got Dropout at 1",
    ),
}


@pytest.mark.parametrize("obstacle", OBSTACLES)
def test_the_refusal_names_the_layer_and_the_reason(obstacle: str) -> None:
    make, message = OBSTACLES[obstacle]
    net = make()
    assert not nn.TrainStep.supports(net)
    with pytest.raises(ValueError, match=f"^net must .*{message}; train it by autograd, with torch.optim.Adam$"):
        nn.TrainStep(net)


def test_layers_put_together_by_hand_train_as_a_network_does() -> None:
    x, y, _, _ = make_batch()
    for options in ([{}, {}], [{"grad_factor": 1.5}, {"grad_factor": 2.0}]):
        net = by_hand(*options)
        twin = nn.LogicNetwork(*copy.deepcopy(net))
        adam = torch.optim.Adam(twin.parameters(), lr=0.02)
        step = nn.TrainStep(net, learning_rate=0.02)
        for _ in range(3):
            adam.zero_grad()
            torch.nn.functional.cross_entropy(twin(x), y).backward()
            adam.step()
            step(x, y)
        for parameter, weights in zip(twin.parameters(), net.parameters(), strict=True):
            torch.testing.assert_close(weights, parameter, rtol=1e-3, atol=2e-4)


def test_arrays_are_refused() -> None:
    with pytest.raises(TypeError, match=r"x must be a torch.Tensor, got numpy.ndarray"):
        nn.TrainStep(make_net())(X.numpy(), CLASSES)
    with pytest.raises(TypeError, match=r"y must be a torch.Tensor, got builtins.list"):
        nn.TrainStep(make_net())(X, CLASSES.tolist())


def test_classes_that_are_no_integers_are_refused() -> None:
    with pytest.raises(TypeError, match="y must be integers"):
        nn.TrainStep(make_net())(X, WEIGHT)
