"""fit: what it returns, what it depends on, when it stops, and what it refuses."""

import contextlib
import copy
import dataclasses
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.tools import require_module

require_module("torch", "pip install -c constraints.txt torch==2.13.0")

import torch
from support.networks import seeded
from support.training.runs import RECIPE, VARIANTS, fingerprint, fit, make_data, make_network

from gatewise import Engine, nn, simplify, train
from gatewise.train import Constant, Cosine, Recipe
from gatewise.train.checkpoint import restore_state
from gatewise.wiring import RandomCandidates


@pytest.mark.parametrize("variant", ["soft", "gumbel", "straight-through", "learned"])
def test_the_same_call_gives_the_same_result(variant: str) -> None:
    first = fit(**VARIANTS[variant]())
    torch.rand(3)  # whatever the global generator did in between
    assert fingerprint(fit(**VARIANTS[variant]())) == fingerprint(first)


def test_the_seed_makes_a_difference() -> None:
    other = dataclasses.replace(RECIPE, seed=4)
    assert fingerprint(fit(recipe=other)) != fingerprint(fit())


@pytest.mark.parametrize("variant", ["soft", "gumbel", "straight-through", "learned"])
def test_arguments_and_the_global_generator_are_left_alone(variant: str) -> None:
    options = VARIANTS[variant]()
    net = options.pop("net", make_network())
    state = copy.deepcopy(net.state_dict())
    random_state = torch.get_rng_state()
    result = fit(net=net, **options)
    assert all(torch.equal(tensor, state[name]) for name, tensor in net.state_dict().items())
    assert net.training
    assert result.net is not net
    assert torch.equal(torch.get_rng_state(), random_state)


def test_nothing_is_printed(capfd: pytest.CaptureFixture[str]) -> None:
    fit()
    assert capfd.readouterr() == ("", "")


def test_progress_shows_loss_score_gap_and_speed(capfd: pytest.CaptureFixture[str]) -> None:
    fit(progress=True)
    printed = capfd.readouterr().err
    for word in ("48/48", "loss=", "accuracy=", "gap=", "steps/s"):
        assert word in printed, printed[-300:]


def weigh_first_class(data: train.Bits, weight: float) -> train.Bits:
    return train.Bits(data.packed, data.targets, np.where(data.targets == 0, weight, 1.0))


def test_only_the_ratios_of_weights_matter() -> None:
    data, net = make_data(), make_network()
    weighted = [train.Bits(data.packed, data.targets, np.full(len(data), weight)) for weight in (1.0, 4.0)]
    results = [train.fit(net, train.Classification(3), each, recipe=RECIPE) for each in (data, *weighted)]
    assert len({str(fingerprint(result)) for result in results}) == 1


def test_heavy_rows_are_learned_first_natively_and_by_autograd() -> None:
    noise = np.random.default_rng(0).integers(0, 3, 120)  # nothing to learn but which class is wanted most
    data = make_data().with_targets(noise)
    recipes = [RECIPE, dataclasses.replace(RECIPE, clip=1e9)]  # the native step does not clip
    task = train.Classification(3)
    for weight, share in ((20.0, 1.0), (0.0, 0.0)):
        weighted = weigh_first_class(data, weight)
        with pytest.warns(train.ConvergenceWarning) if weight else contextlib.nullcontext():
            results = [train.fit(make_network(), task, weighted, recipe=each) for each in recipes]
        shares = [float((result.predict(data.packed) == 0).mean()) for result in results]
        assert shares == pytest.approx([share, share], abs=0.05)
        losses = [[record.loss for record in result.history] for result in results]
        assert losses[0] == pytest.approx(losses[1], rel=1e-3)


def test_scores_are_weighted() -> None:
    validation = weigh_first_class(make_data(60, seed=1), 0.0)
    result = fit(validation=validation)
    others = validation.targets > 0
    right = result.predict(validation.packed) == validation.targets
    assert result.history[result.best_epoch - 1].score == pytest.approx(right[others].mean())
    with pytest.raises(ValueError, match="validation weights must have a positive sum"):
        fit(validation=train.Bits(validation.packed, validation.targets, np.zeros(60)))


