"""Limits: how long a question may take."""

import math
import time
from dataclasses import dataclass, field

from gatewise.checks import as_number

LIMIT = 60.0
"""Seconds that a question may take if nothing else is said."""


@dataclass(frozen=True)
class Limit:
    """A moment by which a question must be answered.

    Examples
    --------
    >>> Limit(60.0).left() > 59.0, Limit(0.0).is_over()
    (True, True)
    """

    seconds: float
    start: float = field(default_factory=time.monotonic)

    def __post_init__(self) -> None:
        if not as_number("limit", self.seconds) >= 0:
            raise ValueError(f"limit must be seconds, at least 0, got {self.seconds!r:.60}")

    def left(self) -> float:
        """Seconds that are left."""
        return max(0.0, self.start + self.seconds - time.monotonic())

    def spent(self) -> float:
        """Seconds that have passed."""
        return time.monotonic() - self.start

    def is_over(self) -> bool:
        """Whether none are left."""
        return self.left() <= 0.0

    def part(self, share: float, least: float = 0.0) -> "Limit":
        """A limit for a part of the work: a share of the seconds that are left, but at least so many of them."""
        left = self.left()
        return Limit(min(left, max(share * left, least)) if math.isfinite(left) else left)
