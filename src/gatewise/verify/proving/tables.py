"""Tables: forms as sums of small tables, one for all outputs that read the same few columns.

In: forms and a region. Out: what each form is at most in boxes; the best point of a box.
Invariant: at a point the tables add up to the forms; the bound of a box is exact for each table alone.

The models of the estimators are such sums: each term asks a few questions. Bounds by tables are closer than those by
`rails`, which take the digits of one term for independent, and native code looks them up.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gatewise import _native
from gatewise.export.netlist import Netlist
from gatewise.gates import evaluate
from gatewise.verify.forms import Forms
from gatewise.verify.limits import Limit
from gatewise.verify.proving.found import Found
from gatewise.verify.space import Region

Numbers = NDArray[np.int64]
MAX_GATES = 100_000
MAX_RANGES = 1 << 15
"""Boxes of runs that one table tells apart, at most; an output that has more of them is not tabulated."""

MAX_BITS = 16
"""That an output reads, at most."""

MAX_PLACES = 1 << 22
"""Of all tables and forms together: 16 MB."""

N_HOSTS = 2
"""Tables that outputs may join, those that have most of their bits already."""

MAX_VALUE = 2**31 - 1
BOXES_PER_SLICE = 1 << 15
"""Boxes that are bounded between two looks at the clock: some ten milliseconds."""


@dataclass(frozen=True, eq=False)
class Tables:
    """Forms as sums of tables.

    Parameters
    ----------
    n_forms : int
    sums : native object

    Examples
    --------
    >>> from gatewise import Circuit, Encoder
    >>> from gatewise.verify.forms import View
    >>> from gatewise.verify.space import Space
    >>> region = Space([Encoder.fit([[0.0, 0.0], [1.0, 1.0]])]).region()
    >>> xor = Circuit(2, gate=[6], a=[2], b=[3], outputs=[4], group_ptr=[0, 1])
    >>> tables = Tables.of(Forms.of([View(xor, np.arange(2), np.full(2, -1, np.int8))], 2), region)
    >>> found = tables.search(np.zeros(2, np.int64), np.ones(2, np.int64), goal=None, limit=Limit(10.0))
    >>> found.is_complete, found.low, found.high
    (True, 1, 1)
    """

    n_forms: int
    sums: _native.TableSum

    @classmethod
    def of(cls, forms: Forms, region: Region) -> "Tables | None":
        """The tables, or None if some output reads too much for one."""
        if forms.circuit.n_gates > MAX_GATES or forms.n_forms == 0:
            return None
        clusters = _gather(forms, region)
        if clusters is None or sum(each.n_ranges for each in clusters) * forms.n_forms > MAX_PLACES:
            return None
        arrays = []
        for cluster in clusters:
            values = _tabulate(forms, region, cluster)
            if np.abs(values).max(initial=0) > MAX_VALUE:
                return None
            axes = [(i, runs.astype(np.uint32)) for i, runs in zip(cluster.columns, cluster.runs, strict=True)]
            arrays.append((axes, np.ascontiguousarray(values, np.int32).ravel()))
        return cls(forms.n_forms, _native.TableSum(region.sizes.astype(np.uint32), forms.constants, arrays))

    def highs(self, low: Numbers, high: Numbers) -> Numbers:
        """What each form is at most, (n_boxes, n_forms); low and high choices, both included, (n_boxes, n_columns)."""
        highs = np.empty((len(low), self.n_forms), np.int64)
        self.sums.highs(_as_choices(low), _as_choices(high), highs)
        return highs

    def values(self, points: Numbers) -> Numbers:
        """The forms at points, (n_points, n_forms)."""
        return self.highs(points, points)

    def search(self, low: Numbers, high: Numbers, *, goal: int | None, limit: Limit) -> Found:
        """Look in one box for a point where the least form is greatest, or at least the goal."""
        search = _native.BoxSearch(self.sums, _as_choices(low), _as_choices(high), goal)
        while not search.advance(BOXES_PER_SLICE) and not limit.is_over():
            pass
        point = None if search.point is None else np.array(search.point, np.int64)
        return Found(point, search.is_done, search.reached, search.highest, search.n_boxes)


@dataclass(frozen=True, eq=False)
class _Cluster:
    """Outputs that one table adds up, bits that they read, and the run of each choice of a column.

    Columns are also the bits of a number, `mask`, as most pairs of clusters are compared by them alone.
    """

    outputs: list[int]
    columns: tuple[int, ...]
    mask: int
    bits: frozenset[int]
    runs: tuple[NDArray[np.int64], ...]
    n_ranges: int

    @classmethod
    def of(cls, region: Region, columns: tuple[int, ...], bits: frozenset[int], outputs: list[int]) -> "_Cluster":
        """The runs of a region's choices that bits tell apart, and the number of boxes of them."""
        listed, n_ranges, runs = np.array(sorted(bits), np.int64), 1, []
        for i in columns:
            first, end = region.space.first_bit[[i, i + 1]].tolist()
            own = region.bits[i][:, listed[(listed >= first) & (listed < end)] - first]
            run_of = np.zeros(len(own), np.int64)
            np.cumsum((own[1:] != own[:-1]).any(axis=1), out=run_of[1:])
            runs.append(run_of)
            n_runs = int(run_of[-1]) + 1
            n_ranges *= n_runs * (n_runs + 1) // 2
        return cls(outputs, columns, sum(1 << i for i in columns), bits, tuple(runs), n_ranges)


