"""AIGER of a model or circuit, with names: what logic synthesis, model checkers and SAT tools read."""

from gatewise import aiger
from gatewise.circuit import Circuit
from gatewise.export.emit import Package
from gatewise.export.named import HeadForm, NamedCircuit, name_pins
from gatewise.export.names import check_name
from gatewise.export.netlist import Format, pack_netlist
from gatewise.model import Model

READ_ASCII = '''
def read_file():
    """How many inputs there are, the literals of the outputs, and those that each AND gate reads."""
    header, *lines = (FOLDER / "FILE").read_text().splitlines()
    _, _, n_inputs, _, n_outputs, n_gates = header.split()
    end = int(n_inputs) + int(n_outputs)
    gates = [tuple(map(int, line.split()[1:])) for line in lines[end : end + int(n_gates)]]
    return int(n_inputs), list(map(int, lines[int(n_inputs) : end])), gates
'''

READ_BINARY = '''
def read_file():
    """How many inputs there are, the literals of the outputs, and those that each AND gate reads."""
    header, rest = (FOLDER / "FILE").read_bytes().split(b"\\n", 1)
    _, _, n_inputs, _, n_outputs, n_gates = header.split()
    *lines, rest = rest.split(b"\\n", int(n_outputs))
    numbers = iter(rest)
    gates = []
    for i in range(int(n_gates)):
        a = 2 * (1 + int(n_inputs) + i) - read_number(numbers)
        gates.append((a, a - read_number(numbers)))
    return int(n_inputs), list(map(int, lines)), gates


def read_number(numbers):
    """Seven bits a byte, the lowest first; the last byte is below 128."""
    number = shift = 0
    while (byte := next(numbers)) >= 128:
        number += byte - 128 << shift
        shift += 7
    return number + (byte << shift)
'''

SIMULATE = '''

def simulate(given, ones):
    """What comes out for what is given; literal 2v is variable v, 2v + 1 its inverse, and variable 0 is false."""
    n_inputs, outputs, gates = read_file()
    assert len(given) == n_inputs
    values = [0, *given]

    def read(literal):
        return values[literal >> 1] ^ (ones if literal & 1 else 0)

    for a, b in gates:
        values.append(read(a) & read(b))
    return [read(literal) for literal in outputs]

'''

TOOLS = """Gates are made of ANDs and inverters; the symbol table has the names of all pins. ABC reads binary files:

    yosys-abc -q "read_aiger FILE; print_stats"
"""

FORMATS = {
    False: Format("AIGER", "aig", READ_BINARY + SIMULATE, TOOLS),
    True: Format("ASCII AIGER", "aag", READ_ASCII + SIMULATE, TOOLS),
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
    check_name(name)
    named = name_pins(source, head)
    content = write_aiger(named, ascii=ascii)
    return pack_netlist(FORMATS[ascii], content, source=source, named=named, head=head, name=name)


def write_aiger(named: NamedCircuit, *, ascii: bool = False) -> bytes:
    """The file."""
    names = {"input_names": named.input_names, "output_names": named.output_names}
    return aiger.to_aiger(named.circuit, ascii=ascii, **names)
