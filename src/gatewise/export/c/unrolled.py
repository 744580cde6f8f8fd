"""C style `unrolled`: straight code, a statement for each gate, in functions of bounded size.

In: a `Source`. Out: the C functions `encode` and `evaluate`.
Invariant: a compiler's time is linear in the gates, because no function has more than `CHUNK` of them, and a wire that
is read in its own function only is a local variable there. Others are kept in slots, which are reused.
"""

import re
from collections.abc import Sequence

import numpy as np

from gatewise.export.c.constants import Body
from gatewise.export.netlist import Netlist
from gatewise.export.package import format_number, read_template, write_array
from gatewise.export.source import Source
from gatewise.gates import A_AND_NOT_B, AND, NOT_A_AND_B, OR, XOR

CHUNK = 256
FEWEST = 4
"""Comparisons of a column that are made in a loop."""

OPERATORS = {AND: "{a} & {b}", A_AND_NOT_B: "{a} & ~{b}", NOT_A_AND_B: "~{a} & {b}", XOR: "{a} ^ {b}", OR: "{a} | {b}"}


def write_unrolled(source: Source) -> Body:
    """The functions `encode` and `evaluate`."""
    ordered = source.netlist.reorder(_order_by_use(source.netlist))
    slots = _allocate_slots(ordered)
    encoder, stored = _write_encode(source)
    code = f"{read_template('c/ask.h')}\n" * bool(stored) + encoder + _write_evaluate(ordered, slots)
    constants = write_array("static const model_value constants[]", stored) if stored else ""
    return Body(constants, code, max(slots, default=-1) + 1)


def _write_encode(source: Source) -> tuple[str, list[str]]:
    """Statements for each column, in functions of bounded size, and the constants that loops read."""
    parts: list[list[str]] = [[]]
    stored: list[str] = []
    bit = 0
    for column, questions in enumerate(source.asked):
        constants = [format_number(constant, source.dtype) for constant in questions.constants]
        x, n = f"row[{column}]", len(constants)
        if n >= FEWEST:
            ask = "ask_greater" if questions.is_greater else "ask_equal"
            lines = [f"{ask}({x}, constants + {len(stored)}, {n}, w + {bit});"]
            stored += constants
        else:
            operator = ">" if questions.is_greater else "=="
            lines = [f"w[{bit + i}] = MASK({x} {operator} {constant});" for i, constant in enumerate(constants)]
        if questions.asks_missing:
            lines.append(f"w[{bit + n}] = MASK({x} != {x});")
        bit += n + questions.asks_missing
        if len(parts[-1]) + len(lines) > CHUNK:
            parts.append([])
        parts[-1] += lines
    return _write_parts("encode", "const model_value *row, model_word *w", parts, []), stored


def _write_evaluate(netlist: Netlist, slots: list[int]) -> str:
    counted: dict[int, list[int]] = {}
    for position, node in enumerate(netlist.read_nodes().tolist()):
        counted.setdefault(node, []).append(position)
    gates = list(zip(netlist.gate.tolist(), netlist.a.tolist(), netlist.b.tolist(), strict=True))
    parts: list[list[str]] = []
    for start in range(0, netlist.n_gates, CHUNK):
        first, lines = netlist.n_inputs + start, list[str]()

        def read(node: int, first: int = first) -> str:
            return f"g{node}" if node >= first else f"w[{slots[node]}]"

        for node, (gate, a, b) in enumerate(gates[start : start + CHUNK], first):
            lines.append(f"const model_word g{node} = {OPERATORS[gate].format(a=read(a), b=read(b))};")
            if slots[node] >= 0:
                lines.append(f"w[{slots[node]}] = g{node};")
            lines += [f"y[{position}] = g{node};" for position in counted.get(node, ())]
        parts.append(lines)
    inputs = [f"y[{position}] = w[{i}];" for i in range(netlist.n_inputs) for position in counted.get(i, ())]
    return _write_parts("evaluate", "model_word *w, model_word *y", parts, inputs)


def _write_parts(name: str, parameters: str, parts: Sequence[Sequence[str]], own: Sequence[str]) -> str:
    """A function that has some statements of its own and calls one function for each part."""
    arguments = re.findall(r"\*(\w+)", parameters)
    unused = [f"(void){argument};" for argument in arguments]
    calls = [f"{name}_{i}({', '.join(arguments)});" for i in range(len(parts))]
    functions = [(f"PART static void {name}_{i}", lines) for i, lines in enumerate(parts)]
    text = ""
    for head, lines in [*functions, (f"static void {name}", [*own, *calls])]:
        body = "".join(f"  {line}\n" for line in [*lines, *unused])
        text += f"{head}({parameters}) {{\n{body}}}\n\n"
    return text


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
