"""Problem: everything a run is given, checked once, before the first step.

In: what `fit` was called with. Out: the same with targets as the loss takes them, and the numbers of rows and steps of
all workers together. Every check that looks at all rows gives the same answer on every worker.
"""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from torch import nn

from gatewise.nn.discretize import logic_layers
from gatewise.train.data import Data
from gatewise.train.distributed import Team
from gatewise.train.evaluate import hard_outputs
from gatewise.train.recipe import Recipe
from gatewise.train.state import State
from gatewise.train.tasks import Task


@dataclass(frozen=True)
class Problem:
    """A run's task, rows, recipe and team.

    Parameters
    ----------
    net : Module
        As it was passed in.
    task : Task
    data : Bits or Values
        Rows of this worker, with checked targets.
    evaluation : Bits or Values
        The validation data, or `data` without them.
    recipe : Recipe
    team : Team
    n_rows, first_row : int
        Rows of all workers, and how many of them the workers before this one have.
    weight_scale : float
        Makes 1 the mean weight of all rows.
    """

    net: nn.Module
    task: Task
    data: Data
    evaluation: Data
    recipe: Recipe
    team: Team
    n_rows: int
    first_row: int
    weight_scale: float

    @classmethod
    def check(
        cls, net: nn.Module, task: Task, data: Data, validation: Data | None, recipe: Recipe, team: Team
    ) -> "Problem":
        """Raise ValueError or TypeError for anything that cannot be trained on."""
        if recipe.patience and validation is None:
            raise ValueError("validation must be given for early stopping, got None; train.split makes it")
        data = _check_data("data", net, task, data)
        counts = team.sum(task.count(data.targets)).astype(np.int64)
        validation_counts = None
        if validation is not None:
            validation = _check_data("validation", net, task, validation)
            validation_counts = team.sum(task.count(validation.targets)).astype(np.int64)
        task.check_counts(counts, validation_counts)
        sizes = team.gather(len(data))
        evaluation = data if validation is None else validation
        total, _ = (_sum_weights(name, each, team) for name, each in (("data", data), ("validation", evaluation)))
        return cls(net, task, data, evaluation, recipe, team, sum(sizes), sum(sizes[: team.rank]), sum(sizes) / total)

    @property
    def has_validation(self) -> bool:
        """Whether the best network can be selected."""
        return self.evaluation is not self.data

    @property
    def n_steps(self) -> int:
        """Steps of the whole run, without early stopping."""
        return self.recipe.epochs * -(-self.n_rows // self.recipe.batch_size)

    def sum_loss(self, state: State) -> float:
        """Loss of all workers' rows since the epoch began; raises FloatingPointError once the run has diverged."""
        loss = float(self.team.sum(float(state.loss_sum)))
        if not (math.isfinite(loss) and all(bool(p.isfinite().all()) for p in state.net.parameters())):
            raise FloatingPointError(
                f"loss and weights must stay finite, got a loss of {loss / self.n_rows} in epoch {state.epoch + 1}; "
                "lower the learning rate or set clip"
            )
        return loss

    def describe(self) -> dict[str, Any]:
        """What a run must have in common with the one it continues; equal for any number of workers."""
        layers = logic_layers(self.net)
        kinds = [f"{layer.parametrization.kind} {layer.relaxation} {layer.grad_factor}" for layer in layers]
        return {
            "net": f"{self.net} {kinds}",
            "task": repr(self.task),
            **self.recipe.describe(),
            "data": self._summarize(self.data),
            "validation": self._summarize(self.evaluation) if self.has_validation else None,
        }

    def _summarize(self, data: Data) -> str:
        n_ones = np.bitwise_count(data.packed.data).sum(dtype=np.int64)
        sums = self.team.sum([len(data), n_ones, data.targets.sum(dtype=np.float64)])
        return f"{sums[0]:.0f} rows of {data.n_features} features, {sums[1]:.0f} ones, targets {sums[2]:.6g}"


def _check_data(name: str, net: nn.Module, task: Task, data: Data) -> Data:
    n_inputs = logic_layers(net)[0].in_features
    if data.n_features != n_inputs:
        raise ValueError(f"{name} must have {n_inputs} features, as the network's inputs, got {data.n_features}")
    n_groups = hard_outputs(net, np.zeros((1, n_inputs), bool)).shape[1]
    if n_groups != task.groups:
        raise ValueError(f"net must have {task.groups} groups for {task}, got {n_groups}; task.network builds it")
    return data.with_targets(task.check(name, data.targets))


def _sum_weights(name: str, data: Data, team: Team) -> float:
    total = float(team.sum(len(data) if data.weights is None else float(data.weights.sum(dtype=np.float64))))
    if not total > 0:
        raise ValueError(f"{name} weights must have a positive sum, got {total}")
    return total
