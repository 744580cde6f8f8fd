"""BLIF of a model or circuit: one table a gate, as ABC, yosys and FPGA tools read it."""

from gatewise.circuit import Circuit
from gatewise.export.emit import Package
from gatewise.export.named import HeadForm, NamedCircuit, name_pins
from gatewise.export.names import as_comment, check_name, make_identifiers
from gatewise.export.netlist import Format, pack_netlist
from gatewise.gates import evaluate
from gatewise.model import Model

SIMULATE = '''
def simulate(given, ones):
    """What comes out for what is given: each table is true in the rows that match a line of it."""
    text = (FOLDER / "FILE").read_text()
    values, outputs, pins = {}, [], []
    for line in text.splitlines():
        word, *rest = line.split()
        if word == ".inputs":
            values.update(zip(rest, given, strict=True))
        elif word == ".outputs":
            outputs = rest
        elif word == ".names":
            *pins, name = rest
            values[name] = 0
        elif word[0] in "01":
            match = ones
            for pin, wanted in zip(pins, word):
                match &= values[pin] ^ (0 if wanted == "1" else ones)
            values[name] |= match
    return [values[name] for name in outputs]

'''

TOOLS = """Names have no blanks, so they are what is left of the words of the table below. ABC and yosys read the file:

    yosys-abc -q "read_blif FILE; print_stats"
"""

BLIF = Format("BLIF", "blif", SIMULATE, TOOLS)


def to_blif(source: Model | Circuit, *, name: str = "model", head: HeadForm = "bits") -> Package:
    """A model's circuit, or a circuit, as a BLIF file; inputs are the encoder's bits.

    Parameters
    ----------
    source : Model or Circuit
    name : str
        Of the file and of the BLIF model.
    head : {"bits", "counts", "class"}
        Whether outputs are the circuit's own, the count of each group as a binary number, or the index of the largest.

    Returns
    -------
    dict of str to bytes
        ``NAME.blif``, whose comments say which input is which bit of the encoder; ``check.py``, ``vectors.txt`` and
        ``README.md``.

    Examples
    --------
    >>> package = to_blif(Circuit(2, gate=[7], a=[2], b=[3], outputs=[4], group_ptr=[0, 1]))
    >>> sorted(package)
    ['README.md', 'check.py', 'model.blif', 'vectors.txt']
    >>> print(package["model.blif"].decode())
    # x0: i0_x0
    # x1: i1_x1
    .model model
    .inputs i0_x0 i1_x1
    .outputs bit_0_0
    .names i0_x0 i1_x1 w4
    01 1
    10 1
    11 1
    .names w4 bit_0_0
    1 1
    .end
    <BLANKLINE>
    """
    named = name_pins(source, head)
    content = write_blif(named, check_name(name)).encode()
    return pack_netlist(BLIF, content, source=source, named=named, head=head, name=name)


def write_blif(named: NamedCircuit, name: str) -> str:
    """The file."""
    circuit = named.circuit
    inputs = make_identifiers("i", named.input_names)
    wires = ["false", "true", *inputs, *(f"w{i}" for i in range(2 + circuit.n_inputs, circuit.n_wires))]
    lines = [f"# {as_comment(text)}: {pin}" for pin, text in zip(inputs, named.input_names, strict=True)]
    lines += [f".model {name}", " ".join([".inputs", *inputs]), " ".join([".outputs", *named.output_names])]
    read = {0, 1} & {*circuit.a.tolist(), *circuit.b.tolist(), *circuit.outputs.tolist()}
    lines += [line for wire in sorted(read) for line in [f".names {wires[wire]}", "1"][: wire + 1]]
    rows = zip(
        circuit.gate.tolist(), circuit.a.tolist(), circuit.b.tolist(), wires[2 + circuit.n_inputs :], strict=True
    )
    for gate, a, b, wire in rows:
        table = [f"{x}{y} 1" for x in (0, 1) for y in (0, 1) if evaluate(gate, x, y)]
        pins = [wires[a], wires[b], wire] if table else [wire]  # tools want a table without rows to have no inputs
        lines += [" ".join([".names", *pins]), *table]
    for wire_idx, pin in zip(circuit.outputs.tolist(), named.output_names, strict=True):
        lines += [f".names {wires[wire_idx]} {pin}", "1 1"]
    return "\n".join([*lines, ".end", ""])
