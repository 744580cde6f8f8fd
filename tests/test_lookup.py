"""Lookup tables as gates: equal to the tables, as short as can be, for any wires."""

import numpy as np
import pytest
from numpy.typing import NDArray

from gatewise.circuit import N_CONSTANTS, Circuit
from gatewise.lookup import Expansion, expand_tables
from gatewise.run import reference

N_INPUTS = 8
ROWS = (np.arange(2**N_INPUTS)[:, None] >> np.arange(N_INPUTS) & 1).astype(bool)
N_WIRES = N_CONSTANTS + N_INPUTS


def as_circuit(made: Expansion) -> Circuit:
    return Circuit(N_INPUTS, made.gate, made.a, made.b, made.outputs, [0, len(made.outputs)])


def look_up(tables: NDArray[np.bool_], wires: NDArray[np.int64]) -> NDArray[np.bool_]:
    """What the tables give for all rows."""
    constants = np.broadcast_to([False, True], (len(ROWS), 2))
    entry = np.zeros((len(ROWS), len(tables)), int)
    for pin in wires:
        entry = 2 * entry + np.hstack([constants, ROWS])[:, pin]
    found: NDArray[np.bool_] = tables[np.arange(len(tables)), entry]
    return found


def find_lengths() -> dict[int, int]:
    """Gates in the shortest formula of each function of three variables, searched in order of length."""
    found = {0: 0, 0xFF: 0, 0xAA: 0, 0xCC: 0, 0xF0: 0}
    for length in range(1, 5):
        known = list(found.items())
        pairs = [(a, b) for a, i in known for b, j in known if i + j == length - 1]
        for a, b in pairs:
            for gate in range(16):
                minterms = ~a & ~b, ~a & b, a & ~b, a & b
                value = sum(minterm & 0xFF for i, minterm in enumerate(minterms) if gate >> (3 - i) & 1)
                found.setdefault(value, length)
    return found


@pytest.mark.parametrize("k", range(1, 7))
def test_gates_compute_the_tables(k: int) -> None:
    rng = np.random.default_rng(k)
    tables = rng.random((300, 2**k)) > 0.5
    tables[:40] &= tables[:40, ::-1]  # with symmetries, so that splits differ
    tables[40:60] = rng.random((20, 1)) > 0.5
    tables[60:80, 1::2] = tables[60:80, ::2]
    wires = rng.integers(0, N_WIRES, (k, 300))  # constants too, and some twice
    made = expand_tables(tables, wires, n_wires=N_WIRES)
    assert np.array_equal(reference.evaluate_outputs(as_circuit(made), ROWS), look_up(tables, wires))


def test_all_functions_of_three_wires() -> None:
    tables = np.arange(256)[:, None] >> np.arange(8) & 1 == 1
    wires = np.tile([[2], [5], [9]], 256)
    made = [expand_tables(table[None], wires[:, :1], n_wires=N_WIRES) for table in tables]
    found = [reference.evaluate_outputs(as_circuit(each), ROWS)[:, 0] for each in made]
    assert np.array_equal(np.stack(found, 1), look_up(tables, wires))
    lengths = find_lengths()
    assert [len(each.gate) for each in made] == [lengths[table] for table in range(256)]


@pytest.mark.parametrize(
    ("k", "make", "n_gates"),
    [
        (6, lambda x: x.sum(0) % 2 == 1, 5),
        (6, lambda x: x.all(0), 5),
        (6, lambda x: ~x[:5].any(0), 4),
        (5, lambda x: np.where(x[0], x[1] ^ x[2], x[3] & x[4]), 5),
        (6, lambda x: (x[0] & x[1]) ^ (x[2] | x[3] ^ x[4] & x[5]), 5),
        (4, lambda x: ~x[2], 1),
        (6, lambda x: x[3], 0),
        (6, lambda x: x[3] | True, 0),
    ],
)
def test_known_functions_are_short(k: int, make: object, n_gates: int) -> None:
    x = np.arange(2**k) >> np.arange(k - 1, -1, -1)[:, None] & 1 == 1
    made = expand_tables(make(x)[None], np.arange(2, 2 + k)[:, None], n_wires=N_WIRES)
    assert len(made.gate) == n_gates


def test_equal_gates_are_one() -> None:
    table = np.array([[False, False, False, True, False, True, True, True]])
    wires = np.tile([[2], [3], [4]], 3)
    made = expand_tables(np.concatenate([table, ~table, table]), wires, n_wires=N_WIRES)
    assert made.outputs[0] == made.outputs[2]
    assert len(made.gate) == 5


def test_no_tables() -> None:
    assert len(expand_tables(np.zeros((0, 8)), np.zeros((3, 0)), n_wires=N_WIRES).outputs) == 0


@pytest.mark.parametrize(
    ("tables", "wires", "message"),
    [
        (np.zeros((2, 8)), np.zeros((2, 2)), r"tables and wires must be \(n, 2\*\*k\) and \(k, n\)"),
        (np.zeros((1, 128)), np.zeros((7, 1)), r"k in 1..6, got shapes \(1, 128\) and \(7, 1\)"),
        (np.zeros((1, 8)), np.full((3, 1), N_WIRES), "wires must be below n_wires"),
        (np.zeros((1, 8)), np.full((3, 1), -1), "wires must be below n_wires"),
    ],
)
def test_misuse(tables: NDArray[np.float64], wires: NDArray[np.float64], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        expand_tables(tables, wires, n_wires=N_WIRES)
