"""Equivalence: whether two models, or circuits, give the same answer to every row."""

from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gatewise.circuit import Circuit
from gatewise.encode import Encoder
from gatewise.export.counting import CircuitBuilder
from gatewise.export.pins import HeadForm, name_pins
from gatewise.gates import XOR
from gatewise.heads import Classes
from gatewise.model import Model
from gatewise.run.reference import evaluate_outputs
from gatewise.verify.answers import Verdict
from gatewise.verify.asking import Case, Question, beating, predict_one, winning
from gatewise.verify.forms import Forms, View, join, replace_outputs
from gatewise.verify.limits import LIMIT, Limit
from gatewise.verify.proving.decide import Method
from gatewise.verify.proving.sweep import sweep
from gatewise.verify.space import Given, Row

Numbers = NDArray[np.int64]
SWEEP_SHARE = 0.5
"""What part of the time goes into making gates one before whole answers are compared."""


def equivalent(
    first: Model | Circuit,
    second: Model | Circuit,
    given: Given | None = None,
    *,
    head: HeadForm = "bits",
    limit: float = LIMIT,
    method: Method = "auto",
    proof: str | None = None,
) -> Verdict:
    """Whether two models, or circuits, answer every row alike; refuted by a row.

    Parameters
    ----------
    first, second : Model or Circuit
        Models of the same columns, whose encoders may differ, with the same labels or the same head of a regression; or
        circuits of as many inputs and outputs; or a model and a circuit of its bits, such as
        `gatewise.tools.aiger.from_aiger` makes of an exported file.
    given : dict, optional
        Conditions, as for `always`; not for two circuits.
    head : {"bits", "counts", "class"}
        What a circuit that is compared with a model gives out, as in its export.
    limit, method, proof
        As for `always`.

    Examples
    --------
    >>> nand = Circuit(2, gate=[14], a=[2], b=[3], outputs=[4], group_ptr=[0, 1])
    >>> inverted = Circuit(2, gate=[12, 12, 7], a=[2, 3, 4], b=[2, 3, 5], outputs=[6], group_ptr=[0, 1])
    >>> equivalent(nand, inverted).status
    'proved'
    >>> print(equivalent(nand, Circuit(2, [15], [2], [3], [4], [0, 1])).counterexample)
    ({'x0': 1, 'x1': 1},)
    """
    if isinstance(first, Model) and isinstance(second, Model):
        return _compare_models(Question([first, second], limit, method, proof=proof), given)
    if isinstance(first, Circuit) and isinstance(second, Model):
        first, second = second, first
    for circuit in (first, second):
        if not isinstance(circuit, Model | Circuit):
            raise TypeError(f"models must be of type Model or Circuit, got {type(circuit).__name__}")
    if isinstance(first, Model):
        left, encoder = name_pins(first, head).circuit, first.encoder
    else:
        left, encoder = first, Encoder.images((first.n_inputs,), 1, high=1.0)
    assert isinstance(second, Circuit)
    shapes = [(circuit.n_inputs, circuit.n_outputs) for circuit in (left, second)]
    if shapes[0] != shapes[1]:
        raise ValueError(f"circuits must have as many inputs and outputs, got {shapes[0]} and {shapes[1]}")
    return _compare_circuits(Question([], limit, method, encoders=[encoder], proof=proof), left, second, given)


def prove_equal(first: Circuit, second: Circuit, limit: float) -> None:
    """Raise RuntimeError unless each output of two circuits is proved to be the same, for all bits, in time.

    `Model.build` calls it to have its optimizations proved. Nothing of `gatewise.passes` has a part in it.

    Examples
    --------
    >>> prove_equal(Circuit(1, [12], [2], [2], [3], [0, 1]), Circuit(1, [8], [2], [2], [3], [0, 1]), 10.0)
    """
    n = first.n_inputs
    fixed = np.full(n, -1, np.int8)
    joined = join([View(circuit, np.arange(n), fixed) for circuit in (first, second)], n)
    outputs = sweep(joined, Limit(limit)).circuit.outputs
    apart = np.flatnonzero(outputs[: first.n_outputs] != outputs[first.n_outputs :])
    if len(apart):
        raise RuntimeError(
            f"circuits must be proved equal within {limit:g} s, got {len(apart)} of {first.n_outputs} outputs without "
            f"a proof, the first one {apart[0]}; leave out prove, or ask gatewise.verify.equivalent with a longer limit"
        )


