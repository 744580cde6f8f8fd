"""Search: points of a region where all forms are at least 0, or the greatest value of a form, by boxes that are halved.

In: forms and a region. Out: a point; that there is none; or that time was up. For a greatest value, an interval.
Invariant: a box is dropped only when its bound says that it holds nothing better, so an empty list of boxes is a proof.

Bounds come from `rails`. Of each box several halvings are tried, and the one is kept whose parts have the least bounds:
columns whose halves are decided at once are halved first.
"""

import numpy as np
from numpy.typing import NDArray

from gatewise.verify.forms import Forms
from gatewise.verify.limits import Limit
from gatewise.verify.proving.found import Found
from gatewise.verify.proving.rails import Bounder
from gatewise.verify.space import Region

Numbers = NDArray[np.int64]
N_SAMPLES = 4096
N_CLIMBERS = 8
N_TRIED = 24
"""Columns whose halving is tried for each box, at most."""

ROWS_PER_ROUND = 1 << 14
MAX_BOXES = 1 << 21
"""Boxes that may wait, which bounds memory; then the search goes into depth instead of after the best bound."""

SEED = 0


class Search:
    """A search for a point where the least of all forms is as great as possible, or at least 0.

    Parameters
    ----------
    forms : Forms
        At least one.
    region : Region
    goal : int, optional
        Value of the least form at which the search may stop; none to look for the greatest.

    Examples
    --------
    >>> from gatewise import Circuit, Encoder
    >>> from gatewise.verify.forms import View
    >>> from gatewise.verify.space import Space
    >>> region = Space([Encoder.fit([[0.0, 0.0], [1.0, 1.0]])]).region()
    >>> xor = Circuit(2, gate=[6], a=[2], b=[3], outputs=[4], group_ptr=[0, 1])
    >>> found = Search(Forms.of([View(xor, np.arange(2), np.full(2, -1, np.int8))], 2), region).run(Limit(10.0))
    >>> found.is_complete, found.low, found.high
    (True, 1, 1)
    """

    def __init__(self, forms: Forms, region: Region, *, goal: int | None = None) -> None:
        self._bounder = Bounder(forms, region)
        self._region, self._goal = region, goal
        self._rng = np.random.default_rng(SEED)
        read = np.unique(np.searchsorted(region.space.first_bit, forms.read_bits(), side="right") - 1)
        self._free = read[region.sizes[read] > 1]
        self._best: Numbers | None = None
        self._low = int(np.iinfo(np.int64).min) if goal is None else goal - 1
        self.n_boxes = 0

    def run(self, limit: Limit) -> Found:
        """Search until the question is decided, or time is up."""
        low = np.zeros((1, len(self._region.sizes)), np.int64)
        high = self._region.sizes[np.newaxis] - 1
        bounds = self._bound(low, high)
        if self._is_worse(bounds)[0]:
            return self._end(np.empty(0, np.int64))
        self._sample(limit)
        while len(bounds) and not self._is_done() and not limit.is_over():
            n = max(1, ROWS_PER_ROUND // (2 * max(1, min(len(self._free), N_TRIED))))
            if len(bounds) < MAX_BOXES:
                order = np.argpartition(bounds, len(bounds) - n) if n < len(bounds) else np.arange(len(bounds))
                low, high, bounds = low[order], high[order], bounds[order]
            halves = self._halve(low[-n:], high[-n:])
            parts = zip((low[:-n], high[:-n], bounds[:-n]), halves, strict=True)
            low, high, bounds = (np.concatenate(pair) for pair in parts)
            kept = ~self._is_worse(bounds)
            if not kept.all():
                low, high, bounds = low[kept], high[kept], bounds[kept]
        return self._end(bounds)

    def _end(self, bounds: Numbers) -> Found:
        is_complete = len(bounds) == 0 or self._is_done()
        high = self._low if len(bounds) == 0 else max(self._low, int(bounds.max()))
        return Found(self._best, is_complete, self._low, high, self.n_boxes)

    def _is_done(self) -> bool:
        return self._goal is not None and self._best is not None

    def _is_worse(self, bounds: Numbers) -> NDArray[np.bool_]:
        """Boxes that hold nothing better than what is known."""
        return bounds <= self._low

    def _bound(self, low: Numbers, high: Numbers) -> Numbers:
        self.n_boxes += len(low)
        bounds: Numbers = self._bounder.highs(low, high).min(axis=1)
        return bounds

    def _note(self, points: Numbers, values: Numbers) -> None:
        """Remember the best of these points."""
        if len(values) and values.max() > self._low:
            at = int(values.argmax())
            self._best, self._low = points[at].copy(), int(values[at])

    def _sample(self, limit: Limit) -> None:
        """Look at random points, and climb from the best of them, one column at a time."""
        if len(self._free) == 0:
            return
        points = self._rng.integers(0, self._region.sizes, (N_SAMPLES, len(self._region.sizes)))
        values = self._bound(points, points)
        self._note(points, values)
        for at in np.argsort(-values, kind="stable")[:N_CLIMBERS].tolist():
            if self._is_done() or limit.is_over():
                return
            self._climb(points[at], int(values[at]), limit)

    def _climb(self, point: Numbers, value: int, limit: Limit) -> None:
        sizes = self._region.sizes[self._free]
        columns = np.repeat(self._free, sizes)
        choices = np.concatenate([np.arange(size) for size in sizes.tolist()])
        while not self._is_done() and not limit.is_over():
            neighbors = np.repeat(point[np.newaxis], len(columns), axis=0)
            neighbors[np.arange(len(columns)), columns] = choices
            values = self._bound(neighbors, neighbors)
            at = int(values.argmax())
            if values[at] <= value:
                return
            point, value = neighbors[at], int(values[at])
            self._note(neighbors, values)

    def _halve(self, low: Numbers, high: Numbers) -> tuple[Numbers, Numbers, Numbers]:
        """Both halves of each box by the column that decides most, without boxes of one point, which are looked at."""
        widths = (high - low)[:, self._free]
        is_point = (widths == 0).all(axis=1)
        points = low[is_point]
        self._note(points, self._bound(points, points))
        low, high, widths = low[~is_point], high[~is_point], widths[~is_point]
        n, n_tried = len(low), min(len(self._free), N_TRIED)
        if n == 0:
            return low, high, np.empty(0, np.int64)
        if n_tried < len(self._free):
            tried = self._free[np.argpartition(self._rng.random(widths.shape) * (widths > 0), -n_tried)[:, -n_tried:]]
        else:
            tried = np.repeat(self._free[np.newaxis], n, axis=0)
        rows = np.arange(n)[:, np.newaxis]
        middle = (low[rows, tried] + high[rows, tried]) // 2
        left_high, right_low = (np.repeat(box[:, np.newaxis], n_tried, axis=1) for box in (high, low))
        where = rows, np.arange(n_tried)[np.newaxis], tried
        left_high[where], right_low[where] = middle, middle + 1
        shape = n * n_tried, low.shape[1]
        whole_low, whole_high = (np.repeat(box, n_tried, axis=0) for box in (low, high))
        can_halve = (high[rows, tried] > low[rows, tried]).ravel()
        bounds = np.full((2, n * n_tried), np.iinfo(np.int64).max)
        bounds[0, can_halve] = self._bound(whole_low[can_halve], left_high.reshape(shape)[can_halve])
        bounds[1, can_halve] = self._bound(right_low.reshape(shape)[can_halve], whole_high[can_halve])
        floor = np.maximum(bounds, self._low).astype(np.float64)  # a half that is dropped is as good as one can be
        chosen = floor.sum(axis=0).reshape(n, n_tried).argmin(axis=1) + np.arange(n) * n_tried
        new_low = np.concatenate([low, right_low.reshape(shape)[chosen]])
        new_high = np.concatenate([left_high.reshape(shape)[chosen], high])
        picks = self._rng.integers(new_low, new_high + 1)
        self._note(picks, self._bound(picks, picks))
        return new_low, new_high, bounds[:, chosen].ravel()
