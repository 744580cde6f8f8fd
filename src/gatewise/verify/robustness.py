"""Robustness: how far a row may be changed before its answer changes."""

import datetime
import os
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cache, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gatewise.checks import as_integer, as_number
from gatewise.encode.columns import is_missing
from gatewise.encode.raw import Coded, Raw
from gatewise.encode.tables import as_table
from gatewise.heads import Classes
from gatewise.model import Model
from gatewise.verify.answers import Effort, Status, Tally, Verdict, describe_rows
from gatewise.verify.asking import Case, Question, beating, predict_one, settle
from gatewise.verify.cells import Cell
from gatewise.verify.forms import Forms
from gatewise.verify.limits import LIMIT, Limit
from gatewise.verify.proving.decide import Change, Method
from gatewise.verify.space import Region, Row, Space

Numbers = NDArray[np.int64]
Within = Mapping[str, float | datetime.timedelta | None]
"""How far columns may go: numbers, or dates by a timedelta, by so much up or down, None for any value; other columns
stay as they are."""


def robust(
    model: Model,
    rows: Any,
    within: Within | None = None,
    *,
    at_most: int | None = None,
    limit: float = LIMIT,
    method: Method = "auto",
    proof: str | None = None,
) -> list[Verdict]:
    """Whether no change of a row, within limits, changes its answer; one verdict for each row.

    Parameters
    ----------
    model : Model
        Of classes.
    rows : table
        What `Model.predict` takes.
    within : dict, optional
        How far columns may go: numbers by so much up or down, None for any value. Columns that are not named stay as
        they are. By default all columns may have any value.
    at_most : int, optional
        How many columns may change at once; all by default.
    limit : float
        Seconds for each row.
    method : {"auto", "search", "sat", "sat with adders"}
        As for `always`.
    proof : str, optional
        A folder for formulas and proofs, in a folder for each row.

    Returns
    -------
    list of Verdict
        A counterexample is the row and its change, of which no column can be left out, nor be changed less by itself.

    Examples
    --------
    >>> from gatewise import Circuit, Encoder
    >>> encoder = Encoder.fit([{"age": 17.0}, {"age": 39.0}, {"age": 50.0}])
    >>> circuit = Circuit(2, gate=[12], a=[3], b=[3], outputs=[4, 3], group_ptr=[0, 1, 2])
    >>> model = Model.build(encoder, circuit, Classes(("young", "old"), tau=1.0, group_size=1))
    >>> for verdict in robust(model, [{"age": 40}, {"age": 43}], {"age": 2}):
    ...     print(verdict.status, verdict.counterexample[1:])
    proved ()
    refuted ({'age': 45},)
    """
    if at_most is not None:
        at_most = as_integer("at_most", at_most, 1, 2**31)
    asker = Asker(model, limit, method)
    verdicts = []
    for number, row in enumerate(list_rows(asker.space, rows)):
        center = Center(asker.space, row)
        folder = None if proof is None else os.path.join(proof, f"row_{number}")
        verdicts.append(asker.ask(center, center.region(within), Limit(limit), at_most=at_most, proof=folder))
    return verdicts


@dataclass(frozen=True)
class Radius:
    """The largest box around a row in which its answer is proved not to change.

    Parameters
    ----------
    factor : float
        How many times as far as was asked the columns may go; infinite if the answer never changes.
    box : dict
        The least and the greatest value of each column that may change, as conditions for `always`.
    nearest : Verdict
        Refuted, by a row just outside of the box; undecided if time was up; proved if the answer never changes.
    effort : Effort
    """

    factor: float
    box: dict[str, tuple[float, float]]
    nearest: Verdict
    effort: Effort

    def __str__(self) -> str:
        limits = ", ".join(f"{name} {low:g} to {high:g}" for name, (low, high) in self.box.items())
        rows = describe_rows(self.nearest.counterexample, self.nearest.answers)
        lines = [f"proved up to {self.factor:.6g} times as far: {limits} ({self.effort})"]
        return "\n".join([*lines, *(f"  {line}" for line in rows)])

    def to_dict(self) -> dict[str, Any]:
        """The radius as JSON can hold it."""
        return asdict(self) | {"factor": self.factor if np.isfinite(self.factor) else None}