def test_steps_equal_those_of_a_plain_loop() -> None:
    data, net = make_data(), make_network()
    recipe = Recipe(epochs=2, batch_size=50, schedule=Constant(0.05), clip=0.5)
    result = train.fit(net, train.Classification(3), data, recipe=recipe)
    optimizer = torch.optim.Adam(net.parameters(), lr=0.05)
    everything, y = data.read(np.arange(len(data))), torch.from_numpy(data.targets)
    for epoch in range(2):
        order = torch.from_numpy(train.data.shuffle(len(data), seed=0, epoch=epoch))
        for part in order.split(50):
            optimizer.zero_grad()
            torch.nn.functional.cross_entropy(net(everything[part]), y[part]).backward()
            torch.nn.utils.clip_grad_norm_(net.parameters(), 0.5)
            optimizer.step()
    for ours, plain in zip(result.net.parameters(), net.parameters(), strict=True):
        torch.testing.assert_close(ours, plain, rtol=1e-3, atol=1e-4)


def test_history_tells_the_truth() -> None:
    result = fit()
    history, circuit = result.history, result.circuit()
    assert history["epoch"] == [1, 2, 3, 4, 5, 6]
    assert history["step"] == [8, 16, 24, 32, 40, 48]
    assert history[-1].loss < history[0].loss
    assert history["seconds"] == sorted(history["seconds"])
    assert history[0].learning_rate == pytest.approx(Cosine(0.2, warmup=0.1)(7, 48))
    best = history[result.best_epoch - 1]
    assert best.score == max(history["score"])
    assert best.gates == [np.bincount(part, minlength=16).tolist() for part in np.split(circuit.gate, 2)]
    validation = make_data(60, seed=1)
    classes = Engine(simplify(circuit)).classify(validation.packed)
    assert best.score == (classes == validation.targets).mean()
    np.testing.assert_array_equal(result.predict(validation.packed), classes)
    soft = result.net.train()(validation.read(np.arange(60)))
    y = torch.from_numpy(validation.targets)
    assert best.soft_score == pytest.approx((soft.argmax(1) == y).double().mean().item())
    assert best.soft_loss == pytest.approx(torch.nn.functional.cross_entropy(soft, y).item(), rel=1e-5)
    assert best.gap == pytest.approx(best.soft_score - best.score)


def test_straight_through_has_no_gap() -> None:
    assert fit(net=make_network(sampling=nn.HardStraightThrough())).history["gap"] == [0.0] * 6


def test_the_best_network_is_returned_and_training_stops() -> None:
    recipe = dataclasses.replace(RECIPE, epochs=200, patience=5, schedule=Constant(0.1))
    result = fit(recipe=recipe)
    n_epochs = len(result.history)
    assert n_epochs == result.best_epoch + 5 < 200
    assert result.history["score"].index(max(result.history["score"])) + 1 == result.best_epoch
    shorter = fit(recipe=dataclasses.replace(recipe, epochs=result.best_epoch, patience=None))
    assert fingerprint(shorter)["weights"] == fingerprint(result)["weights"]


def test_without_validation_the_last_network_is_returned() -> None:
    result = fit(validation=None)
    assert result.best_epoch == 6
    hard = (result.predict(make_data().packed) == make_data().targets).mean()
    assert result.history[-1].score == hard


def test_evaluations_can_be_rarer() -> None:
    assert fit(recipe=dataclasses.replace(RECIPE, evaluate_every=4)).history["epoch"] == [4, 6]


def test_callbacks_see_every_record() -> None:
    seen: list[train.Record] = []
    result = fit(callbacks=[seen.append])
    assert seen == list(result.history)


