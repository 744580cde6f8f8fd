"""Questions about all rows, or all rows that fulfil conditions: what a model can answer, and what answers depend on."""

from collections.abc import Iterator, Sequence
from functools import partial
from itertools import pairwise
from typing import Any, Literal, TypeAlias, Unpack

import numpy as np
from numpy.typing import NDArray

from gatewise.heads import Affine, Classes
from gatewise.model import Model
from gatewise.verify.answers import Bounds, Range, Verdict
from gatewise.verify.asking import (
    Case,
    How,
    Question,
    beating,
    check_pair,
    count_values,
    find_answers,
    predict_one,
    winning,
)
from gatewise.verify.forms import Forms
from gatewise.verify.limits import LIMIT
from gatewise.verify.proving.decide import Method, find_best
from gatewise.verify.space import Given, Region, Row

Numbers = NDArray[np.int64]
Multiples: TypeAlias = tuple[Numbers, Numbers]
"""Multiples of counts, and constants: forms."""


def always(
    model: Model,
    given: Given | None = None,
    *,
    then: Any,
    limit: float = LIMIT,
    method: Method = "auto",
    proof: str | None = None,
) -> Verdict:
    """Whether all rows that fulfil conditions get certain answers: a rule that the model must keep.

    Parameters
    ----------
    model : Model
    given : dict, optional
        Conditions by name of the column: a pair (low, high) of numbers, both included, None for no limit; a value; or a
        list of values, None for a missing one.
    then : label, list of labels, or pair of numbers
        The answers that are allowed; for a regression the least and the greatest value, None for no limit.
    limit : float
        Seconds after which the answer is "undecided".
    method : {"auto", "search", "sat", "sat with adders"}
        Search by bounds, a SAT solver, or first the one and then the other.
    proof : str, optional
        A folder for a formula, and a proof that it has no solution, of each way in which the rule could fail. A solver
        alone makes it, whatever `method` says.

    Examples
    --------
    >>> from gatewise import Circuit, Encoder
    >>> encoder = Encoder.fit([{"age": 17.0}, {"age": 39.0}, {"age": 50.0}])
    >>> circuit = Circuit(2, gate=[12], a=[3], b=[3], outputs=[4, 3], group_ptr=[0, 1, 2])
    >>> model = Model.build(encoder, circuit, Classes(("young", "old"), tau=1.0, group_size=1))
    >>> always(model, given={"age": (18, 40)}, then="young").status
    'proved'
    >>> verdict = always(model, given={"age": (18, 60)}, then="young")
    >>> verdict.status, verdict.counterexample, verdict.answers
    ('refuted', ({'age': 45},), ('old',))
    """
    question = Question([model], limit, method, proof=proof)
    region = question.space.region(given)
    if isinstance(model.head, Classes):
        allowed = find_answers(model, then)
        kept = [model.head.labels[i] for i in allowed]
        fails = [winning(i, model.head.n_groups) for i in range(model.head.n_groups) if i not in allowed]
    else:
        low, high = check_pair(model.head, then)
        fails = list(_leave(model.head, low, high))
    cases = [
        Case(region, partial(question.all_counts.combine, *fail), lambda point: (region.row(point),)) for fail in fails
    ]

    def confirm(rows: tuple[Row, ...]) -> tuple[Any, ...] | None:
        answer = predict_one(model, rows[0])
        is_kept = answer in kept if isinstance(model.head, Classes) else low <= answer <= high
        return None if is_kept else (answer,)

    return question.settle(f"rows{_words(given)} get {_words_of_then(then)}", cases, confirm)


def reachable(model: Model, answer: Any, given: Given | None = None, **how: Unpack[How]) -> Verdict:
    """Whether a class is never the answer; refuted by a row that gets it.

    Parameters
    ----------
    model : Model
        Of classes.
    answer : label
    given : dict, optional
        As for `always`.

    Other Parameters
    ----------------
    limit, method, proof : optional
        As for `always`.
    """
    (i,) = find_answers(model, [answer])
    assert isinstance(model.head, Classes)
    others = [label for j, label in enumerate(model.head.labels) if j != i]
    verdict = always(model, given, then=others, **how)
    claim = f"rows{_words(given)} never get {answer}"
    return Verdict(claim, verdict.status, verdict.effort, verdict.counterexample, verdict.answers)


