"""The state of a run: everything that decides how it goes on, and its form in a checkpoint.

In: a network and its optimizer. Out: tensors and a JSON document, and back. Invariant: a state that is restored goes on
bit for bit as the one that was written; the order of rows and augmentation follow from its counters.
"""

import math
import time
from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor, nn

from gatewise.nn import Gumbel, TrainStep
from gatewise.nn.discretize import take_apart
from gatewise.train.history import History, Record

Tensors = dict[str, Tensor]
Optimizer = torch.optim.Optimizer | TrainStep


class State:
    """Network, optimizer, position, best network and history of a run.

    Parameters
    ----------
    net : Module
        Trained in place.
    optimizer : torch.optim.Adam or TrainStep
    score_name : str
    maximize : bool
        Whether larger scores are better.
    """

    def __init__(self, net: nn.Module, optimizer: Optimizer, *, score_name: str, maximize: bool) -> None:
        self.net, self.optimizer = net, optimizer
        self.maximize = maximize
        self.epoch = self.batch = self.step = 0  # epochs done, batches of the next one, steps in all
        self._began = time.perf_counter()
        self.loss_sum: Tensor | float = 0.0  # over the rows of the epoch; on the network's device until it is read
        self.history = History(score_name=score_name)
        self.best: Tensors | None = None
        self.best_epoch = 0
        self.best_score = -math.inf
        self.n_stale = 0  # evaluations since the best one

    @property
    def seconds(self) -> float:
        """Time since the run began, without the time before it was resumed."""
        return time.perf_counter() - self._began

    def note_steps(self, losses: Sequence[Tensor | float], sizes: Sequence[int]) -> None:
        """Count steps, and add up the losses of their rows, given as means."""
        for loss, n_rows in zip(losses, sizes, strict=True):
            self.loss_sum = self.loss_sum + loss * n_rows
        self.batch += len(sizes)
        self.step += len(sizes)

    def note_epoch(self) -> None:
        """Count an epoch, and begin the next."""
        self.epoch += 1
        self.batch = 0
        self.loss_sum = 0.0

    def note_record(self, record: Record, *, selects: bool) -> None:
        """Add a record, and keep the network if its circuit scores best so far, or always unless `selects`."""
        self.history.records.append(record)
        score = record.score if self.maximize else -record.score
        self.n_stale += 1
        if score > self.best_score or not selects:
            self.best = {name: tensor.detach().clone() for name, tensor in self.net.state_dict().items()}
            self.best_epoch, self.best_score, self.n_stale = record.epoch, score, 0

    def best_record(self) -> Record:
        """The record of the network that was kept."""
        return next(record for record in reversed(self.history) if record.epoch == self.best_epoch)

    def n_bytes(self) -> int:
        """About the size of a checkpoint: weights, two moments, best network, history."""
        n_state = sum(tensor.nbytes for tensor in self.net.state_dict().values())
        n_moments = 2 * sum(p.nbytes for p in self.net.parameters())
        return 2 * n_state + n_moments + 2**20

    def capture(self) -> tuple[Tensors, dict[str, Any]]:
        """Tensors and document that stand for this state."""
        tensors = {f"net/{name}": tensor for name, tensor in self.net.state_dict().items()}
        tensors |= {f"best/{name}": tensor for name, tensor in (self.best or {}).items()}
        tensors |= {f"generator/{i}": generator.get_state() for i, generator in enumerate(self._generators())}
        numbers: dict[str, Any] = {}
        for i, entries in self.optimizer.state_dict()["state"].items():
            for name, value in entries.items():
                key = f"optimizer/{i}/{name}"
                (tensors if isinstance(value, Tensor) else numbers)[key] = value
        return tensors, {
            "epoch": self.epoch,
            "batch": self.batch,
            "step": self.step,
            "seconds": self.seconds,
            "loss_sum": float(self.loss_sum),
            "best_epoch": self.best_epoch,
            "best_score": self.best_score if self.best else None,
            "n_stale": self.n_stale,
            "optimizer": numbers,
            "history": self.history.to_json(),
        }

    def restore(self, tensors: Tensors, document: dict[str, Any]) -> None:
        """Take over what `capture` gave."""
        self.net.load_state_dict(_below("net/", tensors))
        self.best = _below("best/", tensors) or None
        for i, generator in enumerate(self._generators()):
            generator.set_state(tensors[f"generator/{i}"])
        entries: dict[int, dict[str, Any]] = {}
        for key, value in {**_below("optimizer/", tensors), **_below("optimizer/", document["optimizer"])}.items():
            position, name = key.split("/", 1)
            entries.setdefault(int(position), {})[name] = value
        self.optimizer.load_state_dict({**self.optimizer.state_dict(), "state": entries})
        for name in ("epoch", "batch", "step", "best_epoch", "n_stale"):
            setattr(self, name, document[name])
        self._began = time.perf_counter() - document["seconds"]
        self.loss_sum = document["loss_sum"]
        self.best_score = document["best_score"] if self.best else -math.inf
        self.history.records[:] = [Record(**record) for record in document["history"]]

    def _generators(self) -> list[torch.Generator]:
        samplings = [layer.sampling for layer in take_apart(self.net).layers]
        own = {id(each.generator): each.generator for each in samplings if isinstance(each, Gumbel) and each.generator}
        return [torch.default_generator, *own.values()]


def _below(prefix: str, values: dict[str, Any]) -> dict[str, Any]:
    return {name.removeprefix(prefix): value for name, value in values.items() if name.startswith(prefix)}
