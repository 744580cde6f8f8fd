"""Whole steps on CUDA by the kernels in Triton, recorded as a CUDA graph: what `TrainStep` calls there.

In: rows and targets of many batches, anywhere. Out: the loss of each batch, on the device, which nothing waits for;
weights, moments and the state of the sampling are changed in place. A batch size runs a few times launch by launch, and
from then on as one graph, for as long as the network's tensors are the same.
"""

from collections.abc import Callable, Sequence
from typing import Any, Protocol, cast

import torch
from torch import Tensor

from gatewise.nn.base import check_bits
from gatewise.nn.head import GroupSum
from gatewise.nn.layer import LogicLayer
from gatewise.nn.learned import LearnedLayer
from gatewise.nn.native_steps import Moments, make_key
from gatewise.nn.sampling import Bitwise, Gumbel

N_UNRECORDED = 2  # steps that compile kernels and bring tables to the device, which a graph cannot hold

Replay = Callable[[], Tensor]
RowLoss = Callable[[Tensor, Tensor], Tensor]
"""Scores, (n, groups), and targets to the losses of rows, (n,) or (n, groups)."""


class Pass(Protocol):
    """The layers of a network on floats or on bits, see `gatewise.nn.kernels.triton.passes`."""

    def make_values(self, n_rows: int) -> Tensor:
        """Memory for the rows of a batch."""

    def fill(self, values: Tensor, x: Tensor) -> None:
        """Take rows in."""

    def step(self, values: Tensor, differentiate: Callable[[Tensor], Tensor], rates: Tensor) -> Any:
        """Change the weights; gives what was read by its address."""


class Batch:
    """Memory that the steps of one batch size read and write, and their graph, if there is one."""

    def __init__(self, values: Tensor, y: Tensor) -> None:
        self.size, self.values, device = len(y), values, values.device
        self.y = torch.zeros_like(y, device=device)
        self.weight = torch.ones(self.size, device=device)
        self.rates = torch.zeros(2, dtype=torch.float64, device=device)
        self.flaw = torch.zeros((), device=device)  # NaN if rows are not what they must be
        self.n_runs = 0
        self.replay: Replay | None = None
        self.held: Any = None  # what the graph reads by its address

    def fill(self, x: Tensor, y: Tensor, weight: Tensor | None, rates: Tensor) -> None:
        """Take in the next batch, but for the values."""
        if x.is_floating_point():
            self.flaw.copy_(0.0 * x.sum())
        self.y.copy_(y)
        if weight is not None:
            self.weight.copy_(weight)
        self.rates.copy_(rates)


class DeviceSteps:
    """Steps of LogicLayers or LearnedLayers and a GroupSum.

    Parameters
    ----------
    layers, head
        Of the network.
    moments : as `native_steps.make_moments` gives them
    row_loss : function of scores and targets
    adam : pair of floats, and float
        The betas of Adam, and epsilon.
    activations : torch.float32 or torch.bfloat16
        What values and their gradients are stored in, but on bits.
    """

    def __init__(
        self,
        layers: Sequence[LogicLayer | LearnedLayer],
        head: GroupSum,
        moments: Moments,
        *,
        row_loss: RowLoss,
        adam: tuple[tuple[float, float], float],
        activations: torch.dtype,
    ) -> None:
        from gatewise.nn.kernels.triton import passes

        self._layers, self._head, self._row_loss, (self._betas, _) = layers, head, row_loss, adam
        settings = passes.AdamSettings(*adam)
        self._pass: Pass
        if self._is_on_bits:
            self._pass = passes.BitPass(layers, head.groups, moments, adam=settings)
        else:
            fixed = cast(Sequence[LogicLayer], layers)
            self._pass = passes.RelaxedPass(fixed, head.groups, moments, adam=settings, activations=activations)
        self._batches: dict[tuple[object, ...], Batch] = {}
        self._key: tuple[object, ...] = ()

    @property
    def _is_on_bits(self) -> bool:
        return isinstance(self._layers[0].sampling, Bitwise)

    def run(
        self,
        x: Tensor,
        y: Tensor,
        weight: Tensor | None,
        *,
        sizes: Sequence[int],
        learning_rates: Sequence[float],
        n_steps: int,
        temperatures: Sequence[float] | None,
    ) -> list[Tensor]:
        """Steps on consecutive batches, of which `n_steps` came before; gives the loss of each, in float64."""
        from gatewise.nn.kernels.triton.plan import device_of

        sampling = self._layers[0].sampling
        x = check_bits(x) if self._is_on_bits else x
        device = self._layers[0].weight.device
        x, y = (each.to(device, non_blocking=True) for each in (x, y))
        weight = weight if weight is None else weight.to(device, non_blocking=True)
        each_rates = [correct_rate(rate, self._betas, n_steps + 1 + i) for i, rate in enumerate(learning_rates)]
        rates = torch.tensor(each_rates, dtype=torch.float64).to(device, non_blocking=True)
        losses, end = [], 0
        for i, (size, own_rates) in enumerate(zip(sizes, rates, strict=True)):
            own = slice(end, end + size)
            end += size
            batch = self._find_batch(y[own], is_weighted=weight is not None)
            batch.fill(x[own], y[own], None if weight is None else weight[own], own_rates)
            self._pass.fill(batch.values, x[own])
            if temperatures is not None and isinstance(sampling, Bitwise):
                sampling.temperature.fill_(temperatures[i])
            with device_of(batch.values):  # which need not be the current one
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
            self._batches[kind] = Batch(self._pass.make_values(len(y)), y)
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
        losses: list[Tensor] = []

        def differentiate(sums: Tensor) -> Tensor:
            loss, grad = self._differentiate_loss(sums, batch)
            losses.append(loss)
            return grad

        held = self._pass.step(batch.values, differentiate, batch.rates)
        return losses[0], held

    def _differentiate_loss(self, sums: Tensor, batch: Batch) -> tuple[Tensor, Tensor]:
        """The mean loss in float64, and the gradient of the sums, (groups, n_rows), 0 for rows that only fill up."""
        sums.requires_grad_()
        with torch.enable_grad():
            scores = sums[:, : batch.size].T / self._head.temperature(self._layers[-1].out_features) + self._head.beta
            losses = self._row_loss(scores, batch.y).reshape(batch.size, -1).mean(1)
            loss = (losses * batch.weight).mean() + batch.flaw
            (grad,) = torch.autograd.grad(loss, sums)
        return loss.detach().double(), grad.contiguous()


def correct_rate(learning_rate: float, betas: tuple[float, float], n_steps: int) -> list[float]:
    """What the kernels multiply by in step `n_steps` of Adam, from 1; see `kernels.triton.mixing.update`.

    Examples
    --------
    >>> correct_rate(1.0, (0.5, 0.75), 1)
    [2.0, 0.5]
    """
    first, second = (1 - beta**n_steps for beta in betas)
    return [learning_rate / first, second**0.5]


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