@pytest.mark.parametrize("n_epochs", [0, 3])
def test_ctrl_c_returns_the_best_so_far(n_epochs: int) -> None:
    calls = []

    def interrupt(x: torch.Tensor, generator: torch.Generator) -> torch.Tensor:
        calls.append(1)
        if len(calls) > 8 * n_epochs + 2:
            raise KeyboardInterrupt
        return x

    result = fit(recipe=dataclasses.replace(RECIPE, augment=interrupt))
    assert result.interrupted
    assert len(result.history) == n_epochs
    if n_epochs:
        plain = fit(recipe=RECIPE)
        assert result.history["score"] == plain.history["score"][:n_epochs]
        assert result.best_epoch == 1 + int(np.argmax(plain.history["score"][:n_epochs]))
    assert result.predict(make_data().packed).shape == (120,)


def test_augmentation_is_applied_to_training_rows_only() -> None:
    shapes = set()

    def blank(x: torch.Tensor, generator: torch.Generator) -> torch.Tensor:
        shapes.add(x.shape)
        return torch.zeros_like(x)

    with pytest.warns(train.ConvergenceWarning, match="nothing was learned"):
        result = fit(recipe=dataclasses.replace(RECIPE, augment=blank))
    assert shapes == {(16, 12), (8, 12)}
    assert result.history[-1].loss > 0.9  # nothing can be learned from blank rows


def test_values_between_0_and_1_are_learned() -> None:
    rows = np.random.default_rng(0).random((200, 12), np.float32)
    data = train.Values(rows, (rows[:, 0] > 0.5).astype(int))
    net = train.Classification(2).network(12, [64, 64], seed=0, generator=seeded())
    recipe = Recipe(epochs=20, batch_size=20, schedule=Constant(0.05))
    assert train.fit(net, train.Classification(2), data, recipe=recipe).history[-1].score > 0.85


def test_schedules() -> None:
    cosine = Cosine(0.2, warmup=0.1, final=0.5)
    rates = [cosine(step, 100) for step in range(100)]
    assert rates[:10] == pytest.approx([0.02 * (i + 1) for i in range(10)])
    assert rates[10] == pytest.approx(0.2)
    assert rates[10:] == sorted(rates[10:], reverse=True)
    assert rates[-1] == pytest.approx(0.1, rel=0.01)
    assert {Constant(0.3)(step, 7) for step in range(7)} == {0.3}
    assert train.Geometric(8.0, 2.0)(5, 10) == pytest.approx(4.0)


@pytest.mark.filterwarnings("ignore::gatewise.train.ConvergenceWarning")
def test_learned_wiring_finds_what_matters() -> None:
    rows = np.random.default_rng(0).integers(0, 2, (1500, 40))
    data = train.Bits(rows, (rows[:, 7] ^ rows[:, 31]) & rows[:, 18])
    task = train.Classification(2)
    recipe = Recipe(epochs=60, batch_size=128, schedule=Cosine(0.1), exchange=train.Exchange(until=0.6))
    scores = []
    for candidates in (None, RandomCandidates(8)):
        net = task.network(40, [32, 32], candidates=candidates, sampling=nn.Bitwise(2.0), seed=1)
        scores.append(train.fit(net, task, data, recipe=recipe).history[-1].score)
    assert scores[1] > 0.99 > scores[0]


@pytest.mark.filterwarnings("ignore::gatewise.train.ConvergenceWarning")
def test_temperature_and_exchange_by_autograd_equal_native_steps() -> None:
    recipe = Recipe(
        epochs=3, batch_size=40, schedule=Constant(0.1), temperature=train.Geometric(4, 1), exchange=train.Exchange()
    )
    options = {"candidates": RandomCandidates(4), "seed": 2}
    results = [
        fit(net=nn.logic_network(12, [36, 36], 3, **options), recipe=dataclasses.replace(recipe, clip=clip))
        for clip in (None, 1e9)  # clipping, which changes nothing here, is done by autograd
    ]
    native, plain = (dict(result.net.named_parameters()) for result in results)
    for name in native:
        torch.testing.assert_close(native[name], plain[name], rtol=1e-2, atol=1e-2)
    assert torch.equal(results[0].net[0].candidates, results[1].net[0].candidates)


