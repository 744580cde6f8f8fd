"""AIGER files, binary and ascii: circuits as AND gates with inverters on their pins, as other logic tools read them.

In: a circuit, or the bytes of a file, which may come from anywhere. Out: bytes, or an equivalent circuit.
Invariant: reading takes time and memory in proportion to the file, and anything but a complete file without latches is
a ValueError. A literal is twice a variable, plus one if it is inverted; variable 0 is the constant false.
"""

import re
from collections.abc import Sequence
from functools import cache

import numpy as np
from numpy.typing import NDArray

from gatewise.circuit import N_CONSTANTS, Circuit
from gatewise.gates import NOT_A, evaluate, fold, negate

HEADER = re.compile(rb"(aig|aag) (\d{1,10}) (\d{1,10}) (\d{1,10}) (\d{1,10}) (\d{1,10})\n")
SYMBOL = re.compile(rb"([io])(\d{1,10}) [^\n]+\n")
NUMBERS = re.compile(rb"\d{1,10}(?: \d{1,10})*\n")
MAX_VARIABLES = 2**30 - 1  # a literal fits 31 bits

Literals = NDArray[np.int64]


def to_aiger(
    circuit: Circuit,
    *,
    ascii: bool = False,
    input_names: Sequence[str] = (),
    output_names: Sequence[str] = (),
) -> bytes:
    """The circuit as an AIGER file. XOR takes three ANDs, every other gate one or none.

    Parameters
    ----------
    circuit : Circuit
        Its groups are not written.
    ascii : bool
        Whether to write the format for human readers, aag, instead of the compact one, aig.
    input_names, output_names : sequence of str, optional
        The symbol table: one name each, or none at all. Whatever is not printable ASCII is escaped as in Python.

    Examples
    --------
    >>> nor = Circuit(2, gate=[8], a=[2], b=[3], outputs=[4], group_ptr=[0, 1])
    >>> print(to_aiger(nor, ascii=True, input_names=["age > 40", "job = nurse"]).decode())
    aag 3 2 0 1 1
    2
    4
    6
    6 5 3
    i0 age > 40
    i1 job = nurse
    <BLANKLINE>
    """
    for kind, names, n in (("input", input_names, circuit.n_inputs), ("output", output_names, circuit.n_outputs)):
        if names and len(names) != n:
            raise ValueError(f"{kind}_names must be {n}, one for each {kind}, got {len(names)}")
    ands, outputs = _lower(circuit)
    n_inputs, n_ands = circuit.n_inputs, len(ands)
    counts = f"{n_inputs + n_ands} {n_inputs} 0 {len(outputs)} {n_ands}\n"
    first = 2 * (n_inputs + 1)
    lines = "".join(f"{literal}\n" for literal in outputs)
    symbols = [
        f"{kind}{i} {_escape(name)}\n"
        for kind, names in (("i", input_names), ("o", output_names))
        for i, name in enumerate(names)
    ]
    if ascii:
        inputs = "".join(f"{2 * (i + 1)}\n" for i in range(n_inputs))
        rows = "".join(f"{first + 2 * i} {high} {low}\n" for i, (high, low) in enumerate(ands))
        return f"aag {counts}{inputs}{lines}{rows}{''.join(symbols)}".encode()
    body = bytearray()
    for i, (high, low) in enumerate(ands):
        _append_number(body, first + 2 * i - high)
        _append_number(body, high - low)
    return f"aig {counts}{lines}".encode() + bytes(body) + "".join(symbols).encode()


