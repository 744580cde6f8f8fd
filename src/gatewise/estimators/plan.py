"""What a fit chose, and why.

In: an encoder, how rows were set aside, and what was grown. Out: a `TermPlan`, which prints as a few lines.
"""

from dataclasses import dataclass
from typing import Literal

from gatewise.boost.fit import MAX_FOLDED, MIN_FOLDED, count_parts
from gatewise.encode import Encoder
from gatewise.estimators.linear import MIN_SPLIT as MIN_LINEAR_SPLIT
from gatewise.estimators.screen import MAX_COLUMNS, Screening

MAX_NAMED = 8
NOT_SCREENED = Screening()

Kind = Literal["none", "folds", "share", "eval_set"]


@dataclass(frozen=True)
class Validation:
    """How the number of terms was chosen: by how many rows, and why."""

    kind: Kind
    n_rows: int = 0
    reason: str = "y, or each of the columns, has one value only: there is nothing to learn"


@dataclass(frozen=True)
class Size:
    """How many terms there are, how many bits each reads, and whether these are more because validated rows ask."""

    n_terms: int = 0
    depth: int = 0
    is_deepened: bool = False


NO_TERMS = Size()


@dataclass(frozen=True)
class TermPlan:
    """What was chosen for a table.

    Parameters
    ----------
    n_rows : int
        Rows that terms are grown on.
    n_columns, n_bits : int
        Columns of the table, and bits that they were encoded with.
    dropped : tuple of str
        Names of columns that have no bits, and so no influence.
    validation : {"none", "folds", "share", "eval_set"}
        How the number of terms was chosen: not at all, by all rows in turn, by a share of the rows, or by rows given.
    n_validated : int
        Rows that the number of terms was chosen by.
    n_terms : int
    depth : int
        Bits that a term reads.
    reasons : tuple of str
        Why, in sentences.

    Examples
    --------
    >>> from gatewise import LogicClassifier
    >>> clf = LogicClassifier(random_state=0).fit([[0, 7], [1, 7]] * 50, [0, 1] * 50)
    >>> print(clf.plan_)
    100 rows, 2 columns, 1 bit; 139 terms
    columns without bits: 'x1'
    each row was set aside once, in 5 folds, because there are at most 5,000
    the number of terms is the least with nearly all of the best gain on these rows
    """

    n_rows: int
    n_columns: int
    n_bits: int
    dropped: tuple[str, ...]
    validation: Kind
    n_validated: int
    n_terms: int
    depth: int
    reasons: tuple[str, ...]

    def __str__(self) -> str:
        head = f"{_count(self.n_rows, 'row')}, {_count(self.n_columns, 'column')}, {_count(self.n_bits, 'bit')}"
        return "\n".join([f"{head}; {_count(self.n_terms, 'term')}", *self.reasons])


def describe_fit(
    encoder: Encoder,
    n_rows: int,
    validation: Validation,
    size: Size = NO_TERMS,
    screening: Screening = NOT_SCREENED,
) -> TermPlan:
    """Put what was chosen into words.

    Parameters
    ----------
    encoder : Encoder
    n_rows : int
        Rows that terms are grown on.
    validation : Validation
    size : Size
    screening : Screening
    """
    dropped = _find_dropped(encoder)
    reasons = [validation.reason]
    if screening.is_linear:
        reasons = [
            "each term reads one bit: a linear model, because the table is sparse and has more than "
            f"{MAX_COLUMNS:,} columns; its penalty was chosen by the rows set aside",
            *reasons,
        ]
    if screening.kept is not None:
        reasons = [f"{len(screening.kept):,} columns were kept, those that explain most of y by themselves", *reasons]
    if dropped:
        more = f" and {len(dropped) - MAX_NAMED:,} more" if len(dropped) > MAX_NAMED else ""
        names = ", ".join(map(repr, dropped[:MAX_NAMED]))
        reasons = [f"columns without bits: {names}{more}", *reasons]
    if validation.kind != "none" and not screening.is_linear:
        reasons.append("the number of terms is the least with nearly all of the best gain on these rows")
    if size.is_deepened:
        reasons.append(f"terms read {size.depth} bits, because few of them have a clearly lower loss on these rows")
    return TermPlan(
        n_rows,
        len(encoder.table_names),
        encoder.n_bits,
        dropped,
        validation.kind,
        validation.n_rows,
        size.n_terms,
        size.depth,
        tuple(reasons),
    )


def choose_validation(
    n_rows: int, n_given: int | None, fraction: float | None, screening: Screening = NOT_SCREENED
) -> Validation:
    """How `gatewise.boost` chooses the number of terms.

    Parameters
    ----------
    n_rows : int
        Rows that terms are grown on.
    n_given : int or None
        Rows that were given to choose the number of terms by.
    fraction : float or None
        Share of the rows to set aside; None if none are.
    screening : Screening

    Examples
    --------
    >>> choose_validation(20_000, None, 0.1)
    Validation(kind='share', n_rows=2000, reason='one row in 10 was set aside, because there are more than 5,000')
    """
    if n_given is not None:
        return Validation("eval_set", n_given, f"{_count(n_given, 'row')} were given as eval_set")
    if screening.is_linear:
        why = "one row in 5 was set aside" if n_rows >= MIN_LINEAR_SPLIT else "no rows were set aside: they are too few"
        return Validation("share", n_rows // 5, why) if n_rows >= MIN_LINEAR_SPLIT else Validation("none", reason=why)
    if fraction is None:
        return Validation("none", reason="no rows were set aside, because early_stopping is False")
    if screening.set_aside is not None:
        n_aside = len(screening.set_aside)
        return Validation("share", n_aside, f"{n_aside:,} rows were set aside, by which columns were not chosen either")
    if n_rows < MIN_FOLDED:
        return Validation("none", reason=f"no rows were set aside, because fewer than {MIN_FOLDED} say nothing")
    n_parts = count_parts(n_rows, fraction)
    if n_rows <= MAX_FOLDED:
        why = f"each row was set aside once, in {n_parts} folds, because there are at most {MAX_FOLDED:,}"
        return Validation("folds", n_rows, why)
    why = f"one row in {n_parts} was set aside, because there are more than {MAX_FOLDED:,}"
    return Validation("share", n_rows // n_parts, why)


def _find_dropped(encoder: Encoder) -> tuple[str, ...]:
    read = {encoder.table_idx[i] for i, column in enumerate(encoder.columns) if column.n_bits}
    return tuple(name for i, name in enumerate(encoder.table_names) if i not in read)


def _count(n: int, noun: str) -> str:
    return f"{n:,} {noun}" + "s" * (n != 1)
