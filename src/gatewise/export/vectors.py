"""Rows that exports are checked with, what the reference evaluator says about them, and the file that holds both.

In: an encoder, a circuit, a dtype; or the inputs of a netlist. Out: `Vectors`; bits; the text of vectors.txt.
Invariant: answers come from `gatewise.run.reference`, not from what the export was written from. Rows are drawn around
what the encoder compares with, so that every comparison is tried from both sides, with special values among them.

vectors.txt holds matrices, each a line with its name, its number of rows and of columns, then a line per row. Items are
JSON without blanks, so that strtod of C, Number of JavaScript and json of Python read the same values.
"""

import json
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gatewise.circuit import Circuit
from gatewise.encode import Encoder
from gatewise.encode.columns import Column
from gatewise.export.comparisons import encode_numbers, is_coded
from gatewise.export.pins import HeadForm
from gatewise.export.source import Source
from gatewise.heads import Classes
from gatewise.run.reference import classify, count_groups, evaluate_outputs

N_ROWS = 70
MAX_CELLS = 50_000


class Vectors(NamedTuple):
    """Rows of a dtype, (n_rows, n_columns), their bits, (n_rows, n_bits), and the counts, (n_rows, n_groups)."""

    rows: NDArray[Any]
    bits: NDArray[np.bool_]
    counts: NDArray[np.integer[Any]]


def draw_vectors(encoder: Encoder, circuit: Circuit, dtype: str) -> Vectors:
    """Rows of the dtype and their answers, the same at every call.

    Examples
    --------
    >>> vectors = draw_vectors(Encoder.fit([[1.0], [2.0]]), Circuit(1, [], [], [], [2], [0, 1]), "float32")
    >>> (vectors.counts == vectors.bits).all() and (vectors.bits == (vectors.rows > 1.5)).all()
    np.True_
    """
    rng = np.random.default_rng(0)
    n_rows = int(np.clip(MAX_CELLS // max(encoder.n_columns, 1), 3, N_ROWS))
    rows = np.zeros((n_rows, encoder.n_columns), dtype)
    for i, column in enumerate(encoder.columns):
        rows[:, i] = rng.choice(_values_to_try(column, rows.dtype), n_rows)
    bits = encode_numbers(encoder, rows)
    return Vectors(rows, bits, count_groups(circuit, bits))


def draw_bits(circuit: Circuit, n_rows: int = 256) -> NDArray[np.bool_]:
    """Random rows for a circuit alone, the same at every call."""
    return np.random.default_rng(0).integers(0, 2, (n_rows, circuit.n_inputs)).astype(bool)


def expect_bits(
    circuit: Circuit, head: HeadForm, bits: NDArray[np.bool_], width: int | None = None
) -> NDArray[np.bool_]:
    """What a netlist gives out for rows of bits, shape (n_rows, n_outputs), the least significant bit of numbers first.

    A count takes `width` bits, by default as many as the size of its group has.

    Examples
    --------
    >>> two = Circuit(2, gate=[], a=[], b=[], outputs=[2, 3], group_ptr=[0, 2])
    >>> expect_bits(two, "counts", np.array([[0, 1], [1, 1]], bool)).astype(int).tolist()
    [[1, 0], [0, 1]]
    """
    if head == "bits":
        return evaluate_outputs(circuit, bits)
    if head == "class":
        return spell(classify(circuit, bits), (circuit.n_groups - 1).bit_length())
    sizes = np.diff(circuit.group_ptr).tolist()
    numbers = zip(count_groups(circuit, bits).T, sizes, strict=True)
    spelled = [spell(count, size.bit_length() if width is None else width) for count, size in numbers]
    return np.concatenate([np.zeros((len(bits), 0), bool), *spelled], axis=1)


def spell(numbers: NDArray[np.integer[Any]], width: int) -> NDArray[np.bool_]:
    """Numbers in two's complement, shape (n_rows, width), the least significant bit first.

    Examples
    --------
    >>> spell(np.array([6, -1]), 4).astype(int).tolist()
    [[0, 1, 1, 0], [1, 1, 1, 1]]
    """
    bits: NDArray[np.bool_] = (numbers.astype(np.int64)[:, np.newaxis] >> np.arange(width) & 1).astype(bool)
    return bits


def write_vectors(source: Source) -> str:
    """vectors.txt of code that takes rows of numbers."""
    vectors = draw_vectors(source.encoder, source.circuit, source.dtype)
    matrices = {"rows": vectors.rows, "bits": vectors.bits.astype(int), "counts": vectors.counts}
    if source.head is not None:
        matrices["scores"] = source.head.scores(vectors.counts)
    if isinstance(source.head, Classes):
        matrices["proba"] = source.head.proba(vectors.counts)
        matrices["classes"] = vectors.counts.argmax(axis=1)[:, np.newaxis]
    return write_matrices({name: matrix.tolist() for name, matrix in matrices.items()})


def write_matrices(matrices: Mapping[str, Sequence[Sequence[Any]]]) -> str:
    """The text of vectors.txt.

    Examples
    --------
    >>> print(write_matrices({"rows": [[1.5, "a b"], [float("nan"), "c"]], "counts": [[3], [4]]}), end="")
    rows 2 2
    1.5 "a\\u0020b"
    NaN "c"
    counts 2 1
    3
    4
    """
    lines = []
    for name, rows in matrices.items():
        lines.append(f"{name} {len(rows)} {len(rows[0])}")
        lines += [" ".join(json.dumps(item).replace(" ", "\\u0020") for item in row) for row in rows]
    return "\n".join([*lines, ""])


def list_neighbors(constants: NDArray[np.float64], lowest: int, highest: int) -> NDArray[np.int64]:
    """Integers at and around what a column is compared with, and the extremes."""
    near = np.floor(constants)
    tried = np.array([*near - 1, *near, *near + 1, 0, lowest, highest])
    clipped: NDArray[np.int64] = np.clip(tried, lowest, highest).astype(np.int64)
    return clipped


def _values_to_try(column: Column, dtype: np.dtype[Any]) -> NDArray[Any]:
    """What a column is compared with, its neighbors, and values that are special."""
    constants = column.tests()[1] if not is_coded(column) else np.arange(column.n_bits + 2.0)
    if dtype.kind != "f":
        limits = np.iinfo(dtype)
        return list_neighbors(constants, int(limits.min), int(limits.max))
    with np.errstate(over="ignore", under="ignore"):
        near = constants.astype(dtype)
        up, down = (np.nextafter(near, dtype.type(limit)) for limit in (np.inf, -np.inf))
    return np.concatenate([near, up, down, np.array([0.0, -0.0, np.inf, -np.inf, np.nan], dtype)])