def from_aiger(data: bytes) -> Circuit:
    """The circuit of an AIGER file, aig or aag, its outputs in one group; names are dropped.

    Raises
    ------
    ValueError
        The file is damaged, has latches or properties, or is an aag whose variables are not in the order of an aig.

    Examples
    --------
    >>> print(from_aiger(b"aag 3 2 0 1 1\\n2\\n4\\n7\\n6 5 3\\n").to_text())
    circuit 2 inputs, 2 gates, 1 outputs, 1 groups
    w4 = NOR w3 w2
    w5 = NOT_A w4 w4
    group 0: w5
    <BLANKLINE>
    """
    header = HEADER.match(data)
    if header is None:
        raise ValueError(
            f"AIGER file must start with aig or aag and five numbers, got {data[:40]!r}; "
            "files with properties (AIGER 1.9) are not read"
        )
    n_variables, n_inputs, n_latches, n_outputs, n_ands = (int(number) for number in header.groups()[1:])
    if n_latches:
        raise ValueError(f"AIGER file must have no latches, as circuits have no memory, got {n_latches}")
    if n_variables != n_inputs + n_ands or n_variables > MAX_VARIABLES:
        raise ValueError(
            f"variables of an AIGER file must number at most {MAX_VARIABLES}, and as many as its inputs and ANDs "
            f"together, got {n_variables}, {n_inputs} and {n_ands}"
        )
    read = _read_ascii if header[1] == b"aag" else _read_binary
    outputs, ands, at = read(data, header.end(), n_inputs, n_outputs, n_ands)
    _check_symbols(data, at, n_inputs, n_outputs)
    return _raise_to_gates(n_inputs, ands, outputs)


def _lower(circuit: Circuit) -> tuple[list[tuple[int, int]], list[int]]:
    """ANDs as (higher, lower) literal, and the literals of the outputs."""
    ands: list[tuple[int, int]] = []
    first = circuit.n_inputs + 1

    def conjoin(x: int, y: int) -> int:
        ands.append((max(x, y), min(x, y)))
        return 2 * (first + len(ands) - 1)

    literals = [0, 1, *range(2, 2 * first, 2)]
    for gate, a, b in zip(circuit.gate.tolist(), circuit.a.tolist(), circuit.b.tolist(), strict=True):
        literal = fold(gate, literals[a], literals[b])
        if literal is None:
            products, inverted = _sum_of_products(gate)
            terms = [conjoin(literals[a] ^ flip_a, literals[b] ^ flip_b) for flip_a, flip_b in products]
            literal = terms[0] if len(terms) == 1 else conjoin(terms[0] ^ 1, terms[1] ^ 1) ^ 1
            literal ^= inverted
        literals.append(literal)
    return ands, [literals[wire] for wire in circuit.outputs.tolist()]


@cache
def _sum_of_products(gate: int) -> tuple[list[tuple[int, int]], int]:
    """The one or two products whose sum a gate of both operands is, and whether that sum is to be inverted.

    A product is a pair of flips: 1 where the operand is inverted before the AND.
    """
    inverted = int(gate.bit_count() == 3)
    sought = negate(gate) if inverted else gate
    return [(1 - a, 1 - b) for a in (0, 1) for b in (0, 1) if evaluate(sought, a, b)], inverted


def _append_number(body: bytearray, number: int) -> None:
    """Seven bits a byte, the lowest first; the high bit says that more follow."""
    while number >= 128:
        body.append(number & 127 | 128)
        number >>= 7
    body.append(number)


def _escape(name: str) -> str:
    return name.encode("unicode_escape").decode("ascii") or "_"


def _read_binary(data: bytes, at: int, n_inputs: int, n_outputs: int, n_ands: int) -> tuple[Literals, Literals, int]:
    outputs, at = _read_lines(data, at, n_outputs, 1)
    if 2 * n_ands > len(data) - at:
        raise ValueError(f"AIGER file must hold {n_ands} ANDs, got {len(data) - at} bytes for them")
    deltas = np.empty(2 * n_ands, np.int64)
    for i in range(2 * n_ands):
        number = shift = 0
        while True:
            if at == len(data) or shift > 28:
                raise ValueError(f"numbers of an AIGER file must end and fit 31 bits, got {data[at - 5 : at]!r}")
            byte = data[at]
            at += 1
            number |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                break
        deltas[i] = number
    own = 2 * (n_inputs + 1 + np.arange(n_ands, dtype=np.int64))
    high = own - deltas[::2]
    return outputs.reshape(-1), np.stack([own, high, high - deltas[1::2]], axis=1), at


