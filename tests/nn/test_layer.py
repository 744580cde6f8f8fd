"""LogicLayer and GroupSum: input of every type, wires, seeds, state, and what is refused."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from support.tools import require_module

require_module("torch", "pip install -c constraints.txt torch==2.13.0")

import torch
from support.networks import seeded

from gatewise.nn import (
    Einstein,
    GroupSum,
    Gumbel,
    HardStraightThrough,
    LogicLayer,
    Minimum,
    Residual,
    Softmax,
    Yager,
    discretize,
    logic_network,
)
from gatewise.run import reference


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
        (
            lambda: LogicLayer(4, 8)(np.zeros((2, 4), np.float32)),
            TypeError,
            "must be a torch.Tensor, got numpy.ndarray",
        ),
        (lambda: logic_network(4, [8], 2)([[0, 1, 0, 1]]), TypeError, "x must be a torch.Tensor, got builtins.list"),
        (lambda: LogicLayer(4, 8)(torch.zeros(2, 4, dtype=torch.complex64)), TypeError, "must be real, .*complex64"),
        (lambda: LogicLayer(4, 8)(torch.tensor(1.0)), ValueError, r"x must have 4 features .*, got shape \(\)"),
        (lambda: LogicLayer(4, 8, seed=-1), ValueError, "seed must be an integer in 0"),
        (lambda: LogicLayer(4, 8, seed=True), ValueError, "seed must be an integer in 0"),
        (lambda: LogicLayer(4, 8, position=-1), ValueError, "position must be an integer in 0"),
        (lambda: logic_network(4, [8], 2, seed=2**64), ValueError, "seed must be an integer in 0"),
        (
            lambda: wired([0, 1], [1, 2]),
            ValueError,
            r"two integer arrays of shape \(3,\), .* int64 of shape \(2,\)",
        ),
        (lambda: wired([0.0, 1.0, 2.0], [1, 2, 3]), ValueError, "two integer arrays .* got float64 of shape"),
        (lambda: wired([0, 1, 2]), ValueError, r"two integer arrays of shape \(3,\)"),
        (lambda: wired([0, 1, 4], [1, 2, 3]), ValueError, r"wiring must be in 0..3, .*, got a = 4 at gate 2"),
        (lambda: wired([0, 1, 2], [1, -1, 3]), ValueError, r"wiring must be in 0..3, .*, got b = -1 at gate 1"),
        (lambda: LogicLayer(4, 3, wiring=3), TypeError, "wiring must be a function or two integer arrays, got 3"),
        (lambda: LogicLayer(4, 3, wiring=lambda *seed, **sizes: ([0], [1])), ValueError, "two integer arrays of shape"),
    ],
)
def test_misuse_is_refused(make: object, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        make()  # type: ignore[operator]


INTEGERS = [torch.bool, torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64]


@pytest.mark.parametrize("dtype", INTEGERS)
def test_bits_of_any_type_give_what_floats_give(dtype: torch.dtype) -> None:
    bits = torch.randint(2, (9, 7), generator=seeded())
    modules = {
        "layer": LogicLayer(7, 12, seed=0),
        "network": logic_network(7, [12, 8], 2, seed=0),
        "plain torch": LogicLayer(7, 12, seed=0).double(),
        "other relaxation": LogicLayer(7, 12, relaxation=Minimum(), seed=0),
    }
    for name, module in modules.items():
        expected = module(bits.to(next(module.parameters()).dtype))
        assert expected.detach().unique().numel() > 2, name
        y = module(bits.to(dtype))
        assert y.dtype == expected.dtype, name
        torch.testing.assert_close(y, expected)
        y.sum().backward()
        assert next(module.parameters()).grad.abs().sum() > 0, name


def wired(*wires: object) -> LogicLayer:
    return LogicLayer(4, 3, wiring=wires)  # type: ignore[arg-type]


@pytest.mark.parametrize("kind", [list, np.array, torch.tensor, lambda wires: np.array(wires, np.uint8)])
def test_wires_can_be_given_as_arrays(kind: Callable[[list[int]], Any]) -> None:
    a, b = kind([0, 3, 2]), kind([1, 0, 2])
    layer = wired(a, b)
    assert layer.a.tolist() == [0, 3, 2]
    assert layer.b.tolist() == [1, 0, 2]
    assert layer.a.dtype == torch.int32
    a[0] = 3
    assert layer.a[0] == 0
    x = torch.rand(5, 4, generator=seeded())
    expected = layer.double()(x.double())
    torch.testing.assert_close(layer.float()(x), expected.float())
    assert discretize(layer).n_gates == 3


def test_the_seed_of_a_layer_fixes_wires_and_weights() -> None:
    before = torch.get_rng_state()
    first, again = LogicLayer(9, 12, seed=5), LogicLayer(9, 12, seed=5)
    other, next_one = LogicLayer(9, 12, seed=6), LogicLayer(9, 12, seed=5, position=1)
    assert torch.equal(torch.get_rng_state(), before)
    for name, tensor in first.state_dict().items():
        assert torch.equal(tensor, again.state_dict()[name])
    for layer in (other, next_one):
        assert not torch.equal(first.weight, layer.weight)
        assert not torch.equal(first.a, layer.a)


def test_a_generator_draws_the_weights() -> None:
    layers = [LogicLayer(9, 12, seed=seed, generator=seeded(3)) for seed in (1, 2)]
    assert torch.equal(layers[0].weight, layers[1].weight)
    assert not torch.equal(layers[0].a, layers[1].a)
    drawn = [LogicLayer(9, 12, generator=seeded(3)) for _ in range(2)]
    assert torch.equal(drawn[0].weight, drawn[1].weight)
    assert torch.equal(drawn[0].a, drawn[1].a)


def test_settings_are_shown() -> None:
    assert repr(LogicLayer(4, 8)) == "LogicLayer(in_features=4, out_features=8)"
    layer = LogicLayer(4, 8, sampling=Gumbel(0.5), relaxation=Yager(2.0), grad_factor=1.5)
    for setting in ("sampling=Gumbel(tau=0.5", "relaxation=Yager(p=2.0)", "grad_factor=1.5"):
        assert setting in repr(layer)
