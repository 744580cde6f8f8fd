"""Recipe: the settings of a run that decide its result, in one value, and the schedules of rate and temperature.

A schedule takes a step and the number of steps of the run, and gives the learning rate, or temperature, of that step.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, field, fields
from typing import Any

from gatewise.checks import MAX_SEED, as_integer
from gatewise.train.augment import Augment


@dataclass(frozen=True)
class Constant:
    """The same rate at every step, as in the paper.

    Examples
    --------
    >>> Constant(0.01)(5, 100)
    0.01
    """

    learning_rate: float = 0.01

    def __post_init__(self) -> None:
        _check_learning_rate(self.learning_rate)

    def __call__(self, step: int, n_steps: int) -> float:
        return self.learning_rate


@dataclass(frozen=True)
class Cosine:
    """A linear rise to `learning_rate`, then half a cosine down to `learning_rate * final`.

    Parameters
    ----------
    learning_rate : float
    warmup : float
        Share of the steps in which the rate rises.
    final : float
        Last rate as a share of `learning_rate`.

    Examples
    --------
    >>> [round(Cosine(1.0, warmup=0.2)(step, 10), 2) for step in range(0, 10, 2)]
    [0.5, 1.0, 0.85, 0.5, 0.15]
    """

    learning_rate: float = 0.01
    warmup: float = 0.05
    final: float = 0.0

    def __post_init__(self) -> None:
        _check_learning_rate(self.learning_rate)
        if not (0 <= self.warmup < 1 and 0 <= self.final <= 1):
            raise ValueError(f"warmup must be in [0, 1) and final in [0, 1], got {self.warmup} and {self.final}")

    def __call__(self, step: int, n_steps: int) -> float:
        n_rising = int(self.warmup * n_steps)
        if step < n_rising:
            return self.learning_rate * (step + 1) / n_rising
        falling = 0.5 * (1 + math.cos(math.pi * (step - n_rising) / (n_steps - n_rising)))
        return self.learning_rate * (self.final + (1 - self.final) * falling)


@dataclass(frozen=True)
class Geometric:
    """From `start` to `end` by the same factor at every step: for temperatures.

    Examples
    --------
    >>> [round(Geometric(4.0, 1.0)(step, 4), 2) for step in range(5)]
    [4.0, 2.83, 2.0, 1.41, 1.0]
    """

    start: float
    end: float

    def __post_init__(self) -> None:
        if not all(value > 0 and math.isfinite(value) for value in (self.start, self.end)):
            raise ValueError(f"start and end must be positive and finite, got {self.start} and {self.end}")

    def __call__(self, step: int, n_steps: int) -> float:
        return self.start * (self.end / self.start) ** (step / n_steps)


@dataclass(frozen=True)
class Exchange:
    """Candidates of learned wiring that are exchanged as training goes on: see `gatewise.nn.LearnedLayer.exchange`.

    Parameters
    ----------
    share : float
        Of the candidates of a pin that are replaced, the least probable ones.
    every : int
        Epochs between two exchanges.
    until : float
        Share of the epochs after which there are no more, so that those that came last can win.

    Examples
    --------
    >>> [epoch for epoch in range(1, 11) if Exchange(every=2, until=0.5).is_due(epoch, 10)]
    [2, 4]
    """

    share: float = 0.5
    every: int = 1
    until: float = 0.5

    def __post_init__(self) -> None:
        if not (0 <= self.share < 1 and 0 <= self.until <= 1):
            raise ValueError(f"share must be in [0, 1) and until in [0, 1], got {self.share} and {self.until}")
        as_integer("every", self.every, 1, MAX_SEED)

    def is_due(self, epoch: int, n_epochs: int) -> bool:
        """Whether candidates are exchanged when so many epochs are done."""
        return epoch % self.every == 0 and epoch <= self.until * n_epochs


Schedule = Callable[[int, int], float]


@dataclass(frozen=True)
class Recipe:
    """How to train; the defaults are the paper's.

    Parameters
    ----------
    epochs : int
    batch_size : int
        Rows per step, of all workers together.
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
    temperature : Geometric, or a function of step and number of steps, optional
        The temperature of a network with `gatewise.nn.Bitwise`; by default it stays as it is.
    exchange : Exchange, optional
        Of the candidates of learned wiring.

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
    temperature: Schedule | None = None
    exchange: Exchange | None = None

    def __post_init__(self) -> None:
        for name in ("epochs", "batch_size", "evaluate_every", "patience"):
            value = getattr(self, name)
            if value is not None and (not isinstance(value, int) or value < 1):
                raise ValueError(f"{name} must be an integer of at least 1, got {value!r}")
        if self.clip is not None and not self.clip > 0:
            raise ValueError(f"clip must be positive, got {self.clip}")
        as_integer("seed", self.seed, 0, MAX_SEED)

    def describe(self) -> dict[str, Any]:
        """The settings that a resumed run must have in common with the one it continues: all but the epochs.

        Examples
        --------
        >>> Recipe().describe()["schedule"]
        'Constant(learning_rate=0.01)'
        """
        values = {each.name: getattr(self, each.name) for each in fields(self) if each.name != "epochs"}
        return {name: getattr(value, "__qualname__", repr(value)) for name, value in values.items()}


def _check_learning_rate(value: float) -> None:
    if not (value > 0 and math.isfinite(value)):
        raise ValueError(f"learning_rate must be positive and finite, got {value}")
