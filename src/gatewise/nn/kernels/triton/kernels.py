"""Kernels of a layer: forward, both gradients at once, and those of the gates alone.

In: values feature by feature, (n_wires, n_rows), where n_rows is a multiple of 16, so that a thread moves 128 bits at
once; coefficients, (n_gates, 4). Out: likewise. Values may be stored in bfloat16; all is computed in float32. Gradients
of rows that only fill up must be 0, and their values finite.
"""

import triton
import triton.language as tl


@triton.jit
def read_floats(x, wires, is_wire, first_row, n_rows, ROWS: tl.constexpr):
    """What wires carry in a tile of rows, (n_wires, ROWS), of values."""
    rows = first_row + tl.arange(0, ROWS)[None, :]
    place = wires.to(tl.int64)[:, None] * n_rows + rows
    return tl.load(x + place, is_wire[:, None] & (rows < n_rows), 0.0).to(tl.float32)


@triton.jit
def read_bits(x, wires, is_wire, first_row, n_rows, ROWS: tl.constexpr):
    """The same of packed bits, 32 rows to a word, where n_rows is a multiple of 32."""
    words = first_row // 32 + tl.arange(0, ROWS // 32)[None, :]
    n_words = n_rows // 32
    packed = tl.load(x + wires.to(tl.int64)[:, None] * n_words + words, is_wire[:, None] & (words < n_words), 0)
    bits = (packed[:, :, None] >> tl.arange(0, 32)[None, None, :]) & 1
    return tl.reshape(bits, (wires.shape[0], ROWS)).to(tl.float32)


@triton.jit
def forward_layer(
    x,
    a,
    b,
    coefficients,
    y,
    n_gates,
    n_rows,
    GATES: tl.constexpr,
    ROWS: tl.constexpr,
):
    """y, (n_gates, n_rows), of x: a tile of GATES x ROWS per program."""
    gates = tl.program_id(0) * GATES + tl.arange(0, GATES)
    first_row = tl.program_id(1) * ROWS
    is_gate = gates < n_gates
    left = read_floats(x, tl.load(a + gates, is_gate, 0), is_gate, first_row, n_rows, ROWS)
    right = read_floats(x, tl.load(b + gates, is_gate, 0), is_gate, first_row, n_rows, ROWS)
    of_gate = coefficients + 4 * gates
    c0 = tl.load(of_gate, is_gate, 0.0)[:, None]
    c1 = tl.load(of_gate + 1, is_gate, 0.0)[:, None]
    c2 = tl.load(of_gate + 2, is_gate, 0.0)[:, None]
    c3 = tl.load(of_gate + 3, is_gate, 0.0)[:, None]
    value = c0 + c1 * left + right * (c2 + c3 * left)
    rows = first_row + tl.arange(0, ROWS)[None, :]
    place = gates.to(tl.int64)[:, None] * n_rows + rows
    tl.store(y + place, value.to(y.dtype.element_ty), is_gate[:, None] & (rows < n_rows))


@triton.jit
def store_gate_sums(parts, gates, mask, grad, left, right):
    """The gradients of coefficients that a tile of rows gives: sums of g, g a, g b and g a b."""
    place = parts + 4 * gates
    of_left = grad * left
    tl.store(place, tl.sum(grad, 1), mask)
    tl.store(place + 1, tl.sum(of_left, 1), mask)
    tl.store(place + 2, tl.sum(grad * right, 1), mask)
    tl.store(place + 3, tl.sum(of_left * right, 1), mask)


@triton.jit
def backward_layer(
    x,
    coefficients,
    starts,
    edges,
    others,
    grad_y,
    grad_x,
    parts,
    part_stride,
    per_group,
    factor,
    n_wires,
    n_rows,
    READ: tl.constexpr,
    WIRES: tl.constexpr,
    ROWS: tl.constexpr,
):
    """grad_x, (n_wires, n_rows), and a part of the gradient of the coefficients, for each tile of rows.

    A wire gathers from the pins that read it, so that nothing is added up in memory. Both operands of a gate are at
    hand where its first pin is, with its gradient: there its coefficients get theirs, which saves to read all three
    again. grad_y has a row for every `per_group` gates. READ reads x.
    """
    wires = tl.program_id(0) * WIRES + tl.arange(0, WIRES)
    first_row = tl.program_id(1) * ROWS
    is_wire = wires < n_wires
    own = READ(x, wires, is_wire, first_row, n_rows, ROWS)
    start = tl.load(starts + wires, is_wire, 0)
    n_edges = tl.load(starts + wires + 1, is_wire, 0) - start
    total = tl.zeros((WIRES, ROWS), tl.float32)
    for i in range(tl.max(n_edges, 0)):
        is_edge = i < n_edges
        edge = tl.load(edges + start + i, is_edge, 0)
        gate, pin = edge >> 1, edge & 1
        grad = read_floats(grad_y, gate // per_group, is_edge, first_row, n_rows, ROWS)
        value = READ(x, tl.load(others + start + i, is_edge, 0), is_edge, first_row, n_rows, ROWS)
        alone = tl.load(coefficients + 4 * gate + 1 + pin, is_edge, 0.0)[:, None]
        both = tl.load(coefficients + 4 * gate + 3, is_edge, 0.0)[:, None]
        total += grad * (alone + both * value)
        store_gate_sums(
            parts + tl.program_id(1).to(tl.int64) * part_stride, gate, is_edge & (pin == 0), grad, own, value
        )
    rows = first_row + tl.arange(0, ROWS)[None, :]
    place = wires.to(tl.int64)[:, None] * n_rows + rows
    tl.store(grad_x + place, (total * factor).to(grad_x.dtype.element_ty), is_wire[:, None] & (rows < n_rows))


@triton.jit
def backward_gates(
    x,
    a,
    b,
    grad_y,
    parts,
    part_stride,
    per_group,
    n_gates,
    n_rows,
    READ: tl.constexpr,
    GATES: tl.constexpr,
    ROWS: tl.constexpr,
):
    """The gradient of the coefficients alone, as the first layer needs it: its rows have none."""
    gates = tl.program_id(0) * GATES + tl.arange(0, GATES)
    first_row = tl.program_id(1) * ROWS
    is_gate = gates < n_gates
    left = READ(x, tl.load(a + gates, is_gate, 0), is_gate, first_row, n_rows, ROWS)
    right = READ(x, tl.load(b + gates, is_gate, 0), is_gate, first_row, n_rows, ROWS)
    grad = read_floats(grad_y, gates // per_group, is_gate, first_row, n_rows, ROWS)
    store_gate_sums(parts + tl.program_id(1).to(tl.int64) * part_stride, gates, is_gate, grad, left, right)