def radius(
    model: Model, row: Row, within: Mapping[str, float], *, limit: float = LIMIT, method: Method = "auto"
) -> Radius:
    """How many times as far as given all columns may go at once without a change of the answer, by bisection.

    Parameters
    ----------
    model : Model
        Of classes.
    row : dict
    within : dict
        How far each column of numbers goes, up or down, for a factor of 1.
    limit, method
        As for `always`; here for the whole question.
    """
    asker = Asker(model, limit, method)
    center = Center(asker.space, row)
    steps = center.list_steps(within)
    total, proved, nearest = Limit(limit), 0, None
    open_end = len(steps)
    while proved < open_end and not total.is_over():
        middle = (proved + open_end) // 2
        scaled = {name: amount * steps[middle] for name, amount in within.items()}
        verdict = asker.ask(center, center.region(scaled), total)
        if verdict.is_proved:
            proved = middle + 1
        elif verdict.is_refuted:
            open_end, nearest = middle, verdict
        else:
            break
    effort = asker.tally.effort(total.spent())
    factor = center.step_back(within, steps[proved]) if proved < len(steps) else np.inf
    claim = "no change of these columns changes the answer"
    ending: Status = "proved" if proved == len(steps) else "undecided"
    box = {name: (row[name] - amount * factor, row[name] + amount * factor) for name, amount in within.items()}
    return Radius(factor, box, nearest or Verdict(claim, ending, effort), effort)


class Center:
    """A row, and regions around it."""

    def __init__(self, space: Space, row: Row) -> None:
        if not isinstance(row, Mapping):
            raise TypeError(f"row must be a dict of values by name of the column, got {type(row).__name__}")
        if lacking := [name for name in space.names if name not in row]:
            raise ValueError(f"row must have a value for each column, got none for {', '.join(lacking):.200}")
        self.space, self.row = space, row
        self.at = space.pin(row)

    def region(self, within: Within | None) -> Region:
        """The rows that are as close to this one as is said; the row itself is among them."""
        if within is None:
            return self.space.region()
        choices: list[tuple[tuple[int, Cell], ...]] = [(each,) for each in self.at]
        for name, amount in within.items():
            i = self.space.column_idx(name)
            if amount is None:
                choices[i] = tuple(enumerate(self.space.columns[i].cells))
            elif self.space.columns[i].timed and isinstance(amount, datetime.timedelta):
                if amount < datetime.timedelta(0):
                    raise ValueError(f"within must be at least 0, got {amount} for column {name!r:.60}")
                moment = self.at[i][1].pick()
                if moment is not None:
                    choices[i] = tuple(self.space.during(i, moment - amount, moment + amount, moment))
            elif self.space.columns[i].n_ordered == 0 or isinstance(amount, datetime.timedelta):
                raise ValueError(
                    f"within must be None, for any value, of column {name!r:.60} of categories, a timedelta of dates, "
                    f"and a number of numbers, got {amount!r:.60}"
                )
            elif not as_number("within", amount) >= 0:
                raise ValueError(f"within must be at least 0, got {amount!r:.60} for column {name!r:.60}")
            elif not is_missing(self.row[name]):
                value = float(self.row[name])
                choices[i] = tuple(self.space.between(i, value - amount, value + amount))
        return Region(self.space, tuple(choices))

    def locate(self, region: Region) -> Numbers:
        """The row as a point of a region around it."""
        pairs = zip(region.choices, self.at, strict=True)
        return np.array([[k for k, _ in own].index(at) for own, (at, _) in pairs], np.int64)

    def list_steps(self, within: Mapping[str, float]) -> list[float]:
        """Factors of `within` from which on further cells are reached, in rising order."""
        steps = set()
        for name, amount in within.items():
            i, value = self.space.column_idx(name), self.row[name]
            if not as_number("within", amount) > 0 or is_missing(value):
                raise ValueError(f"within must be positive, for a number, got {amount!r:.60} for column {name!r:.60}")
            for cell in self.space.columns[i].cells[: self.space.columns[i].n_ordered]:
                if cell.low >= value:
                    steps.add(_reach(float(value), amount, float(np.nextafter(cell.low, np.inf))))
                elif cell.high < value:
                    steps.add(_reach(float(value), amount, cell.high))
        return sorted(step for step in steps if np.isfinite(step))

    def step_back(self, within: Mapping[str, float], step: float) -> float:
        """The largest factor, nearly, by which fewer cells are reached than by a step."""

        def count(factor: float) -> int:
            return self.region({name: amount * factor for name, amount in within.items()}).n_rows

        factor = step
        while factor > 0 and count(factor) == count(step):
            factor *= 1 - 2**-50
        return factor


