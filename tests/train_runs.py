"""Small runs that several tests train, and that their processes can import."""

import os
from pathlib import Path
from typing import Any

import numpy as np
import torch

from gatewise import nn, train

torch.set_num_threads(1)  # networks as small as these only wait for a second thread

RECIPE = train.Recipe(epochs=6, batch_size=16, schedule=train.Cosine(0.05, warmup=0.1), seed=3)


def seeded(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def make_data(n_rows: int = 120, seed: int = 0) -> train.Bits:
    """Three classes that a few gates can tell apart."""
    rows = np.random.default_rng(seed).integers(0, 2, (n_rows, 12))
    return train.Bits(rows, (rows[:, 0] & rows[:, 1]) + (rows[:, 2] | rows[:, 3]))


def make_network(**options: Any) -> torch.nn.Module:
    return nn.logic_network(12, [36, 36], 3, seed=1, generator=seeded(), **options)


def fit(**options: Any) -> train.Result:
    settings = {"validation": make_data(60, seed=1), "recipe": RECIPE} | options
    return train.fit(settings.pop("net", make_network()), train.Classification(3), make_data(), **settings)


def jitter(x: torch.Tensor, generator: torch.Generator) -> torch.Tensor:
    """An augmentation that flips a few bits."""
    return x ^ (torch.rand(x.shape, generator=generator) < 0.05)


def gumbel_options() -> dict[str, Any]:
    """A run in which everything is random that can be: gates, rows, augmentation."""
    recipe = train.Recipe(epochs=4, batch_size=16, schedule=train.Cosine(0.05), augment=jitter, clip=1.0)
    return {"net": make_network(sampling=nn.Gumbel(generator=seeded(7))), "recipe": recipe}


VARIANTS = {
    "soft": dict,
    "gumbel": gumbel_options,
    "straight-through": lambda: {"net": make_network(sampling=nn.HardStraightThrough())},
}


def fingerprint(result: train.Result) -> dict[str, Any]:
    """Everything about a result but its duration, bit for bit."""
    records = [record | {"seconds": None} for record in result.history.to_json()]
    weights = {name: tensor.numpy().tobytes() for name, tensor in result.net.state_dict().items()}
    return {"records": records, "weights": weights, "best_epoch": result.best_epoch}


def run_to_the_end(variant: str, folder: Path, every: int = 1) -> None:
    """What a process does that may be killed at any moment."""
    fit(**VARIANTS[variant](), checkpoint=train.Checkpoint(folder, every=every))


def join(rank: int, size: int, port: int) -> None:
    """Give this process a place in a team, as torchrun would."""
    os.environ |= {"RANK": str(rank), "WORLD_SIZE": str(size), "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port)}
