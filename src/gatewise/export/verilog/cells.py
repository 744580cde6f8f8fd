"""What a hardware module consists of: gates and compressors over numbered wires, placed into pipeline stages.

In: a circuit, and the form of its head. Out: `Cells`.
Invariant: wires are numbered as in the circuit, the head's after them; a cell reads wires of its own stage or of
earlier ones only.
"""

from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from typing import TypeAlias

import numpy as np

from gatewise.circuit import N_CONSTANTS, Circuit
from gatewise.export.counting import take_group, with_largest
from gatewise.export.pins import HeadForm
from gatewise.export.verilog.compressors import Compressor, CompressorTree, LutInputs

COMPRESSOR_LEVELS = 3
"""Levels of gates that take about as long as a compressor."""


@dataclass(frozen=True)
class Gate:
    """A gate of a circuit."""

    gate: int
    inputs: tuple[int, int]
    outputs: tuple[int]


Cell: TypeAlias = Gate | Compressor


@dataclass
class Cells:
    """Cells in topological order, and the wires that leave the module, by port.

    There is a register every `pipeline` levels, or none; inputs are known in stage `first_stage`; a lookup table has
    `lut_inputs` inputs.
    """

    n_inputs: int
    pipeline: int | None = None
    first_stage: int = 0
    lut_inputs: LutInputs = 6
    cells: list[Cell] = field(default_factory=list)
    ports: dict[str, list[int]] = field(default_factory=dict)
    levels: list[int] = field(init=False)

    def __post_init__(self) -> None:
        self.levels = [self.first_stage * (self.pipeline or 0)] * (N_CONSTANTS + self.n_inputs)

    def add_circuit(self, circuit: Circuit, inputs: list[int]) -> list[int]:
        """Append a circuit's gates over these wires; returns the wire of each of its own wires."""
        wires = [*range(N_CONSTANTS), *inputs]
        for gate, a, b in zip(circuit.gate.tolist(), circuit.a.tolist(), circuit.b.tolist(), strict=True):
            out = len(self.levels)
            self.levels.append(1 + max(self.levels[wires[a]], self.levels[wires[b]]))
            self.cells.append(Gate(gate, (wires[a], wires[b]), (out,)))
            wires.append(out)
        return wires

    def count(self, wires: list[int]) -> list[int]:
        """Append compressors; returns the wires of the count."""
        tree = CompressorTree(self.levels, COMPRESSOR_LEVELS, self.lut_inputs)
        number = tree.count(wires)
        self.cells += tree.compressors
        return number

    @cached_property
    def stages(self) -> list[int]:
        """The stage of each wire, the inputs' for constants; all in one without a pipeline."""
        stages = [self.first_stage] * (N_CONSTANTS + self.n_inputs)
        level = [0] * len(stages)  # within its stage
        for cell in self.cells:
            if self.pipeline is None:
                stages += [0] * len(cell.outputs)
                continue
            cost = 1 if isinstance(cell, Gate) else min(COMPRESSOR_LEVELS, self.pipeline)
            stage = max(stages[wire] for wire in cell.inputs)
            start = max(level[wire] for wire in cell.inputs if stages[wire] == stage)
            if start + cost > self.pipeline:
                stage, start = stage + 1, 0
            stages += [stage] * len(cell.outputs)
            level += [start + cost] * len(cell.outputs)
        return stages

    @property
    def latency(self) -> int:
        """Registers between the inputs and the outputs."""
        return 0 if self.pipeline is None else 1 + max(self.stages, default=0)

    def last_stages(self) -> list[int]:
        """The last stage in which each wire is read; outputs are read after the last one."""
        last = list(self.stages)
        for cell in self.cells:
            for wire in cell.inputs:
                last[wire] = max(last[wire], self.stages[cell.outputs[0]])
        for wire in (wire for wires in self.ports.values() for wire in wires):
            last[wire] = self.latency
        return last


def fill_cells(cells: Cells, circuit: Circuit, head: HeadForm) -> None:
    """Add a circuit and its head, and the ports outputs, or counts, or class_index and counts."""
    wires = cells.add_circuit(circuit, list(range(N_CONSTANTS, N_CONSTANTS + circuit.n_inputs)))
    outputs = [wires[wire] for wire in circuit.outputs.tolist()]
    if head == "bits":
        cells.ports["outputs"] = outputs
        return
    ends = circuit.group_ptr.tolist()
    numbers = [cells.count(outputs[i:j]) for i, j in pairwise(ends)]
    if head == "class":
        comparing = take_group(with_largest(_wires_only([len(number) for number in numbers])), -1)
        wires = cells.add_circuit(comparing, [wire for number in numbers for wire in number])
        cells.ports["class_index"] = [wires[wire] for wire in comparing.outputs.tolist()]
    width = max(map(len, numbers), default=0)
    cells.ports["counts"] = [wire for number in numbers for wire in number + [0] * (width - len(number))]


def _wires_only(sizes: list[int]) -> Circuit:
    """A circuit without gates whose outputs are its inputs, in groups of these sizes."""
    none, outputs = np.empty(0, np.int32), np.arange(sum(sizes), dtype=np.int32) + np.int32(N_CONSTANTS)
    return Circuit(len(outputs), none.astype(np.uint8), none, none, outputs, np.cumsum([0, *sizes], dtype=np.int32))
