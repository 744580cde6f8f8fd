"""Asking: a question as cases, each of which is a region and forms that are all at least 0 just at counterexamples.

In: models and conditions. Out: verdicts.
Invariant: a question is proved if no case has a point, refuted if a point is confirmed by `Model.predict`.
"""

import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, TypeAlias, TypedDict

import numpy as np
from numpy.typing import NDArray

from gatewise.encode import Encoder
from gatewise.heads import Affine, Classes, Head
from gatewise.model import Model
from gatewise.verify.answers import Tally, Verdict
from gatewise.verify.forms import Forms, View
from gatewise.verify.limits import Limit
from gatewise.verify.proving.decide import Change, Method, check_method, decide
from gatewise.verify.proving.files import write_proof
from gatewise.verify.space import Region, Row, Space

Numbers = NDArray[np.int64]
FIRST_SHARE, FIRST_SECONDS = 0.05, 0.5
"""What part of the time each case gets before all that are undecided share the rest."""

Confirm: TypeAlias = Callable[[tuple[Row, ...]], tuple[Any, ...] | None]
"""Gives what models answer to the rows of a counterexample, or None if they are none."""


class How(TypedDict, total=False):
    """How long and in which way an answer is looked for; see `always`."""

    limit: float
    method: Method
    proof: str | None


@dataclass(frozen=True)
class Case:
    """One way in which a claim can fail.

    Parameters
    ----------
    region : Region
    make_forms : function
        Gives the forms, all of which are at least 0 just where it fails.
    rows : function of a point
        The rows of a counterexample.
    change : Change, optional
        From where, and in how many columns, a counterexample may differ.
    """

    region: Region
    make_forms: Callable[[], Forms]
    rows: Callable[[Numbers], tuple[Row, ...]]
    change: Change | None = None


@dataclass(frozen=True, eq=False)
class Question:
    """A question about models that read the same columns.

    Parameters
    ----------
    models : sequence of Model
    limit : float
        Seconds.
    method : Method
    encoders : sequence of Encoder, optional
        Those of the models if nothing else is said.
    proof : str, optional
        A folder for files of formulas and proofs.
    """

    models: Sequence[Model]
    seconds: float
    method: Method = "auto"
    tally: Tally = field(default_factory=Tally)
    encoders: Sequence[Encoder] = ()
    proof: str | None = None

    def __post_init__(self) -> None:
        for model in self.models:
            if not isinstance(model, Model):
                raise TypeError(f"model must be a Model, got {type(model).__name__}")
        check_method(self.method)
        if self.proof is not None:
            os.makedirs(self.proof, exist_ok=True)
        self.limit.is_over()

    @cached_property
    def limit(self) -> Limit:
        """Until when there must be an answer."""
        return Limit(self.seconds)

    @cached_property
    def space(self) -> Space:
        """All rows."""
        return Space(self.encoders or [model.encoder for model in self.models])

    def counts(self, fixed: Sequence[NDArray[np.int8]]) -> Forms:
        """Counts of all groups, first of all models with the first bits fixed, then with the second, and so on."""
        views = [
            View(model.circuit, self.space.inputs(i), bits) for bits in fixed for i, model in enumerate(self.models)
        ]
        return Forms.of(views, self.space.n_bits)

    @cached_property
    def all_counts(self) -> Forms:
        """Counts of all groups of all models, with no bit fixed."""
        return self.counts([np.full(self.space.n_bits, -1, np.int8)])

    def settle(self, claim: str, cases: Iterable[Case], confirm: Confirm) -> Verdict:
        """Decide the cases one after the other; see `settle`."""
        return settle(claim, cases, confirm, self.limit, self.method, tally=self.tally, proof=self.proof)