def _gather(forms: Forms, region: Region) -> list[_Cluster] | None:
    """Outputs by the columns that they read, those of fewer columns with others, where the table stays small."""
    alike = _find_alike(forms)
    if alike is None:
        return None
    column_of = np.searchsorted(region.space.first_bit, np.arange(forms.netlist.n_inputs), side="right") - 1
    by_columns: dict[tuple[int, ...], list[frozenset[int]]] = {}
    for bits in alike:
        by_columns.setdefault(tuple(sorted({int(column_of[bit]) for bit in bits})), []).append(bits)
    clusters: list[_Cluster] = []
    for columns, own in sorted(by_columns.items(), key=lambda each: -len(each[0])):
        whole = _Cluster.of(region, columns, frozenset().union(*own), [k for bits in own for k in alike[bits]])
        parts = [whole]
        if whole.n_ranges > MAX_RANGES:
            parts = [_Cluster.of(region, columns, bits, alike[bits]) for bits in own]
        if any(part.n_ranges > MAX_RANGES for part in parts):
            return None
        for part in parts:
            _join(clusters, part, region)
    return clusters


def _find_alike(forms: Forms) -> dict[frozenset[int], list[int]] | None:
    """Outputs by the bits that they read; None if one of them reads too many."""
    netlist, none = forms.netlist, frozenset[int]()
    reach = [frozenset([i]) for i in range(netlist.n_inputs)]
    for a, b in zip(netlist.a.tolist(), netlist.b.tolist(), strict=True):
        both = reach[a] | reach[b] if reach[a] and reach[b] else none
        reach.append(both if len(both) <= MAX_BITS else none)  # an empty set stands for too many
    alike: dict[frozenset[int], list[int]] = {}
    for output_idx in range(len(netlist.groups)):
        alike.setdefault(reach[_read_node(netlist, output_idx)[0]], []).append(output_idx)
    return None if none in alike else alike


def _join(clusters: list[_Cluster], cluster: _Cluster, region: Region) -> None:
    """Put outputs into a table that has most of their bits already and stays small, or into one of their own."""
    hosts = [k for k, host in enumerate(clusters) if cluster.mask & host.mask == cluster.mask]
    hosts.sort(key=lambda k: (len(cluster.bits - clusters[k].bits), clusters[k].n_ranges))
    for k in hosts[:N_HOSTS]:
        host = clusters[k]
        joined = _Cluster.of(region, host.columns, host.bits | cluster.bits, [*host.outputs, *cluster.outputs])
        if joined.n_ranges <= MAX_RANGES:
            clusters[k] = joined
            return
    clusters.append(cluster)


def _tabulate(forms: Forms, region: Region, cluster: _Cluster) -> Numbers:
    """The sum of a cluster's outputs for each cell of runs, (n_runs of each column, n_forms)."""
    netlist, values = forms.netlist, dict[int, NDArray[np.int8]]()
    n_axes = len(cluster.columns)
    firsts = [np.unique(runs, return_index=True)[1] for runs in cluster.runs]
    for bit in sorted(cluster.bits):
        i = int(np.searchsorted(region.space.first_bit, bit, side="right") - 1)
        axis = cluster.columns.index(i)
        own = region.bits[i][firsts[axis], bit - region.space.first_bit[i]].astype(np.int8)
        values[bit] = own.reshape([-1 if k == axis else 1 for k in range(n_axes)])
    total = np.zeros([*(len(first) for first in firsts), forms.n_forms], np.int64)
    for output_idx in cluster.outputs:
        node, is_inverted = _read_node(netlist, output_idx)
        for gate_idx in _list_cone(netlist, node, values):
            gate, a, b = netlist.gate[gate_idx], netlist.a[gate_idx], netlist.b[gate_idx]
            values[netlist.n_inputs + gate_idx] = evaluate(gate.astype(np.int8), values[int(a)], values[int(b)])
        total += (values[node] ^ is_inverted)[..., np.newaxis] * forms.weights[:, output_idx]
    return total


def _list_cone(netlist: Netlist, node: int, known: dict[int, NDArray[np.int8]]) -> list[int]:
    """Gates that a node needs and whose values are not known, in order."""
    needed, stack = set(), [node]
    while stack:
        each = stack.pop()
        if each not in known and each not in needed:
            needed.add(each)
            gate_idx = each - netlist.n_inputs
            stack += [int(netlist.a[gate_idx]), int(netlist.b[gate_idx])]
    return [each - netlist.n_inputs for each in sorted(needed)]


def _read_node(netlist: Netlist, output_idx: int) -> tuple[int, int]:
    """The node of an output, which is no constant, and whether it is inverted, as 0 or 1."""
    group = netlist.groups[output_idx]
    return (int(group.added[0]), 0) if len(group.added) else (int(group.subtracted[0]), 1)


def _as_choices(numbers: Numbers | Sequence[int]) -> NDArray[np.uint32]:
    return np.ascontiguousarray(numbers, np.uint32)
