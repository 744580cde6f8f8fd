"""Counterfactuals: the fewest, or the cheapest, changes of a row that give it another answer."""

import heapq
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gatewise.checks import as_integer, as_positive
from gatewise.heads import Classes
from gatewise.model import Model
from gatewise.verify.answers import Effort, describe_row
from gatewise.verify.asking import Question, beating, find_answers, predict_one, value_forms, winning
from gatewise.verify.cells import Cell
from gatewise.verify.forms import Forms
from gatewise.verify.limits import LIMIT, Limit
from gatewise.verify.proving.subsets import BLOCK, Subsets
from gatewise.verify.robustness import Center, shrink
from gatewise.verify.space import Given, Region, Row

Numbers = NDArray[np.int64]


@dataclass(frozen=True)
class Counterfactual:
    """A row that differs from another one in few columns, and gets another answer.

    Parameters
    ----------
    row : dict
    changes : dict of name to pair
        The value before and after.
    answer : label or value
    cost : float
        Sum of the costs of the columns that changed; their number if nothing was said of costs.
    """

    row: Row
    changes: dict[str, tuple[Any, Any]]
    answer: Any
    cost: float

    def __str__(self) -> str:
        before = describe_row({name: pair[0] for name, pair in self.changes.items()})
        after = describe_row({name: pair[1] for name, pair in self.changes.items()})
        return f"{after} (instead of {before}): {self.answer}"


@dataclass(frozen=True)
class Counterfactuals:
    """Changes of a row that give it another answer, the cheapest first.

    Parameters
    ----------
    answer : label or value
        What the row gets as it is.
    found : tuple of Counterfactual
        The columns that change are not all among those of another one.
    is_least : bool
        Whether it is proved that no cheaper change gives another answer.
    is_impossible : bool
        Whether it is proved that no change does.
    effort : Effort
    """

    answer: Any
    found: tuple[Counterfactual, ...]
    is_least: bool
    is_impossible: bool
    effort: Effort

    def __str__(self) -> str:
        if not self.found:
            ending = "no change gives another answer" if self.is_impossible else "time was up before a change was found"
            return f"{self.answer}: {ending} ({self.effort})"
        known = "no cheaper one exists" if self.is_least else "a cheaper one may exist"
        return "\n".join([f"{self.answer}, but with ({known}; {self.effort})", *(f"  {each}" for each in self.found)])

    def to_dict(self) -> dict[str, Any]:
        """The answer as JSON can hold it."""
        return asdict(self)


def counterfactual(
    model: Model,
    row: Row,
    *,
    to: Any = None,
    given: Given | None = None,
    fixed: Sequence[str] = (),
    costs: Mapping[str, float] | None = None,
    n: int = 1,
    limit: float = LIMIT,
) -> Counterfactuals:
    """The fewest, or the cheapest, columns of a row whose change gives it another answer, with values close to its own.

    Parameters
    ----------
    model : Model
    row : dict
    to : label, or pair of numbers, optional
        The answer that is wanted, for a regression the least and the greatest value; any other class by default.
    given : dict, optional
        Conditions on the values that columns may change to, as for `always`.
    fixed : sequence of str
        Columns that may not change.
    costs : dict, optional
        What a change costs, 1 for columns that are not named.
    n : int
        How many to look for; each changes a column that those before it do not.
    limit : float
        Seconds.

    Examples
    --------
    >>> from gatewise import Circuit, Encoder
    >>> encoder = Encoder.fit([{"age": 17.0}, {"age": 39.0}, {"age": 50.0}])
    >>> circuit = Circuit(2, gate=[12], a=[3], b=[3], outputs=[4, 3], group_ptr=[0, 1, 2])
    >>> model = Model.build(encoder, circuit, Classes(("young", "old"), tau=1.0, group_size=1))
    >>> found = counterfactual(model, {"age": 30})
    >>> found.found[0].changes, found.is_least
    ({'age': (30, 45)}, True)
    """
    question = Question([model], limit, "search")
    n = as_integer("n", n, 1, 2**31)
    center = Center(question.space, row)
    region = _open(center, given, fixed)
    seeker = _Seeker(question, center, region, to)
    prices = {question.space.column_idx(name): as_positive("costs", cost) for name, cost in (costs or {}).items()}
    seeker.run(prices, n)
    effort = Effort(question.limit.spent(), seeker.n_gates, "search")
    is_impossible = not seeker.found and not question.limit.is_over() and not seeker.is_open
    return Counterfactuals(seeker.answer, tuple(seeker.found), seeker.is_least, is_impossible, effort)


def _open(center: Center, given: Given | None, fixed: Sequence[str]) -> Region:
    """The rows that a row may be changed to, and the row itself."""
    space = center.space
    whole = space.region(given)
    kept = [space.column_idx(name) for name in fixed]
    choices: list[tuple[tuple[int, Cell], ...]] = []
    for i, (own, others) in enumerate(zip(center.at, whole.choices, strict=True)):
        if i in kept:
            choices.append((own,))
        else:
            has_own = any(at == own[0] for at, _ in others)
            choices.append(others if has_own else tuple(sorted([*others, own], key=lambda each: each[0])))
    return Region(space, tuple(choices))


