"""Saver: writes the state of a run as it goes on, and finds it again.

In: a state and where to keep it. Out: checkpoints, written by worker 0 alone, and the state as it was at the last one.
"""

import os
from typing import Any

from gatewise.train.checkpoint import Checkpoint, restore_state, store_state
from gatewise.train.distributed import Team
from gatewise.train.problem import Problem
from gatewise.train.state import State


class Saver:
    """Keeps the checkpoint of a run.

    Parameters
    ----------
    checkpoint : Checkpoint, folder, or None to keep nothing
    state : State
    problem : Problem
    team : Team
    """

    def __init__(
        self, checkpoint: Checkpoint | str | os.PathLike[str] | None, state: State, problem: Problem, team: Team
    ) -> None:
        self._checkpoint = Checkpoint(checkpoint) if isinstance(checkpoint, (str, os.PathLike)) else checkpoint
        self._state, self._problem, self._team = state, problem, team
        self._saved_step = 0
        self._description: dict[str, Any] = {}

    @property
    def every(self) -> int | None:
        """Steps between two checkpoints, if any are written."""
        return self._checkpoint.every if self._checkpoint else None

    def resume(self) -> None:
        """Make sure that checkpoints can be written, then take over the last one, if there is one."""
        checkpoint = self._checkpoint
        if checkpoint is None:
            return
        data = None
        if self._team.rank == 0:
            checkpoint.probe(2 * self._state.n_bytes())  # the old file and the new one exist together
            data = checkpoint.read()
        data = self._team.share(data)
        self._description = self._problem.describe()
        if data is None:
            return
        tensors, document = restore_state(data, checkpoint.path)
        for name, value in self._description.items():
            if document["run"].get(name) != value:
                raise ValueError(
                    f"{name} must be as in the run that {checkpoint.path} belongs to, {document['run'].get(name)}, "
                    f"got {value}; choose another folder, or delete the file to start over"
                )
        self._state.restore(tensors, document)
        if self._team.rank:
            self._state.loss_sum = 0.0
        self._saved_step = self._state.step

    def save_if_due(self) -> None:
        """Write the state if enough steps were taken since it was last written."""
        if self._checkpoint and self._state.step - self._saved_step >= self._checkpoint.every:
            self.save()

    def save(self) -> None:
        """Write the state, unless it is written already."""
        state = self._state
        if self._checkpoint is None or (self._saved_step == state.step and self._checkpoint.path.exists()):
            return
        loss_sum = self._problem.sum_loss(state)
        # Worker 0 goes on with the sum of all, as it would after a resumption.
        state.loss_sum = loss_sum if self._team.rank == 0 else 0.0
        if self._team.rank == 0:
            tensors, document = state.capture()
            self._checkpoint.write(store_state(tensors, {"run": self._description, **document}))
        self._saved_step = state.step
