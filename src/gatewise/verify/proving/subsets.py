"""Subsets: points of a region that differ from one of its points in few columns.

In: forms, a region, a start, and how many columns may change. Out: a point where all forms are at least 0, or none.
Invariant: a set of columns is dropped only when no set that it is a part of, and that is still to come, can do.

Columns come in order of influence: how much a form rises at most if all outputs that the column reaches turn to its
favor. The bound of a set is that of its box, by `rails`; each further column adds its influence at most. A second bound
adds shares: all of what a column can turn alone, and half of what it can turn only together with others.
"""

import math
from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import product

import numpy as np
from numpy.typing import NDArray

from gatewise.verify.forms import Forms
from gatewise.verify.limits import Limit
from gatewise.verify.proving.found import Found
from gatewise.verify.proving.rails import Bounder
from gatewise.verify.proving.search import Search
from gatewise.verify.space import Region

Numbers = NDArray[np.int64]
BLOCK = 2048
"""Sets of columns that are bounded together."""

MAX_POINTS = 4096
"""Points of a set of columns up to which all of them are looked at; more are searched."""

MAX_STEPS = 1 << 27
"""Bits and outputs of all points that differ in one column, up to which they are looked at: 128 MB."""

N_CLIMBERS = 4
"""Points from which one more column is changed."""


