"""Scores of a network and of its circuit, on packed bits.

In: a network, a task, data. Out: losses, scores and gate counts, summed over all workers. The circuit runs natively on
the bits as they are held; the network, as training sees it, on a sample of them. Nothing here changes the network.
"""

import copy
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor, nn

from gatewise.gates import N_GATES
from gatewise.nn.discretize import discretize, read_counts, take_apart
from gatewise.nn.sampling import Bitwise
from gatewise.run.engine import Engine, Rows
from gatewise.train.data import Data
from gatewise.train.distributed import Team
from gatewise.train.tasks import Task

MAX_SOFT_ROWS = 2000


def circuit_outputs(net: nn.Module, rows: Rows) -> Tensor:
    """What ``net.eval()`` gives for rows of bits, computed by its circuit.

    Parameters
    ----------
    net : as for `gatewise.nn.discretize`
    rows : bool or uint8 0/1 array of shape (n_rows, in_features), or PackedRows, or Planes

    Returns
    -------
    float32, (n_rows, groups)

    Examples
    --------
    >>> from gatewise.nn import logic_network
    >>> net = logic_network(4, [8], 2, seed=0)
    >>> circuit_outputs(net, np.zeros((3, 4), bool)).shape
    torch.Size([3, 2])
    """
    on_cpu = net if next(net.parameters()).device.type == "cpu" else copy.deepcopy(net).cpu()
    engine = Engine(discretize(on_cpu), threads=torch.get_num_threads())
    with torch.no_grad():
        return read_counts(on_cpu, torch.from_numpy(engine.counts(rows)))


@dataclass(frozen=True)
class Scores:
    """Weighted means over rows; see `gatewise.train.Record` for their meaning."""

    score: float
    soft_loss: float
    soft_score: float
    gap: float
    gates: list[list[int]]


class Evaluator:
    """Evaluates a network on the same data again and again.

    Parameters
    ----------
    task : Task
    data : Bits or Values
        Rows of this worker, with targets as the task checked them.
    team : Team
    """

    def __init__(self, task: Task, data: Data, team: Team) -> None:
        self._task, self._data, self._team = task, data, team
        weights = np.ones(len(data)) if data.weights is None else data.weights.astype(np.float64)
        counting = np.flatnonzero(weights)
        self._sample = np.random.default_rng(0).permutation(counting)[: max(1, MAX_SOFT_ROWS // team.size)]
        self._y, self._weights = torch.from_numpy(data.targets), torch.from_numpy(weights)

    def __call__(self, net: nn.Module) -> Scores:
        sample_y, sample_weights = self._y[self._sample], self._weights[self._sample]
        with torch.no_grad():
            of_circuit = circuit_outputs(net, self._data.packed)
            scores = self._task.score(of_circuit, self._y)
            if all(isinstance(layer.sampling, Bitwise) for layer in take_apart(net).layers):
                outputs = of_circuit[self._sample]  # what training on bits sees, many times faster
            else:
                outputs = _soft_outputs(net, self._data.read(self._sample))
            rows = (self._task.loss(outputs, sample_y), self._task.score(outputs, sample_y), scores[self._sample])
        sums = [sample_weights @ each.double() for each in rows]
        totals = [*sums, sample_weights.sum(), self._weights @ scores, self._weights.sum()]
        *joint, n_sampled, score, n_rows = self._team.sum([float(total) for total in totals]).tolist()
        soft_loss, soft_score, score_on_sample = (value / n_sampled for value in joint)
        gap = soft_score - score_on_sample if self._task.maximize else score_on_sample - soft_score
        gates = [np.bincount(layer.gates(), minlength=N_GATES).tolist() for layer in take_apart(net).layers]
        return Scores(score / n_rows, soft_loss, soft_score, gap, gates)


def _soft_outputs(net: nn.Module, x: Tensor) -> Tensor:
    """Outputs as training sees them, on the CPU, without leaving a trace in what sampling observes or draws."""
    if any(layer.sampling.is_hard for layer in take_apart(net).layers):
        net = copy.deepcopy(net)
    with torch.random.fork_rng(devices=[]):
        return net.train()(x.to(next(net.parameters()).device)).cpu()
