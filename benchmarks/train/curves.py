"""Accuracy against training time on MNIST: the paper's small network trained by several recipes.

    python -m benchmarks.train.curves --data DIR --record      # benchmarks/results/curves.json, with the curves

The network is the paper's: six layers of 8,000 gates, fixed random wiring, one bit per pixel. A tenth of the training
images, the same share of every class, selects the best network; the test images are touched once, by that network.
Recipes get equal time: the number of epochs is chosen from the duration of the first steps. Times are those of
training and validation, from the first step on.
"""

import argparse
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch

from benchmarks import records
from benchmarks.data.mnist import find_data, load_mnist
from benchmarks.numbers.speed import MILESTONES
from gatewise import nn, train
from gatewise.wiring import unique_wiring

WIDTHS = [8_000] * 6
TAU = 10.0
N_TRIAL_STEPS = 200


@dataclass(frozen=True)
class Setting:
    """What a recipe sets: options of the network, and how it is trained.

    A share `finish` of the epochs is trained hard, straight through, from the best soft network.
    """

    options: Callable[[], dict[str, Any]] = dict
    batch_size: int = 100
    schedule: train.Constant | train.Cosine = field(default_factory=train.Constant)
    augment: train.Shift | None = None
    finish: float = 0.0
    finish_schedule: train.Cosine = field(default_factory=lambda: train.Cosine(0.005))


def residual() -> nn.Softmax:
    """The residual initialization."""
    return nn.Softmax(initialization=nn.Residual())


SETTINGS = {
    "paper": Setting(),
    "straight-through": Setting(lambda: {"sampling": nn.HardStraightThrough()}),
    "residual": Setting(lambda: {"parametrization": residual()}),
    "light": Setting(lambda: {"parametrization": nn.Light()}),
    "batch 500": Setting(batch_size=500, schedule=train.Constant(0.02)),
    "ours": Setting(lambda: {"wiring": unique_wiring}, augment=train.Shift((28, 28), pixels=1), finish=0.15),
}


def make_data(data: Path, part: str) -> train.Bits:
    """One bit per pixel."""
    images, labels = load_mnist(data, part)
    return train.Bits(images > 127, labels)


def time_epoch(net: torch.nn.Module, task: train.Classification, data: train.Bits, recipe: train.Recipe) -> float:
    """Seconds of an epoch, from a few steps."""
    rows = data.take(np.arange(N_TRIAL_STEPS * recipe.batch_size) % len(data))
    start = time.perf_counter()
    train.fit(net, task, rows, recipe=replace(recipe, epochs=1))
    return (time.perf_counter() - start) * len(data) / len(rows)


def train_network(setting: Setting, data: Path, *, seconds: float, seed: int) -> list[train.Result]:
    """Train in one stage or two."""
    task = train.Classification(10)
    training, validation = train.split(make_data(data, "train"), 0.1, seed=seed)
    generator = torch.Generator().manual_seed(seed)
    net = task.network(784, WIDTHS, tau=TAU, seed=seed, generator=generator, **setting.options())
    recipe = train.Recipe(batch_size=setting.batch_size, schedule=setting.schedule, seed=seed, augment=setting.augment)
    n_epochs = max(1, int(seconds / time_epoch(net, task, training, recipe)))
    n_finishing = round(setting.finish * n_epochs)
    stages = [(n_epochs - n_finishing, setting.schedule), (n_finishing, setting.finish_schedule)]
    results: list[train.Result] = []
    for epochs, schedule in stages if n_finishing else stages[:1]:
        start = nn.with_sampling(results[0].net, nn.HardStraightThrough()).train() if results else net
        staged = replace(recipe, epochs=epochs, schedule=schedule)
        results.append(train.fit(start, task, training, validation=validation, recipe=staged))
    return results


def run(name: str, data: Path, *, seconds: float, seed: int) -> dict[str, Any]:
    """Train by one recipe, and test the network that validated best in the last stage."""
    results = train_network(SETTINGS[name], data, seconds=seconds, seed=seed)
    curve: list[list[float]] = []
    for result in results:
        before = curve[-1][0] if curve else 0.0
        curve += [[before + record.seconds, record.score, record.soft_score, record.gap] for record in result.history]
    result, test = results[-1], make_data(data, "t10k")
    hard = float((result.predict(test.packed) == test.targets).mean())
    soft_net = result.net.train()
    with torch.no_grad():
        soft = torch.cat([soft_net(x).argmax(1) for x in test.read(np.arange(len(test))).split(500)]).numpy()
    return {
        "recipe": name,
        "seed": seed,
        "epochs": len(curve),
        "seconds": curve[-1][0],
        "validation_accuracy": result.history[result.best_epoch - 1].score,
        "test_accuracy": hard,
        "test_gap": float((soft == test.targets).mean()) - hard,
        "curve": curve,
    }


def describe(result: dict[str, Any]) -> str:
    """A line: the result, and how long the circuit took to pass milestones of validation."""
    reached = [next((f"{s:.0f} s" for s, hard, *_ in result["curve"] if hard >= level), "-") for level in MILESTONES]
    milestones = "".join(f"{each:>9}" for each in reached)
    percents = f"{100 * result['validation_accuracy']:>9.2f}{100 * result['test_accuracy']:>9.2f}"
    gap = f"{100 * result['test_gap']:+.2f}"
    return f"{result['recipe']:<28}{result['epochs']:>7}{result['seconds']:>9.0f}{percents}{gap:>8}{milestones}"


def main() -> None:
    """Run the recipes, print a line for each, write the record."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, help="folder with mnist/ (default: $GATEWISE_DATA)")
    parser.add_argument("--recipes", nargs="+", choices=list(SETTINGS), default=list(SETTINGS))
    parser.add_argument("--seconds", type=float, default=120, help="of training, for every recipe")
    parser.add_argument("--seed", type=int, default=0)
    records.add_options(parser)
    args = parser.parse_args()
    described = records.start(recording=args.record, allow_dirty=args.allow_dirty)
    titles = "".join(f"{f'{100 * level:g} %':>9}" for level in MILESTONES)
    print(f"{'recipe':<28}{'epochs':>7}{'seconds':>9}{'valid %':>9}{'test %':>9}{'gap':>8}{titles}")
    results = []
    for name in args.recipes:
        results.append(run(name, find_data(args.data), seconds=args.seconds, seed=args.seed))
        print(describe(results[-1]), flush=True)
    if args.record:
        findings = {"threads": torch.get_num_threads(), "seconds": args.seconds, "results": results}
        records.write("curves", described, findings)


if __name__ == "__main__":
    main()
