"""Whole steps on CUDA by the kernels in Triton, recorded as a CUDA graph: what `TrainStep` calls there.

In: rows and targets of many batches, anywhere. Out: the loss of each batch, on the device, which nothing waits for;
weights, moments and the state of the sampling are changed in place. A batch size runs a few times launch by launch, and
from then on as one graph, for as long as the network's tensors are the same.
"""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import torch
from torch import Tensor

from gatewise.nn.head import GroupSum
from gatewise.nn.layer import LogicLayer
from gatewise.nn.native_steps import Moments, make_key
from gatewise.nn.parametrization import Softmax
from gatewise.nn.sampling import Gumbel

N_UNRECORDED = 2  # steps that compile kernels and bring tables to the device, which a graph cannot hold

Replay = Callable[[], Tensor]
RowLoss = Callable[[Tensor, Tensor], Tensor]
"""Scores, (n, groups), and targets to the losses of rows, (n,) or (n, groups)."""


class AdamSettings(NamedTuple):
    """What stays the same from step to step."""

    betas: tuple[float, float]
    eps: float

    def rates(self, learning_rate: float, n_steps: int) -> list[float]:
        """What the kernels multiply by in step `n_steps`, from 1.

        Examples
        --------
        >>> AdamSettings((0.5, 0.75), 1e-8).rates(1.0, 1)
        [2.0, 0.5]
        """
        first, second = (1 - beta**n_steps for beta in self.betas)
        return [learning_rate / first, second**0.5]