class _Seeker:
    """Looks for changes in order of their cost, and keeps what it found."""

    def __init__(self, question: Question, center: Center, region: Region, to: Any) -> None:
        self._question, self._center, self._region = question, center, region
        self._model = question.models[0]
        self.answer = predict_one(self._model, center.row)
        self._start = center.locate(region)
        fixed = region.fixed_bits()
        self._ways = [
            Subsets(forms.fold(fixed), region, self._start)
            for forms in self._list_goals(to)
            if (forms.fold(fixed).highs() >= 0).all()
        ]
        self.n_gates = max((way.forms.circuit.n_gates for way in self._ways), default=0)
        self.found: list[Counterfactual] = []
        self.is_least, self.is_open = False, False
        self._used: list[frozenset[int]] = []

    def run(self, prices: Mapping[int, float], n: int) -> None:
        """Find so many, the cheapest first."""
        limit = self._question.limit
        for way, chosen in self._by_cost(prices, limit) if prices else self._by_number(limit):
            columns = frozenset(way.columns[list(chosen)].tolist())
            if any(used <= columns for used in self._used):
                continue
            found = way.find(chosen, limit)
            if found.point is not None:
                self._keep(way.forms, found.point, prices)
            else:
                self.is_open |= not found.is_complete
            if len(self.found) >= n or limit.is_over():
                return

    def _list_goals(self, to: Any) -> list[Forms]:
        """Forms that are all at least 0 where the answer is one that is wanted, for each way in which it can be."""
        counts, head = self._question.all_counts, self._model.head
        if not isinstance(head, Classes):
            return [counts.combine(*value_forms(head, to))]
        own = head.labels.index(self.answer)
        if to is None:
            return [counts.combine(*beating(j, own, head.n_groups)) for j in range(head.n_groups) if j != own]
        (wanted,) = find_answers(self._model, [to])
        if wanted == own:
            raise ValueError(f"to must be another answer than the row has, got {to!r:.60}")
        return [counts.combine(*winning(wanted, head.n_groups))]

    def _by_number(self, limit: Limit) -> Iterator[tuple[Subsets, tuple[int, ...]]]:
        for size in range(1, 1 + max((len(way.columns) for way in self._ways), default=0)):
            for way in self._ways:
                for chosen in way.candidates(size, limit):
                    yield way, chosen

    def _by_cost(self, prices: Mapping[int, float], limit: Limit) -> Iterator[tuple[Subsets, tuple[int, ...]]]:
        streams = [_list_by_cost(way, prices, limit) for way in self._ways]
        for _, way_idx, chosen in heapq.merge(*(_number(stream, i) for i, stream in enumerate(streams))):
            yield self._ways[way_idx], chosen

    def _keep(self, forms: Forms, point: Numbers, prices: Mapping[int, float]) -> None:
        """Add a change, made as small as it can be."""
        point = shrink([forms], self._region, self._start, point)
        changed = np.flatnonzero(point != self._start).tolist()
        row, names = self._region.row(point, self._center.row), self._question.space.names
        changes = {names[i]: (self._center.row[names[i]], row[names[i]]) for i in changed}
        answer = predict_one(self._model, row)
        if answer == self.answer:
            raise RuntimeError(f"counterfactual must be confirmed by Model.predict, got {row!r:.500}")
        if not self.found:
            self.is_least = not self.is_open and not self._question.limit.is_over()
        self._used.append(frozenset(changed))
        self.found.append(Counterfactual(row, changes, answer, sum(prices.get(i, 1.0) for i in changed)))


def _number(stream: Iterator[tuple[float, tuple[int, ...]]], i: int) -> Iterator[tuple[float, int, tuple[int, ...]]]:
    for cost, chosen in stream:
        yield cost, i, chosen


def _list_by_cost(way: Subsets, prices: Mapping[int, float], limit: Limit) -> Iterator[tuple[float, tuple[int, ...]]]:
    """Sets of columns whose bound allows what is wanted, with their costs, the cheapest first."""
    costs = [prices.get(i, 1.0) for i in way.columns.tolist()]
    sets = _list_sets(costs)
    while not limit.is_over() and (block := list(islice(sets, BLOCK))):
        for (cost, chosen), is_possible in zip(block, way.can_do([chosen for _, chosen in block]), strict=True):
            if is_possible:
                yield cost, chosen


def _list_sets(costs: Sequence[float]) -> Iterator[tuple[float, tuple[int, ...]]]:
    """All sets of positions but the empty one, in order of their costs.

    Each set comes from one that is no dearer: the dearest position that it has is added, or takes the next one's place.

    Examples
    --------
    >>> [chosen for _, chosen in _list_sets([3.0, 1.0, 1.5])]
    [(1,), (2,), (1, 2), (0,), (0, 1), (0, 2), (0, 1, 2)]
    """
    order = sorted(range(len(costs)), key=lambda i: costs[i])
    heap: list[tuple[float, tuple[int, ...]]] = [(costs[order[0]], (0,))] if order else []
    while heap:
        cost, chosen = heapq.heappop(heap)
        yield cost, tuple(sorted(order[k] for k in chosen))
        last = chosen[-1]
        if last + 1 < len(order):
            step = costs[order[last + 1]]
            heapq.heappush(heap, (cost + step, (*chosen, last + 1)))
            heapq.heappush(heap, (cost + step - costs[order[last]], (*chosen[:-1], last + 1)))
