"""What the columns of a table are worth to a model: how much worse it does when the values of one are permuted.

In: a model, bits of some rows, and the loss of its scores. Out: a rise of the loss for each column of the table.
Invariant: the circuit itself is run, so the importance is that of the model that is deployed; the same seed gives the
same numbers, whatever the threads.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gatewise.bits import LANES_PER_WORD, Planes
from gatewise.circuit import N_CONSTANTS
from gatewise.encode import Encoder
from gatewise.gates import find_read_operands
from gatewise.model import Model
from gatewise.run.engine import Engine

N_REPEATS = 10
"""Permutations of a column that are averaged."""

MIN_RATED = 500
"""Rows that models which read very many columns are measured on."""

MAX_EVALUATED = 5 * 10**6
"""Rows that are evaluated for all columns and permutations together."""

Loss = Callable[[NDArray[np.float64]], float]


def measure_rises(
    model: Model, bits: NDArray[np.bool_], loss: Loss, *, n_repeats: int, seed: int, threads: int = 1
) -> NDArray[np.float64]:
    """Rise of the loss when the bits of a column are those of other rows.

    Parameters
    ----------
    model : Model
    bits : bool array, shape (n_rows, n_bits)
        That the encoder of the model makes of the rows.
    loss : function
        Of scores, (n_rows, n_groups), as `Model.scores` gives them.
    n_repeats : int
        Permutations that are averaged.
    seed : int
    threads : int

    Returns
    -------
    float64 array, shape (n_columns of the table,)
        0 for columns that the model does not read.

    Examples
    --------
    >>> from gatewise import Circuit
    >>> from gatewise.heads import Affine
    >>> encoder = Encoder.fit([[1.0, 5.0], [2.0, 5.5]])
    >>> circuit = Circuit(2, [], [], [], outputs=[2], group_ptr=[0, 1])
    >>> model = Model.build(encoder, circuit, Affine((1.0,), (0.0,), group_size=1))
    >>> bits = np.arange(8)[:, np.newaxis] % 2 == 1
    >>> measure_rises(model, bits, lambda scores: float(((scores - bits) ** 2).mean()), n_repeats=100, seed=0).round(1)
    array([0.5, 0. ])
    """
    engine = Engine(model.circuit, threads)

    def find_loss(words: NDArray[np.uint64]) -> float:
        return loss(model.head.scores(engine.counts(Planes(words, len(bits)))))

    planes = Planes.pack(bits).words
    plain, rng = find_loss(planes), np.random.default_rng(seed)
    orders = [rng.permutation(len(bits)) for _ in range(n_repeats)]
    rises = np.zeros(len(model.encoder.table_names))
    for column_idx, bit_idx in enumerate(bits_of_columns(model.encoder)):
        if not bit_idx:
            continue
        kept = planes[bit_idx]
        for order in orders:
            planes[bit_idx] = Planes.pack(bits[np.ix_(order, np.array(bit_idx))]).words
            rises[column_idx] += (find_loss(planes) - plain) / n_repeats
        planes[bit_idx] = kept
    return rises


def choose_effort(n_rows: int, n_columns: int) -> tuple[NDArray[np.int64], int]:
    """Rows, spread evenly, and permutations for which importances take about a second; of many columns fewer.

    Examples
    --------
    >>> rows, n_repeats = choose_effort(5_000, 10_000)
    >>> len(rows), n_repeats
    (500, 1)
    """
    n = min(n_rows, max(MIN_RATED, MAX_EVALUATED // max(n_columns, 1)))
    n_repeats = int(np.clip(MAX_EVALUATED // (max(n_columns, 1) * max(n, 1)), 1, N_REPEATS))
    return np.arange(n) * n_rows // max(n, 1), n_repeats


def take_bits(planes: Planes, bit_idx: NDArray[np.int64], rows: NDArray[Any]) -> NDArray[np.bool_]:
    """Some bits of some rows, (n_rows, n_bits), without unpacking the others.

    Examples
    --------
    >>> take_bits(Planes.pack([[0, 1, 1], [1, 0, 1]]), np.array([0, 2]), np.array([1])).tolist()
    [[True, True]]
    """
    words = planes.words[np.ix_(bit_idx, rows // LANES_PER_WORD)]
    bits: NDArray[np.bool_] = (words >> (rows % LANES_PER_WORD).astype(np.uint64) & np.uint64(1)).T.astype(bool)
    return bits


def share_votes(model: Model) -> NDArray[np.float64]:
    """Share of the outputs that depend on each column, those counted several times as often: a first look without rows.

    Constant outputs do not count.

    Returns
    -------
    float64 array, shape (n_columns of the table,)

    Examples
    --------
    >>> from gatewise import Circuit
    >>> from gatewise.heads import Affine
    >>> circuit = Circuit(2, gate=[6], a=[2], b=[3], outputs=[4, 4, 4, 2], group_ptr=[0, 4])
    >>> share_votes(Model(Encoder.images((1, 2), 1), circuit, Affine((1.0,), (0.0,), 4))).tolist()
    [1.0, 0.75]
    """
    circuit = model.circuit
    reads = [0] * circuit.n_wires  # a bit for each column
    for column_idx, bit_idx in enumerate(bits_of_columns(model.encoder)):
        for bit in bit_idx:
            reads[N_CONSTANTS + bit] = 1 << column_idx
    operands = zip(*find_read_operands(circuit.gate).tolist(), circuit.a.tolist(), circuit.b.tolist(), strict=True)
    for wire, (reads_a, reads_b, a, b) in enumerate(operands, N_CONSTANTS + circuit.n_inputs):
        reads[wire] = reads_a * reads[a] | reads_b * reads[b]
    wires, votes = np.unique(circuit.outputs, return_counts=True)
    known = [(reads[wire], n) for wire, n in zip(wires.tolist(), votes.tolist(), strict=True) if reads[wire]]
    n_columns = len(model.encoder.table_names)
    total = max(sum(n for _, n in known), 1)
    return np.array([sum(n for columns, n in known if columns >> i & 1) / total for i in range(n_columns)], np.float64)


def bits_of_columns(encoder: Encoder) -> list[list[int]]:
    """Bits of each column of the table."""
    columns: list[list[int]] = [[] for _ in encoder.table_names]
    bit = 0
    for table_idx, column in zip(encoder.table_idx, encoder.columns, strict=True):
        columns[table_idx] += range(bit, bit + column.n_bits)
        bit += column.n_bits
    return columns