def _reach(value: float, amount: float, edge: float) -> float:
    """The least factor by which the interval around a value holds an edge, with its ends rounded as they will be."""
    factor = abs(edge - value) / amount
    while not value - amount * factor <= edge <= value + amount * factor:
        factor = float(np.nextafter(factor, np.inf))
    return factor


class Asker:
    """Asks about rows one after the other, with what they share."""

    def __init__(self, model: Model, limit: float, method: Method) -> None:
        self._question = Question([model], limit, method)
        if not isinstance(model.head, Classes):
            raise ValueError(f"model must have classes, got a head of type {type(model.head).__name__}")
        self.model, self.labels = model, model.head.labels
        self.space = self._question.space
        self.tally = Tally()
        self.rival = cache(self._rival)

    def _rival(self, i: int, j: int) -> Forms:
        """A form that is at least 0 where group j is preferred to group i."""
        return self._question.all_counts.combine(*beating(j, i, len(self.labels)))

    def ask(
        self, center: Center, region: Region, limit: Limit, *, at_most: int | None = None, proof: str | None = None
    ) -> Verdict:
        """Whether every row of the region gets the answer of the row in its center."""
        answer = predict_one(self.model, center.row)
        i = self.labels.index(answer)
        n_free = int((region.sizes > 1).sum())
        start = center.locate(region)
        change = Change(start, at_most) if at_most is not None and at_most < n_free else None

        def rows(point: Numbers, j: int) -> tuple[Row, ...]:
            form = self.rival(i, j)
            point = shrink([form], region, start, point)
            return center.row, region.row(point, center.row)

        cases = [
            Case(region, partial(self.rival, i, j), partial(rows, j=j), change)
            for j in range(len(self.labels))
            if j != i
        ]

        def confirm(pair: tuple[Row, ...]) -> tuple[Any, ...] | None:
            other = predict_one(self.model, pair[1])
            return None if other == answer else (answer, other)

        if proof is not None:
            os.makedirs(proof, exist_ok=True)
        claim = f"the answer {answer} stays"
        verdict = settle(claim, cases, confirm, limit, self._question.method, proof=proof)
        self.tally.add(verdict.effort.n_gates, verdict.effort.solver)
        return verdict


def shrink(forms: Sequence[Forms], region: Region, start: Numbers, point: Numbers) -> Numbers:
    """A point at which the forms are at least 0 as well, that differs from `start` in fewer columns, and by less.

    Columns go back one at a time, as far as each of them can while the others stay.
    """
    point = point.copy()
    while True:
        before = point.copy()
        for i in np.flatnonzero(point != start).tolist():
            n_steps = abs(int(point[i] - start[i]))
            tried = np.repeat(point[np.newaxis], n_steps, axis=0)
            tried[:, i] = start[i] + np.sign(point[i] - start[i]) * np.arange(n_steps)
            bits = region.bits_at(tried)
            holds = np.all([(form.values(bits) >= 0).all(axis=1) for form in forms], axis=0)
            if holds.any():
                point = tried[int(holds.argmax())]
        if (point == before).all():
            return point


def list_rows(space: Space, rows: Any) -> list[Row]:
    """The rows of a table as dicts of Python values, None where one is missing."""
    table = as_table(rows)
    names = space.names
    if table.names is not None and (space.encoders[0].named or not table.has_order):
        missing = [name for name in names if name not in table.names]
        if missing:
            raise ValueError(f"rows must have the columns {names!r:.200}, got none called {missing[0]!r:.60}")
        places = [table.names.index(name) for name in names]
    else:
        if table.n_columns != len(names):
            raise ValueError(f"rows must have {len(names)} columns, got {table.n_columns}")
        places = list(range(len(names)))
    columns = [_list_values(table.read(place)) for place in places]
    return [dict(zip(names, values, strict=True)) for values in zip(*columns, strict=True)]


def _list_values(raw: Raw) -> list[Any]:
    """A column as Python values, whole numbers as int."""
    if isinstance(raw, Coded):
        return [raw.values[code] if code >= 0 else None for code in raw.codes.tolist()]
    values = (raw.astype(f"{raw.dtype.kind}8[us]") if raw.dtype.kind in "mM" else raw).tolist()
    is_whole = [isinstance(value, float) and value.is_integer() for value in values]
    return [
        None if is_missing(value) else int(value) if whole else value
        for value, whole in zip(values, is_whole, strict=True)
    ]
