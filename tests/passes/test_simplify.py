"""simplify: equivalent, valid, not larger, idempotent, deterministic; and small where it must be."""

from itertools import combinations, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from support.corpus import ALL_GATES, TRAINED_GATES, circuits, from_rows, parity, random_dag, random_layers

from gatewise.circuit import N_CONSTANTS, Circuit
from gatewise.gates import AND, FALSE, NAND, NOT_A, OR, XNOR, XOR
from gatewise.passes import drop_unread_inputs, simplify, simplify_with_report
from gatewise.run.reference import evaluate_outputs

CORPUS = circuits()


def all_rows(n_inputs: int) -> NDArray[np.bool_]:
    return (np.arange(2**n_inputs)[:, None] >> np.arange(n_inputs) & 1).astype(bool)


def rows_for(circuit: Circuit) -> NDArray[np.bool_]:
    if circuit.n_inputs <= 10:
        return all_rows(circuit.n_inputs)
    return np.random.default_rng(0).integers(0, 2, (512, circuit.n_inputs)).astype(bool)


def check_optimize(circuit: Circuit) -> Circuit:
    """Assert everything that holds for any circuit; return the simplified one."""
    simplified, report = simplify_with_report(circuit)
    simplified.validate()
    rows = rows_for(circuit)
    np.testing.assert_array_equal(evaluate_outputs(simplified, rows), evaluate_outputs(circuit, rows))
    np.testing.assert_array_equal(simplified.group_ptr, circuit.group_ptr)
    assert simplified.n_gates <= circuit.n_gates
    assert simplify(circuit) == simplified, "not deterministic"
    assert simplify(simplified) == simplified, "not idempotent"
    causes = (report.constant, report.pass_through, report.shared, report.rewritten, report.dead)
    assert min(causes) >= 0
    assert sum(causes) == report.gates_before - report.gates_after == circuit.n_gates - simplified.n_gates
    check_no_leftovers(simplified)
    return simplified


def check_no_leftovers(circuit: Circuit) -> None:
    """Every gate is used and depends on two wires, but for inverters, which drive outputs only."""
    wires = N_CONSTANTS + circuit.n_inputs + np.arange(circuit.n_gates)
    inverts = circuit.gate == NOT_A
    assert np.isin(circuit.gate[~inverts], [AND, 2, 4, XOR, OR, 8, XNOR, 11, 13, NAND]).all()
    assert (circuit.a[~inverts] < circuit.b[~inverts]).all()
    assert (circuit.a[inverts] == circuit.b[inverts]).all()
    assert (circuit.a >= N_CONSTANTS).all()
    operands = np.concatenate([circuit.a, circuit.b])
    assert np.isin(wires[inverts], circuit.outputs).all()
    assert not np.isin(wires[inverts], operands).any()
    assert np.isin(wires, np.concatenate([operands, circuit.outputs])).all()


@pytest.mark.parametrize("name", CORPUS)
def test_corpus(name: str) -> None:
    check_optimize(CORPUS[name])


@settings(max_examples=300, deadline=None)
@given(
    seed=st.integers(0, 2**32),
    n_inputs=st.integers(0, 8),
    n_gates=st.integers(0, 80),
    n_outputs=st.integers(0, 12),
)
def test_any_dag(seed: int, n_inputs: int, n_gates: int, n_outputs: int) -> None:
    check_optimize(random_dag(np.random.default_rng(seed), n_inputs, n_gates, n_outputs))


@settings(max_examples=200, deadline=None)
@given(
    seed=st.integers(0, 2**32),
    n_inputs=st.integers(1, 12),
    widths=st.lists(st.integers(1, 40), min_size=1, max_size=6),
    gates=st.sampled_from([ALL_GATES, TRAINED_GATES, (AND, OR, XOR), (XOR, XNOR), (NAND,)]),
)
def test_any_layers(seed: int, n_inputs: int, widths: list[int], gates: tuple[int, ...]) -> None:
    check_optimize(random_layers(np.random.default_rng(seed), n_inputs, widths, 1, gates=gates))


