"""Circuits that every pass, back end and file format is tested with, and the generators behind them."""

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from gatewise.circuit import N_CONSTANTS, Circuit, CircuitBuilder
from gatewise.gates import AND, N_GATES, NAMES, NOT_A, OR, XOR
from gatewise.lookup import expand_tables
from gatewise.wiring import ConvolutionalCircuit, OrPooling, SeededCircuit, SharedTrees, Window

ALL_GATES = tuple(range(N_GATES))
TRAINED_GATES = (3, 5) * 7 + ALL_GATES * 2
"""Gates drawn as training leaves them: about a third pass one operand through."""


def random_layers(
    rng: np.random.Generator,
    n_inputs: int,
    widths: Sequence[int],
    n_groups: int,
    *,
    gates: Sequence[int] = ALL_GATES,
) -> Circuit:
    """Straight layers of gates drawn from `gates`; every wire of a layer is read about equally often."""
    layers, width = [], n_inputs
    for n_gates in widths:
        pins = rng.permutation(np.arange(2 * n_gates) % width)
        layers.append((pins[:n_gates], pins[n_gates:], rng.choice(gates, n_gates)))
        width = n_gates
    return Circuit.from_layers(n_inputs, layers, n_groups)


def random_dag(rng: np.random.Generator, n_inputs: int, n_gates: int, n_outputs: int) -> Circuit:
    """Gates that read any wire below them, constants included; outputs anywhere, in uneven groups."""
    own = N_CONSTANTS + n_inputs + np.arange(n_gates)
    n_wires = N_CONSTANTS + n_inputs + n_gates
    cuts = np.sort(rng.integers(0, n_outputs + 1, 2))
    return Circuit(
        n_inputs,
        gate=rng.integers(0, N_GATES, n_gates),
        a=rng.integers(0, own),
        b=rng.integers(0, own),
        outputs=rng.integers(0, n_wires, n_outputs),
        group_ptr=[0, *cuts.tolist(), n_outputs],
    )


def from_rows(n_inputs: int, rows: Sequence[tuple[int, int, int]], outputs: Sequence[int]) -> Circuit:
    """A circuit from (gate, a, b) rows, its outputs in one group."""
    gate, a, b = np.array(rows, dtype=np.int64).reshape(-1, 3).T
    return Circuit(n_inputs, gate, a, b, outputs, [0, len(outputs)])


def adder(n_bits: int) -> Circuit:
    """Ripple-carry sum of two numbers, least significant bit first, carry out last."""
    rows: list[tuple[int, int, int]] = []
    first = N_CONSTANTS + 2 * n_bits

    def add_gate(gate: int, a: int, b: int) -> int:
        rows.append((gate, a, b))
        return first + len(rows) - 1

    carry, outputs = 0, []
    for x in range(N_CONSTANTS, N_CONSTANTS + n_bits):
        y = x + n_bits
        half = add_gate(XOR, x, y)
        outputs.append(add_gate(XOR, half, carry))
        carry = add_gate(OR, add_gate(AND, x, y), add_gate(AND, half, carry))
    return from_rows(2 * n_bits, rows, [*outputs, carry])


def parity(n_inputs: int) -> Circuit:
    """The XOR of all inputs as one chain."""
    wires = range(N_CONSTANTS, N_CONSTANTS + n_inputs)
    chain = [wires[0], *range(wires.stop, wires.stop + n_inputs - 1)]
    rows = [(XOR, before, wire) for before, wire in zip(chain[:-1], wires[1:], strict=True)]
    return from_rows(n_inputs, rows, chain[-1:])


def random_convolution(
    rng: np.random.Generator, shape: tuple[int, int, int], n_thresholds: int = 1
) -> ConvolutionalCircuit:
    """Trees with strides and padding, pools, trees again, and a layer that reads them."""
    channels, n_maps = shape[0] * n_thresholds, 3
    windows = [Window(int(rng.integers(2, 4)), int(rng.integers(1, 3)), int(rng.integers(0, 2))), Window((1, 2))]
    stages: list[SharedTrees | OrPooling] = []
    for window, depth in zip(windows, rng.integers(1, 4, 2).tolist(), strict=True):
        taps = rng.integers(0, channels * window.n_values, (2, n_maps << (depth - 1)))
        gates = [rng.choice(TRAINED_GATES, n_maps << level) for level in reversed(range(depth))]
        stages += [SharedTrees(window, taps, gates), OrPooling(Window((2, 1), stride=1))]
        channels = n_maps
    maps: tuple[int, ...] = (shape[0] * n_thresholds, *shape[1:])
    for stage in stages:
        maps = stage.shape_after(maps)
    dense = SeededCircuit(math.prod(maps), [rng.choice(TRAINED_GATES, 60)], n_groups=3, seed=1)
    return ConvolutionalCircuit(shape, n_thresholds, stages, dense)