def _read_ascii(data: bytes, at: int, n_inputs: int, n_outputs: int, n_ands: int) -> tuple[Literals, Literals, int]:
    inputs, at = _read_lines(data, at, n_inputs, 1)
    outputs, at = _read_lines(data, at, n_outputs, 1)
    ands, at = _read_lines(data, at, n_ands, 3)
    defined = np.concatenate([inputs.reshape(-1), ands[:, 0]])
    if not np.array_equal(defined, 2 * np.arange(1, len(defined) + 1)):
        raise ValueError(
            "an aag file must define its variables in rising order, inputs first, as the aig format does; "
            "tools such as aigtoaig convert to that"
        )
    return outputs.reshape(-1), ands, at


def _read_lines(data: bytes, at: int, n_lines: int, n_columns: int) -> tuple[Literals, int]:
    """Lines of numbers, shape (n_lines, n_columns), and where the next one starts."""
    if 2 * n_columns * n_lines > len(data) - at:
        raise ValueError(f"AIGER file must have {n_lines} more lines, got {len(data) - at} bytes")
    numbers = np.empty((n_lines, n_columns), np.int64)
    for i in range(n_lines):
        line = NUMBERS.match(data, at)
        row = line[0].split() if line else []
        if line is None or len(row) != n_columns:
            raise ValueError(f"line of an AIGER file must hold {n_columns} numbers, got {data[at : at + 40]!r}")
        numbers[i] = [int(number) for number in row]
        at = line.end()
    return numbers, at


def _check_symbols(data: bytes, at: int, n_inputs: int, n_outputs: int) -> None:
    """Raise unless names of inputs and outputs follow, then nothing or a comment."""
    while at < len(data) and data[at : at + 2] != b"c\n":
        symbol = SYMBOL.match(data, at)
        if symbol is None or int(symbol[2]) >= (n_inputs if symbol[1] == b"i" else n_outputs):
            raise ValueError(
                f"AIGER file must end with names of its inputs and outputs and a comment, got {data[at : at + 40]!r}"
            )
        at = symbol.end()


def _raise_to_gates(n_inputs: int, ands: Literals, outputs: Literals) -> Circuit:
    """One gate an AND, and an inverter for each inverted literal among the outputs."""
    own, operands = ands[:, :1], ands[:, 1:]
    if ((operands < 0) | (operands >= own)).any():
        raise ValueError("operands of an AND in an AIGER file must be literals below its own")
    n_literals = 2 * (n_inputs + len(ands) + 1)
    if (outputs >= n_literals).any():
        raise ValueError(f"outputs of an AIGER file must be literals below {n_literals}, got {outputs.max()}")
    is_plain = 1 - (operands & 1)
    conjunctions = 1 << (3 - 2 * is_plain[:, 0] - is_plain[:, 1])  # true only where both operands are
    a, b = _wires(operands).T
    is_flipped = (outputs & 1 == 1) & (outputs > 1)
    flipped, position = np.unique(outputs[is_flipped], return_inverse=True)
    wires = np.where(outputs == 1, 1, _wires(outputs))
    wires[is_flipped] = N_CONSTANTS + n_inputs + len(ands) + position
    gate = np.concatenate([conjunctions, np.full(len(flipped), NOT_A)]).astype(np.uint8)
    a, b = (np.concatenate([operand, _wires(flipped)]).astype(np.int32) for operand in (a, b))
    return Circuit(n_inputs, gate, a, b, wires.astype(np.int32), np.array([0, len(wires)], np.int32))


def _wires(literals: Literals) -> Literals:
    """The wire of each literal's variable; variable 0 is wire 0."""
    variables = literals >> 1
    return np.where(variables == 0, 0, variables + N_CONSTANTS - 1)
