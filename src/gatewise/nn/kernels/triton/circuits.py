"""Kernels that run a circuit on bits of many rows.

In: wires as words of 32 rows, (n_wires, stride), where stride is a multiple of 32 words, so that a thread moves 128
bits at once. Out: words of further wires, counts, classes. What words say of rows that are not there is computed and
left out. Sums of counts are of integers, so that their order does not matter.
"""

import triton
import triton.language as tl


@triton.jit
def pack_rows(
    rows,
    state,
    n_rows,
    n_inputs,
    stride,
    INPUTS: tl.constexpr,
    WORDS: tl.constexpr,
):
    """Words of the inputs, wires 2 and on, of rows of bytes 0 and 1, (n_rows, n_inputs): a tile per program."""
    inputs = (tl.program_id(0) * INPUTS + tl.arange(0, INPUTS))[None, :]
    words = (tl.program_id(1) * WORDS + tl.arange(0, WORDS))[:, None]
    is_input = inputs < n_inputs
    packed = tl.zeros((WORDS, INPUTS), tl.int32)
    for lane in range(32):
        row = 32 * words + lane
        bits = tl.load(rows + row.to(tl.int64) * n_inputs + inputs, (row < n_rows) & is_input, 0)
        packed |= bits.to(tl.int32) << lane
    tl.store(state + (2 + inputs).to(tl.int64) * stride + words, packed, is_input)


@triton.jit(do_not_specialize=["first", "n_gates", "n_sources"])
def evaluate_gates(
    a,
    b,
    operations,
    state,
    first,
    n_gates,
    n_sources,
    stride,
    GATES: tl.constexpr,
    WORDS: tl.constexpr,
):
    """Words of the gates of a level, a tile of GATES x WORDS per program.

    Bits of an operation: whether 1, the operands and their product are terms of the sum modulo 2 that the gate is.
    """
    gates = tl.program_id(0) * GATES + tl.arange(0, GATES)
    words = tl.program_id(1) * WORDS + tl.arange(0, WORDS)[None, :]
    is_gate = gates < n_gates
    gates += first
    mask = is_gate[:, None]
    left = tl.load(state + tl.load(a + gates, is_gate, 0).to(tl.int64)[:, None] * stride + words, mask, 0)
    right = tl.load(state + tl.load(b + gates, is_gate, 0).to(tl.int64)[:, None] * stride + words, mask, 0)
    operation = tl.load(operations + gates, is_gate, 0)[:, None]
    y = -(operation & 1) ^ (left & -(operation >> 1 & 1)) ^ (right & -(operation >> 2 & 1))
    y ^= left & right & -(operation >> 3)
    tl.store(state + (n_sources + gates).to(tl.int64)[:, None] * stride + words, y, mask)


@triton.jit
def count_slices(
    state,
    counted,
    slices,
    counts,
    n_rows,
    n_groups,
    stride,
    WORDS: tl.constexpr,
):
    """Adds up what a slice of the outputs of a group counts, {first, number, group}, for the rows of WORDS words."""
    of_slice = slices + 3 * tl.program_id(0)
    first, number, group = tl.load(of_slice), tl.load(of_slice + 1), tl.load(of_slice + 2)
    words = tl.program_id(1) * WORDS + tl.arange(0, WORDS)
    lanes = tl.arange(0, 32)[None, :]
    total = tl.zeros((WORDS, 32), tl.int32)
    for i in range(number):
        wire = tl.load(counted + first + i).to(tl.int64)
        total += tl.load(state + wire * stride + words)[:, None] >> lanes & 1
    row = (32 * words[:, None] + lanes).to(tl.int64)
    tl.atomic_add(counts + row * n_groups + group, total, row < n_rows, sem="relaxed")


@triton.jit
def find_best(
    counts,
    classes,
    n_rows,
    n_groups,
    ROWS: tl.constexpr,
    GROUPS: tl.constexpr,
):
    """The group with the highest count of each row, of several the first one."""
    rows = (tl.program_id(0) * ROWS + tl.arange(0, ROWS)).to(tl.int64)
    groups = tl.arange(0, GROUPS)[None, :]
    mask = (rows < n_rows)[:, None] & (groups < n_groups)
    found = tl.load(counts + rows[:, None] * n_groups + groups, mask, -1)
    tl.store(classes + rows, tl.argmax(found, 1, tie_break_left=True), rows < n_rows)
