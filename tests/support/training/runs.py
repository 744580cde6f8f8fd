"""Small runs that several tests train, and that their processes can import."""

import dataclasses
import os
import pickle
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import torch
from support.networks import seeded

from gatewise import nn, train
from gatewise.wiring import RandomCandidates

torch.set_num_threads(1)  # networks as small as these only wait for a second thread

RECIPE = train.Recipe(epochs=6, batch_size=16, schedule=train.Cosine(0.2, warmup=0.1), seed=3)


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
    recipe = train.Recipe(epochs=4, batch_size=16, schedule=train.Cosine(0.4), augment=jitter)
    return {"net": make_network(sampling=nn.Gumbel(generator=seeded(7))), "recipe": recipe}


def learned_options() -> dict[str, Any]:
    """A run on bits whose wiring is learned, with candidates that are exchanged and a temperature that falls."""
    recipe = dataclasses.replace(RECIPE, temperature=train.Geometric(4.0, 1.0), exchange=train.Exchange(until=0.8))
    return {"net": make_network(candidates=RandomCandidates(4)), "recipe": recipe}


VARIANTS = {
    "soft": dict,
    "gumbel": gumbel_options,
    "learned": learned_options,
    "straight-through": lambda: {"net": make_network(sampling=nn.HardStraightThrough())},
    "tiny batches": lambda: {"recipe": train.Recipe(epochs=2, batch_size=2, schedule=train.Constant(0.05))},
}


def fingerprint(result: train.Result) -> dict[str, Any]:
    """Everything about a result but its duration, bit for bit."""
    records = [record | {"seconds": None} for record in result.history.to_json()]
    weights = {name: tensor.numpy().tobytes() for name, tensor in result.net.state_dict().items()}
    return {"records": records, "weights": weights, "best_epoch": result.best_epoch}


def fit_longer(variant: str, **options: Any) -> train.Result:
    """A run that takes long enough to be killed several times."""
    settings = {"recipe": RECIPE} | VARIANTS[variant]()
    settings["recipe"] = dataclasses.replace(settings["recipe"], epochs=12)
    return fit(**settings, **options)


def fit_in_steps(variant: str, folder: Path) -> None:
    """What a process does that may be killed at any moment."""
    fit_longer(variant, checkpoint=train.Checkpoint(folder, every=1))


def append(path: Path, text: str) -> None:
    with path.open("a") as file:
        file.write(text)


def run_worker(rank: int, size: int, port: int, folder: Path, options: dict[str, Any]) -> None:
    """Train with other workers, as torchrun would start them, and report the result or the error."""
    warnings.simplefilter("error")  # as in the process of the tests
    warnings.simplefilter("ignore", train.ConvergenceWarning)  # what random gates learn in so few steps is up to chance
    os.environ |= {"RANK": str(rank), "WORLD_SIZE": str(size), "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port)}
    variant, every = options.get("variant", "soft"), options.get("every", 1000)
    data, validation = make_data(), make_data(60, seed=1)
    settings = {"net": make_network(), "recipe": RECIPE} | VARIANTS[variant]()
    if rank:  # workers start from the network of worker 0
        torch.nn.init.zeros_(settings["net"][0].weight)
        settings["net"][1].a.copy_(settings["net"][1].a.flip(0))
    try:
        result = train.fit(
            settings["net"],
            train.Classification(3),
            data.take(np.arange(len(data))[train.shard(len(data))]),
            validation=validation.take(np.arange(len(validation))[train.shard(len(validation))]),
            recipe=settings["recipe"],
            checkpoint=train.Checkpoint(folder / f"rank{rank}", every=every),
            callbacks=[lambda record: append(folder / f"records{rank}", f"{record.epoch} ")],
        )
        (folder / f"result{rank}").write_bytes(pickle.dumps(fingerprint(result)))
    except train.WorkerLostError as error:
        (folder / f"error{rank}").write_text(str(error))
