"""Stepper: one step of training after the other, natively where that is possible, by autograd elsewhere.

In: a problem, a state, and batches. Out: the loss of each batch; the state's weights and moments are changed.
"""

import numpy as np
import torch
from torch import Tensor, nn

from gatewise.nn import TrainStep
from gatewise.train.data import Batch
from gatewise.train.problem import Problem
from gatewise.train.state import Optimizer, State


def make_optimizer(net: nn.Module, problem: Problem) -> Optimizer:
    """Adam: the native step, or torch's for what that does not support. Both read each other's checkpoints."""
    loss, alone = problem.task.loss_name, problem.team.size == 1
    if loss and alone and not problem.recipe.clip and TrainStep.supports(net):
        return TrainStep(net, loss, label_smoothing=problem.task.smoothing)  # type: ignore[arg-type]
    return torch.optim.Adam(net.parameters(), fused=True)


class Stepper:
    """Takes steps on the weights of a state; `rate` is the learning rate of the last one."""

    def __init__(self, problem: Problem, state: State) -> None:
        self._problem, self._state = problem, state
        self._model = problem.team.wrap(state.net)
        self._model.train()
        self._parameters = list(state.net.parameters())
        self._device = self._parameters[0].device
        self._augmenting = torch.Generator()
        self.rate = 0.0

    def take(self, batch: Batch) -> Tensor | float:
        """Forward, backward and update; gives the mean loss of this worker's rows."""
        state, recipe = self._state, self._problem.recipe
        self.rate = recipe.schedule(state.step, self._problem.n_steps)
        x = self._augment(batch.x) if recipe.augment else batch.x
        if isinstance(state.optimizer, TrainStep):
            state.optimizer.lr = self.rate
            return state.optimizer(x, batch.y)
        return self._take_by_autograd(state.optimizer, x, batch)

    def _take_by_autograd(self, optimizer: torch.optim.Optimizer, x: Tensor, batch: Batch) -> Tensor:
        problem = self._problem
        for group in optimizer.param_groups:
            group["lr"] = self.rate
        outputs, y = self._model(x.to(self._device)), batch.y.to(self._device)
        loss = problem.task.loss(outputs, y) if len(x) else outputs.sum()  # the mean of nothing would be NaN
        if problem.team.size > 1:  # gradients will be averaged over workers, not over rows
            (loss * (problem.team.size * len(x) / batch.n_joint)).backward()
        else:
            loss.backward()
        if problem.recipe.clip:
            nn.utils.clip_grad_norm_(self._parameters, problem.recipe.clip)
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
        return loss.detach().double()

    def _augment(self, x: Tensor) -> Tensor:
        """Seeded by the step, so that a resumed run draws the same."""
        problem = self._problem
        place = (problem.recipe.seed, self._state.step, problem.team.rank)
        self._augmenting.manual_seed(int(np.random.SeedSequence(place).generate_state(1, np.uint64)[0] >> 1))
        assert problem.recipe.augment is not None
        return problem.recipe.augment(x, self._augmenting)