def diverge(step: int, n_steps: int) -> float:
    return float("nan")


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: fit(validation=None, recipe=Recipe(patience=3)), ValueError, "validation must be given for early st"),
        (lambda: fit(recipe=Recipe(schedule=diverge)), FloatingPointError, "weights must stay finite, .* in epoch 1"),
        (lambda: fit(net=torch.nn.Linear(12, 3)), TypeError, "must consist of layers of gates"),
        (lambda: Recipe(epochs=0), ValueError, "epochs must be an integer of at least 1, got 0"),
        (lambda: Recipe(batch_size=2.5), ValueError, "batch_size must be an integer of at least 1, got 2.5"),
        (lambda: Recipe(patience=0), ValueError, "patience must be an integer of at least 1, got 0"),
        (lambda: Recipe(clip=0.0), ValueError, "clip must be positive, got 0.0"),
        (lambda: Recipe(seed=-1), ValueError, "seed must be an integer in"),
        (lambda: Constant(0.0), ValueError, "learning_rate must be positive and finite, got 0.0"),
        (lambda: Cosine(0.1, warmup=1.0), ValueError, r"warmup must be in \[0, 1\)"),
        (lambda: train.Geometric(0.0, 1.0), ValueError, "start and end must be positive and finite, got 0.0"),
        (lambda: train.Exchange(1.0), ValueError, r"share must be in \[0, 1\)"),
        (lambda: train.Exchange(every=0), ValueError, "every must be an integer in 1"),
    ],
)
def test_misuse_is_refused(call: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        call()


def test_batches_larger_than_the_data_are_all_of_it() -> None:
    with pytest.warns(train.ConvergenceWarning):  # six steps are too few
        result = fit(recipe=dataclasses.replace(RECIPE, batch_size=10_000))
    assert result.history["step"] == [1, 2, 3, 4, 5, 6]


@pytest.mark.filterwarnings("ignore::gatewise.train.ConvergenceWarning")  # six steps
@pytest.mark.parametrize("task", [train.Classification(3, label_smoothing=0.1), train.MultiLabel(3)])
def test_native_steps_equal_autograd(task: train.Classification | train.MultiLabel) -> None:
    data = make_data()
    if isinstance(task, train.MultiLabel):
        data = data.with_targets(np.stack([data.targets == k for k in range(3)], 1))
    net = task.network(12, [36, 36], seed=1, generator=torch.Generator().manual_seed(0))
    recipe = Recipe(epochs=2, batch_size=50, schedule=Constant(0.05))
    native, autograd = (
        train.fit(net, task, data, recipe=dataclasses.replace(recipe, clip=clip)) for clip in (None, 1e9)
    )
    assert native.history["loss"] == pytest.approx(autograd.history["loss"], rel=1e-4)
    for ours, plain in zip(native.net.parameters(), autograd.net.parameters(), strict=True):
        torch.testing.assert_close(ours, plain, rtol=1e-3, atol=1e-3)


def test_a_checkpoint_of_native_steps_holds_the_state_of_torch_adam(tmp_path: Path) -> None:
    train.fit(make_network(), train.Classification(3), make_data(), recipe=RECIPE, checkpoint=tmp_path)
    tensors, _ = restore_state(train.Checkpoint(tmp_path).path.read_bytes(), tmp_path)
    adam = torch.optim.Adam(make_network().parameters())
    names = {name.rsplit("/", 1)[1] for name in tensors if name.startswith("optimizer/0/")}
    assert names == {"step", "exp_avg", "exp_avg_sq"}
    state = {i: {name: tensors[f"optimizer/{i}/{name}"] for name in names} for i in range(2)}
    adam.load_state_dict(adam.state_dict() | {"state": state})
