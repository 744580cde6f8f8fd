"""Default sizes: how large a network, and how long to train it, for a table of a given size.

In: numbers of rows, bits and groups. Out: a `Plan`.
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class Plan:
    """What a rule, or the user, chose.

    Parameters
    ----------
    width : int
        Gates a layer, a multiple of the number of groups.
    depth : int
        Layers.
    batch_size : int
    epochs : int
    validates : bool
        Whether rows are set aside to stop early and to select the best circuit.
    """

    width: int
    depth: int
    batch_size: int
    epochs: int
    validates: bool

    @property
    def evaluate_every(self) -> int:
        """Epochs between two evaluations, which number a hundred or two."""
        return max(1, self.epochs // 100)


SIZES = ((10_000, 4_000, 20_000), (1_000, 2_000, 10_000), (0, 500, 2_000))
"""From so many rows on: gates a layer, and steps."""

DEPTH = 6
BATCH_SIZE = 100
GROUP_SIZE = 300
"""Gates of the last layer for each class, at least."""

MIN_VALIDATED = 1_000
"""With fewer rows, a tenth of them says too little about which circuit is best."""


def choose_plan(n_rows: int, n_bits: int, n_groups: int) -> Plan:
    """The defaults: the more rows, the more gates and steps.

    Six layers of 500 gates and 2,000 steps of 100 rows below 1,000 rows, 2,000 gates and 10,000 steps below 10,000,
    4,000 gates and 20,000 steps from there on. A layer has 300 gates a group at least, and enough to read every bit.
    Circuits are validated from 1,000 rows on.

    Parameters
    ----------
    n_rows : int
        Rows to learn from, at least one.
    n_bits : int
        Bits that they are encoded with.
    n_groups : int
        Classes, or outputs of a regression.

    Examples
    --------
    >>> choose_plan(n_rows=32_000, n_bits=200, n_groups=2)
    Plan(width=4000, depth=6, batch_size=100, epochs=62, validates=True)
    """
    width, n_steps = next(sizes for least, *sizes in SIZES if n_rows >= least)
    width = max(width, GROUP_SIZE * n_groups, -(-n_bits // 2))
    return Plan(width, DEPTH, BATCH_SIZE, max(1, n_steps * BATCH_SIZE // n_rows), n_rows >= MIN_VALIDATED)