def _compare_models(question: Question, given: Given | None) -> Verdict:
    first, second = question.models
    region = question.space.region(given)
    places = _match_heads(first, second)
    counts = question.all_counts.fold(region.fixed_bits())
    if question.proof is None:
        counts = counts.with_circuit(sweep(counts.circuit, question.limit.part(SWEEP_SHARE), region).circuit)
        question.tally.add(counts.circuit.n_gates, "sweeping")
    n = len(places)
    same = counts.combine(np.hstack([np.eye(n, dtype=np.int64), -np.eye(n, dtype=np.int64)[places]]), [0] * n)
    claim = "both models answer alike"
    is_even = same.weights.size == 0 and (same.constants == same.constants[0]).all()
    if (
        question.proof is None
        and is_even
        and places == list(range(n))
        and (isinstance(first.head, Classes) or same.constants[0] == 0)
    ):
        return Verdict(claim, "proved", question.tally.effort(question.limit.spent()))

    def confirm(rows: tuple[Row, ...]) -> tuple[Any, ...] | None:
        answers = predict_one(first, rows[0]), predict_one(second, rows[0])
        return None if answers[0] == answers[1] else answers

    cases = [
        Case(region, partial(counts.combine, *each), lambda point: (region.row(point),))
        for each in _list_differences(first, places)
    ]
    return question.settle(claim, cases, confirm)


def _match_heads(first: Model, second: Model) -> list[int]:
    """The group of the second model for each of the first."""
    one, other = first.head, second.head
    if isinstance(one, Classes) and isinstance(other, Classes):
        if set(one.labels) != set(other.labels):
            raise ValueError(f"models must have the same labels, got {one.labels!r:.100} and {other.labels!r:.100}")
        return [other.labels.index(label) for label in one.labels]
    if one != other:
        raise ValueError(
            f"models of values must have the same head to be compared, got {one!r:.100} and {other!r:.100}"
        )
    return list(range(one.n_groups))


def _list_differences(first: Model, places: list[int]) -> Iterator[tuple[Numbers, Numbers]]:
    """Forms of the counts of both models that are all at least 0 where their answers differ in one way."""
    n = len(places)
    if isinstance(first.head, Classes):
        for i in range(n):
            matrix, constants = winning(i, n)
            for j in (j for j in range(n) if j != i):
                more, constant = beating(places[j], places[i], n)
                none = np.zeros((1, n), np.int64)
                yield np.block([[matrix, 0 * matrix], [none, more]]), np.append(constants, constant)
    else:
        for k in range(n):
            for sign in (-1, 1):
                multiples = np.zeros((1, 2 * n), np.int64)
                multiples[0, [k, n + k]] = sign, -sign
                yield multiples, np.array([-1])


def _compare_circuits(question: Question, first: Circuit, second: Circuit, given: Given | None) -> Verdict:
    space = question.space
    region, inputs = space.region(given), space.inputs(0)
    joined = join([View(circuit, inputs, region.fixed_bits()) for circuit in (first, second)], space.n_bits)
    swept = joined
    if question.proof is None:
        swept = sweep(joined, question.limit.part(SWEEP_SHARE), region).circuit
        question.tally.add(joined.n_gates, "sweeping")
    pairs = swept.outputs.reshape(2, -1).T.tolist()
    apart = [(i, pair) for i, pair in enumerate(pairs) if pair[0] != pair[1]]

    def confirm(rows: tuple[Row, ...]) -> tuple[Any, ...] | None:
        bits = space.encoders[0].transform(list(rows)) if space.names else np.empty((1, 0), bool)
        outputs = [_evaluate(circuit, bits) for circuit in (first, second)]
        differing = np.flatnonzero(outputs[0] != outputs[1])
        return (
            tuple(f"output {differing[0]} is {int(each[differing[0]])}" for each in outputs) if len(differing) else None
        )

    cases = [Case(region, partial(_differ, swept, *pair), lambda point: (region.row(point),)) for _, pair in apart]
    return question.settle("both circuits give the same outputs", cases, confirm)


def _differ(circuit: Circuit, x: int, y: int) -> Forms:
    """A form that is at least 0 where two wires differ."""
    builder = CircuitBuilder(circuit)
    wire = builder.add(XOR, x, y)
    circuit = replace_outputs(builder.build([]), np.array([wire], np.int32))
    return Forms(circuit, np.ones((1, 1), np.int64), np.zeros(1, np.int64)).combine([[1]], [-1])


def _evaluate(circuit: Circuit, bits: NDArray[np.bool_]) -> NDArray[np.bool_]:
    outputs: NDArray[np.bool_] = evaluate_outputs(circuit, bits)[0]
    return outputs
