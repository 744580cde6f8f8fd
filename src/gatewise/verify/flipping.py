"""Flipping: what a row's answer owes to each of its columns, found by changing one column at a time, without a solver.

In: a model of classes and a row. Out: of each column the value that costs the answer most. All values that the model
tells apart are tried; changes of several columns are not, so nothing is proved about these.
"""

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from gatewise.heads import Classes
from gatewise.model import Model
from gatewise.run.engine import Engine
from gatewise.verify.space import Row, Space


@dataclass(frozen=True)
class Flip:
    """The value of a column that costs the answer most, if it alone is changed.

    Parameters
    ----------
    column : str
    value, other : value
        What the row has, and what costs most.
    lead : float
        By how much the answer is then ahead of the best other class, as a difference of scores; negative if behind.
    answer : label
        What is answered then.
    """

    column: str
    value: Any
    other: Any
    lead: float
    answer: Any


@dataclass(frozen=True)
class Flips:
    """An answer, its lead, and of each column that matters the flip that costs most, the most expensive one first."""

    answer: Any
    lead: float
    flips: tuple[Flip, ...]

    def __str__(self) -> str:
        lines = [f"{self.answer}, ahead of the next class by {self.lead:.4g}; one column changed at a time:"]
        for flip in self.flips:
            then = f"still {flip.answer}" if flip.answer == self.answer else str(flip.answer)
            lines.append(f"  {flip.column} = {flip.value}; with {flip.other} the lead is {flip.lead:.4g}: {then}")
        if not self.flips:
            lines.append("  no column alone changes the lead")
        return "\n".join(lines)

    def to_dict(self) -> dict[str, Any]:
        """The flips as JSON can hold them."""
        return asdict(self)


def flip(model: Model, row: Row, *, n: int = 8) -> Flips:
    """Of the columns whose change costs a row's answer most, what it costs.

    Parameters
    ----------
    model : Model
        Of classes, two or more.
    row : dict
    n : int
        Columns to tell of, at most.

    Examples
    --------
    >>> from gatewise import Circuit, Encoder
    >>> encoder = Encoder.fit([{"age": 17.0}, {"age": 39.0}, {"age": 50.0}])
    >>> circuit = Circuit(2, gate=[12], a=[3], b=[3], outputs=[4, 3], group_ptr=[0, 1, 2])
    >>> model = Model.build(encoder, circuit, Classes(("young", "old"), tau=1.0, group_size=1))
    >>> print(flip(model, {"age": 30}))
    young, ahead of the next class by 1; one column changed at a time:
      age = 30; with 45 the lead is -1: old
    """
    head = model.head
    if not isinstance(head, Classes) or head.n_groups < 2:
        raise ValueError(f"model must have two classes or more, got {head!r:.60}")
    space = Space([model.encoder])
    region = space.region()
    start = space.locate([row])[0]
    points, changed = [start], [-1]
    for i, size in enumerate(region.sizes.tolist()):
        for k in range(size):
            if k != start[i]:
                points.append(np.where(np.arange(len(start)) == i, k, start))
                changed.append(i)
    bits = region.bits_at(np.array(points))[:, space.inputs(0)]
    counts = Engine(model.circuit).counts(bits)
    scores, answers = head.scores(counts), head.predict(counts).tolist()
    own = head.labels.index(answers[0])
    leads = scores[:, own] - np.delete(scores, own, axis=1).max(axis=1)
    found = []
    for i, name in enumerate(space.names):
        own_points = np.flatnonzero(np.array(changed) == i)
        if len(own_points) and (worst := own_points[leads[own_points].argmin()]) and leads[worst] < leads[0]:
            other = region.row(points[worst], near=row)[name]
            found.append(Flip(name, row[name], other, float(leads[worst]), answers[worst]))
    found.sort(key=lambda each: each.lead)
    return Flips(answers[0], float(leads[0]), tuple(found[:n]))
