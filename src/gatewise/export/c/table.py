"""C style `table`: the encoder and the gates as a string of bits that a loop reads, the smallest program.

In: the comparisons of the encoder, a netlist. Out: tables, and the C functions `encode` and `evaluate`.
Invariant: the loop reads back what was written. Gates are sorted by level, operation and operand: an operation is
stored once a run; of the operand in the level before, only the step from the gate before; of the other, its number in
as many bits as the nodes so far need. Steps are Rice codes, whose parameter is stored once a run.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from gatewise.export.c.source import Body
from gatewise.export.emit import Writer
from gatewise.export.lower import Group, Netlist
from gatewise.export.questions import Asked
from gatewise.gates import coefficients, swap_operands

MAX_BITS = 25
"""Bits that the loop takes at once: those of a 32-bit number that are left wherever in a byte it starts."""

GREATER, EQUAL, POSITION = range(3)
"""Kinds of columns."""

CODE = """
/* The next n bits of the string, n <= 25. */
static uint32_t take(uint32_t *at, uint32_t n) {
  const uint8_t *s = bits + (*at >> 3);
  const uint32_t four = (uint32_t)s[0] << 24 | (uint32_t)s[1] << 16 | (uint32_t)s[2] << 8 | s[3];
  const uint32_t rest = four << (*at & 7);
  *at += n;
  return rest >> 1 >> (31 - n);
}

static uint32_t take_size(uint32_t *at) { return take(at, take(at, 5)); }

/* A Rice code. */
static uint32_t take_step(uint32_t *at, uint32_t parameter) {
  uint32_t high = 0;
  while (take(at, 1)) ++high;
  return high << parameter | take(at, parameter);
}

static void encode(const model_value *row, model_word *w) {
  uint32_t at = 0;
  int32_t column;
  const model_value *constant = constants;
  for (column = 0; column < MODEL_N_COLUMNS; ++column) {
    const uint32_t kind = take(&at, 2), asks_missing = take(&at, 1), n = take_size(&at);
    const model_value x = row[column];
    uint32_t i;
    for (i = 0; i < n; ++i) {
      const model_value other = kind == 2 ? (model_value)i : *constant++;
      *w++ = MASK(kind == 0 ? x > other : x == other);
    }
    if (asks_missing) *w++ = MASK(IS_MISSING(x, n));
  }
}

/* Bit 0, 1 and 2 of an operation: whether it is a sum modulo 2 with the nearer operand, the other, their product. */
static void evaluate(model_word *w, model_word *y) {
  uint32_t at = FIRST_GATE, next = MODEL_N_BITS, start = MODEL_N_BITS, first = 0, width = 0;
  uint32_t n_runs = take_size(&at);
  int32_t list;
  while (n_runs--) {
    uint32_t operation, n, parameter, near;
    if (take(&at, 1)) {
      first = start;
      start = next;
    }
    while (start >> width) ++width;
    operation = take(&at, 3);
    parameter = take(&at, 5);
    near = first;
    for (n = take_size(&at); n > 0; --n) {
      model_word a, b;
      near += take_step(&at, parameter);
      a = w[near];
      b = w[take(&at, width)];
      w[next++] =
          (a & MASK(operation & 1)) ^ (b & MASK(operation >> 1 & 1)) ^ (a & b & MASK(operation >> 2));
    }
  }
  for (list = 0; list < 2 * MODEL_N_GROUPS; ++list) {
    const uint32_t parameter = take(&at, 5);
    uint32_t node = 0, n;
    for (n = (uint32_t)groups[list / 2][1 + list % 2]; n > 0; --n) {
      node += take_step(&at, parameter);
      *y++ = w[node];
    }
  }
}
"""


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


def write_table(asked: Sequence[Asked], netlist: Netlist, literals: Sequence[Sequence[str]]) -> Body:
    """The tables and the functions `encode` and `evaluate`; `sort_nodes` must have made the netlist.

    Parameters
    ----------
    asked : comparisons, by column
    netlist : Netlist
    literals : the constants of the comparisons as C, by column
    """
    string = BitString()
    for questions in asked:
        kind = GREATER if questions.is_greater else POSITION if questions.has_positions else EQUAL
        string.put(kind, 2)
        string.put(int(questions.missing is not None), 1)
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
    writer = Writer()
    writer.line(f"#define FIRST_GATE {first_gate}")
    is_missing = (
        "(x) != (x)" if any(questions.missing == "nan" for questions in asked) else "(x) == (model_value)(code)"
    )
    writer.line(f"#define IS_MISSING(x, code) ({is_missing})")
    with writer.block("static const uint8_t bits[] = {", "};"):
        writer.wrap(map(str, string.to_bytes()))
    with writer.block("static const model_value constants[] = {", "};"):
        stored = [c for a, found in zip(asked, literals, strict=True) if not a.has_positions for c in found]
        writer.wrap(stored or ["0"])
    writer.section(CODE)
    return Body(writer.text(), netlist.n_nodes)


def sort_nodes(netlist: Netlist) -> Netlist:
    """The netlist with gates in order of level, operation and operands, and sorted groups.

    The first operand of each gate is the one with the higher number, which is of the level before.
    """
    level = netlist.levels()
    old2new = np.arange(netlist.n_nodes)
    order = [np.empty(0, np.int64)]
    n_done = netlist.n_inputs
    by_level = np.argsort(level[netlist.n_inputs :], kind="stable")
    cuts = np.searchsorted(level[netlist.n_inputs :][by_level], np.arange(1, level.max(initial=0) + 2))
    for idx in np.split(by_level, cuts)[1:-1]:
        a, b = old2new[netlist.a[idx]], old2new[netlist.b[idx]]
        operation = find_operations(np.where(a > b, netlist.gate[idx], swap_operands(netlist.gate[idx])))
        sorted_idx = idx[np.lexsort((np.minimum(a, b), np.maximum(a, b), operation))]
        old2new[netlist.n_inputs + sorted_idx] = np.arange(n_done, n_done + len(idx))
        n_done += len(idx)
        order.append(sorted_idx)
    ordered = netlist.reorder(np.concatenate(order))
    is_swapped = ordered.a < ordered.b
    return Netlist(
        ordered.n_inputs,
        np.where(is_swapped, swap_operands(ordered.gate), ordered.gate),
        np.maximum(ordered.a, ordered.b),
        np.minimum(ordered.a, ordered.b),
        tuple(Group(g.base, np.sort(g.added), np.sort(g.subtracted)) for g in ordered.groups),
    )


def find_operations(gate: NDArray[np.uint8]) -> NDArray[np.int64]:
    """Of gates that are false when both operands are: whether a, b and ab are terms of the sum modulo 2, as bits."""
    terms = coefficients().astype(np.int64) & 1
    codes: NDArray[np.int64] = (terms[:, 1:] @ np.array([1, 2, 4]))[gate]
    return codes


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
