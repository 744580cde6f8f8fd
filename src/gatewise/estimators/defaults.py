"""Default sizes: how large a network is, and how long it is trained, for a table of a given size.

In: numbers of rows, bits and groups. Out: a `Plan`.
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class Plan:
    """The sizes of a network and of its training.

    Parameters
    ----------
    width : int
        Gates per layer, a multiple of the number of groups.
    depth : int
        Number of layers.
    batch_size : int
        Rows per step.
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
        """Epochs between two evaluations, so that a training has between one and two hundred of them."""
        return max(1, self.epochs // 100)


SIZES = ((10_000, 4_000, 20_000), (1_000, 2_000, 10_000), (0, 500, 2_000))
"""From this number of rows on: gates per layer, and number of steps."""

DEPTH = 6
BATCH_SIZE = 100
GROUP_SIZE = 300
"""Least number of gates per class and layer."""

MIN_VALIDATED = 1_000
"""A tenth of fewer rows would say too little about which circuit is best."""


def choose_plan(n_rows: int, n_bits: int, n_groups: int) -> Plan:
    """Choose the defaults: the more rows, the more gates and steps.

    Below 1,000 rows there are six layers of 500 gates and 2,000 steps of 100 rows; below 10,000 rows 2,000 gates per
    layer and 10,000 steps; from there on 4,000 gates per layer and 20,000 steps. A layer has at least 300 gates per
    group, and enough gates to read every bit. Circuits are validated from 1,000 rows on.

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
    epochs = max(1, n_steps * BATCH_SIZE // max(n_rows, BATCH_SIZE))  # an epoch has one step at least
    return Plan(width, DEPTH, BATCH_SIZE, epochs, n_rows >= MIN_VALIDATED)
