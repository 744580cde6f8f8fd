"""What comes with a Verilog module: a testbench, its vectors, and a page that states the interface.

In: a module and what it was made of. Out: text.
Invariant: expected outputs come from `gatewise.run.reference`, not from what the module was written from.
"""

import numpy as np
from numpy.typing import NDArray

from gatewise.circuit import Circuit
from gatewise.export.explain import explain_answer, list_bits, table_cell
from gatewise.export.vectors import spell
from gatewise.export.verilog.module import Module
from gatewise.model import Model
from gatewise.run.reference import classify, count_groups, evaluate_outputs

TESTBENCH = """\
module {name}_tb;
  localparam N = {n_vectors}, DELAY = {delay};
  reg [{n_word}:0] vectors [0:N - 1];
  reg [{n_word}:0] given, expected;
  wire [{n_out}:0] out;
  reg clk;
  integer i, errors;
  {name} dut ({pins});
  initial begin
    $readmemb("{name}_vectors.txt", vectors);
    clk = 0;
    errors = 0;
    for (i = 0; i < N + DELAY; i = i + 1) begin
      given = vectors[i < N ? i : N - 1];
      #1 clk = 1;
      #1 clk = 0;
      expected = vectors[i < DELAY ? 0 : i - DELAY];
      {check}
    end
    if (errors == 0) $display("PASS: %0d vectors", N);
    else $display("FAIL: %0d of %0d vectors", errors, N);
    $finish;
  end
endmodule
"""

CHECK = """if (i >= DELAY && out !== expected[{n_out}:0]) begin
        errors = errors + 1;
        $display("vector %0d: expected %b, got %b", i - DELAY, expected[{n_out}:0], out);
      end"""

README = """# {name}

`{name}.v` is a Verilog-2001 module, {kind}. `{name}_tb.v` checks it against the {n_vectors} vectors of
`{name}_vectors.txt`, which come from another evaluator of the same circuit, and prints PASS or FAIL:

    iverilog -o {name}_tb {name}_tb.v {name}.v && vvp {name}_tb

## Inputs

| port | bits | signed | meaning |
|---|---|---|---|
{inputs}

{note}

## Outputs

| port | bits | meaning |
|---|---|---|
{outputs}
{answer}
## Timing

LATENCY = {latency}: {timing}

## Vectors

One line a vector, binary, most significant bit first: the outputs in the lowest bits, the first port of the table
lowest, then the inputs, the first port lowest.
"""


def write_testbench(module: Module, n_vectors: int) -> str:
    """A testbench that feeds a vector each clock cycle and compares all outputs."""
    pins = [".clk(clk)"] * (module.cells.latency > 0)
    at = 0
    for name, wires in module.ports.items():
        pins.append(f".{name}(out[{at + len(wires) - 1}:{at}])")
        at += len(wires)
    n_out = max(at, 1)
    for port in module.inputs.ports:
        pins.append(f".{port.name}(given[{at + port.width - 1}:{at}])")
        at += port.width
    check = CHECK.format(n_out=n_out - 1) if module.ports else "// the module has no outputs"
    return TESTBENCH.format(
        name=module.name,
        n_vectors=n_vectors,
        delay=max(module.cells.latency - 1, 0),  # the first register takes a vector in the cycle that gives it
        n_word=max(at, n_out) - 1,
        n_out=n_out - 1,
        pins=", ".join(pins),
        check=check,
    )


def write_vectors(module: Module, circuit: Circuit) -> str:
    """One line a row: inputs and expected outputs as a binary number."""
    columns = []
    for name, wires in module.ports.items():
        columns.append(_expect(name, len(wires), circuit, module.inputs.bits))
    if module.is_encoded:
        numbers = zip(module.inputs.ports, module.inputs.numbers.T, strict=True)
        columns += [spell(values, port.width) for port, values in numbers]
    elif circuit.n_inputs:
        columns.append(module.inputs.bits)
    rows = np.concatenate([np.zeros((len(module.inputs.bits), 0), bool), *columns], axis=1)[:, ::-1]
    return "".join(("".join("01"[bit] for bit in row) or "0") + "\n" for row in rows.astype(int).tolist())


def write_readme(module: Module, source: Model | Circuit, n_vectors: int) -> str:
    """Ports, bit order, latency."""
    rows = [(port.name, port.width, port.is_signed, port.meaning) for port in module.inputs.ports]
    inputs = [
        f"| `{name}` | {n} | {'yes' if signed else 'no'} | {table_cell(text)} |" for name, n, signed, text in rows
    ]
    latency = module.cells.latency
    if module.is_encoded:
        note = "Numbers are two's complement and compared exactly. Columns that the model does not read have no port."
    else:
        note = list_bits(module.comments, "bits[{}]")
    cycles = f"outputs belong to the inputs of {latency} clock cycles before; a row a cycle can be given."
    return README.format(
        name=module.name,
        kind="combinational" if latency == 0 else f"pipelined, a register every {module.cells.pipeline} levels",
        n_vectors=n_vectors,
        inputs="\n".join(["| `clk` | 1 | no | rising edge |"] * (latency > 0) + inputs),
        note=note,
        outputs="\n".join(
            f"| `{name}` | {len(wires)} | {_explain(name, len(wires), source)} |"
            for name, wires in module.ports.items()
        ),
        answer=explain_answer(source),
        latency=latency,
        timing=cycles if latency else "outputs follow the inputs without a clock.",
    )


def _expect(name: str, width: int, circuit: Circuit, rows: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """The bits of an output port, the least significant first."""
    if name == "outputs":
        return evaluate_outputs(circuit, rows)
    if name == "class_index":
        return spell(classify(circuit, rows), width)
    counts = count_groups(circuit, rows)
    each = width // circuit.n_groups
    return np.concatenate([spell(count, each) for count in counts.T], axis=1)


def _explain(name: str, width: int, source: Model | Circuit) -> str:
    circuit = source.circuit if isinstance(source, Model) else source
    if name == "outputs":
        return "bit i is output i of the circuit"
    if name == "class_index":
        return "index of the class, that of the largest count, ties to the lowest"
    each = width // circuit.n_groups
    return f"{circuit.n_groups} numbers of {each} bits, that of group 0 lowest: the true outputs of each group"
