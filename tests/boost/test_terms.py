"""Terms: their circuit counts what they sum up."""

import numpy as np
import pytest

from gatewise import Engine, simplify
from gatewise.boost import Terms
from gatewise.run import reference


def every_row(n_bits: int) -> np.ndarray:
    return (np.arange(1 << n_bits)[:, None] >> np.arange(n_bits) & 1).astype(bool)


@pytest.mark.parametrize("n_questions", [1, 2, 3, 6])
@pytest.mark.parametrize("n_scores", [1, 3])
def test_the_circuit_counts_the_sums(n_questions: int, n_scores: int) -> None:
    rng = np.random.default_rng(n_questions)
    bits = rng.permuted(np.tile(np.arange(7), (9, 1)), axis=1)[:, :n_questions]
    values = rng.integers(-9, 40, (9, 1 << n_questions, n_scores)) << rng.integers(0, 4, (9, 1, 1))
    terms = Terms(7, bits, values)
    rows = every_row(7)
    for circuit in (terms.circuit(), simplify(terms.circuit())):
        counts = reference.count_groups(circuit, rows)
        np.testing.assert_array_equal(counts + terms.offsets, terms.scores(rows))
        np.testing.assert_array_equal(Engine(circuit).counts(rows), counts)


def test_every_table_of_three_bits() -> None:
    tables = np.arange(256)[:, None] >> np.arange(8) & 1
    terms = Terms(3, np.tile([2, 0, 1], (256, 1)), tables[:, :, None])
    rows = every_row(3)
    for i in range(256):
        one = Terms(3, terms.bits[i : i + 1], terms.values[i : i + 1])
        expected = tables[i, rows[:, 2] + 2 * rows[:, 0] + 4 * rows[:, 1]]
        np.testing.assert_array_equal(one.scores(rows)[:, 0], expected)
        counts = reference.count_groups(one.circuit(), rows)[:, 0]
        np.testing.assert_array_equal(counts + one.offsets, expected)


def test_a_question_may_be_asked_twice() -> None:
    terms = Terms(1, np.array([[0, 0, 0]]), np.array([[[1], [9], [9], [9], [9], [9], [9], [2]]]))
    counts = reference.count_groups(terms.circuit(), every_row(1))[:, 0]
    np.testing.assert_array_equal(counts + terms.offsets, [1, 2])


def test_no_terms() -> None:
    terms = Terms(4, np.zeros((0, 3), np.int32), np.zeros((0, 8, 2), np.int32))
    assert terms.offsets.tolist() == [0, 0]
    assert (terms.circuit().n_gates, terms.circuit().n_groups) == (0, 2)
    assert terms.scores(every_row(4)).tolist() == [[0, 0]] * 16
