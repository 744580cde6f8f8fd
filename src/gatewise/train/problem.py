"""Problem: everything a run is given, checked once, before the first step.

In: what `fit` was called with. Out: the same with targets as the loss takes them, and the numbers of rows and steps of
all workers together. Every check that looks at all rows gives the same answer on every worker.
"""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from torch import nn

from gatewise.nn.discretize import discretize, take_apart
from gatewise.train.data import Data
from gatewise.train.distributed import Team
from gatewise.train.history import Record
from gatewise.train.recipe import Recipe
from gatewise.train.state import State
from gatewise.train.tasks import Task

ROUNDING = 1e-9  # of scores


class ConvergenceWarning(UserWarning):
    """A training that learned nothing."""


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
    baseline : float
        Score, on the rows of `evaluation`, of the best answer that is the same for all rows.
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
    baseline: float

    @classmethod
    def check(
        cls, net: nn.Module, task: Task, data: Data, validation: Data | None, recipe: Recipe, team: Team
    ) -> "Problem":
        """Raise ValueError or TypeError for anything that cannot be trained on."""
        if recipe.patience and validation is None:
            raise ValueError("validation must be given for early stopping, got None; train.split makes it")
        data = _check_data("data", net, task, data)
        validation_counts = None
        if validation is not None:
            validation = _check_data("validation", net, task, validation)
            validation_counts = team.sum(task.count(validation.targets))
        task.check_counts(team.sum(task.count(data.targets)), validation_counts)
        sizes = team.gather(len(data))
        evaluation = data if validation is None else validation
        total, _ = (_sum_weights(name, each, team) for name, each in (("data", data), ("validation", evaluation)))
        return cls(
            net=net,
            task=task,
            data=data,
            evaluation=evaluation,
            recipe=recipe,
            team=team,
            n_rows=sum(sizes),
            first_row=sum(sizes[: team.rank]),
            weight_scale=sum(sizes) / total,
            baseline=task.baseline(team.sum(task.count(evaluation.targets, evaluation.weights))),
        )

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

    def find_shortfall(self, net: nn.Module, record: Record) -> str | None:
        """What to tell the user of a trained network that learned nothing, given its record; None if it did."""
        task, score = self.task, record.score
        best = 1.0 if task.maximize else 0.0
        if score == best or abs(self.baseline - best) < ROUNDING:  # nothing more can be learned
            return None
        ahead = (score - self.baseline) if task.maximize else (self.baseline - score)
        is_same = discretize(net) == discretize(self.net)
        if ahead > ROUNDING and not is_same:
            return None
        unchanged = f"no gate changed in {record.step} steps, and " if is_same else ""
        rows = "validation" if self.has_validation else "training"
        return (
            f"nothing was learned: {unchanged}the circuit's {task.score_name} on the {rows} rows is {score:.4g}, where "
            f"one answer for all rows gives {self.baseline:.4g}; train for more epochs or at a higher learning rate"
        )

    def describe(self) -> dict[str, Any]:
        """What a run must have in common with the one it continues; equal for any number of workers."""
        return {
            "net": repr(self.net),
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
    parts = take_apart(net)
    if data.n_features != parts.in_features:
        raise ValueError(f"{name} must have {parts.in_features} features, as the network reads, got {data.n_features}")
    if parts.sums is None or parts.groups != task.groups:
        got = parts.groups if parts.sums else "no GroupSum"
        raise ValueError(f"net must have {task.groups} groups for {task}, got {got}; task.network builds it")
    return data.with_targets(task.check(name, data.targets))


def _sum_weights(name: str, data: Data, team: Team) -> float:
    total = float(team.sum(len(data) if data.weights is None else float(data.weights.sum(dtype=np.float64))))
    if not total > 0:
        raise ValueError(f"{name} weights must have a positive sum, got {total}")
    return total
