"""Recipe: the settings of a run that decide its result, in one value."""

from dataclasses import dataclass, field, fields
from typing import Any

from gatewise.train.augment import Augment
from gatewise.train.schedule import Constant, Schedule


@dataclass(frozen=True)
class Recipe:
    """How to train; the defaults are the paper's.

    Parameters
    ----------
    epochs : int
    batch_size : int
        Rows a step, of all workers together.
    schedule : Constant, Cosine, or a function of step and number of steps
        The learning rate.
    seed : int
        Of the order of rows, of augmentation, and of sampling without a generator of its own.
    evaluate_every : int
        Epochs between two evaluations.
    patience : int, optional
        Training ends after so many evaluations without a better circuit.
    clip : float, optional
        Largest norm of the gradient of all weights together.
    augment : function of a batch and a generator, optional
        Gives the batch to train on, as `Shift` does.

    Examples
    --------
    >>> Recipe(epochs=20, batch_size=128).seed
    0
    """

    epochs: int = 200
    batch_size: int = 100
    schedule: Schedule = field(default_factory=Constant)
    seed: int = 0
    evaluate_every: int = 1
    patience: int | None = None
    clip: float | None = None
    augment: Augment | None = None

    def __post_init__(self) -> None:
        for name in ("epochs", "batch_size", "evaluate_every", "patience"):
            value = getattr(self, name)
            if value is not None and (not isinstance(value, int) or value < 1):
                raise ValueError(f"{name} must be an integer of at least 1, got {value!r}")
        if self.clip is not None and not self.clip > 0:
            raise ValueError(f"clip must be positive, got {self.clip}")
        if not 0 <= self.seed < 2**63:
            raise ValueError(f"seed must be in 0..2**63 - 1, got {self.seed}")

    def describe(self) -> dict[str, Any]:
        """The settings that a resumed run must have in common with the one it continues: all but the epochs.

        Examples
        --------
        >>> Recipe().describe()["schedule"]
        'Constant(rate=0.01)'
        """
        values = {each.name: getattr(self, each.name) for each in fields(self) if each.name != "epochs"}
        return {name: getattr(value, "__qualname__", repr(value)) for name, value in values.items()}
