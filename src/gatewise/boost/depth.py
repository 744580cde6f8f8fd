"""Depth: whether terms of more questions are worth their gates.

In: terms of few questions that were grown, and the rows that they were validated by. Out: settings of deeper terms, if
rows that were not learned from ask for them.
"""

from collections.abc import Sequence
from dataclasses import replace

from gatewise.boost.learner import MAX_QUESTIONS, Boosting, EncodedTable, Goal, Grown, Split

LEAST_TRIED = 64
"""Deep terms that are tried at least."""

CELLS_ALLOWED = 2
"""Deep terms that are tried have so many times the cells of the others together, about as many times their gates."""

LOWER = 0.95
"""Share of the others' loss that they must get below."""

LEAST_LOWER = 5.0
"""How much lower the loss of all validated rows together must be: in few rows, less is chance."""


def find_deeper(
    boosting: Boosting, table: EncodedTable, goal: Goal, splits: Sequence[Split], grown: Grown, *, threads: int
) -> Boosting | None:
    """Settings of terms with the most questions, if few of them have a clearly lower loss; else None.

    A rule of many columns together, as "just two of six", needs all of them in one term, so all columns are asked.

    Parameters
    ----------
    boosting : Boosting
        How `grown` was grown.
    table : EncodedTable
    goal : Goal
    splits : sequence of Split
        Only those with validation rows are looked at.
    grown : Grown
    threads : int
    """
    if table.encoder.n_bits <= boosting.n_questions:
        return None
    deeper = replace(boosting, n_questions=MAX_QUESTIONS, column_share=1.0, may_deepen=False)
    n_affordable = CELLS_ALLOWED * grown.n_enough >> (MAX_QUESTIONS - boosting.n_questions)
    tried = replace(deeper, max_terms=min(max(n_affordable, LEAST_TRIED), boosting.max_terms))
    validated = [split for split in splits if len(split.validation)]
    least, others = tried.grow(table, goal, validated, threads=threads).losses.min(), grown.losses.min()
    n_validated = sum(len(split.validation) for split in validated)
    return deeper if least < LOWER * others and (others - least) * n_validated > LEAST_LOWER else None
