"""Engines checked on this machine against the reference, bit for bit, for users who want to know, and to tell us.

In: an instruction set. Out: a `Finding`.
Invariant: circuits and rows are the same at every call, so that two machines can be compared.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gatewise.bits import PackedRows, Planes
from gatewise.circuit import N_CONSTANTS, Circuit
from gatewise.gates import N_GATES
from gatewise.run import reference
from gatewise.run.engine import Engine
from gatewise.run.timing import time_call

KNOWN_TARGETS = ("avx512", "avx2", "neon", "portable")
"""Instruction sets that there are kernels for."""

ROW_COUNTS = (0, 1, 63, 64, 65, 300)
MANY_ROWS = 20_000
SECONDS = 0.3
"""Of the calls that are timed."""


@dataclass(frozen=True)
class Finding:
    """What a check found on a machine.

    Attributes
    ----------
    name : str
        What was checked.
    wrong : str
        The first thing that is wrong, or nothing.
    speed : float
        In units of `unit`; 0 if it was not measured.
    unit : str
    """

    name: str
    wrong: str = ""
    speed: float = 0.0
    unit: str = ""


def check_engine(target: str, threads: int = 1) -> Finding:
    """Run circuits of all gates by an engine, and compare every count, class and output with the reference.

    Parameters
    ----------
    target : str
        One of `gatewise.machine.TARGETS`.
    threads : int

    Examples
    --------
    >>> finding = check_engine("portable")
    >>> finding.wrong, finding.unit
    ('', 'rows per second of 16,000 gates, packed')
    """
    name = f"engine, {target}, {threads} thread{'s' * (threads > 1)}"
    for what, circuit in draw_circuits().items():
        engine = Engine(circuit, threads, target=target)
        for n_rows in ROW_COUNTS:
            rows = draw_rows(circuit, n_rows)
            if wrong := _compare(engine, rows):
                return Finding(name, f"{wrong} of {n_rows} rows of {what} must be those of the reference, got others")
    large = _draw_layers(784, [4000] * 4, 10)
    engine, bits = Engine(large, threads, target=target), Planes.pack(draw_rows(large, MANY_ROWS))
    timing = time_call(lambda: engine.counts(bits), seconds=SECONDS)
    return Finding(name, speed=MANY_ROWS / timing.median, unit=f"rows per second of {large.n_gates:,} gates, packed")


def draw_circuits() -> dict[str, Circuit]:
    """Small circuits by what they are: every gate on all operands, constants, no gates, layers, uneven groups.

    Examples
    --------
    >>> list(draw_circuits())
    ['every gate', 'no gates', 'layers', 'any wires']
    """
    rng = np.random.default_rng(1)
    gates, own = rng.integers(0, N_GATES, 400), N_CONSTANTS + 9 + np.arange(400)
    wires = rng.integers(0, N_CONSTANTS + 9 + 400, 77)
    every = np.repeat(np.arange(N_GATES), 5)
    left, right = (np.tile(operand, N_GATES) for operand in ([0, 1, 2, 3, 2], [1, 0, 3, 2, 2]))
    return {
        "every gate": _make(2, every, left, right, 4 + np.arange(len(every)), [0, 7, len(every)]),
        "no gates": _make(3, [], [], [], [0, 1, 2, 4, 4], [0, 0, 2, 5]),
        "layers": _draw_layers(130, [500, 300, 90], 3),
        "any wires": _make(9, gates, rng.integers(0, own), rng.integers(0, own), wires, [0, 1, 1, 40, 77]),
    }


def draw_rows(circuit: Circuit, n_rows: int) -> NDArray[np.bool_]:
    """Random rows for a circuit, the same at every call."""
    return np.random.default_rng(n_rows).integers(0, 2, (n_rows, circuit.n_inputs)).astype(bool)


def _make(n_inputs: int, gate: ArrayLike, *wires: ArrayLike) -> Circuit:
    a, b, outputs, group_ptr = (np.asarray(each, np.int32) for each in wires)
    return Circuit(n_inputs, np.asarray(gate, np.uint8), a, b, outputs, group_ptr)


def _draw_layers(n_inputs: int, widths: list[int], n_groups: int) -> Circuit:
    rng = np.random.default_rng(0)
    layers, width = [], n_inputs
    for n_gates in widths:
        a, b = rng.permutation(np.arange(2 * n_gates) % width).reshape(2, n_gates)
        layers.append((a, b, rng.integers(0, N_GATES, n_gates)))
        width = n_gates
    return Circuit.from_layers(n_inputs, layers, n_groups)


def _compare(engine: Engine, rows: NDArray[np.bool_]) -> str:
    """The first answers that are wrong."""
    circuit = engine.circuit
    expected = reference.count_groups(circuit, rows)
    for form in _list_forms(rows):
        if not np.array_equal(engine.counts(form), expected):
            return f"counts of {type(form).__name__}"
    if not np.array_equal(engine.classify(rows), reference.classify(circuit, rows)):
        return "classes"
    return "" if np.array_equal(engine.outputs(rows), reference.evaluate_outputs(circuit, rows)) else "outputs"


def _list_forms(rows: NDArray[np.bool_]) -> Iterator[NDArray[np.bool_] | PackedRows | Planes]:
    yield rows
    yield PackedRows(np.packbits(rows, axis=1), rows.shape[1])
    yield Planes.pack(rows)
