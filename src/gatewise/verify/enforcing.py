"""Enforcing: a model that keeps a property by construction, made of one that does not.

In: a model and the property. Out: another model, the proof that it keeps the property, and what that costs.
"""

from collections.abc import Callable
from dataclasses import dataclass
from itertools import groupby, pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gatewise.circuit import N_CONSTANTS, Circuit
from gatewise.export.counting import CircuitBuilder
from gatewise.gates import A_AND_NOT_B, A_OR_NOT_B, AND, OR
from gatewise.heads import Classes
from gatewise.model import Model
from gatewise.verify.answers import Verdict
from gatewise.verify.forms import fix_inputs
from gatewise.verify.limits import LIMIT
from gatewise.verify.questions import independent_of, monotone
from gatewise.verify.space import Space

Bits = NDArray[np.bool_]


@dataclass(frozen=True)
class Enforced:
    """A model that keeps a property, beside the one that it was made of.

    Parameters
    ----------
    model : Model
    verdict : Verdict
        That it keeps the property.
    before, after : float
        Share of right answers, or of the variance that is explained, of both models on the rows that were given.
    """

    model: Model
    verdict: Verdict
    before: float
    after: float

    def __str__(self) -> str:
        return (
            f"{self.verdict}\n  score {self.after:.4f}, before {self.before:.4f}; {self.model.circuit.n_gates:,} gates"
        )


def enforce_independence(model: Model, column: str, X: Any, y: Any, *, limit: float = LIMIT) -> Enforced:
    """A model that does not read a column: it answers as if that always had the value that suits the rows best.

    Parameters
    ----------
    model : Model
    column : str
    X : table
        Rows to choose the value by.
    y : array, shape (n_rows,)
        Their true answers.
    limit : float
        Seconds for the proof.

    Examples
    --------
    >>> from gatewise import Encoder
    >>> encoder = Encoder.fit([[0, 0], [1, 1]])
    >>> model = Model.build(encoder, Circuit(2, [1], [2], [3], [0, 4], [0, 1, 2]), Classes(("no", "yes"), 1.0, 1))
    >>> fair = enforce_independence(model, "x1", [[0, 0], [1, 0], [1, 1]], ["no", "yes", "yes"])
    >>> fair.verdict.status, fair.before, fair.after
    ('proved', 0.6666666666666666, 1.0)
    """
    space = Space([model.encoder])
    i = space.column_idx(column)
    candidates = []
    for bits in space.columns[i].bits:
        fixed = np.full(space.n_bits, -1, np.int8)
        fixed[space.first_bit[i] : space.first_bit[i + 1]] = bits
        candidates.append(fix_inputs(model.circuit, fixed[space.inputs(0)]))
    return _choose(model, candidates, X, y, lambda made: independent_of(made, column, limit=limit))


def enforce_monotone(
    model: Model, column: str, X: Any, y: Any, *, increasing: bool = True, limit: float = LIMIT
) -> Enforced:
    """A model whose score never falls when a column of numbers rises, by construction.

    Each output that depends on the column is replaced by whether it is true for some lower value, so that it stays true
    from there on, or by whether it is true for all higher ones; of the two, what suits the rows better.

    Parameters
    ----------
    model : Model
        Of two classes, or of one value.
    column : str
        Rows in which it is missing are answered as before.
    X, y, limit
        As for `enforce_independence`.
    increasing : bool
        False for a score that never rises.
    """
    circuits = [_straighten(model, column, increasing=increasing, widest=widest) for widest in (True, False)]
    return _choose(model, circuits, X, y, lambda made: monotone(made, column, increasing=increasing, limit=limit))


def _choose(model: Model, circuits: list[Circuit], X: Any, y: Any, prove: Callable[[Model], Verdict]) -> Enforced:
    """Of models with these circuits, the one that scores best, proved."""
    made = [Model.build(model.encoder, circuit, model.head, threads=model.threads) for circuit in circuits]
    scores = [_score(each, X, y) for each in made]
    best = int(np.argmax(scores))
    return Enforced(made[best], prove(made[best]), _score(model, X, y), scores[best])


def _score(model: Model, X: Any, y: Any) -> float:
    """Share of right answers, or of the variance that is explained."""
    answers, true = model.predict(X), np.asarray(y)
    if isinstance(model.head, Classes):
        return float((answers == true).mean())
    around_mean = float(np.square(true - true.mean(axis=0)).sum())
    return 1 - float(np.square(answers - true).sum()) / around_mean if around_mean else 0.0


