"""C style `unrolled`: straight code, a statement for each gate, in functions of bounded size.

In: the comparisons of the encoder, a netlist. Out: the C functions `encode` and `evaluate`.
Invariant: a compiler's time is linear in the gates, because no function has more than `CHUNK` of them, and a wire that
is read in its own function only is a local variable there. Others are kept in slots, which are reused.
"""

from collections.abc import Sequence

import numpy as np

from gatewise.export.c.source import Body
from gatewise.export.emit import Writer
from gatewise.export.lower import Netlist
from gatewise.export.questions import Asked
from gatewise.gates import A_AND_NOT_B, AND, NOT_A_AND_B, OR, XOR

CHUNK = 256
FEWEST = 4
"""Comparisons of a column that are made in a loop."""

ASK = """
/* Doubles are compared two or four at a time where words are as long: comparing makes the masks that are wanted. */
#if defined(__GNUC__) && MODEL_LANES == 64 && MODEL_VALUE_IS_DOUBLE
#ifdef __AVX__
#define VECTOR 4
#else
#define VECTOR 2
#endif
typedef double doubles __attribute__((vector_size(8 * VECTOR), aligned(8), may_alias));
typedef uint64_t masks __attribute__((vector_size(8 * VECTOR), aligned(8), may_alias));
#define ASK_VECTORS(op) \\
  for (; i + VECTOR <= n; i += VECTOR) *(masks *)(w + i) = (masks)(x - (doubles){0} op *(const doubles *)(t + i));
#else
#define ASK_VECTORS(op)
#endif

#define DEFINE_ASK(name, op)                                                                   \\
  static void name(const model_value x, const model_value *t, const int32_t n, model_word *w) { \\
    int32_t i = 0;                                                                             \\
    ASK_VECTORS(op)                                                                      \\
    for (; i < n; ++i) w[i] = MASK(x op t[i]);                                           \\
  }
DEFINE_ASK(ask_greater, >)
DEFINE_ASK(ask_equal, ==)
"""

OPERATORS = {AND: "{a} & {b}", A_AND_NOT_B: "{a} & ~{b}", NOT_A_AND_B: "~{a} & {b}", XOR: "{a} ^ {b}", OR: "{a} | {b}"}


def write_unrolled(asked: Sequence[Asked], netlist: Netlist, literals: Sequence[Sequence[str]]) -> Body:
    """The functions `encode` and `evaluate`.

    Parameters
    ----------
    asked : comparisons, by column
    netlist : Netlist
    literals : the constants of the comparisons as C, by column
    """
    writer = Writer()
    _write_encode(writer, asked, literals)
    n_slots = _write_evaluate(writer, netlist)
    return Body(writer.text(), netlist.n_inputs + n_slots)


def _write_encode(writer: Writer, asked: Sequence[Asked], literals: Sequence[Sequence[str]]) -> None:
    """Statements for each column, in functions of bounded size."""
    parts: list[list[str]] = []
    stored: list[str] = []
    bit = 0
    for column, (questions, constants) in enumerate(zip(asked, literals, strict=True)):
        x, n = f"row[{column}]", len(constants)
        if n >= FEWEST:
            ask = "ask_greater" if questions.is_greater else "ask_equal"
            lines = [f"{ask}({x}, constants + {len(stored)}, {n}, w + {bit});"]
            stored += constants
        else:
            operator = ">" if questions.is_greater else "=="
            lines = [f"w[{bit + i}] = MASK({x} {operator} {constant});" for i, constant in enumerate(constants)]
        if questions.missing is not None:
            is_missing = f"!= {x}" if questions.missing == "nan" else f"== {questions.missing}"
            lines.append(f"w[{bit + n}] = MASK({x} {is_missing});")
        bit += questions.n_bits
        if not parts or len(parts[-1]) + len(lines) > CHUNK:
            parts.append([])
        parts[-1] += lines
    if stored:
        writer.lines(ASK)
        writer.line()
        with writer.block("static const model_value constants[] = {", "};"):
            writer.wrap(stored)
    for i, part in enumerate(parts):
        writer.line()
        with writer.block(f"PART static void encode_{i}(const model_value *row, model_word *w) {{", "}"):
            for line in part:
                writer.line(line)
            writer.line("(void)row, (void)w;")
    writer.line()
    with writer.block("static void encode(const model_value *row, model_word *w) {", "}"):
        _write_calls(writer, "encode", len(parts), "row, w")


