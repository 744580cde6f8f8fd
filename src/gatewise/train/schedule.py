"""Learning rates. In: a step and the number of steps of the run. Out: the rate of that step."""

import math
from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Constant:
    """The same rate at every step, as in the paper.

    Examples
    --------
    >>> Constant(0.01)(5, 100)
    0.01
    """

    rate: float = 0.01

    def __post_init__(self) -> None:
        _check_rate(self.rate)

    def __call__(self, step: int, n_steps: int) -> float:
        return self.rate


@dataclass(frozen=True)
class Cosine:
    """A linear rise to `rate`, then half a cosine down to `rate * final`.

    Parameters
    ----------
    rate : float
    warmup : float
        Share of the steps in which the rate rises.
    final : float
        Last rate as a share of `rate`.

    Examples
    --------
    >>> [round(Cosine(1.0, warmup=0.2)(step, 10), 2) for step in range(0, 10, 2)]
    [0.5, 1.0, 0.85, 0.5, 0.15]
    """

    rate: float = 0.01
    warmup: float = 0.05
    final: float = 0.0

    def __post_init__(self) -> None:
        _check_rate(self.rate)
        if not (0 <= self.warmup < 1 and 0 <= self.final <= 1):
            raise ValueError(f"warmup must be in [0, 1) and final in [0, 1], got {self.warmup} and {self.final}")

    def __call__(self, step: int, n_steps: int) -> float:
        n_rising = int(self.warmup * n_steps)
        if step < n_rising:
            return self.rate * (step + 1) / n_rising
        falling = 0.5 * (1 + math.cos(math.pi * (step - n_rising) / (n_steps - n_rising)))
        return self.rate * (self.final + (1 - self.final) * falling)


Schedule = Callable[[int, int], float]


def _check_rate(rate: float) -> None:
    if not (rate > 0 and math.isfinite(rate)):
        raise ValueError(f"rate must be positive and finite, got {rate}")