def _straighten(model: Model, column: str, *, increasing: bool, widest: bool) -> Circuit:
    """The circuit with outputs that rise with a column in the last group, and fall in the one before it."""
    space = Space([model.encoder])
    i = space.column_idx(column)
    n_ordered = space.columns[i].n_ordered
    if n_ordered == 0:
        raise ValueError(f"column must hold numbers to be raised, got the categories of {column!r:.60}")
    if model.head.n_groups != (2 if isinstance(model.head, Classes) else 1):
        raise ValueError(f"model must have two classes or one value, got {model.head.n_groups} groups")
    own = space.first_bit[i] + np.arange(space.columns[i].bits.shape[1])
    inputs = np.flatnonzero(np.isin(space.inputs(0), own))
    cells = space.columns[i].bits[:, space.inputs(0)[inputs] - space.first_bit[i]]
    circuit, builder = model.circuit, CircuitBuilder(model.circuit)
    is_missing = int(inputs[-1]) + N_CONSTANTS if len(cells) > n_ordered else 0
    groups = []
    for k, group in enumerate(np.split(circuit.outputs, circuit.group_ptr[1:-1])):
        rises = (k == circuit.n_groups - 1) == increasing
        straight: dict[int, int] = {}
        for wire in group.tolist():
            if wire not in straight:
                lines = _Lines(builder, circuit, wire, inputs, cells[:n_ordered])
                made = lines.rise(widest) if rises else lines.fall(widest)
                straight[wire] = made if made == wire else _where(builder, is_missing, wire, made)
        groups.append([straight[wire] for wire in group.tolist()])
    return builder.build(groups)


class _Lines:
    """An output for each stretch of a column's cells in which it is the same."""

    def __init__(self, builder: CircuitBuilder, circuit: Circuit, wire: int, inputs: NDArray[Any], cells: Bits) -> None:
        self._builder, self._wire = builder, wire
        self._cone = _find_cone(circuit, wire)
        read = [k for k, each in enumerate(inputs.tolist()) if each + N_CONSTANTS in self._cone]
        stretches = [list(each) for _, each in groupby(range(len(cells)), key=lambda c: cells[c, read].tobytes())]
        self._values = [self._copy(circuit, inputs[read], cells[each[0], read]) for each in stretches] if read else []
        # From one stretch to the next a threshold is exceeded: a bit becomes true.
        rising = [np.flatnonzero(cells[b[0], read] & ~cells[a[-1], read]) for a, b in pairwise(stretches)]
        self._starts = [int(inputs[read[int(bits[0])]]) + N_CONSTANTS for bits in rising]

    def rise(self, widest: bool) -> int:
        """A wire that stays true once it is, as the column rises."""
        if not self._values:
            return self._wire
        if widest:
            total = self._values[0]
            for start, value in zip(self._starts, self._values[1:], strict=True):
                total = self._builder.add(OR, total, self._builder.add(AND, start, value))
            return total
        total = self._values[-1]
        for start, value in zip(self._starts[::-1], self._values[-2::-1], strict=True):
            total = self._builder.add(AND, total, self._builder.add(OR, start, value))
        return total

    def fall(self, widest: bool) -> int:
        """A wire that stays false once it is, as the column rises."""
        if not self._values:
            return self._wire
        if widest:
            total = self._values[-1]
            for start, value in zip(self._starts[::-1], self._values[-2::-1], strict=True):
                total = self._builder.add(OR, total, self._builder.add(A_AND_NOT_B, value, start))
            return total
        total = self._values[0]
        for start, value in zip(self._starts, self._values[1:], strict=True):
            implied = self._builder.add(A_OR_NOT_B, value, start)
            total = self._builder.add(AND, total, implied)
        return total

    def _copy(self, circuit: Circuit, inputs: NDArray[Any], bits: Bits) -> int:
        """The output with the column's bits fixed."""
        wires: dict[int, int] = dict(zip((inputs + N_CONSTANTS).tolist(), bits.astype(int).tolist(), strict=True))
        first = N_CONSTANTS + circuit.n_inputs
        for wire in sorted(each for each in self._cone if each >= first):
            at = wire - first
            a, b = int(circuit.a[at]), int(circuit.b[at])
            wires[wire] = self._builder.add(int(circuit.gate[at]), wires.get(a, a), wires.get(b, b))
        return wires.get(self._wire, self._wire)


def _find_cone(circuit: Circuit, wire: int) -> set[int]:
    """Wires that a wire depends on, itself among them."""
    first, cone, waiting = N_CONSTANTS + circuit.n_inputs, {wire}, [wire]
    while waiting:
        at = waiting.pop() - first
        for operand in (int(circuit.a[at]), int(circuit.b[at])) if at >= 0 else ():
            if operand not in cone:
                cone.add(operand)
                waiting.append(operand)
    return cone


def _where(builder: CircuitBuilder, condition: int, if_true: int, if_false: int) -> int:
    chosen = builder.add(AND, condition, if_true)
    return builder.add(OR, chosen, builder.add(A_AND_NOT_B, if_false, condition))
