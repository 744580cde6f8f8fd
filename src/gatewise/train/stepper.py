"""Stepper: one step of training after the other, natively where that is possible, by autograd elsewhere.

In: a problem, a state, and chunks of batches. Out: the loss of each batch; the state's weights and moments are changed.
"""

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor, nn

from gatewise.nn import Bitwise, LearnedLayer, LutLayer, TrainStep
from gatewise.train.data import Chunk
from gatewise.train.problem import Problem
from gatewise.train.state import Optimizer, State


def make_optimizer(net: nn.Module, problem: Problem) -> Optimizer:
    """Adam: the native step, or torch's for what that does not support. Both read each other's checkpoints."""
    loss, alone = problem.task.loss_name, problem.team.size == 1
    part = problem.task.native_part(net)
    if loss and alone and not problem.recipe.clip and TrainStep.supports(part):
        return TrainStep(part, loss, label_smoothing=problem.task.label_smoothing)  # type: ignore[arg-type]
    return torch.optim.Adam(net.parameters(), fused=True)


class Stepper:
    """Takes steps on the weights of a state; `learning_rate` is that of the last one."""

    def __init__(self, problem: Problem, state: State) -> None:
        self._problem, self._state = problem, state
        self._model = problem.team.wrap(state.net)
        self._model.train()
        self._parameters = list(state.net.parameters())
        self._device = self._parameters[0].device
        self._augmenting = torch.Generator()
        self._samplings = [part for part in state.net.modules() if isinstance(part, Bitwise)]
        self.learning_rate = 0.0

    def take(self, chunk: Chunk) -> Sequence[Tensor | float]:
        """Forward, backward and update for each batch; gives the mean losses of this worker's rows."""
        state, problem, optimizer = self._state, self._problem, self._state.optimizer
        steps = range(state.step, state.step + len(chunk.sizes))
        learning_rates = [problem.recipe.schedule(step, problem.n_steps) for step in steps]
        self.learning_rate = learning_rates[-1]
        if problem.recipe.augment:
            x = torch.cat([self._augment(*each) for each in zip(chunk.x.split(chunk.sizes), steps, strict=True)])
            chunk = chunk._replace(x=x)
        weight = None if chunk.weight is None else chunk.weight * problem.weight_scale
        schedule = problem.recipe.temperature
        temperatures = [schedule(step, problem.n_steps) for step in steps] if schedule else None
        if isinstance(optimizer, TrainStep):
            targets = problem.task.native_targets(chunk.y)
            return optimizer.launch(chunk.x, targets, chunk.sizes, learning_rates, weight, temperatures)
        weight = torch.ones(len(chunk.y)) if weight is None else weight
        parts = [part.to(self._device, non_blocking=True) for part in (chunk.x, chunk.y, weight)]
        batches = zip(*(part.split(chunk.sizes) for part in parts), chunk.joint_sizes, learning_rates, strict=True)
        losses = []
        for i, batch in enumerate(batches):
            for sampling in self._samplings if temperatures else ():
                sampling.temperature.fill_(temperatures[i])  # type: ignore[index]
            losses.append(self._take_by_autograd(optimizer, *batch))
        return losses

    def exchange_if_due(self) -> None:
        """Exchange candidates of learned wiring after an epoch, as the recipe says."""
        exchange, state = self._problem.recipe.exchange, self._state
        if exchange is None or not exchange.is_due(state.epoch, self._problem.recipe.epochs):
            return
        if isinstance(state.optimizer, TrainStep):
            state.optimizer.exchange(exchange.share, draw=state.epoch)
            return
        for layer in state.net.modules():
            if isinstance(layer, LearnedLayer | LutLayer) and layer.pins is not None and layer.pins.requires_grad:
                lost = layer.exchange(exchange.share, draw=state.epoch)
                for name, moment in state.optimizer.state[layer.pins].items():
                    if name != "step":
                        moment.masked_fill_(lost, 0.0)

    def _take_by_autograd(
        self, optimizer: torch.optim.Optimizer, x: Tensor, y: Tensor, weight: Tensor, n_joint: int, learning_rate: float
    ) -> Tensor:
        problem = self._problem
        for group in optimizer.param_groups:
            group["lr"] = learning_rate
        outputs = self._model(x)
        # The mean of nothing would be NaN.
        loss = (problem.task.loss(outputs, y) * weight).mean() if len(x) else outputs.sum()
        if problem.team.size > 1:  # gradients will be averaged over workers, not over rows
            (loss * (problem.team.size * len(x) / n_joint)).backward()
        else:
            loss.backward()
        if problem.recipe.clip:
            nn.utils.clip_grad_norm_(self._parameters, problem.recipe.clip)
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
        return loss.detach().double()

    def _augment(self, x: Tensor, step: int) -> Tensor:
        """Seeded by the step, so that a resumed run draws the same."""
        problem = self._problem
        place = (problem.recipe.seed, step, problem.team.rank)
        self._augmenting.manual_seed(int(np.random.SeedSequence(place).generate_state(1, np.uint64)[0] >> 1))
        assert problem.recipe.augment is not None
        return problem.recipe.augment(x.contiguous(), self._augmenting)
