"""fit: the training loop.

In: a network, a task, data. Out: the network whose circuit scored best, and the history of the run. The network passed
in is left as it was. Everything random follows from the recipe's seed, so equal calls give equal results, whether or
not they were killed and resumed in between.
"""

import copy
import os
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import nn

from gatewise.circuit import Circuit
from gatewise.encode import Encoder
from gatewise.heads import Label
from gatewise.model import Model
from gatewise.nn import discretize, make_head
from gatewise.run.engine import Rows
from gatewise.train.checkpoint import Checkpoint
from gatewise.train.data import Data, draw_chunks, shuffle
from gatewise.train.distributed import join_team
from gatewise.train.evaluate import Evaluator, circuit_outputs
from gatewise.train.history import History, Record
from gatewise.train.problem import ConvergenceWarning, Problem
from gatewise.train.progress import Bar
from gatewise.train.recipe import Recipe
from gatewise.train.saver import Saver
from gatewise.train.state import State
from gatewise.train.stepper import Stepper, make_optimizer
from gatewise.train.tasks import MultiLabel, Task
from gatewise.wiring import CompactCircuit

Callback = Callable[[Record], object]


@dataclass(frozen=True)
class Result:
    """What training gave.

    Parameters
    ----------
    net : Module
        In `eval()` mode, as it was when its circuit scored best on the validation data; without validation, at the end.
    task : Task
    history : History
    best_epoch : int
        Epochs done when `net` was kept.
    interrupted : bool
        Whether Ctrl-C ended the run.
    """

    net: nn.Module
    task: Task
    history: History
    best_epoch: int
    interrupted: bool

    def circuit(self) -> Circuit:
        """The circuit of `net`, not simplified."""
        return discretize(self.net)

    def predict(self, rows: Rows) -> np.ndarray:
        """Classes, labels or values that the circuit and its head give for rows of bits."""
        return self.task.predict(circuit_outputs(self.net, rows)).numpy()

    def model(
        self,
        encoder: Encoder,
        labels: Sequence[Label] | None = None,
        *,
        circuit: Circuit | CompactCircuit | None = None,
    ) -> Model:
        """The result as a model that reads raw rows: to be saved, run and exported, without torch.

        Parameters
        ----------
        encoder : Encoder
            Gave the bits that the network was trained on.
        labels : sequence of str, int, float or bool, one per class, optional
            Of the classes; 0, 1, 2, ... by default. Regressions have none.
        circuit : Circuit, SeededCircuit or ConvolutionalCircuit, optional
            Another form of the network's circuit, such as ``nn.discretize_seeded(result.net)``, or
            ``nn.discretize_shared(result.net)`` of convolutions, whose file is smaller.

        Returns
        -------
        Model
            Its circuit is simplified. It predicts what `predict` gives, in the words of `labels`.

        Examples
        --------
        >>> from gatewise import Encoder, train
        >>> ages = np.arange(80.0)[:, None]
        >>> encoder, task = Encoder.fit(ages), train.Classification(2)
        >>> data = train.Bits(encoder.encode_rows(ages), ages[:, 0] >= 18)
        >>> recipe = Recipe(epochs=30, batch_size=20, schedule=train.Constant(0.05))
        >>> result = fit(task.network(encoder.n_bits, [64, 64], seed=0), task, data, recipe=recipe)
        >>> result.model(encoder, labels=["young", "old"]).predict([[3.0], [70.0]]).tolist()
        ['young', 'old']
        """
        if isinstance(self.task, MultiLabel):
            raise TypeError(f"task must be Classification or Regression for a Model, got {self.task}; use predict")
        return Model.build(encoder, circuit or self.circuit(), make_head(self.net, labels))


def fit(
    net: nn.Module,
    task: Task,
    data: Data,
    *,
    validation: Data | None = None,
    recipe: Recipe | None = None,
    checkpoint: Checkpoint | str | os.PathLike[str] | None = None,
    callbacks: Sequence[Callback] = (),
    progress: bool = False,
) -> Result:
    """Train a network.

    Parameters
    ----------
    net : Module of LogicLayers and a head, as ``task.network`` builds
        Left as it was; a copy is trained.
    task : Classification, Binary, MultiLabel or Regression
    data : Bits or Values
        Under torchrun, the rows of this worker only.
    validation : Bits or Values, optional
        Selects the best network, and is needed for early stopping.
    recipe : Recipe, optional
    checkpoint : Checkpoint or folder, optional
        A run that finds its own checkpoint there goes on from it.
    callbacks : functions of a `Record`
        Called after each evaluation, by worker 0 only.
    progress : bool
        Whether to show a progress bar.

    Returns
    -------
    Result

    Warns
    -----
    ConvergenceWarning
        Nothing was learned: the circuit is no better than one answer for all rows, or none of its gates changed.

    Examples
    --------
    >>> rows = np.random.default_rng(0).integers(0, 2, (200, 6))
    >>> from gatewise import train
    >>> task = train.Classification(2)
    >>> recipe = Recipe(epochs=10, batch_size=20, schedule=train.Constant(0.05))
    >>> net = task.network(6, [32, 32], seed=0)
    >>> result = fit(net, task, train.Bits(rows, rows[:, 0] & rows[:, 1]), recipe=recipe)
    >>> result.history[-1].score > 0.9
    True
    """
    recipe = recipe or Recipe()
    with join_team() as team, torch.random.fork_rng(devices=[]):
        torch.manual_seed(recipe.seed)
        problem = Problem.check(net, task, data, validation, recipe, team)
        own = copy.deepcopy(net)
        state = State(own, make_optimizer(own, problem), score_name=task.score_name, maximize=task.maximize)
        saver = Saver(checkpoint, state, problem, team)
        saver.resume()
        bar = Bar(state, problem.n_steps, shown=progress and team.rank == 0)
        interrupted = False
        try:
            _train(problem, state, saver, bar, callbacks)
        except KeyboardInterrupt:
            interrupted = True
        finally:
            bar.close()
        if state.best is not None:
            own.load_state_dict(state.best)
        shortfall = None if interrupted or team.rank else problem.find_shortfall(own, state.best_record())
        if shortfall:
            warnings.warn(shortfall, ConvergenceWarning, stacklevel=2)
        return Result(own.eval(), task, state.history, state.best_epoch, interrupted)


def _train(problem: Problem, state: State, saver: Saver, bar: Bar, callbacks: Sequence[Callback]) -> None:
    recipe = problem.recipe
    stepper = Stepper(problem, state)
    evaluate = Evaluator(problem.task, problem.evaluation, problem.team)
    while state.epoch < recipe.epochs and not (recipe.patience and state.n_stale >= recipe.patience):
        order = shuffle(problem.n_rows, seed=recipe.seed, epoch=state.epoch)
        part = {"first_row": problem.first_row, "skip": state.batch}
        for chunk in draw_chunks(problem.data, order, recipe.batch_size, max_batches=saver.every, **part):
            saver.save_if_due()
            state.note_steps(stepper.take(chunk), chunk.sizes)
            bar.update(len(chunk.sizes))
        loss = problem.sum_loss(state) / problem.n_rows
        state.note_epoch()
        if state.epoch % recipe.evaluate_every == 0 or state.epoch == recipe.epochs:
            scores = evaluate(state.net)
            record = Record(state.epoch, state.step, state.seconds, stepper.learning_rate, loss, **vars(scores))
            state.note_record(record, selects=problem.has_validation)
            bar.show(record)
            for callback in callbacks if problem.team.rank == 0 else ():
                callback(record)
        stepper.exchange_if_due()
    saver.save()
