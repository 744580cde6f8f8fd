"""Bar: a progress bar over the steps of a run, in a terminal or a notebook, or nothing."""

from typing import Any

from gatewise.extras import require
from gatewise.train.history import Record
from gatewise.train.state import State


class Bar:
    """Shows steps, steps per second, and the last record's loss, score and gap.

    Parameters
    ----------
    state : State
        Where the run begins.
    n_steps : int
    shown : bool
    """

    def __init__(self, state: State, n_steps: int, *, shown: bool) -> None:
        self._bar: Any = None
        if not shown:
            return
        module = require("tqdm.auto", "torch", needed_by="progress=True")
        self._bar = module.tqdm(total=n_steps, initial=state.step, unit=" steps", dynamic_ncols=True)
        self._score_name = state.history.score_name

    def update(self, n_steps: int) -> None:
        """Count steps."""
        if self._bar is not None:
            self._bar.update(n_steps)

    def show(self, record: Record) -> None:
        """Show a record beside the bar."""
        if self._bar is not None:
            shown = {"loss": record.loss, self._score_name: record.score, "gap": record.gap}
            self._bar.set_postfix({name: f"{value:.4f}" for name, value in shown.items()})

    def close(self) -> None:
        """Leave the bar as it is."""
        if self._bar is not None:
            self._bar.close()
