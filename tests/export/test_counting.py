"""The head as gates against the reference's counts and classes."""

import numpy as np
import pytest
from numpy.typing import NDArray
from support.corpus import circuits, random_layers, random_rows

from gatewise import Circuit
from gatewise.export.counting import take_group, with_counts, with_largest
from gatewise.run.reference import classify, count_groups, evaluate_outputs

CORPUS = circuits()


def read_numbers(circuit: Circuit, rows: NDArray[np.bool_]) -> NDArray[np.int64]:
    """The groups of a circuit as numbers, shape (n_rows, n_groups)."""
    bits = evaluate_outputs(circuit, rows).astype(np.int64)
    groups = [bits[:, i:j] for i, j in zip(circuit.group_ptr[:-1], circuit.group_ptr[1:], strict=True)]
    numbers = [group @ (1 << np.arange(group.shape[1])) for group in groups]
    return np.array(numbers, np.int64).reshape(circuit.n_groups, len(rows)).T


@pytest.mark.parametrize("name", CORPUS)
def test_corpus(name: str) -> None:
    circuit = CORPUS[name]
    rows = random_rows(np.random.default_rng(0), 200, circuit.n_inputs)
    counting = with_counts(circuit)
    sizes = np.diff(circuit.group_ptr)
    assert np.diff(counting.group_ptr).tolist() == [int(size).bit_length() for size in sizes]
    np.testing.assert_array_equal(read_numbers(counting, rows), count_groups(circuit, rows))
    if circuit.n_groups:
        largest = with_largest(counting)
        np.testing.assert_array_equal(read_numbers(largest, rows)[:, -1], classify(circuit, rows))
        np.testing.assert_array_equal(read_numbers(take_group(largest, -1), rows)[:, 0], classify(circuit, rows))


@pytest.mark.parametrize("n", range(1, 70))
def test_every_count_of_inputs(n: int) -> None:
    counting = with_counts(Circuit(n, [], [], [], np.arange(n) + 2, [0, n]))
    rng = np.random.default_rng(n)
    thermometer = np.tri(n + 1, n, -1, dtype=bool)
    rows = np.concatenate([thermometer, rng.permuted(thermometer, axis=1), random_rows(rng, 100, n)])
    np.testing.assert_array_equal(read_numbers(counting, rows)[:, 0], rows.sum(axis=1))


def test_repeated_and_constant_outputs_are_counted_as_often_as_they_come() -> None:
    circuit = Circuit(2, [], [], [], [2, 2, 2, 2, 2, 1, 1, 1, 0, 3], [0, 10])
    rows = np.array([[0, 0], [0, 1], [1, 0], [1, 1]], bool)
    assert read_numbers(with_counts(circuit), rows).ravel().tolist() == [3, 4, 8, 9]


@pytest.mark.parametrize(("n", "n_gates", "n_levels"), [(3, 5, 3), (7, 19, 9), (800, 3730, 66)])
def test_few_gates_and_levels(n: int, n_gates: int, n_levels: int) -> None:
    counting = with_counts(Circuit(n, [], [], [], np.arange(n) + 2, [0, n]))
    assert counting.n_gates <= n_gates
    assert counting.n_levels <= n_levels


@pytest.mark.parametrize("n_groups", range(1, 18))
def test_largest_of_any_number_of_groups_with_ties(n_groups: int) -> None:
    rng = np.random.default_rng(n_groups)
    circuit = random_layers(rng, 12, [3 * n_groups], n_groups)
    rows = random_rows(rng, 300, 12)
    largest = with_largest(with_counts(circuit))
    assert np.diff(largest.group_ptr)[-1] == (n_groups - 1).bit_length()
    np.testing.assert_array_equal(read_numbers(largest, rows)[:, -1], classify(circuit, rows))


def test_numbers_of_unequal_widths_are_compared() -> None:
    circuit = Circuit(5, [], [], [], [2, 3, 4, 5, 6], [0, 1, 5, 5])
    rows = random_rows(np.random.default_rng(0), 100, 5)
    np.testing.assert_array_equal(
        read_numbers(with_largest(with_counts(circuit)), rows)[:, -1], classify(circuit, rows)
    )


def test_no_groups_have_no_largest() -> None:
    with pytest.raises(ValueError, match="at least one group"):
        with_largest(Circuit(1, [], [], [], [], [0]))
