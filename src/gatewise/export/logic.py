"""Netlists that logic synthesis, model checkers and SAT tools read: AIGER and BLIF.

In: a model or a circuit. Out: packages of a netlist, rows with their answers, a check, and a README.
Invariant: names of pins differ; equal models give equal bytes.
"""

from gatewise.circuit import Circuit
from gatewise.export.package import Package, read_template
from gatewise.export.page import explain_head, fill_page, make_table
from gatewise.export.pins import HeadForm, NamedCircuit, as_comment, check_name, make_identifiers, name_pins
from gatewise.export.source import take_apart
from gatewise.export.vectors import draw_bits, expect_bits, write_matrices
from gatewise.gates import evaluate
from gatewise.model import Model
from gatewise.tools import aiger

OUTPUTS = {
    "bits": "`bit_K_I` is output I of group K of the circuit.",
    "counts": "`count_K_I` is bit I, of weight 2^I, of the number of true outputs of group K.",
    "class": "`class_0_I` is bit I, of weight 2^I, of the index of the group with the highest count, the lowest of "
    "several. With one group there are none.",
}


def to_aiger(source: Model | Circuit, *, name: str = "model", head: HeadForm = "bits", ascii: bool = False) -> Package:
    """A model's circuit, or a circuit, as an AIGER file; inputs are the encoder's bits.

    Parameters
    ----------
    source : Model or Circuit
    name : str
        Of the file.
    head : {"bits", "counts", "class"}
        Whether outputs are the circuit's own, the count of each group as a binary number, or the index of the largest.
    ascii : bool
        Whether to write aag instead of aig.

    Returns
    -------
    dict of str to bytes
        ``NAME.aig`` or ``NAME.aag``, with a symbol table: inputs in the words of `Model.describe_bits`, outputs as
        `name_pins` names them; ``check.py``, ``vectors.txt`` and ``README.md``.

    Examples
    --------
    >>> package = to_aiger(Circuit(2, gate=[1], a=[2], b=[3], outputs=[4], group_ptr=[0, 1]), ascii=True)
    >>> sorted(package)
    ['README.md', 'check.py', 'model.aag', 'vectors.txt']
    >>> print(package["model.aag"].decode())
    aag 3 2 0 1 1
    2
    4
    6
    6 4 2
    i0 x0
    i1 x1
    o0 bit_0_0
    <BLANKLINE>
    """
    named = name_pins(source, head)
    fields = {
        "format": "ASCII AIGER" if ascii else "AIGER",
        "file": f"{check_name(name)}.{'aag' if ascii else 'aig'}",
        "tools": "Gates are ANDs and inverters; the symbol table has the names of all pins. ABC reads binary files:",
        "command": "read_aiger",
    }
    return _pack(write_aiger(named, ascii=ascii), fields, source, named, head)


def to_blif(source: Model | Circuit, *, name: str = "model", head: HeadForm = "bits") -> Package:
    """A model's circuit, or a circuit, as a BLIF file; inputs are the encoder's bits.

    Parameters
    ----------
    source, head
        See `to_aiger`.
    name : str
        Of the file and of the BLIF model.

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
    fields = {
        "format": "BLIF",
        "file": f"{check_name(name)}.blif",
        "tools": "Names have no blanks: they are what is left of the words of the table below. ABC and yosys read it:",
        "command": "read_blif",
    }
    return _pack(write_blif(named, name).encode(), fields, source, named, head)


def write_aiger(named: NamedCircuit, *, ascii: bool = False) -> bytes:
    """The content of an AIGER file, names included."""
    names = {"input_names": named.input_names, "output_names": named.output_names}
    return aiger.to_aiger(named.circuit, ascii=ascii, **names)


def write_blif(named: NamedCircuit, name: str) -> str:
    """The content of a BLIF file: one table per gate, and one per output, which copies a wire."""
    circuit = named.circuit
    inputs = make_identifiers("i", named.input_names)
    wires = ["false", "true", *inputs, *(f"w{i}" for i in range(2 + circuit.n_inputs, circuit.n_wires))]
    lines = [f"# {as_comment(text)}: {pin}" for pin, text in zip(inputs, named.input_names, strict=True)]
    lines += [f".model {name}", " ".join([".inputs", *inputs]), " ".join([".outputs", *named.output_names])]
    read = {0, 1} & {*circuit.a.tolist(), *circuit.b.tolist(), *circuit.outputs.tolist()}
    lines += [line for wire in sorted(read) for line in [f".names {wires[wire]}", "1"][: wire + 1]]
    gates = zip(circuit.gate.tolist(), circuit.a.tolist(), circuit.b.tolist(), strict=True)
    for wire, (gate, a, b) in zip(wires[2 + circuit.n_inputs :], gates, strict=True):
        table = [f"{x}{y} 1" for x in (0, 1) for y in (0, 1) if evaluate(gate, x, y)]
        pins = [wires[a], wires[b], wire] if table else [wire]  # tools want a table without rows to have no inputs
        lines += [" ".join([".names", *pins]), *table]
    for wire_idx, pin in zip(circuit.outputs.tolist(), named.output_names, strict=True):
        lines += [f".names {wires[wire_idx]} {pin}", "1 1"]
    return "\n".join([*lines, ".end", ""])


def _pack(
    content: bytes, fields: dict[str, str], source: Model | Circuit, named: NamedCircuit, head: HeadForm
) -> Package:
    """A netlist with what comes with it; `fields` are those of the README that say what format it has."""
    circuit, model_head = take_apart(source)
    bits = draw_bits(circuit)
    matrices = {"bits": bits, "outputs": expect_bits(circuit, head, bits)}
    inputs = ((f"`input {i}`", as_comment(text)) for i, text in enumerate(named.input_names))
    page = {
        **fields,
        "name": fields["file"].rpartition(".")[0],
        "kind": "circuit" if model_head is None else "model",
        "n_inputs": circuit.n_inputs,
        "n_outputs": named.circuit.n_outputs,
        "n_gates": named.circuit.n_gates,
        "inputs": make_table(["bit", "is 1 where"], inputs),
        "outputs": OUTPUTS[head],
        "head": explain_head(model_head),
    }
    texts = {
        "vectors.txt": write_matrices({name: matrix.astype(int).tolist() for name, matrix in matrices.items()}),
        "check.py": read_template("logic/check.py"),
        "README.md": fill_page("logic/README.md", page),
    }
    return {fields["file"]: content} | {file: text.encode() for file, text in texts.items()}