def settle(
    claim: str,
    cases: Iterable[Case],
    confirm: Confirm,
    limit: Limit,
    method: Method,
    *,
    tally: Tally | None = None,
    proof: str | None = None,
) -> Verdict:
    """Decide the cases of a claim one after the other.

    Parameters
    ----------
    claim : str
        In words.
    cases : iterable of Case
    confirm : function of rows
        Gives the answers to a counterexample, as a tuple, or None if it is none.
    limit : Limit
    method : Method
    tally : Tally, optional
        What was done before.
    proof : str, optional
        A folder for files of the formula and of the proof of each case.
    """
    tally = tally or Tally()
    waiting, is_first, is_single = cases, True, isinstance(cases, list) and len(cases) == 1
    while True:
        undecided = []
        for number, case in enumerate(waiting):
            share = limit.part(FIRST_SHARE, FIRST_SECONDS) if is_first and not is_single and proof is None else limit
            if proof is None:
                decision = decide(case.make_forms(), case.region, share, method, case.change)
            else:
                decision = write_proof(case.make_forms(), case.region, share, case.change, f"{proof}/case_{number}")
            tally.add(decision.n_gates, decision.solver)
            if decision.point is not None:
                rows = case.rows(decision.point)
                answers = confirm(rows)
                if answers is None:
                    raise RuntimeError(f"counterexample must be confirmed by Model.predict, got {rows!r:.500}")
                return Verdict(claim, "refuted", tally.effort(limit.spent()), rows, answers)
            undecided += [case] * (not decision.is_decided)
        if not undecided or limit.is_over() or not is_first or proof is not None:
            return Verdict(claim, "undecided" if undecided else "proved", tally.effort(limit.spent()))
        waiting, is_first = undecided, False


def predict_one(model: Model, row: Row) -> Any:
    """The model's answer to a row, as a Python value, or a tuple of values."""
    answer = model.predict([row])[0]
    return (
        tuple(answer.tolist())
        if isinstance(answer, np.ndarray)
        else answer.item()
        if isinstance(answer, np.generic)
        else answer
    )


def label_idx(head: Head, answer: Any) -> int:
    """The group of a label; raises ValueError if there is none."""
    labels = head.labels if isinstance(head, Classes) else ()
    if answer not in labels:
        raise ValueError(f"answer must be one of the model's classes {labels!r:.200}, got {answer!r:.60}")
    return labels.index(answer)


def winning(i: int, n: int) -> tuple[Numbers, Numbers]:
    """Multiples of n counts, and constants: forms that are all at least 0 just where group i is the answer.

    Of equal counts the first one is the answer, so a group must exceed those before it.

    Examples
    --------
    >>> winning(1, 3)[0].tolist(), winning(1, 3)[1].tolist()
    ([[-1, 1, 0], [0, 1, -1]], [-1, 0])
    """
    others = [j for j in range(n) if j != i]
    matrix = np.zeros((n - 1, n), np.int64)
    matrix[:, i] = 1
    matrix[np.arange(n - 1), others] = -1
    return matrix, np.array([-1 if j < i else 0 for j in others], np.int64)


def beating(j: int, i: int, n: int) -> tuple[Numbers, Numbers]:
    """Multiples of n counts, and a constant: a form that is at least 0 just where group j is preferred to group i."""
    matrix = np.zeros((1, n), np.int64)
    matrix[0, [j, i]] = 1, -1
    return matrix, np.array([-1 if i < j else 0], np.int64)


def find_answers(model: Model, answers: Any) -> list[int]:
    """Groups of a label or of several labels."""
    listed = list(answers) if isinstance(answers, list | tuple | set | frozenset) else [answers]
    return [label_idx(model.head, answer) for answer in listed]


def value_forms(head: Affine, wanted: Any) -> tuple[Numbers, Numbers]:
    """Multiples of the count, and constants: forms that are both at least 0 just where the value lies in a pair."""
    low, high = check_pair(head, wanted)
    n_below, n_kept = count_values(head, low, high)
    return np.array([[1], [-1]]), np.array([-n_below, n_kept - 1])


def check_pair(head: Head, pair: Any) -> tuple[float, float]:
    """The least and the greatest value that are meant; raises ValueError if it is no pair for one value."""
    if isinstance(head, Classes) or head.n_groups != 1 or not isinstance(pair, tuple) or len(pair) != 2:
        raise ValueError(f"values must be given as a pair (low, high) for a model of one value, got {pair!r:.60}")
    return -np.inf if pair[0] is None else float(pair[0]), np.inf if pair[1] is None else float(pair[1])


def count_values(head: Affine, low: float, high: float) -> tuple[int, int]:
    """How many counts give values below `low`, and how many give at most `high`; values rise with counts."""
    values = head.scores(np.arange(head.group_size + 1)[:, np.newaxis])[:, 0]
    return int((values < low).sum()), int((values <= high).sum())
