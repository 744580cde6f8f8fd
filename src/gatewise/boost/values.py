"""Values from a table's bits: means, quantiles or means of counts, and the head that reads the sums of terms.

In: a table as bits, and values. Out: a `Model` of one value per output.
Invariant: without terms, the model answers what is best for all rows: the mean, the quantile.
"""

from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from gatewise.boost.fit import Fitted, choose_terms, pad_groups
from gatewise.boost.learner import Boosting, EncodedTable, Goal
from gatewise.heads import Affine, Exponential
from gatewise.model import Model
from gatewise.passes import simplify

Weights = NDArray[np.floating[Any]] | None


@dataclass(frozen=True)
class ValueLoss:
    """What is meant by a good value.

    Parameters
    ----------
    kind : {"squared_error", "quantile", "poisson"}
        Values are near the mean, above a share of the targets, or near the mean of targets that are never negative and
        vary as much as their mean.
    quantile : float
        That share, between 0 and 1.

    Examples
    --------
    >>> ValueLoss("quantile", 0.9).best(np.arange(11.0)[:, np.newaxis], None).tolist()
    [9.0]
    >>> ValueLoss("poisson").measure(np.array([[1.0, 2.0]]), np.array([[1.0, 2.0]]), None)
    0.0
    """

    kind: Literal["squared_error", "quantile", "poisson"] = "squared_error"
    quantile: float = 0.5

    def best(self, values: NDArray[np.float64], weights: Weights) -> NDArray[np.float64]:
        """The best one answer for all rows, (n_outputs,)."""
        if self.kind != "quantile":
            mean: NDArray[np.float64] = np.average(values, axis=0, weights=weights)
            return mean
        columns = np.arange(values.shape[1])
        counted = np.ones(len(values)) if weights is None else weights
        order = np.argsort(values, axis=0, kind="stable")
        below = np.cumsum(counted[order], axis=0) >= self.quantile * counted.sum()
        found: NDArray[np.float64] = values[order[below.argmax(axis=0), columns], columns]
        return found

    def measure(self, found: NDArray[np.float64], wanted: NDArray[np.float64], weights: Weights) -> float:
        """Mean loss of the rows, of several outputs the sum of theirs: squared, pinball, half the deviance."""
        if self.kind == "squared_error":
            each = np.square(found - wanted)
        elif self.kind == "quantile":
            each = np.where(found > wanted, 1 - self.quantile, -self.quantile) * (found - wanted)
        else:
            logs = np.log(np.where(wanted > 0, wanted, 1.0) / found)
            each = found - wanted + np.where(wanted > 0, wanted * logs, 0.0)
        return float(np.average(each.sum(axis=1), weights=weights))


SQUARED_ERROR = ValueLoss()


def fit_values(
    boosting: Boosting,
    table: EncodedTable,
    values: NDArray[np.float64],
    *,
    loss: ValueLoss = SQUARED_ERROR,
    threads: int = 1,
) -> Fitted:
    """Fit a model of values.

    Parameters
    ----------
    boosting : Boosting
    table : EncodedTable
    values : float64 array, shape (n_rows, n_outputs)
        For "poisson" one output, never negative and somewhere positive.
    loss : ValueLoss
    threads : int
    """
    weights = table.grown_weights
    best = loss.best(values, weights)
    if loss.kind == "poisson":
        center, spread, base = np.zeros(1), np.ones(1), np.log(best)
    else:
        center, spread = describe_values(values, weights)
        base = np.zeros(len(center)) if loss.kind == "squared_error" else (best - center) / spread
    value_bits = boosting.value_bits + 1  # values need more resolution than classes
    boosting = replace(boosting, value_bits=value_bits, quantile=loss.quantile)
    targets = np.ascontiguousarray((values - center) / spread, np.float32)
    goal = Goal(loss.kind.removesuffix("_error"), targets, base.astype(np.float32))
    terms, losses, boosting = choose_terms(boosting, table, goal, threads)
    circuit = pad_groups(simplify(terms.circuit()), np.zeros(len(center), np.int64))
    group_size = circuit.n_outputs // circuit.n_groups
    scale = spread * boosting.unit * group_size
    offset = center + spread * base + spread * boosting.unit * terms.offsets
    kind = Exponential if loss.kind == "poisson" else Affine
    head = kind(tuple(scale.tolist()), tuple(offset.tolist()), group_size)
    return Fitted(Model.build(table.encoder, circuit, head), len(terms.bits), losses[1:], boosting)


def describe_values(values: NDArray[np.float64], weights: Weights) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Weighted mean and standard deviation of each output; a deviation of 0 becomes 1.

    Examples
    --------
    >>> [each.tolist() for each in describe_values(np.array([[1.0, 5.0], [3.0, 5.0]]), None)]
    [[2.0, 5.0], [1.0, 1.0]]
    """
    columns = values.reshape(len(values), -1)
    mean = np.average(columns, axis=0, weights=weights)
    centered = columns - mean
    most = np.abs(centered).max(axis=0, initial=0.0)
    most = np.where(most > 0, most, 1.0)  # whose square may be too large, or too small
    deviation = most * np.sqrt(np.average(np.square(centered / most), axis=0, weights=weights))
    return mean, np.where(deviation > 0, deviation, 1.0)
