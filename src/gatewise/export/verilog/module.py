"""The synthesizable module: cells written as Verilog-2001.

In: inputs and cells. Out: text.
Invariant: a wire's value in a later stage than its own is a register, one for each clock cycle between.
"""

from dataclasses import dataclass
from functools import cached_property

from gatewise.circuit import N_CONSTANTS
from gatewise.export.verilog.cells import Cells, Gate
from gatewise.export.verilog.compressors import Compressor
from gatewise.export.verilog.ports import Inputs
from gatewise.gates import find_formula

SYMBOLS = {"and": "&", "or": "|", "xor": "^"}
Shape = tuple[int, int, int]


@dataclass(frozen=True)
class Module:
    """A module under its name; `comments` say what each bit means, `is_encoded` whether inputs are raw columns."""

    name: str
    inputs: Inputs
    cells: Cells
    comments: list[str]
    is_encoded: bool

    @property
    def compressors(self) -> list[Compressor]:
        """The compressors among the cells."""
        return [cell for cell in self.cells.cells if isinstance(cell, Compressor)]

    @cached_property
    def registers(self) -> list[tuple[int, int]]:
        """Wires and the stages at whose start their values are in flip-flops."""
        last = self.cells.last_stages()
        wires = range(N_CONSTANTS, len(last))
        return [(wire, stage) for wire in wires for stage in range(self._known(wire) + 1, last[wire] + 1)]

    @property
    def ports(self) -> dict[str, list[int]]:
        """The outputs that have bits."""
        return {name: wires for name, wires in self.cells.ports.items() if wires}

    def write(self) -> str:
        """The file: one module for each shape of a compressor, then the module itself."""
        n_gates = len(self.cells.cells) - len(self.compressors)
        lines = [f"// {n_gates} gates, {len(self.compressors)} compressors, {len(self.registers)} flip-flops"]
        for shape in sorted({_shape(compressor) for compressor in self.compressors}):
            lines += self._write_compressor(shape)
        ports = ["input wire clk"] * (self.cells.latency > 0) + [port.declare() for port in self.inputs.ports]
        ports += [f"output wire{_range(len(wires))} {name}" for name, wires in self.ports.items()]
        lines += [f"module {self.name} (", ",\n".join(f"  {port}" for port in ports), ");"]
        lines.append(f"  localparam LATENCY = {self.cells.latency};  // clock cycles from inputs to outputs")
        lines += self._write_encoder() if self.is_encoded else []
        lines += [f"  reg {self._at(wire, stage)};" for wire, stage in self.registers]
        lines += [line for cell in self.cells.cells for line in self._write_cell(cell)]
        lines += self._write_registers()
        for name, wires in self.ports.items():
            bits = [f"{name}[{i}]" for i in range(len(wires))] if len(wires) > 1 else [name]
            values = [self._at(wire, self.cells.latency) for wire in wires]
            lines += [f"  assign {bit} = {value};" for bit, value in zip(bits, values, strict=True)]
        return "\n".join([*lines, "endmodule", ""])

    def _write_compressor(self, shape: Shape) -> list[str]:
        """A sum of few bits.

        One of six inputs is kept as a module, because a tree of them takes fewer tables than it does flat. Full adders
        leave an input of a table free for what is around them.
        """
        n_ones, n_twos, n_outputs = shape
        terms = [f"x[{i}]" for i in range(n_ones)] + [f"{{t[{i}], 1'b0}}" for i in range(n_twos)]
        twos = [f"  input wire [{n_twos - 1}:0] t,"] if n_twos else []
        return [
            *['(* keep_hierarchy = "yes" *)'] * (self.cells.lut_inputs == 6),
            f"module {self._compressor_name(shape)} (",
            f"  input wire [{n_ones - 1}:0] x,",
            *twos,
            f"  output wire [{n_outputs - 1}:0] y",
            ");",
            f"  assign y = {' + '.join(terms)};",
            "endmodule",
        ]

    def _compressor_name(self, shape: Shape) -> str:
        return f"{self.name}_add_{'_'.join(map(str, shape))}"

    def _write_encoder(self) -> list[str]:
        n = len(self.inputs.expressions)
        rows = zip(self.inputs.expressions, self.comments, strict=True)
        bits = [f"  assign {self._bit(i)} = {test};  // {comment}" for i, (test, comment) in enumerate(rows)]
        return [f"  wire{_range(n)} bits;", *bits] if n else []

    def _write_cell(self, cell: Gate | Compressor) -> list[str]:
        stage = 0 if self.cells.pipeline is None else self.cells.stages[cell.outputs[0]]
        if isinstance(cell, Gate):
            return [f"  wire w{cell.outputs[0]} = {self._formula(cell, stage)};"]
        ones, twos = (", ".join(self._at(wire, stage) for wire in reversed(wires)) for wires in (cell.ones, cell.twos))
        outputs = [f"w{wire}" for wire in cell.outputs]
        pins = [f".x({{{ones}}})", *([f".t({{{twos}}})"] if twos else []), f".y({{{', '.join(reversed(outputs))}}})"]
        name = f"{self._compressor_name(_shape(cell))} c{cell.outputs[0]}"
        return [f"  wire {', '.join(outputs)};", f"  {name} ({', '.join(pins)});"]

    def _formula(self, cell: Gate, stage: int) -> str:
        formula = find_formula(cell.gate)
        a, b = (self._at(wire, stage) for wire in cell.inputs)
        a, b = f"~{a}" if formula.flip_a else a, f"~{b}" if formula.flip_b else b
        if formula.operator in SYMBOLS:
            plain = f"{a} {SYMBOLS[formula.operator]} {b}"
            return f"~({plain})" if formula.flip else plain
        return "~" * formula.flip + {"a": a, "b": b, "false": "1'b0"}[formula.operator]

    def _write_registers(self) -> list[str]:
        if not self.registers:
            return []
        moves = [f"    {self._at(wire, stage)} <= {self._at(wire, stage - 1)};" for wire, stage in self.registers]
        return ["  always @(posedge clk) begin", *moves, "  end"]

    def _known(self, wire: int) -> int:
        """The stage in which a wire's value is computed; bits are, or come, in the first."""
        return 0 if wire < N_CONSTANTS + self.cells.n_inputs else self.cells.stages[wire]

    def _at(self, wire: int, stage: int) -> str:
        """The value of a wire in a stage."""
        if wire < N_CONSTANTS:
            return f"1'b{wire}"
        is_input = wire < N_CONSTANTS + self.cells.n_inputs
        if stage > self._known(wire):
            return f"{'b' if is_input else 'w'}{wire - N_CONSTANTS * is_input}_{stage}"
        return self._bit(wire - N_CONSTANTS) if is_input else f"w{wire}"

    def _bit(self, i: int) -> str:
        return f"bits[{i}]" if self.cells.n_inputs > 1 else "bits"


def _shape(compressor: Compressor) -> Shape:
    return len(compressor.ones), len(compressor.twos), len(compressor.outputs)


def _range(n: int) -> str:
    return f" [{n - 1}:0]" if n > 1 else ""