class Subsets:
    """Sets of columns whose change may raise all forms to 0.

    Parameters
    ----------
    forms : Forms
    region : Region
        Where columns may go, from `start` on.
    start : int64 array
        A point of the region.
    """

    def __init__(self, forms: Forms, region: Region, start: Numbers) -> None:
        self.forms, self.region, self.start = forms, region, start
        read = np.unique(np.searchsorted(region.space.first_bit, forms.read_bits(), side="right") - 1)
        free = read[region.sizes[read] > 1]
        influence = find_influence(forms, region, start)[:, free]
        order = np.argsort(-influence.max(axis=0, initial=0), kind="stable")
        self.columns: Numbers = free[order]
        self._influence = _Gains(influence[:, order])
        self.n_boxes = 0

    @cached_property
    def _bounder(self) -> Bounder:
        return Bounder(self.forms, self.region)

    @cached_property
    def start_values(self) -> Numbers:
        """The forms at the start, (n_forms,)."""
        values: Numbers = self.forms.values(self.region.bits_at(self.start[np.newaxis]))[0]
        return values

    @cached_property
    def _shares(self) -> "_Gains":
        """Twice by how much each column raises each form at most, if those of a set are added up.

        A set that turns an output has one column that does so alone, or at least two that each have half of it.
        """
        return _Gains(self._influence.each + self._find_alone())

    def _find_alone(self) -> Numbers:
        """By how much each form rises at most by outputs that a column turns to its favor if no other one changes."""
        if not self._can_step:
            return self._influence.each
        points, changed = self._list_steps(self.start)
        before = self.forms.outputs(self.region.bits_at(self.start[np.newaxis]))[0]
        is_turned = self.forms.outputs(self.region.bits_at(points)) != before
        by_column = np.zeros((len(self.columns), len(before)), bool)
        np.logical_or.at(by_column, changed, is_turned)
        rises = np.where((self.forms.weights < 0) == before, np.abs(self.forms.weights), 0)
        alone: Numbers = rises @ by_column.T.astype(np.int64)
        return alone

    @property
    def _can_step(self) -> bool:
        n_steps = int(self.region.sizes[self.columns].sum())
        return n_steps * (self.region.space.n_bits + len(self.forms.circuit.outputs)) <= MAX_STEPS

    def _list_steps(self, point: Numbers) -> tuple[Numbers, Numbers]:
        """The points that differ from one in just one column, and the positions in `columns` of what changed."""
        sizes = self.region.sizes[self.columns]
        changed = np.repeat(np.arange(len(sizes)), sizes)
        choices = np.concatenate([np.empty(0, np.int64), *(np.arange(size) for size in sizes.tolist())])
        is_other = choices != point[self.columns][changed]
        changed, choices = changed[is_other], choices[is_other]
        points = np.repeat(point[np.newaxis], len(changed), axis=0)
        points[np.arange(len(changed)), self.columns[changed]] = choices
        return points, changed

    def can_any(self, n: int) -> bool:
        """Whether bounds allow that all forms are at least 0 where at most n columns change."""
        able = self.start_values[:, np.newaxis] + self._influence.most(n) >= 0
        if able.all(axis=0).any():
            able &= 2 * self.start_values[:, np.newaxis] + self._shares.most(n) >= 0
        return bool(able.all(axis=0).any())

    def climb(self, at_most: int, limit: Limit) -> Numbers | None:
        """A point where all forms are at least 0, if one is found by changing the best columns one after the other."""
        best = [self.start]
        for _ in range(min(at_most, len(self.columns)) if self._can_step else 0):
            reached: list[tuple[int, Numbers]] = []
            for from_point in best:
                if limit.is_over():
                    return None
                points, _ = self._list_steps(from_point)
                values = self.forms.values(self.region.bits_at(points)).min(axis=1)
                self.n_boxes += len(points)
                order = np.argsort(-values, kind="stable")[:N_CLIMBERS]
                reached += [(int(values[k]), points[k]) for k in order.tolist()]
            reached.sort(key=lambda each: -each[0])
            if reached[0][0] >= 0:
                return reached[0][1]
            best = list({point.tobytes(): point for _, point in reached}.values())[:N_CLIMBERS]
        return None

    def candidates(self, size: int, limit: Limit) -> Iterator[tuple[int, ...]]:
        """Sets of just so many columns, as positions in `columns`, whose bound allows that all forms are at least 0.

        Ends early when time is up.
        """
        if size > len(self.columns):
            return
        stack: list[tuple[int, ...]] = [()]
        while stack and not limit.is_over():
            block, stack = stack[-BLOCK:], stack[:-BLOCK]
            bounds = self._bound(block)
            for chosen, bound in zip(block, bounds, strict=True):
                n_more = size - len(chosen)
                if n_more == 0:
                    if (bound >= 0).all():
                        yield chosen
                    continue
                first = chosen[-1] + 1 if chosen else 0
                shared = 2 * self.start_values + self._shares.each[:, list(chosen)].sum(axis=1)
                able_both = (bound[:, np.newaxis] + self._influence.most(n_more)[:, first:] >= 0) & (
                    shared[:, np.newaxis] + self._shares.most(n_more)[:, first:] >= 0
                )
                able = np.flatnonzero(able_both.all(axis=0)).tolist()
                stack += [(*chosen, first + k) for k in reversed(able) if first + k <= len(self.columns) - n_more]

    def box(self, chosen: Sequence[int]) -> Region:
        """The part of the region where only these columns may differ from the start."""
        kept = {int(self.columns[k]) for k in chosen}
        choices = tuple(
            own if i in kept else (own[at],)
            for i, (own, at) in enumerate(zip(self.region.choices, self.start.tolist(), strict=True))
        )
        return Region(self.region.space, choices)

    def find(self, chosen: Sequence[int], limit: Limit) -> Found:
        """Search the points in which just these columns differ, if smaller sets of columns were searched before."""
        free = self.columns[list(chosen)]
        others = [
            [k for k in range(n) if k != at] for n, at in zip(self.region.sizes[free], self.start[free], strict=True)
        ]
        if math.prod(map(len, others)) <= MAX_POINTS:
            return self._look(free, others)
        box = self.box(chosen)
        found = Search(self.forms.fold(box.fixed_bits()), box, goal=0).run(limit)
        self.n_boxes += found.n_boxes
        if found.point is None:
            return found
        point = self.start.copy()
        point[free] = found.point[free]
        return Found(point, True, found.low, found.high, found.n_boxes)

    def _look(self, free: Numbers, others: Sequence[Sequence[int]]) -> Found:
        """Look at every point."""
        changed = np.array(list(product(*others)), np.int64).reshape(-1, len(free))
        points = np.repeat(self.start[np.newaxis], len(changed), axis=0)
        points[:, free] = changed
        values = self._bounder.values(points).min(axis=1)
        self.n_boxes += len(points)
        at, best = int(values.argmax()), int(values.max())
        return Found(points[at] if best >= 0 else None, True, best, best, len(points))

    def values(self, points: Numbers) -> Numbers:
        """The forms at points, (n_points, n_forms)."""
        return self._bounder.values(points)

    def can_do(self, block: Sequence[tuple[int, ...]]) -> NDArray[np.bool_]:
        """Whether the bound of each set of columns allows that all forms are at least 0."""
        can: NDArray[np.bool_] = np.all(self._bound(block) >= 0, axis=1)
        return can

    def _bound(self, block: Sequence[tuple[int, ...]]) -> Numbers:
        low = np.repeat(self.start[np.newaxis], len(block), axis=0)
        high = low.copy()
        rows = np.repeat(np.arange(len(block)), [len(chosen) for chosen in block])
        columns = self.columns[[k for chosen in block for k in chosen]]
        low[rows, columns], high[rows, columns] = 0, self.region.sizes[columns] - 1
        self.n_boxes += len(block)
        return self._bounder.highs(low, high)


