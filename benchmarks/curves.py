"""Accuracy against training time on MNIST: the paper's small network trained by several recipes.

    python benchmarks/curves.py --data DIR [--recipes paper ours] [--seconds 300] [--seed 0] [--json FILE]

The network is the paper's: six layers of 8,000 gates, fixed random wiring, one bit a pixel. A tenth of the training
images, the same share of every class, selects the best network; the test images are touched once, by that network.
Recipes get equal time: the number of epochs is chosen from the duration of the first steps.
"""

import argparse
import json
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import machine
import numpy as np
import torch
from mnist import find_data, load_mnist

from gatewise import nn, train

WIDTHS = [8_000] * 6
LEVELS = (0.95, 0.96, 0.97, 0.9769, 0.98)  # of validation accuracy; the paper's test accuracy is 97.69 %
N_TRIAL_STEPS = 200


@dataclass(frozen=True)
class Setting:
    """What a recipe sets: options of the network, and how it is trained."""

    options: Callable[[], dict[str, Any]] = dict
    tau: float | None = None
    batch_size: int = 100
    schedule: train.Constant | train.Cosine = field(default_factory=train.Constant)


def residual() -> nn.Softmax:
    """The residual initialization."""
    return nn.Softmax(initialization=nn.Residual())


SETTINGS = {
    "paper": Setting(tau=10.0),
    "residual": Setting(lambda: {"parametrization": residual()}, tau=10.0),
    "light": Setting(lambda: {"parametrization": nn.Light()}, tau=10.0),
    "straight-through": Setting(lambda: {"sampling": nn.HardStraightThrough()}, tau=10.0),
    "batch 500": Setting(tau=10.0, batch_size=500, schedule=train.Constant(0.02)),
    "ours": Setting(
        lambda: {"parametrization": residual(), "sampling": nn.HardStraightThrough()},
        batch_size=250,
        schedule=train.Cosine(0.05),
    ),
}


def make_data(data: Path, part: str) -> train.Bits:
    """One bit a pixel."""
    images, labels = load_mnist(data, part)
    return train.Bits(images > 127, labels)


def time_epoch(net: torch.nn.Module, task: train.Classification, data: train.Bits, recipe: train.Recipe) -> float:
    """Seconds of an epoch, from a few steps."""
    rows = data.take(np.arange(N_TRIAL_STEPS * recipe.batch_size) % len(data))
    start = time.perf_counter()
    train.fit(net, task, rows, recipe=replace(recipe, epochs=1))
    return (time.perf_counter() - start) * len(data) / len(rows)


def run(name: str, data: Path, *, seconds: float, seed: int) -> dict[str, Any]:
    """Train by one recipe, and test the network that validated best."""
    setting, task = SETTINGS[name], train.Classification(10)
    training, validation = train.split(make_data(data, "train"), 0.1, seed=seed)
    generator = torch.Generator().manual_seed(seed)
    net = task.network(784, WIDTHS, tau=setting.tau, seed=seed, generator=generator, **setting.options())
    recipe = train.Recipe(epochs=1, batch_size=setting.batch_size, schedule=setting.schedule, seed=seed)
    recipe = replace(recipe, epochs=max(1, int(seconds / time_epoch(net, task, training, recipe))))
    start = time.perf_counter()
    result = train.fit(net, task, training, validation=validation, recipe=recipe)
    duration = time.perf_counter() - start
    test = make_data(data, "t10k")
    hard = float((result.predict(test.packed) == test.targets).mean())
    soft_net = result.net.train()
    with torch.no_grad():
        soft = torch.cat([soft_net(x).argmax(1) for x in test.read(np.arange(len(test))).split(500)]).numpy()
    return {
        "recipe": name,
        "setting": repr(setting),
        "seed": seed,
        "epochs": recipe.epochs,
        "seconds": duration,
        "best_epoch": result.best_epoch,
        "test_accuracy": hard,
        "test_gap": float((soft == test.targets).mean()) - hard,
        "curve": [[record.seconds, record.hard, record.soft, record.gap] for record in result.history],
    }


def describe(result: dict[str, Any]) -> str:
    """A line: the result, and how long validation took to pass milestones."""
    reached = [next((f"{s:.0f} s" for s, hard, *_ in result["curve"] if hard >= level), "-") for level in LEVELS]
    milestones = "".join(f"{each:>9}" for each in reached)
    gap = f"{100 * result['test_gap']:+.2f}"
    return (
        f"{result['recipe']:<18}{result['epochs']:>7}{result['seconds']:>9.0f}{100 * result['test_accuracy']:>9.2f}"
        f"{gap:>8}{milestones}"
    )


def main() -> None:
    """Run the recipes, print a line for each, write the JSON."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, help="folder with mnist/ (default: $GATEWISE_DATA)")
    parser.add_argument("--recipes", nargs="+", choices=list(SETTINGS), default=list(SETTINGS))
    parser.add_argument("--seconds", type=float, default=300, help="of training, for every recipe")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--json", type=Path, help="where to write the results")
    args = parser.parse_args()
    titles = "".join(f"{f'{100 * level:g} %':>9}" for level in LEVELS)
    print(f"{'recipe':<18}{'epochs':>7}{'seconds':>9}{'test %':>9}{'gap':>8}{titles}")
    results = []
    for name in args.recipes:
        results.append(run(name, find_data(args.data), seconds=args.seconds, seed=args.seed))
        print(describe(results[-1]), flush=True)
    if args.json:
        report = {"machine": machine.describe(), "threads": torch.get_num_threads(), "results": results}
        args.json.write_text(json.dumps(report, indent=1) + "\n")


if __name__ == "__main__":
    main()
