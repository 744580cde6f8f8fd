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


def choose_plan(n_rows: int, n_bits: int, n_groups: int) -> Plan:
    """The defaults.

    Examples
    --------
    >>> choose_plan(n_rows=30_000, n_bits=200, n_groups=2)
    Plan(width=2000, depth=4, batch_size=100, epochs=33, validates=True)
    """
    width = max(2_000 if n_rows >= 1_000 else 500, 300 * n_groups, -(-n_bits // 2))
    n_steps = 10_000 if n_rows >= 1_000 else 2_000
    batch_size = 100
    epochs = max(1, n_steps * batch_size // n_rows)
    return Plan(width, 4, batch_size, epochs, n_rows >= 1_000)
