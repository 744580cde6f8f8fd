"""Explanations: columns whose values alone force an answer, whatever the other columns hold."""

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gatewise.extras import require
from gatewise.heads import Classes
from gatewise.model import Model
from gatewise.verify.answers import Effort, Tally
from gatewise.verify.asking import Question, beating, predict_one
from gatewise.verify.limits import LIMIT
from gatewise.verify.proving.decide import Decider, Method
from gatewise.verify.proving.subsets import find_influence
from gatewise.verify.robustness import Center, shrink
from gatewise.verify.space import Given, Region, Row

Numbers = NDArray[np.int64]
SHARE, LEAST_SECONDS = 0.2, 0.5
"""What part of the time that is left one test may take, and how long at least."""


@dataclass(frozen=True)
class Explanation:
    """Conditions on a few columns that are proved to be enough for an answer.

    Parameters
    ----------
    answer : label
    given : dict
        The conditions, as `always` takes them: it proves them enough.
    words : tuple of str
        The conditions, in the order of the columns.
    columns : tuple of str
    is_minimal : bool
        Whether it is proved that no column can be left out.
    is_smallest : bool
        Whether it is proved that no fewer columns are enough.
    effort : Effort
    """

    answer: Any
    given: dict[str, Any]
    words: tuple[str, ...]
    columns: tuple[str, ...]
    is_minimal: bool
    is_smallest: bool
    effort: Effort

    def __str__(self) -> str:
        known = "none can be left out" if self.is_minimal else "some may be left out"
        known = "no fewer columns are" if self.is_smallest else known
        verb = "is" if len(self.words) < 2 else "are"
        return f"{self.answer}: {' and '.join(self.words) or 'nothing at all'} {verb} enough ({known}; {self.effort})"

    def to_dict(self) -> dict[str, Any]:
        """The explanation as JSON can hold it."""
        return asdict(self)


def explain(
    model: Model,
    row: Row,
    *,
    given: Given | None = None,
    smallest: bool = False,
    limit: float = LIMIT,
    method: Method = "auto",
) -> Explanation:
    """Columns of a row whose values alone force its answer, with the widest intervals that still do.

    Parameters
    ----------
    model : Model
        Of classes.
    row : dict
    given : dict, optional
        What is known of all rows, as conditions for `always`; the row fulfils it.
    smallest : bool
        Whether to look for the fewest columns there can be; otherwise none of those found can be left out.
    limit : float
        Seconds; when they are over, columns stay that might be left out.
    method : {"auto", "search", "sat", "sat with adders"}
        As for `always`.

    Examples
    --------
    >>> from gatewise import Circuit, Encoder
    >>> encoder = Encoder.fit([{"age": 17.0}, {"age": 39.0}, {"age": 50.0}])
    >>> circuit = Circuit(2, gate=[12], a=[3], b=[3], outputs=[4, 3], group_ptr=[0, 1, 2])
    >>> model = Model.build(encoder, circuit, Classes(("young", "old"), tau=1.0, group_size=1))
    >>> explain(model, {"age": 30}).words
    ('age ≤ 44.5',)
    """
    question = Question([model], limit, method)
    explainer = _Explainer(question, Center(question.space, row), question.space.region(given))
    kept = explainer.find_fewest() if smallest else None
    is_smallest = kept is not None
    if kept is None:
        kept = explainer.drop_columns()
    is_minimal = is_smallest or explainer.is_sure
    ranges = explainer.widen(kept)
    conditions = {question.space.names[i]: explainer.condition(i, *ranges[i]) for i in sorted(kept)}
    words = tuple(explainer.describe(i, *ranges[i]) for i in sorted(kept))
    effort = explainer.tally.effort(question.limit.spent())
    return Explanation(explainer.answer, conditions, words, tuple(conditions), is_minimal, is_smallest, effort)