def bounds(model: Model, given: Given | None = None, *, limit: float = LIMIT, method: Method = "auto") -> Bounds:
    """The least and the greatest score of each class, or value; which classes are ever answered; what is never read.

    Parameters
    ----------
    model, given, limit, method
        As for `always`.

    Returns
    -------
    Bounds
        Where time was up, limits that no row exceeds, beside what rows were found to reach.
    """
    question = Question([model], limit, method)
    region = question.space.region(given)
    head, n = model.head, model.head.n_groups
    counts = question.all_counts.fold(region.fixed_bits())
    names = head.labels if isinstance(head, Classes) else [f"value {k}" for k in range(n)] if n > 1 else ["value"]
    shares = iter(np.arange(2 * n + (n if isinstance(head, Classes) else 0), 0, -1).tolist())
    verdicts = {}
    for label in (
        head.labels if isinstance(head, Classes) else ()
    ):  # often fast: the ranges get what is left of the time
        part = question.limit.part(1 / next(shares))
        verdicts[label] = reachable(model, label, given, limit=part.seconds, method=method)
        question.tally.add(verdicts[label].effort.n_gates, verdicts[label].effort.solver)
    ranges = {name: _range(question, counts, region, k, shares) for k, name in enumerate(names)}
    read = np.unique(np.searchsorted(question.space.first_bit, question.all_counts.read_bits(), side="right") - 1)
    unread = tuple(name for i, name in enumerate(question.space.names) if i not in read)
    return Bounds(ranges, verdicts, unread, question.tally.effort(question.limit.spent()))


def independent_of(
    model: Model,
    column: str,
    given: Given | None = None,
    *,
    limit: float = LIMIT,
    method: Method = "auto",
    proof: str | None = None,
) -> Verdict:
    """Whether no row's answer changes when only that column changes; refuted by two such rows.

    Parameters
    ----------
    model : Model
    column : str
    given, limit, method, proof
        As for `always`; a condition on `column` itself says between which of its values it may change.
    """
    question = Question([model], limit, method, proof=proof)
    head, n = model.head, model.head.n_groups
    none = np.zeros((1, n), np.int64)
    differences: list[Multiples] = []
    if isinstance(head, Classes):
        for i in range(n):
            matrix, constants = winning(i, n)
            for j in range(n):
                if j != i:
                    more, constant = beating(j, i, n)
                    whole = np.block([[matrix, 0 * matrix], [none, more]])
                    differences.append((whole, np.append(constants, constant)))
    else:
        for k in range(n):
            one = np.zeros((1, n), np.int64)
            one[0, k] = 1
            one = np.hstack([one, -one])
            differences += [(one, np.array([-1])), (-one, np.array([-1]))]

    def confirm(rows: tuple[Row, ...]) -> tuple[Any, ...] | None:
        answers = tuple(predict_one(model, row) for row in rows)
        return None if answers[0] == answers[1] else answers

    cases = _chain(question, column, question.space.region(given), differences, ordered=False)
    return question.settle(f"no answer{_words(given)} changes with {column} alone", cases, confirm)


def monotone(
    model: Model,
    column: str,
    given: Given | None = None,
    *,
    increasing: bool = True,
    of: Literal["score", "class"] = "score",
    limit: float = LIMIT,
    method: Method = "auto",
    proof: str | None = None,
) -> Verdict:
    """Whether raising a column of numbers never lowers the score; refuted by two rows that differ in it alone.

    Parameters
    ----------
    model : Model
        Of two classes, or of one value.
    column : str
        Missing values are left out, as they have no order.
    given, limit, method, proof
        As for `always`.
    increasing : bool
        False to ask whether it never raises the score.
    of : {"score", "class"}
        What must not be lowered: for two classes the score of the second one less that of the first, or only the class.
    """
    question = Question([model], limit, method, proof=proof)
    is_binary = isinstance(model.head, Classes) and model.head.n_groups == 2
    if not is_binary and (isinstance(model.head, Classes) or model.head.n_groups != 1):
        raise ValueError(f"model must have two classes or one value, got {model.head.n_groups} groups")
    if of not in ("score", "class") or (of == "class" and not is_binary):
        raise ValueError(f"of must be score, or class for two classes, got {of!r:.60}")
    sign = 1 if increasing else -1
    score = np.array([[-1, 1]] if is_binary else [[1]], np.int64)
    if of == "score":
        falls = [(np.hstack([sign * score, -sign * score]), np.array([-1]))]
    else:
        before, after = (1, 0) if increasing else (0, 1)
        (one, first), (other, second) = winning(before, 2), winning(after, 2)
        falls = [(np.block([[one, 0 * one], [0 * other, other]]), np.append(first, second))]

    def confirm(rows: tuple[Row, ...]) -> tuple[Any, ...] | None:
        answers = tuple(predict_one(model, row) for row in rows)
        scores = model.scores(list(rows)) @ (score[0] if of == "score" else 0 * score[0])
        if of == "score":
            return tuple(scores.tolist()) if sign * scores[0] > sign * scores[1] else None
        assert isinstance(model.head, Classes)
        places = [model.head.labels.index(answer) for answer in answers]
        return answers if sign * places[0] > sign * places[1] else None

    cases = _chain(question, column, question.space.region(given), falls, ordered=True)
    what = "score" if of == "score" else "class"
    claim = f"raising {column}{_words(given)} never {'lowers' if increasing else 'raises'} the {what}"
    return question.settle(claim, cases, confirm)