class Batch:
    """Memory that the steps of one batch size read and write, and their graph, if there is one."""

    def __init__(self, size: int, in_features: int, y: Tensor, values: torch.dtype, device: torch.device) -> None:
        self.size = size
        self.values = torch.zeros(in_features, -(-size // 16) * 16, dtype=values, device=device)
        self.y = torch.zeros(size, *y.shape[1:], dtype=y.dtype, device=device)
        self.weight = torch.ones(size, device=device)
        self.rates = torch.zeros(2, dtype=torch.float64, device=device)
        self.n_runs = 0
        self.replay: Replay | None = None
        self.held: Any = None  # what the graph reads by its address

    def fill(self, x: Tensor, y: Tensor, weight: Tensor | None, rates: Tensor) -> None:
        """Take in the next batch."""
        self.values[:, : self.size].copy_(x.T)
        self.y.copy_(y)
        if weight is not None:
            self.weight.copy_(weight)
        self.rates.copy_(rates)


class DeviceSteps:
    """Steps of LogicLayers and a GroupSum.

    Parameters
    ----------
    layers, head
        Of the network.
    moments : as `native_steps.make_moments` gives them
    row_loss : function of scores and targets
    adam : AdamSettings
    activations : torch.float32 or torch.bfloat16
        What values and their gradients are stored in.
    """

    def __init__(
        self,
        layers: Sequence[LogicLayer],
        head: GroupSum,
        moments: Moments,
        *,
        row_loss: RowLoss,
        adam: AdamSettings,
        activations: torch.dtype,
    ) -> None:
        self._layers, self._head, self._row_loss, self._adam = layers, head, row_loss, adam
        self._activations = activations
        self._first, self._second = ([of_layer["weight"][i] for of_layer in moments] for i in (0, 1))
        self._batches: dict[tuple[object, ...], Batch] = {}
        self._key: tuple[object, ...] = ()

    def run(
        self,
        x: Tensor,
        y: Tensor,
        weight: Tensor | None,
        *,
        sizes: Sequence[int],
        learning_rates: Sequence[float],
        n_steps: int,
    ) -> list[Tensor]:
        """Steps on consecutive batches, of which `n_steps` came before; gives the loss of each, in float64."""
        device = self._layers[0].weight.device
        x, y = (each.to(device, non_blocking=True) for each in (x, y))
        weight = weight if weight is None else weight.to(device, non_blocking=True)
        each_rates = [self._adam.rates(rate, n_steps + 1 + i) for i, rate in enumerate(learning_rates)]
        rates = torch.tensor(each_rates, dtype=torch.float64).to(device, non_blocking=True)
        losses, end = [], 0
        for size, own_rates in zip(sizes, rates, strict=True):
            own = slice(end, end + size)
            end += size
            batch = self._find_batch(y[own], is_weighted=weight is not None)
            batch.fill(x[own], y[own], None if weight is None else weight[own], own_rates)
            losses.append(self._advance(batch))
        return losses

    def _find_batch(self, y: Tensor, *, is_weighted: bool) -> Batch:
        factors = [layer.grad_factor for layer in self._layers]
        key = (*make_key(self._layers, factors), self._head.tau, self._head.beta, id(self._layers[0].sampling))
        if key != self._key:  # graphs hold addresses of what is gone
            self._batches.clear()
            self._key = key
        kind = len(y), *y.shape[1:], y.dtype, is_weighted
        if kind not in self._batches:
            first = self._layers[0]
            self._batches[kind] = Batch(len(y), first.in_features, y, self._activations, first.weight.device)
        return self._batches[kind]

    def _advance(self, batch: Batch) -> Tensor:
        batch.n_runs += 1
        if batch.replay is not None:
            return batch.replay().clone()
        can_record = can_be_recorded(batch.values) and not isinstance(self._layers[0].sampling, Gumbel)
        if not can_record or batch.n_runs <= N_UNRECORDED:
            return self._step(batch)[0]
        held: list[Any] = []

        def step() -> Tensor:
            loss, tables = self._step(batch)
            held.append(tables)
            return loss

        batch.replay = record(step)
        batch.held = held
        return batch.replay().clone()

    def _step(self, batch: Batch) -> tuple[Tensor, Any]:
        """Forward, loss, backward and Adam on what the batch holds; the loss, and all that was read by its address."""
        from gatewise.nn.kernels.triton import autograd, layers, mixtures

        first = self._layers[0]
        assert isinstance(first.parametrization, Softmax)
        weights = [layer.weight.detach() for layer in self._layers]
        logits, temperature, hard = first.sampling.prepare(weights)
        mixture = autograd.join(logits, tuple(first.parametrization.operators), temperature)
        coefficients, confidence = mixtures.mix(mixture, hard=hard)
        plans = autograd.find_plans(first.in_features, ([each.a for each in self._layers], [e.b for e in self._layers]))
        *kept, last = layers.forward(plans, batch.values, coefficients)
        loss, grad = self._differentiate_loss(
            last.unflatten(0, (self._head.groups, -1)).sum(1, dtype=torch.float32), batch
        )
        grad_factors = [layer.grad_factor for layer in self._layers]
        parts, _ = layers.backward(plans, kept, coefficients, grad, grad_factors=grad_factors, needs_x=False)
        adam = mixtures.Adam(weights, self._first, self._second, batch.rates, *self._adam)
        tables = mixtures.update(mixture, parts, adam)
        first.sampling.observe(confidence.double().mean(), first.parametrization.n_parameters)
        return loss, (mixture, plans, tables)

    def _differentiate_loss(self, sums: Tensor, batch: Batch) -> tuple[Tensor, Tensor]:
        """The mean loss in float64, and the gradient of the sums, (groups, n_rows), 0 for rows that only fill up."""
        sums.requires_grad_()
        with torch.enable_grad():
            scores = sums[:, : batch.size].T / self._head.temperature(self._layers[-1].out_features) + self._head.beta
            losses = self._row_loss(scores, batch.y).reshape(batch.size, -1).mean(1)
            loss = (losses * batch.weight).mean()
            (grad,) = torch.autograd.grad(loss, sums)
        return loss.detach().double(), grad.contiguous()


def can_be_recorded(values: Tensor) -> bool:
    """Whether graphs can be made of steps where values are.

    Examples
    --------
    >>> can_be_recorded(torch.zeros(1))
    False
    """
    return values.device.type == "cuda"


def record(step: Replay) -> Replay:
    """A step as one CUDA graph, which gives its result in the same memory each time; it has not run yet."""
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        result = step()

    def replay() -> Tensor:
        graph.replay()
        return result

    return replay
