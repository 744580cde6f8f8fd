"""Boosting: terms that are grown one after the other, each on what those before it left.

In: bit-planes of a table, and targets. Out: `Terms`, whose circuit counts their sums.
Invariant: the same settings and rows give the same terms, whatever the number of threads.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gatewise import _native
from gatewise.bits import Planes
from gatewise.boost.terms import Terms
from gatewise.encode import Encoder
from gatewise.encode.columns import Numeric
from gatewise.machine import check_threads

LOSSES = ("logistic", "softmax", "squared", "quantile", "poisson")
MAX_BITS = 255  # per column
MAX_QUESTIONS = 6
SETTINGS = (
    *("n_questions", "value_bits", "learning_rate", "l2", "unit", "sparsity"),
    *("max_scores", "row_share", "max_rows", "column_share", "n_sketches", "n_pairs", "quantile"),
)

Rows = NDArray[np.uint32]


@dataclass(frozen=True, eq=False)
class EncodedTable:
    """A table as bits.

    Parameters
    ----------
    encoder : Encoder
        No column has more than 255 bits.
    planes : Planes
    weights : float array, shape (n_rows,), or None
        Rows of weight 0 are left out.
    held_out : uint32 array, optional
        Rows that the number of terms is chosen by, and no term is grown on; see `gatewise.boost.held_out`.
    directions : int8 array, shape (n_columns,), optional
        1 for columns of numbers along which the score never falls, -1 for those along which it never rises, else 0.
        There must be one score.
    """

    encoder: Encoder
    planes: Planes
    weights: NDArray[np.floating[Any]] | None = None
    held_out: Rows | None = None
    directions: NDArray[np.int8] | None = None

    @property
    def rows(self) -> Rows:
        """Rows that terms are grown on."""
        if self.grown_weights is None:
            return np.arange(self.planes.n_rows, dtype=np.uint32)
        return np.flatnonzero(self.grown_weights).astype(np.uint32)

    @property
    def grown_weights(self) -> NDArray[np.floating[Any]] | None:
        """Weights of the rows, 0 of those that are held out."""
        if self.weights is None or self.held_out is None:
            return self.weights
        weights = self.weights.copy()
        weights[self.held_out] = 0
        return weights


@dataclass(frozen=True, eq=False)
class Goal:
    """What scores are to reach.

    Parameters
    ----------
    loss : {"logistic", "softmax", "squared", "quantile", "poisson"}
    targets : float32 array, shape (n_rows, n_targets)
        0 or 1 for "logistic", the number of the class for "softmax", else a value per score; for "poisson" none is
        negative.
    base : float32 array, shape (n_scores,)
        Scores before the first term.
    """

    loss: str
    targets: NDArray[np.float32]
    base: NDArray[np.float32]


class Split(NamedTuple):
    """Rows to learn from, and others to validate with, in random order."""

    training: Rows
    validation: Rows


class Grown(NamedTuple):
    """Terms, and what validation rows say of them; without such rows there are no losses and no scores.

    `losses` are their mean loss without terms and after each one, `n_enough` is the least number of terms with nearly
    all of the best gain, and `scores`, (n_validated, n_scores), are those of the rows after so many terms, split after
    split.
    """

    terms: Terms
    losses: NDArray[np.float64]
    n_enough: int
    scores: NDArray[np.float32]


@dataclass(frozen=True)
class Boosting:
    """How terms are grown.

    Parameters
    ----------
    n_questions : int
        Bits that a term reads, 1 to 6.
    value_bits : int
        Binary digits of a term's values, 1 to 8, besides a common power of two.
    learning_rate : float
        Share of a Newton step that a term takes.
    l2 : float
        Added to the second derivative of every cell: cells of few rows take smaller steps.
    unit : float
        What 1 in a value adds to a score.
    sparsity : float
        A term leaves the scores alone for which it would gain less than this share of its largest gain.
    max_scores : int
        Scores that a term adds to, of those with the largest errors left.
    row_share : float
        Share of the rows that a term is grown on; the next term takes the rows that follow.
    max_rows : int
        Largest number of rows that a term is grown on.
    column_share : float
        Share of the columns that a term asks about, drawn at random.
    n_sketches : int
        Random sums of the scores' errors that questions are chosen by, if there are more scores; 0: the scores.
    n_pairs : int
        Pairs of questions that are tried besides the best question, from a screen for interactions.
    quantile : float
        Share of the rows whose values are to be below the scores, for the loss "quantile".
    max_terms : int
    patience : int
        Terms without a lower loss of the validation rows, after which growing ends.
    enough : float
        Share of the largest gain of the validation rows for which no more terms are needed.
    validation_fraction : float or None
        Share of the rows that the number of terms is chosen by; None: there are `max_terms`.
    seed : int
        Of the order of rows.
    may_deepen : bool
        Whether terms of `MAX_QUESTIONS` are tried, too; see `gatewise.boost.depth`.
    sharpness : float, optional
        Factor of the scores of classes; chosen by validated rows if it is not given.
    """

    n_questions: int = 3
    value_bits: int = 2
    learning_rate: float = 0.2
    l2: float = 1.0
    unit: float = 1 / 160
    sparsity: float = 0.0
    max_scores: int = 32
    row_share: float = 0.85
    max_rows: int = 32_768
    column_share: float = 0.7
    n_sketches: int = 4
    n_pairs: int = 4
    quantile: float = 0.5
    max_terms: int = 1000
    patience: int = 50
    enough: float = 0.999
    validation_fraction: float | None = 0.1
    seed: int = 0
    may_deepen: bool = False
    sharpness: float | None = None

    def grow(self, table: EncodedTable, goal: Goal, splits: Sequence[Split], *, threads: int = 1) -> Grown:
        """Grow terms on each split, all in step, for as long as validation rows gain; those of the last one are kept.

        Without validation rows, there are `max_terms`.
        """
        columns = table.encoder.columns
        n_ordered = [len(each.thresholds) if isinstance(each, Numeric) else 0 for each in columns]
        n_bits = [each.n_bits for each in columns]
        weights = np.zeros(0) if table.weights is None else table.weights
        directions = np.zeros(len(columns), np.int8) if table.directions is None else table.directions
        settings = {name: getattr(self, name) for name in SETTINGS}
        bits, values, losses, n_enough, scores = _native.grow_terms(
            planes=table.planes.words,
            n_rows=table.planes.n_rows,
            n_ordered=np.array(n_ordered, np.uint32),
            n_single=np.subtract(n_bits, n_ordered).astype(np.uint32),
            directions=directions,
            targets=goal.targets,
            weights=weights.astype(np.float32),
            training=[split.training for split in splits],
            validation=[split.validation for split in splits],
            loss=LOSSES.index(goal.loss),
            base=goal.base,
            settings=settings,
            max_terms=self.max_terms,
            patience=self.patience,
            enough=self.enough,
            threads=check_threads(threads),
        )
        n_terms = len(bits) // self.n_questions
        bits = bits.reshape(n_terms, self.n_questions)
        values = values.reshape(n_terms, 1 << self.n_questions, len(goal.base))
        scores = scores.reshape(-1, len(goal.base))
        return Grown(Terms(table.encoder.n_bits, bits, values), losses, n_enough, scores)
