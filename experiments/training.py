"""One network, trained as a plan says, to a model.

In: widths of layers, a plan, data, a seed, a folder for checkpoints. Out: `Trained`: the network, its circuit, its
history. Invariant: the same call after a kill goes on where it was, and after it has finished trains nothing.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import torch

from experiments.data import Dataset
from experiments.plans import Plan, Stage
from gatewise import Circuit, Model, nn
from gatewise.nn.discretize import take_apart
from gatewise.train import Bits, Checkpoint, Classification, Recipe, Record, Result, fit, split
from gatewise.wiring import ButterflyWiring, CompactCircuit, NearbyWiring

RESTARTS_A_SEED = 10_000  # seeds of networks that a seed of an experiment may use
CHECKPOINT_STEPS = 2000
HELD_OUT = 1 / 6  # share of the training rows that a study of settings validates with


@dataclass(frozen=True)
class Trained:
    """A network as it came out of its last stage."""

    result: Result
    model: Model
    circuit: Circuit  # not simplified
    curve: list[Record]  # of all stages, seconds counted through
    seconds: float


def train_network(
    widths: Sequence[int], plan: Plan, data: Dataset, seed: int, *, folder: Path | None, report: Callable[[str], None]
) -> Trained:
    """The best of the plan's restarts; a folder keeps checkpoints if there is one network only."""
    rows = Bits(plan.encoder.encode_rows(data.X), data.y)
    best: tuple[int, Trained] | None = None
    spent = 0.0
    for i in range(plan.n_restarts):
        own_seed = seed if plan.n_restarts == 1 else RESTARTS_A_SEED * seed + i
        trained = _train_stages(widths, plan, rows, own_seed, folder if plan.n_restarts == 1 else None, report)
        spent += trained.seconds
        n_wrong = int((trained.result.predict(rows.packed) != rows.targets).sum())
        length = trained.model.circuit.n_gates + plan.exception_gates * n_wrong
        if best is None or length < best[0]:
            best = length, trained
    assert best is not None
    return Trained(best[1].result, best[1].model, best[1].circuit, best[1].curve, spent)


def _train_stages(
    widths: Sequence[int], plan: Plan, rows: Bits, seed: int, folder: Path | None, report: Callable[[str], None]
) -> Trained:
    task = Classification(int(rows.targets.max()) + 1, plan.label_smoothing)
    training, validation = split(rows, plan.held_out, seed=seed) if plan.held_out else (rows, None)
    training = training.take(np.tile(np.arange(len(training)), plan.repeats)) if plan.repeats > 1 else training
    net = _build(task, rows, widths, plan, seed)
    curve: list[Record] = []
    for i, stage in enumerate(plan.stages):
        net = nn.with_sampling(net, nn.HardStraightThrough()).train() if stage.hard else net.train()
        checkpoint = None if folder is None else Checkpoint(folder / f"stage-{i}", every=CHECKPOINT_STEPS)
        before = curve[-1].seconds if curve else 0.0
        result = fit(
            net,
            task,
            training,
            validation=validation,
            recipe=_make_recipe(plan, stage, seed),
            checkpoint=checkpoint,
            callbacks=[partial(_report_later, report, before)],
        )
        if result.interrupted:
            raise KeyboardInterrupt
        curve += [_later(record, before) for record in result.history]
        net = result.net
    model = result.model(plan.encoder, circuit=_find_compact(result, plan))
    return Trained(result, model, result.circuit(), curve, curve[-1].seconds)


def _build(task: Classification, rows: Bits, widths: Sequence[int], plan: Plan, seed: int) -> torch.nn.Module:
    if plan.build is not None:
        return plan.build(seed)
    return task.network(rows.n_features, widths, tau=plan.tau, seed=seed, **plan.options)


def _find_compact(result: Result, plan: Plan) -> CompactCircuit | None:
    """The circuit with the seed of its wires, or of their candidates; none if some came later, or it has tables."""
    if any(isinstance(stage, nn.LutLayer) for stage in take_apart(result.net).stages):
        return None
    if plan.build is not None:
        return nn.discretize_shared(result.net)
    if plan.exchange:
        return None
    wiring = plan.options.get("wiring")
    return nn.discretize_seeded(result.net, wiring if isinstance(wiring, NearbyWiring | ButterflyWiring) else None)


def _make_recipe(plan: Plan, stage: Stage, seed: int) -> Recipe:
    """One evaluation per epoch, but at most about 50 in a stage."""
    return Recipe(
        epochs=stage.epochs,
        batch_size=plan.batch_size,
        schedule=stage.schedule,
        seed=seed,
        evaluate_every=-(-stage.epochs // 50),
        augment=plan.augment,
        exchange=plan.exchange,
    )


def _later(record: Record, seconds: float) -> Record:
    return Record(**{**vars(record), "seconds": record.seconds + seconds})


def _report_later(report: Callable[[str], None], before: float, record: Record) -> None:
    """Report an evaluation of a stage that began after so many seconds."""
    scores = f"circuit {100 * record.score:.2f} % network {100 * record.soft_score:.2f} %"
    report(f"epoch {record.epoch} {record.seconds + before:.0f} s loss {record.loss:.4f} {scores}")


def soft_accuracy(trained: Trained, rows: Bits) -> float:
    """Of the network as training saw it last; on bits that is its circuit."""
    if all(isinstance(layer.sampling, nn.Bitwise) for layer in take_apart(trained.result.net).layers):
        return float((trained.result.predict(rows.packed) == rows.targets).mean())
    net = trained.result.net.train()
    with torch.no_grad():
        parts = rows.read(np.arange(len(rows))).split(500)
        predicted = torch.cat([net(part.float()).argmax(1) for part in parts]).numpy()
    net.eval()
    return float((predicted == rows.targets).mean())


def validate(label: str, widths: Sequence[int], plan: Plan, data: Dataset, *, seed: int, epochs: int) -> dict[str, Any]:
    """Train a variation for a study of settings, and score its circuit on rows held out."""
    trained = train_network(
        widths, replace(plan.scaled(epochs), held_out=HELD_OUT), data, seed, folder=None, report=lambda line: None
    )
    scores = {"accuracy": 100 * trained.curve[-1].score, "seconds": trained.seconds}
    return {"label": label, "widths": list(widths), "seed": seed, "epochs": epochs} | scores