def copies(n_inputs: int, n_copies: int, rows: list[tuple[NDArray[np.int64], int, int]]) -> Circuit:
    """Copies of a small circuit side by side, each over its own inputs; the outputs are the last gates.

    Row i is (gate of every copy, a, b), with wires numbered as in one copy alone.
    """
    copy = np.arange(n_copies)
    first = N_CONSTANTS + n_inputs

    def wires(wire: int) -> NDArray[np.int64]:
        if wire < N_CONSTANTS:
            return np.full(n_copies, wire)
        if wire < first:
            return wire + n_inputs * copy
        return N_CONSTANTS + n_inputs * n_copies + (wire - first) * n_copies + copy

    gate, a, b = (np.concatenate(column) for column in zip(*((g, wires(x), wires(y)) for g, x, y in rows), strict=True))
    return Circuit(n_inputs * n_copies, gate, a, b, wires(first + len(rows) - 1), [0, n_copies])


def check_copies(n_inputs: int, n_copies: int, rows: list[tuple[NDArray[np.int64], int, int]]) -> None:
    """Every copy keeps its function, and all together end at the least size there is."""
    circuit = copies(n_inputs, n_copies, rows)
    simplified = simplify(circuit)
    inputs = np.tile(all_rows(n_inputs), n_copies)
    truth = evaluate_outputs(circuit, inputs)
    np.testing.assert_array_equal(evaluate_outputs(simplified, inputs), truth)
    packed = (truth.T.astype(np.int64) << np.arange(2**n_inputs)).sum(axis=1)
    assert simplified.n_gates == sum(LEAST_GATES[n_inputs][int(function)] for function in packed)


def least_gates(n_inputs: int) -> dict[int, int]:
    """How many gates each function takes that three gates can compute, by exhaustive search."""
    mask = 2 ** (2**n_inputs) - 1
    variables = [int(column) for column in (all_rows(n_inputs).T << np.arange(2**n_inputs)).sum(axis=1)]
    least = dict.fromkeys([0, mask, *variables], 0) | {mask ^ variable: 1 for variable in variables}
    chains = {frozenset(variables)}
    for n_gates in (1, 2, 3):
        longer = set()
        for chain in chains:
            for x, y in combinations(sorted(chain), 2):
                for value in (x & y, x & ~y, ~x & y, x | y, x ^ y):
                    least.setdefault(value, n_gates)
                    least.setdefault(mask ^ value, n_gates)
                    longer.add(chain | {value})
        chains = longer if n_gates < 3 else set()
    return least


LEAST_GATES = {n_inputs: least_gates(n_inputs) for n_inputs in (2, 4)}
PAIRS = np.array(list(product(ALL_GATES, repeat=2))).T
TRIPLES = np.array(list(product(ALL_GATES, repeat=3))).T


@pytest.mark.parametrize(("a", "b"), list(product(range(4), repeat=2)))
def test_every_pair_of_gates(a: int, b: int) -> None:
    """second(first(a, b), c) over constants and two inputs, for every c."""
    for c in range(5):
        check_copies(2, 256, [(PAIRS[0], a, b), (PAIRS[1], 4, c)])


@pytest.mark.parametrize(
    ("second", "third"),
    [
        pytest.param((2, 3), (6, 7), id="same operands"),
        pytest.param((3, 4), (6, 7), id="one operand shared"),
        pytest.param((4, 5), (6, 7), id="none shared"),
        pytest.param((3, 6), (6, 7), id="chain that returns to first and its operand"),
        pytest.param((4, 6), (6, 7), id="chain that returns to first"),
        pytest.param((4, 6), (3, 7), id="chain that returns to an operand of first"),
        pytest.param((4, 6), (4, 7), id="chain that repeats an operand"),
        pytest.param((4, 6), (5, 7), id="chain"),
        pytest.param((1, 6), (2, 7), id="chain with a constant"),
        pytest.param((3, 3), (6, 7), id="second reads one wire twice"),
    ],
)
def test_every_triple_of_gates(second: tuple[int, int], third: tuple[int, int]) -> None:
    """Three gates, the first over inputs 2 and 3: every way to share operands, up to exchanging them."""
    check_copies(4, 4096, [(TRIPLES[0], 2, 3), (TRIPLES[1], *second), (TRIPLES[2], *third)])


