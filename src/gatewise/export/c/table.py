"""C style `table`: the encoder and the gates as a string of bits that a loop reads, the smallest program.

In: a `Source` whose netlist is sorted. Out: tables, which the functions `encode` and `evaluate` of a template read.
Invariant: the loop reads back what was written. Gates are sorted by level, operation and operand: an operation is
stored once per run; of the operand in the level before, only the step from the gate before; of the other, its number in
as many bits as the nodes so far need. Steps are Rice codes, whose parameter is stored once per run.
"""

import numpy as np
from numpy.typing import NDArray

from gatewise.export.c.constants import Body
from gatewise.export.netlist import Netlist, find_operations
from gatewise.export.package import format_number, read_template, write_array
from gatewise.export.source import Source

MAX_BITS = 25
"""Bits that the loop takes at once: those of a 32-bit number that are left wherever in a byte it starts."""

GREATER, EQUAL, POSITION = range(3)
"""Kinds of columns."""


class BitString:
    """Numbers one behind the other, the highest bit of each first."""

    def __init__(self) -> None:
        self._parts: list[str] = []

    def put(self, value: int, n_bits: int) -> None:
        """A number in so many bits."""
        if not 0 <= value < 1 << min(n_bits, MAX_BITS):
            raise ValueError(f"circuit must have less than 2**{MAX_BITS} wires for tables, got {value}; use unrolled")
        if n_bits:
            self._parts.append(f"{value:0{n_bits}b}")

    def put_size(self, value: int) -> None:
        """A number of any size: its length in 5 bits, then itself."""
        self.put(value.bit_length(), 5)
        self.put(value, value.bit_length())

    def put_step(self, value: int, parameter: int) -> None:
        """A Rice code: the number without its last `parameter` bits in unary, then those."""
        self._parts.append("1" * (value >> parameter) + "0")
        self.put(value & (1 << parameter) - 1, parameter)

    def __len__(self) -> int:
        return sum(map(len, self._parts))

    def to_bytes(self) -> bytes:
        """All bits, and the four bytes that may be read behind them."""
        bits = "".join(self._parts)
        n_bytes = -(-len(bits) // 8)
        return int(bits.ljust(8 * n_bytes, "0") or "0", 2).to_bytes(n_bytes, "big") + bytes(4)


def write_table(source: Source) -> Body:
    """The tables that the functions `encode` and `evaluate` of the template read; the netlist is a sorted one."""
    string, netlist = BitString(), source.netlist
    for questions in source.asked:
        kind = GREATER if questions.is_greater else POSITION if questions.has_positions else EQUAL
        string.put(kind, 2)
        string.put(int(questions.asks_missing), 1)
        string.put_size(len(questions.constants))
    first_gate = len(string)
    _put_gates(string, netlist)
    for group in netlist.groups:
        for nodes in (group.added, group.subtracted):
            steps = np.diff(nodes, prepend=0)
            parameter = _choose_parameter(steps)
            string.put(parameter, 5)
            for step in steps.tolist():
                string.put_step(step, parameter)
    stored = [
        format_number(constant, source.dtype)
        for questions in source.asked
        if not questions.has_positions
        for constant in questions.constants
    ]
    tables = [
        f"#define FIRST_GATE {first_gate}",
        write_array("static const uint8_t bits[]", map(str, string.to_bytes())),
        write_array("static const model_value constants[]", stored),
    ]
    return Body("\n".join(tables), read_template("c/table.h"), netlist.n_nodes)


def _put_gates(string: BitString, netlist: Netlist) -> None:
    level = netlist.levels()[netlist.n_inputs :]
    operation = find_operations(netlist.gate)
    is_first = (np.diff(level, prepend=1) != 0) | (np.diff(operation, prepend=-1) != 0)
    runs = np.split(np.arange(netlist.n_gates), np.flatnonzero(is_first)[1:]) if netlist.n_gates else []
    string.put_size(len(runs))
    first, start, last_level = 0, netlist.n_inputs, 1
    for run in runs:
        is_next = int(level[run[0]] != last_level)
        if is_next:
            first, start, last_level = start, netlist.n_inputs + int(run[0]), int(level[run[0]])
        steps = np.diff(netlist.a[run], prepend=first)
        parameter = _choose_parameter(steps)
        string.put(is_next, 1)
        string.put(int(operation[run[0]]), 3)
        string.put(parameter, 5)
        string.put_size(len(run))
        width = start.bit_length()
        for step, b in zip(steps.tolist(), netlist.b[run].tolist(), strict=True):
            string.put_step(step, parameter)
            string.put(b, width)


def _choose_parameter(steps: NDArray[np.int64]) -> int:
    """The Rice parameter with the shortest code."""
    lengths = [int((steps >> parameter).sum()) + parameter * len(steps) for parameter in range(MAX_BITS)]
    return lengths.index(min(lengths))
