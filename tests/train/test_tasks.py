"""Tasks and their heads: networks, targets, losses, and that circuits with heads equal `eval()`."""

import copy
import dataclasses
import io

import numpy as np
import pytest
from support.tools import require_module

require_module("torch", "pip install -c constraints.txt torch==2.13.0")

import torch
from support.networks import seeded

from gatewise import nn
from gatewise.nn import TrainStep
from gatewise.train import (
    Binary,
    Bits,
    Classification,
    Constant,
    ConvergenceWarning,
    MultiLabel,
    Recipe,
    Regression,
    fit,
    split,
)
from gatewise.train.evaluate import circuit_outputs

ROWS = np.random.default_rng(0).integers(0, 2, (400, 10)).astype(bool)
NUMBERS = ROWS @ np.array([4.0, 2.0, 1.0, *[0.0] * 7])
RECIPE = Recipe(epochs=25, batch_size=40, schedule=Constant(0.05))
CASES = {
    "classification": (Classification(2), (ROWS[:, 0] & ROWS[:, 1]).astype(int)),
    "smoothed": (Classification(2, label_smoothing=0.1), (ROWS[:, 0] & ROWS[:, 1]).astype(int)),
    "binary": (Binary(), ROWS[:, 0] | ROWS[:, 1]),
    "multi-label": (MultiLabel(3), np.stack([ROWS[:, 0], ~ROWS[:, 1], ROWS[:, 2]], 1)),
    "affine": (Regression(nn.Affine.fitted(NUMBERS)), NUMBERS),
    "logit": (Regression(nn.Logit.fitted(1e6 * NUMBERS)), 1e6 * NUMBERS),
    "tiny unit": (Regression(nn.Affine.fitted(1e-9 * NUMBERS)), 1e-9 * NUMBERS),
    "multi-output": (
        Regression(nn.Affine.fitted(np.stack([NUMBERS, -100 * NUMBERS], 1))),
        np.stack([NUMBERS, -100 * NUMBERS], 1),
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_task_is_learned(case: str) -> None:
    task, targets = CASES[case]
    training, validation = split(Bits(ROWS, targets), 0.25)
    net = task.network(10, [96, 96], seed=0, generator=seeded())
    result = fit(net, task, training, validation=validation, recipe=RECIPE)
    predicted = result.predict(ROWS)
    if task.maximize:
        assert (predicted == targets).mean() >= 0.95
        assert result.history[result.best_epoch - 1].score >= 0.95
    else:
        columns = targets.reshape(len(ROWS), -1)
        assert (np.square(predicted - columns).mean(0) < 0.2 * columns.var(0)).all()


@pytest.mark.parametrize("case", [case for case, (task, _) in CASES.items() if task.loss_name])
def test_native_steps_equal_autograd(case: str) -> None:
    task, targets = CASES[case]
    recipes = [dataclasses.replace(RECIPE, epochs=6, clip=clip) for clip in (None, 1e9)]  # native steps do not clip
    net = task.network(10, [96, 96], seed=0, generator=seeded())
    assert TrainStep.supports(task.native_part(net))
    native, autograd = (fit(net, task, Bits(ROWS, targets), recipe=recipe) for recipe in recipes)
    for mine, expected in zip(native.history, autograd.history, strict=True):
        assert (mine.loss, mine.soft_loss) == pytest.approx((expected.loss, expected.soft_loss), rel=1e-3)


@pytest.mark.parametrize("case", CASES)
def test_the_circuit_with_its_head_equals_eval(case: str) -> None:
    task, _ = CASES[case]
    net = task.network(10, [60, 60], seed=0, generator=seeded()).eval()
    outputs = net(torch.from_numpy(ROWS)).detach()
    assert outputs.shape == (len(ROWS), task.groups)
    assert torch.equal(circuit_outputs(net, ROWS), outputs)


@pytest.mark.parametrize("head", [nn.Affine, nn.Logit])
def test_the_head_travels_with_the_network(head: type[nn.Affine]) -> None:
    net = Regression(head(3.0, 5.0)).network(10, [60], seed=0, generator=seeded())
    other = Regression(head(1.0, 0.0)).network(10, [60], seed=1, generator=seeded(1))
    buffer = io.BytesIO()
    torch.save(net.state_dict(), buffer)
    buffer.seek(0)
    other.load_state_dict(torch.load(buffer, weights_only=True))
    x = torch.from_numpy(ROWS)
    for again in (other, copy.deepcopy(net)):
        assert torch.equal(again.eval()(x), net.eval()(x))


def test_affine_is_the_papers_tau_and_beta() -> None:
    net = Regression(nn.Affine(3.0, 5.0)).network(10, [60], seed=0, generator=seeded())
    sums = torch.nn.Sequential(net[0][0], nn.GroupSum(1, tau=60 / 3.0, beta=5.0))
    x = torch.rand(7, 10, generator=seeded())
    torch.testing.assert_close(net(x), sums(x))


def test_logit_is_finite_and_has_gradients_at_the_ends() -> None:
    shares = torch.tensor([[0.0], [0.5], [1.0]], requires_grad=True)
    values = nn.Logit(2.0, 1.0)(shares)
    values.sum().backward()
    assert torch.isfinite(values).all()
    assert (shares.grad > 0).all()
    torch.testing.assert_close(values[1], torch.tensor([1.0]))


def test_equal_targets_are_learned_as_a_constant() -> None:
    head = nn.Affine.fitted(np.full(10, 3.0))
    assert (head.scale.item(), head.offset.item()) == (1.0, 3.0)


def test_smoothing_is_torchs() -> None:
    outputs, y = torch.randn(5, 3, generator=seeded()), torch.tensor([0, 1, 2, 0, 1])
    expected = torch.nn.functional.cross_entropy(outputs, y, label_smoothing=0.2, reduction="none")
    torch.testing.assert_close(Classification(3, label_smoothing=0.2).loss(outputs, y), expected)


def run(task: object, targets: object, validation: object = None, net: torch.nn.Module | None = None) -> None:
    rows = ROWS[: len(targets)]  # type: ignore[arg-type]
    data = Bits(rows, targets)  # type: ignore[arg-type]
    held = None if validation is None else Bits(ROWS[: len(validation)], validation)  # type: ignore[arg-type]
    net = net or task.network(10, [60], seed=0)  # type: ignore[attr-defined]
    fit(net, task, data, validation=held, recipe=Recipe(epochs=1))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: run(Classification(3), [0, 1, 3]), r"data targets must be in 0..2, got 3 at row 2"),
        (lambda: run(Classification(3), [0, -1]), r"data targets must be in 0..2, got -1 at row 1"),
        (lambda: run(Classification(3), [0.0, 1.0]), "data targets must be integers"),
        (lambda: run(Classification(3), [[0], [1]]), r"data targets must be integers of shape \(n_rows,\)"),
        (lambda: run(Classification(3), [1, 1, 1]), "at least 2 classes, got class 1 only"),
        (lambda: run(Classification(3), [0, 1, 2], [0, 1]), "validation must have rows of every class in data, got n"),
        (lambda: run(Classification(3), [0, 1, 0], [0, 1, 2]), "data must have rows of every class in validation"),
        (lambda: run(Classification(3), [0, 1], [0, 5]), r"validation targets must be in 0..2, got 5"),
        (lambda: run(Binary(), [1, 1]), "at least 2 classes, got class 1 only"),
        (
            lambda: run(Binary(), [0, 1], [0, 0]),
            "validation must have .* got none of class 1",
        ),
        (lambda: run(Binary(), [0, 2]), "data targets must be 0 or 1, got 2"),
        (lambda: run(Binary(), [[0], [1]]), r"shape \(n_rows,\)"),
        (lambda: run(MultiLabel(2), [[0, 1], [1, 1]]), "got True only for label 1"),
        (lambda: run(MultiLabel(2), [[0, 1, 1], [1, 0, 1]]), r"0 and 1 of shape \(n_rows, 2\)"),
        (lambda: run(MultiLabel(2), [[0, np.nan], [1, 0]]), "data targets must be 0 or 1, got nan at row 0"),
        (lambda: run(Regression(nn.Affine(1, 0)), [0.0, np.nan]), "data targets must be finite, got nan at row 1"),
        (lambda: run(Regression(nn.Affine(1, 0)), [0.0, np.inf]), "data targets must be finite, got inf at row 1"),
        (lambda: run(Regression(nn.Affine(1, 0)), [[0.0, 1.0]]), "numbers, 1 per row as the head has"),
        (lambda: run(Classification(3), [0, 1], net=nn.logic_network(10, [60], 2)), "net must have 3 groups"),
        (lambda: run(Classification(3), [0, 1], net=nn.logic_network(9, [60], 3)), "data must have 9 features"),
        (lambda: Classification(1), "classes must be at least 2, got 1"),
        (lambda: Classification(2, label_smoothing=1.0), r"label_smoothing must be in \[0, 1\), got 1.0"),
        (lambda: MultiLabel(0), "labels must be at least 1, got 0"),
        (lambda: nn.Affine(0.0, 1.0), "scale must be positive"),
        (lambda: nn.Affine(1.0, np.nan), "offset finite"),
        (lambda: nn.Affine.fitted([]), "targets must be finite"),
        (lambda: nn.Logit.fitted([np.inf]), "targets must be finite"),
    ],
)
def test_what_cannot_be_learned_is_refused(call: object, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        call()  # type: ignore[operator]


def test_a_class_that_nobody_has_is_no_mistake() -> None:
    with pytest.warns(ConvergenceWarning):  # a single step
        run(Classification(3), [0, 1, 0, 1], [1, 0])