def random_tables(rng: np.random.Generator, n_inputs: int, widths: Sequence[int], k: int) -> Circuit:
    """Layers of lookup tables with k random wires each, as gates; outputs are the last layer, in one group."""
    builder = CircuitBuilder(n_inputs)
    wires = builder.inputs
    for width in widths:
        tables = rng.integers(0, 2, (width, 2**k))
        read = np.stack([rng.choice(wires, k, replace=False) for _ in range(width)], axis=1)
        made = expand_tables(tables, read, n_wires=builder.n_wires)
        builder.add(made.gate, made.a, made.b)
        wires = made.outputs
    return builder.build(wires, [0, len(wires)])


def circuits() -> dict[str, Circuit]:
    """The corpus, by name; the same circuits at every call."""
    corpus = {
        "empty, no group": Circuit(0, [], [], [], [], [0]),
        "empty, one group": Circuit(0, [], [], [], [], [0, 0]),
        "inputs only": Circuit(5, [], [], [], [], [0, 0, 0]),
        "no inputs": from_rows(0, [(OR, 0, 1), (XOR, 2, 1), (NOT_A, 3, 0)], [2, 3, 4]),
        "constant outputs": from_rows(2, [(XOR, 2, 3)], [0, 1, 4, 1, 0]),
        "input wired to output": from_rows(3, [], [4, 2, 3]),
        "inverted input": from_rows(1, [(NOT_A, 2, 2)], [3, 2]),
        "repeated outputs": from_rows(2, [(AND, 2, 3), (XOR, 2, 3)], [5, 4, 4, 5, 4, 2, 2]),
        "8-bit adder": adder(8),
        "parity of 33": parity(33),
    }
    for gate, name in enumerate(NAMES):
        corpus[f"gate {name}"] = from_rows(2, [(gate, 2, 3)], [4])
    shapes = [(1, [1]), (2, [3]), (4, [8]), (3, [7, 1]), (16, [33, 65, 10]), (784, [100]), (20, [64] * 5)]
    for seed, (n_inputs, widths) in enumerate(shapes):
        rng = np.random.default_rng(seed)
        shape = "x".join(map(str, [n_inputs, *widths]))
        corpus[f"layers {shape}"] = random_layers(rng, n_inputs, widths, 1)
        corpus[f"trained layers {shape}"] = random_layers(rng, n_inputs, widths, 1, gates=TRAINED_GATES)
    for seed, most in enumerate((3, 40, 200)):
        rng = np.random.default_rng(seed)
        repeats = [np.repeat(rng.integers(0, 44, 6), rng.integers(1, most, 6)) for _ in range(3)]
        base = random_layers(rng, 12, [20, 10], 1)
        corpus[f"outputs up to {most} times"] = Circuit(
            12, base.gate, base.a, base.b, rng.permuted(np.concatenate(repeats)), [0, *np.cumsum([*map(len, repeats)])]
        )
    for seed, shape in enumerate([(1, 9, 8), (3, 7, 7), (1, 16, 16)]):
        corpus[f"convolution {shape}"] = random_convolution(np.random.default_rng(seed), shape).expand()
    for k in (3, 4, 6):
        corpus[f"tables of {k} inputs"] = random_tables(np.random.default_rng(k), 12, [20, 9], k)
    corpus["ten groups"] = random_layers(np.random.default_rng(10), 40, [80, 80, 70], 10)
    dags = [(0, 9, 4), (1, 1, 1), (3, 10, 5), (6, 100, 20), (12, 1000, 64), (70, 130, 65)]
    for seed, shape in enumerate(dags):
        corpus[f"DAG {shape}"] = random_dag(np.random.default_rng(seed), *shape)
    return corpus


def random_rows(rng: np.random.Generator, n_rows: int, n_inputs: int) -> NDArray[np.bool_]:
    """Rows of fair coin flips."""
    return rng.integers(0, 2, (n_rows, n_inputs), dtype=np.uint8).astype(bool)