@pytest.mark.parametrize(
    ("rows", "output", "n_gates"),
    [
        pytest.param([(AND, 2, 3), (OR, 2, 5)], 6, 0, id="absorption: a | ab = a"),
        pytest.param([(XOR, 2, 3), (XOR, 5, 2)], 6, 0, id="cancellation: a ^ b ^ a = b"),
        pytest.param([(XOR, 2, 3), (XOR, 3, 4), (XOR, 5, 6)], 7, 1, id="(a ^ b) ^ (b ^ c) = a ^ c"),
        pytest.param([(AND, 2, 3), (AND, 2, 4), (OR, 5, 6)], 7, 2, id="ab | ac = a(b | c)"),
        pytest.param([(AND, 2, 3), (XOR, 2, 4), (AND, 5, 6)], 7, 2, id="ab(a ^ c) = ab & ~c"),
        pytest.param([(AND, 2, 3), (AND, 5, 4), (AND, 6, 2)], 7, 2, id="abca = abc"),
    ],
)
def test_rewrites(rows: list[tuple[int, int, int]], output: int, n_gates: int) -> None:
    assert check_optimize(from_rows(3, rows, [output])).n_gates == n_gates


def test_reassociation_reuses_an_existing_gate() -> None:
    circuit = from_rows(3, [(AND, 3, 4), (AND, 2, 3), (AND, 6, 4)], [5, 7])
    assert check_optimize(circuit).n_gates == 2


def test_inverted_output_needs_no_inverter() -> None:
    circuit = from_rows(2, [(AND, 2, 3), (NOT_A, 4, 4), (XOR, 4, 2)], [5, 6])
    simplified = check_optimize(circuit)
    assert simplified.gate.tolist() == [NAND, XNOR]


def test_output_in_both_signs_takes_one_inverter() -> None:
    circuit = from_rows(2, [(AND, 2, 3), (NOT_A, 4, 4), (NAND, 3, 2)], [4, 5, 6])
    simplified = check_optimize(circuit)
    assert simplified.gate.tolist() == [AND, NOT_A]
    assert simplified.outputs.tolist() == [4, 5, 5]


def test_gates_are_ordered_by_level_and_operands() -> None:
    simplified = simplify(random_layers(np.random.default_rng(3), 30, [200, 200, 200], 1))
    level = [0] * (N_CONSTANTS + 30)
    keys = []
    for gate, a, b in zip(simplified.gate.tolist(), simplified.a.tolist(), simplified.b.tolist(), strict=True):
        level.append(1 + max(level[a], level[b]))
        if gate != NOT_A:
            assert a < b
            keys.append((level[-1], a, b))
    assert keys == sorted(keys)


def test_long_chain_folds_without_recursion() -> None:
    assert simplify(parity(200_000)).n_gates == 199_999
    n_gates = 200_000
    chain = Circuit(1, np.full(n_gates, XOR), np.arange(2, 2 + n_gates), np.full(n_gates, 2), [2 + n_gates], [0, 1])
    assert simplify(chain).n_gates == 0


def test_random_net_shrinks_below_a_third() -> None:
    """6 x 8000 gates over 784 inputs, each wire read about twice."""
    circuit = random_layers(np.random.default_rng(0), 784, [8000] * 6, 10)
    assert simplify(circuit).n_gates < 16_000
    rows = np.random.default_rng(1).integers(0, 2, (64, 784))
    np.testing.assert_array_equal(evaluate_outputs(simplify(circuit), rows), evaluate_outputs(circuit, rows))


@pytest.mark.parametrize("name", circuits())
def test_unread_inputs_are_dropped(name: str) -> None:
    circuit = circuits()[name]
    small, input_idx = drop_unread_inputs(circuit)
    rows = np.random.default_rng(0).integers(0, 2, (200, circuit.n_inputs)).astype(bool)
    np.testing.assert_array_equal(evaluate_outputs(small, rows[:, input_idx]), evaluate_outputs(circuit, rows))
    read = np.concatenate([small.a, small.b, small.outputs])
    assert np.isin(np.arange(N_CONSTANTS, N_CONSTANTS + small.n_inputs), read).all()
    again, every = drop_unread_inputs(small)
    assert again == small
    assert len(every) == small.n_inputs


def test_report_in_one_line() -> None:
    _, report = simplify_with_report(from_rows(2, [(FALSE, 2, 3), (AND, 2, 3), (AND, 3, 2), (OR, 5, 6)], [7]))
    assert str(report) == "4 -> 1 gates: 0 constant, 1 pass-through, 1 shared, 0 rewritten, 1 dead"