class _Explainer:
    """Tests whether ranges of some columns are enough for the answer of a row, whatever the others are."""

    def __init__(self, question: Question, center: Center, whole: Region) -> None:
        model = question.models[0]
        if not isinstance(model.head, Classes):
            raise ValueError(f"model must have classes, got a head of type {type(model.head).__name__}")
        self._question, self._whole = question, whole
        self.answer = predict_one(model, center.row)
        i, n = model.head.labels.index(self.answer), model.head.n_groups
        fixed = whole.fixed_bits()
        rivals = [question.all_counts.combine(*beating(j, i, n)).fold(fixed) for j in range(n) if j != i]
        rivals = [rival for rival in rivals if (rival.highs() >= 0).all()]
        try:
            self._start = center.locate(whole)
        except ValueError as error:
            raise ValueError(f"row must fulfil given, got {center.row!r:.200}") from error
        influence = np.zeros(len(whole.sizes), np.int64)
        for rival in rivals:
            influence = np.maximum(influence, find_influence(rival, whole, self._start)[0])
        self._order = [k for k in np.argsort(influence, kind="stable").tolist() if influence[k] and whole.sizes[k] > 1]
        self._pairs = [(rival, Decider(rival, whole, question.method)) for rival in rivals]
        self._against: list[Numbers] = []
        self.tally, self.is_sure = Tally(), True

    def drop_columns(self) -> set[int]:
        """Columns none of which can be left out: each is tried, those of little influence first."""
        kept = set(self._order)
        for i in self._order:
            if self._is_enough(self._ranges(kept - {i})):
                kept.remove(i)
        return kept

    def find_fewest(self) -> set[int] | None:
        """The fewest columns: a smallest set that has one of those in which each counterexample differs.

        None if time was up (Ignatiev, Narodytska and Marques-Silva, "Abduction-based explanations", 2019).
        """
        module = require("pysat.examples.hitman", "verify", needed_by="gatewise.verify")
        with module.Hitman(bootstrap_with=[], solver="g4", htype="sorted") as sets:
            kept: list[int] = []
            while not self._question.limit.is_over():
                self.is_sure = True
                if self._is_enough(self._ranges(set(kept))):
                    return set(kept)
                if not self.is_sure:
                    return None
                sets.hit(np.flatnonzero(self._against[-1] != self._start).tolist())
                kept = sets.get()
        return None

    def widen(self, kept: set[int]) -> dict[int, tuple[int, int]]:
        """Ranges of choices around the row's own, each as wide as it can be while the others stay."""
        ranges = self._ranges(kept)
        for i in sorted(kept):
            n_ordered = sum(cell.value is None for _, cell in self._whole.choices[i])
            at = int(self._start[i])
            if at >= n_ordered:  # a category, or a missing value
                continue
            ranges[i] = self._widest(ranges, i, [(low, at) for low in range(at + 1)])
            low = ranges[i][0]
            ranges[i] = self._widest(ranges, i, [(low, high) for high in range(n_ordered - 1, at - 1, -1)])
        return ranges

    def condition(self, i: int, low: int, high: int) -> Any:
        """A range of choices as a condition for `always`."""
        cells = [cell for _, cell in self._whole.choices[i]]
        if cells[low].value is not None:
            return [cells[low].pick()]
        least = None if cells[low].low == -np.inf else float(np.nextafter(cells[low].low, np.inf))
        return least, None if cells[high].high == np.inf else cells[high].high

    def describe(self, i: int, low: int, high: int) -> str:
        """A range of choices in words."""
        name, cells = self._question.space.names[i], [cell for _, cell in self._whole.choices[i]]
        if cells[low].value is not None:
            return f"{name} = {cells[low].describe()}"
        below, above = cells[low].low, cells[high].high
        if below == -np.inf and above == np.inf:
            return f"{name} is known"
        if below == -np.inf:
            return f"{name} ≤ {above:,.6g}"
        return f"{name} > {below:,.6g}" if above == np.inf else f"{below:,.6g} < {name} ≤ {above:,.6g}"

    def _widest(self, ranges: dict[int, tuple[int, int]], i: int, wider: list[tuple[int, int]]) -> tuple[int, int]:
        """The first of some ranges of a column, each a part of the one before it, that is enough; the last one is."""
        first, last = 0, len(wider) - 1
        while first < last:
            middle = (first + last) // 2 if first or last < len(wider) - 1 else 0  # often the whole column will do
            if self._is_enough(ranges | {i: wider[middle]}):
                last = middle
            else:
                first = middle + 1
        return wider[last]

    def _ranges(self, kept: set[int]) -> dict[int, tuple[int, int]]:
        return {i: (int(self._start[i]), int(self._start[i])) for i in kept}

    def _is_enough(self, ranges: dict[int, tuple[int, int]]) -> bool:
        """Whether the answer is the same wherever these columns are in their ranges; False if that stays unknown."""
        if any(all(low <= point[i] <= high for i, (low, high) in ranges.items()) for point in self._against):
            return False
        if self._question.limit.is_over():
            self.is_sure = False
            return False
        low, high = np.zeros_like(self._start), self._whole.sizes - 1
        for i, (least, greatest) in ranges.items():
            low[i], high[i] = least, greatest
        for k, (rival, decider) in enumerate(self._pairs):
            decision = decider.decide(low, high, self._question.limit.part(SHARE, LEAST_SECONDS))
            self.tally.add(decision.n_gates, decision.solver)
            if decision.point is not None:
                self._pairs.insert(0, self._pairs.pop(k))  # who was preferred once is asked first
                self._against.append(shrink([rival], self._whole, self._start, decision.point))
                return False
            if not decision.is_decided:
                self.is_sure = False
                return False
        return True