def _chain(
    question: Question, column: str, region: Region, differences: Sequence[Multiples], *, ordered: bool
) -> Iterator[Case]:
    """Cases for each two neighboring values of a column: what never changes from one to the next never changes.

    `differences` are multiples of the counts before and after, and constants.
    """
    i = question.space.column_idx(column)
    choices = region.choices[i]
    if ordered and question.space.columns[i].n_ordered == 0:
        raise ValueError(f"column must hold numbers to be raised, got the categories of {column!r:.60}")
    places = _order_values(choices) if ordered else range(len(choices))
    for before, after in pairwise(places):
        pair = region.at(i, [before]), region.at(i, [after])
        if (pair[0].bits[i] == pair[1].bits[i]).all():
            continue
        fixed = [_fix_column(each, i) for each in pair]

        def rows(point: Numbers, pair: tuple[Region, Region] = pair) -> tuple[Row, ...]:
            first = pair[0].row(point)
            return first, pair[1].row(point, {name: value for name, value in first.items() if name != column})

        counts = question.counts(fixed)
        for difference in differences:
            yield Case(pair[0], partial(counts.combine, *difference), rows)


def _order_values(choices: Any) -> list[int]:
    """Positions of choices that are single numbers, in rising order; intervals keep theirs."""
    numbers = [(cell.low if cell.value is None else cell.value[0], k) for k, (_, cell) in enumerate(choices)]
    return [k for value, k in sorted((each for each in numbers if each[0] is not None), key=lambda each: each[0])]


def _fix_column(region: Region, i: int) -> NDArray[np.int8]:
    """The bits of one column, which has one choice; -1 for all others."""
    fixed = np.full(region.space.n_bits, -1, np.int8)
    first = region.space.first_bit
    fixed[first[i] : first[i + 1]] = region.bits[i][0]
    return fixed


def _range(question: Question, counts: Forms, region: Region, k: int, shares: Iterator[int]) -> Range:
    """What the score of group k can be."""
    head, ends, reached, rows = question.models[0].head, [], [], []
    for sign in (-1, 1):
        multiples = np.zeros((1, head.n_groups), np.int64)
        multiples[0, k] = sign
        form = counts.combine(multiples, [0])
        part = question.limit.part(1 / next(shares))
        if form.weights.size == 0:
            point, low, high = np.zeros(len(region.sizes), np.int64), int(form.constants[0]), int(form.constants[0])
            question.tally.add(0, "bounds")
        else:
            found = find_best(form, region, part, goal=None)
            question.tally.add(form.circuit.n_gates, "search")
            assert found.point is not None, "the search must look at a point before its time is up"
            point, low, high = found.point, found.low, found.high
        row = region.row(point)
        rows.append(row)
        reached.append(float(question.models[0].scores([row])[0, k]))
        all_counts = np.zeros((1, head.n_groups))
        all_counts[0, k] = sign * high
        ends.append(reached[-1] if low == high else float(head.scores(all_counts)[0, k]))
    return Range(ends[0], ends[1], reached[0], reached[1], tuple(rows))


def _leave(head: Affine, low: float, high: float) -> Iterator[Multiples]:
    """Forms of counts whose value is below `low` or above `high`."""
    n_below, n_kept = count_values(head, low, high)
    if n_below:
        yield np.array([[-1]]), np.array([n_below - 1])
    if n_kept <= head.group_size:
        yield np.array([[1]]), np.array([-n_kept])


def _words(given: Given | None) -> str:
    """Conditions in words."""
    parts = [f"{name} {_words_of_condition(condition)}" for name, condition in (given or {}).items()]
    return f" with {', '.join(parts)}" if parts else ""


def _words_of_condition(condition: Any) -> str:
    if isinstance(condition, tuple):
        limits = zip(("≥", "≤"), condition, strict=True)
        return " and ".join(f"{sign} {limit}" for sign, limit in limits if limit is not None)
    values = condition if isinstance(condition, list | set | frozenset) else [condition]
    return "= " + " or ".join("missing" if value is None else str(value) for value in values)


def _words_of_then(then: Any) -> str:
    if isinstance(then, tuple):
        return f"a value {_words_of_condition(then)}"
    return " or ".join(map(str, then)) if isinstance(then, list | set) else str(then)