def _write_evaluate(writer: Writer, netlist: Netlist) -> int:
    ordered = netlist.reorder(_order_by_use(netlist))
    slots = _allocate_slots(ordered)
    n_parts = -(-ordered.n_gates // CHUNK)
    counted: dict[int, list[int]] = {}
    for position, node in enumerate(ordered.read_nodes().tolist()):
        counted.setdefault(node, []).append(position)
    gates = list(zip(ordered.gate.tolist(), ordered.a.tolist(), ordered.b.tolist(), strict=True))
    for part in range(n_parts):
        first = ordered.n_inputs + part * CHUNK

        def read(node: int, first: int = first) -> str:
            return f"g{node}" if node >= first else f"w[{slots[node]}]"

        writer.line()
        with writer.block(f"PART static void evaluate_{part}(model_word *w, model_word *y) {{", "}"):
            for node, (gate, a, b) in enumerate(gates[part * CHUNK : (part + 1) * CHUNK], first):
                writer.line(f"const model_word g{node} = {OPERATORS[gate].format(a=read(a), b=read(b))};")
                if slots[node] >= 0:
                    writer.line(f"w[{slots[node]}] = g{node};")
                for position in counted.get(node, ()):
                    writer.line(f"y[{position}] = g{node};")
    writer.line()
    with writer.block("static void evaluate(model_word *w, model_word *y) {", "}"):
        for node in range(ordered.n_inputs):
            for position in counted.get(node, ()):
                writer.line(f"y[{position}] = w[{node}];")
        _write_calls(writer, "evaluate", n_parts, "w, y")
    return max(slots, default=-1) + 1 - ordered.n_inputs


def _write_calls(writer: Writer, name: str, n_parts: int, arguments: str) -> None:
    for part in range(n_parts):
        writer.line(f"{name}_{part}({arguments});")
    for argument in arguments.split(", "):
        writer.line(f"(void){argument};")


def _order_by_use(netlist: Netlist) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    """Gates in the order in which a walk from output to output needs them: operands stand close to their readers."""
    n_inputs, a, b = netlist.n_inputs, netlist.a.tolist(), netlist.b.tolist()
    is_done = [False] * netlist.n_gates
    order: list[int] = []
    for output in netlist.read_nodes().tolist():
        stack = [output - n_inputs]
        while stack:
            gate = stack[-1]
            if gate < 0 or is_done[gate]:
                stack.pop()
                continue
            waiting = [x for x in (b[gate] - n_inputs, a[gate] - n_inputs) if x >= 0 and not is_done[x]]
            if waiting:
                stack += waiting
                continue
            is_done[gate] = True
            order.append(gate)
            stack.pop()
    return np.array(order, np.int64)


def _allocate_slots(netlist: Netlist) -> list[int]:
    """By node, where it is kept among the words: inputs in front, gates that other functions read behind, or -1."""
    n_inputs = netlist.n_inputs
    last_part = [-1] * netlist.n_nodes
    for gate, (a, b) in enumerate(zip(netlist.a.tolist(), netlist.b.tolist(), strict=True)):
        last_part[a] = last_part[b] = gate // CHUNK
    slots, free, n_slots = [*range(n_inputs), *[-1] * netlist.n_gates], list[int](), n_inputs
    released: list[list[int]] = [[] for _ in range(netlist.n_gates // CHUNK + 1)]
    for node in range(n_inputs, netlist.n_nodes):
        part, at = divmod(node - n_inputs, CHUNK)
        if at == 0 and part > 0:
            free += released[part - 1]
        if last_part[node] <= part:
            continue
        if free:
            slots[node] = free.pop()
        else:
            slots[node], n_slots = n_slots, n_slots + 1
        released[last_part[node]].append(slots[node])
    return slots