class _Gains:
    """By how much columns raise forms at most, (n_forms, n_columns)."""

    def __init__(self, each: Numbers) -> None:
        self.each = each
        self._most: dict[int, Numbers] = {}

    def most(self, n: int) -> Numbers:
        """By how much each column and at most n - 1 of those after it raise each form at most."""
        if n not in self._most:
            after = [
                np.sort(self.each[:, k + 1 :], axis=1)[:, max(0, self.each.shape[1] - k - n) :].sum(axis=1)
                for k in range(self.each.shape[1])
            ]
            self._most[n] = self.each + np.array(after, np.int64).reshape(self.each.shape[::-1]).T
        return self._most[n]


def find_influence(forms: Forms, region: Region, start: Numbers) -> Numbers:
    """How much each form rises at most if a column changes, (n_forms, n_columns), whatever other columns do.

    Only outputs that the column reaches can change, and those that are in favor of the form already do not raise it.

    Examples
    --------
    >>> from gatewise import Circuit, Encoder
    >>> from gatewise.verify.forms import View
    >>> from gatewise.verify.space import Space
    >>> region = Space([Encoder.fit([[0.0, 0.0], [1.0, 1.0]])]).region()
    >>> circuit = Circuit(2, gate=[1], a=[2], b=[3], outputs=[4, 3, 3], group_ptr=[0, 3])
    >>> counts = Forms.of([View(circuit, np.arange(2), np.full(2, -1, np.int8))], 2)
    >>> find_influence(counts, region, np.array([0, 0])).tolist()
    [[1, 3]]
    """
    netlist = forms.netlist
    column = np.searchsorted(region.space.first_bit, np.arange(netlist.n_inputs), side="right") - 1
    reach = [1 << i for i in column.tolist()]
    for a, b in zip(netlist.a.tolist(), netlist.b.tolist(), strict=True):
        reach.append(reach[a] | reach[b])
    is_true = forms.outputs(region.bits_at(start[np.newaxis]))[0]
    influence = np.zeros((forms.n_forms, len(region.sizes)), np.int64)
    for i, group in enumerate(netlist.groups):
        weights = forms.weights[:, i]
        rises = np.where((weights < 0) == is_true[i], np.abs(weights), 0)
        nodes = np.concatenate([group.added, group.subtracted]).tolist()
        mask = reach[nodes[0]] if nodes else 0
        while mask:
            bit = mask & -mask
            influence[:, bit.bit_length() - 1] += rises
            mask ^= bit
    return influence
