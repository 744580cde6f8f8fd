"""What comes with a Verilog module: a testbench, its rows, and a page that states the interface.

In: a module and what it was made of. Out: text.
"""

import numpy as np

from gatewise.circuit import Circuit
from gatewise.export.package import fill_template
from gatewise.export.page import explain_head, fill_page, make_table
from gatewise.export.pins import HeadForm
from gatewise.export.source import take_apart
from gatewise.export.vectors import expect_bits, spell, write_matrices
from gatewise.export.verilog.module import Module
from gatewise.model import Model

FORMS: dict[str, HeadForm] = {"outputs": "bits", "class_index": "class", "counts": "counts"}
"""What each output port gives, see `HeadForm`."""


def write_testbench(module: Module) -> str:
    """A testbench that gives a row each clock cycle and compares all outputs."""
    pins, sizes = [".clk(clk)"] * (module.cells.latency > 0), []
    ports = {"given": [(port.name, port.width) for port in module.inputs.ports]}
    ports["found"] = [(name, len(wires)) for name, wires in module.ports.items()]
    for signal, widths in ports.items():
        at = 0
        for name, width in widths:
            pins.append(f".{name}({signal}[{at + width - 1}:{at}])")
            at += width
        sizes.append(at)
    delay = max(module.cells.latency - 1, 0)  # the first register takes a row in the cycle that gives it
    parameters = {
        "N_ROWS": len(module.inputs.bits),
        "N_INPUTS": sizes[0],
        "N_OUTPUTS": sizes[1],
        "LAST_INPUT": max(sizes[0] - 1, 0),
        "LAST_OUTPUT": max(sizes[1] - 1, 0),
        "DELAY": delay,
    }
    declared = "\n".join(f"  localparam {name} = {value};" for name, value in parameters.items())
    instance = f"  {module.name} dut ({', '.join(pins)});"
    return fill_template("verilog/testbench.v", module.name, {"sizes.vh": declared, "module.vh": instance})


def write_vectors(module: Module, circuit: Circuit) -> str:
    """vectors.txt: bits of the inputs, and of the outputs."""
    inputs, none = module.inputs, np.zeros((len(module.inputs.bits), 0), bool)
    given = [inputs.bits]
    if module.is_encoded:
        given = [spell(values, port.width) for port, values in zip(inputs.ports, inputs.numbers.T, strict=True)]
    width = len(module.ports.get("counts", ())) // max(circuit.n_groups, 1)
    found = [expect_bits(circuit, FORMS[name], inputs.bits, width) for name in module.ports]
    matrices = {"bits": given, "outputs": found}
    return write_matrices({name: np.hstack([none, *parts]).astype(int).tolist() for name, parts in matrices.items()})


def write_readme(module: Module, source: Model | Circuit) -> str:
    """Ports, bit order, latency."""
    (circuit, head), latency = take_apart(source), module.cells.latency
    inputs = [("`clk`", 1, "no", "rising edge")] * (latency > 0)
    inputs += [(f"`{p.name}`", p.width, "yes" if p.is_signed else "no", p.meaning) for p in module.inputs.ports]
    note = "Numbers are two's complement and compared exactly. Columns that the model does not read have no port."
    if not module.is_encoded:
        note = make_table(["bit", "is 1 where"], ((f"`bits[{i}]`", bit) for i, bit in enumerate(module.comments)))
    outputs = ((f"`{name}`", len(wires), _explain(name, len(wires), circuit)) for name, wires in module.ports.items())
    timing = "outputs follow the inputs without a clock."
    if latency:
        timing = f"outputs belong to the inputs of {latency} clock cycles before; a row can be given every cycle."
    fields = {
        "name": module.name,
        "kind": f"pipelined, a register every {module.cells.pipeline} levels" if latency else "combinational",
        "inputs": make_table(["port", "bits", "signed", "meaning"], inputs),
        "note": note,
        "outputs": make_table(["port", "bits", "meaning"], outputs),
        "head": explain_head(head),
        "latency": latency,
        "timing": timing,
    }
    return fill_page("verilog/README.md", fields)


def _explain(port: str, width: int, circuit: Circuit) -> str:
    if port == "outputs":
        return "bit i is output i of the circuit"
    if port == "class_index":
        return "index of the class, that of the largest count, ties to the lowest"
    each = width // circuit.n_groups
    return f"{circuit.n_groups} numbers of {each} bits, that of group 0 lowest: the true outputs of each group"
