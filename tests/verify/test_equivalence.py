"""Models and circuits are equivalent just where looking at every row says so; sweeping and proofs of optimizations."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.corpus import circuits, random_layers, random_rows
from support.small_models import ENCODER, GIVEN, list_rows, make_model
from support.tools import require_module

require_module("pysat", "pip install -c constraints.txt '.[verify]'")

from gatewise import Circuit, Encoder, Model, simplify, verify
from gatewise.encode import Categorical, Numeric
from gatewise.export import to_aiger
from gatewise.gates import negate
from gatewise.heads import Classes
from gatewise.run.reference import evaluate_outputs
from gatewise.tools.aiger import from_aiger
from gatewise.verify.limits import Limit
from gatewise.verify.proving.decide import METHODS
from gatewise.verify.proving.sweep import sweep

CORPUS = circuits()
OTHER_ENCODER = Encoder(
    (
        Numeric("age", [17.5, 25.0, 60.0]),
        Categorical("job", ("smith", "pilot")),
        Numeric("gain", [50.0]),
        Categorical("member", (False,), missing=True),
    ),
    named=True,
)


@pytest.mark.parametrize("name", CORPUS)
def test_sweeping_keeps_what_a_circuit_computes(name: str) -> None:
    circuit = CORPUS[name]
    swept = sweep(circuit, Limit(20.0)).circuit
    rows = random_rows(np.random.default_rng(0), 200, circuit.n_inputs)
    assert (evaluate_outputs(swept, rows)[0] == evaluate_outputs(circuit, rows)[0]).all()
    assert swept.group_ptr.tolist() == circuit.group_ptr.tolist()


@pytest.mark.parametrize("name", CORPUS)
def test_circuits_and_what_simplify_makes_of_them(name: str) -> None:
    circuit = CORPUS[name]
    assert verify.equivalent(circuit, simplify(circuit)).is_proved


@pytest.mark.parametrize("name", ["8-bit adder", "parity of 33", "layers 16x33x65x10", "trained layers 784x100"])
def test_one_wrong_gate_is_found(name: str) -> None:
    circuit = CORPUS[name]
    gate = circuit.gate.copy()
    last = int(circuit.outputs.max()) - 2 - circuit.n_inputs
    gate[last] = negate(gate[last])
    wrong = Circuit(circuit.n_inputs, gate, circuit.a, circuit.b, circuit.outputs, circuit.group_ptr)
    verdict = verify.equivalent(circuit, wrong)
    assert verdict.is_refuted
    bits = np.array([list(verdict.counterexample[0].values())], bool)
    assert (evaluate_outputs(circuit, bits)[0] != evaluate_outputs(wrong, bits)[0]).any()


@settings(max_examples=25, deadline=None)
@given(
    seeds=st.tuples(st.integers(0, 10_000), st.integers(0, 10_000)),
    conditions=st.sampled_from(GIVEN),
    method=st.sampled_from(METHODS),
    n_groups=st.integers(2, 3),
)
def test_models_of_different_encoders(
    seeds: tuple[int, int], conditions: dict[str, Any], method: Any, n_groups: int
) -> None:
    first = make_model(seeds[0], n_groups=n_groups)
    second = make_model(seeds[1], n_groups=n_groups, encoder=OTHER_ENCODER)
    head = Classes(second.head.labels[::-1], 1.0, second.head.group_size)
    second = Model(second.encoder, second.circuit, head)
    rows = [
        row | {"age": age} for row in list_rows(conditions) for age in {row["age"], 20, 30} if holds(age, conditions)
    ]
    rows += [row | {"gain": gain} for row in rows for gain in (20, 70) if "gain" not in conditions]
    rows += [row | {"member": None} for row in rows if "member" not in conditions]
    same = (first.predict(rows) == second.predict(rows)).all()
    verdict = verify.equivalent(first, second, conditions, method=method)
    assert verdict.is_proved == same
    if verdict.is_refuted:
        (row,) = verdict.counterexample
        assert verdict.answers == (first.predict([row])[0], second.predict([row])[0])


def holds(age: float | None, conditions: dict[str, Any]) -> bool:
    """Whether an age fulfils the conditions."""
    allowed = conditions.get("age", [age])
    if isinstance(allowed, tuple):
        return age is not None and allowed[0] <= age <= allowed[1]
    return age in allowed


@pytest.mark.parametrize("values", [False, True])
def test_a_model_equals_itself_unoptimized(values: bool) -> None:
    rng = np.random.default_rng(0)
    circuit = random_layers(rng, ENCODER.n_bits, [40, 40, 24], 2)
    head = make_model(0, values=values).head
    head = (
        type(head)(*[getattr(head, name) for name in ("scale", "offset")], 12)
        if values
        else Classes(("a", "b"), 2.0, 12)
    )
    unoptimized, built = Model(ENCODER, circuit, head), Model.build(ENCODER, circuit, head, prove=True)
    assert verify.equivalent(unoptimized, built).is_proved
    gate = circuit.gate.copy()
    gate[-24:] = negate(gate[-24:])
    wrong = Model(ENCODER, Circuit(circuit.n_inputs, gate, *circuit.arrays[1:]), head)
    assert verify.equivalent(unoptimized, wrong).is_refuted


@pytest.mark.parametrize("head", ["bits", "counts", "class"])
def test_an_exported_file(head: Any) -> None:
    model = make_model(7, n_groups=3)
    read = from_aiger(to_aiger(model, head=head)["model.aig"])
    assert verify.equivalent(model, read, head=head).is_proved
    other = from_aiger(to_aiger(make_model(8, n_groups=3), head=head)["model.aig"])
    if other.n_inputs == read.n_inputs and other.n_outputs == read.n_outputs:
        assert verify.equivalent(model, other, head=head).is_refuted


def test_a_wrong_optimization_is_not_let_through(monkeypatch: pytest.MonkeyPatch) -> None:
    import gatewise.model

    def wrong(circuit: Circuit) -> Circuit:
        gate = circuit.gate.copy()
        gate[-1] = negate(gate[-1])
        return Circuit(circuit.n_inputs, gate, *circuit.arrays[1:])

    model = make_model(1)
    monkeypatch.setattr(gatewise.model, "simplify", wrong)
    with pytest.raises(RuntimeError, match="circuits must be proved equal"):
        Model.build(model.encoder, model.circuit, model.head, prove=True)


def test_what_cannot_be_compared() -> None:
    model, other = make_model(0), make_model(0, n_groups=3)
    with pytest.raises(ValueError, match="models must have the same labels"):
        verify.equivalent(model, other)
    with pytest.raises(ValueError, match="models must read the same columns"):
        verify.equivalent(
            model,
            Model.build(
                Encoder.fit([[0], [1]]), Circuit(1, [], [], [], [2, 2], [0, 1, 2]), Classes(("a", "b"), 1.0, 1)
            ),
        )
    with pytest.raises(ValueError, match="circuits must have as many inputs and outputs"):
        verify.equivalent(CORPUS["8-bit adder"], CORPUS["parity of 33"])
    with pytest.raises(TypeError, match="models must be of type Model or Circuit, got str"):
        verify.equivalent(model, "model.gw")  # type: ignore[arg-type]
