"""Kernels on bits: rows packed into words, layers of chosen gates, and sums of groups.

In: words of 32 rows, (n_wires, n_words), int32. Out: likewise, or sums in float32. The ways back are those of
`kernels`, which read bits as well.
"""

import triton
import triton.language as tl

from gatewise.nn.kernels.triton.kernels import read_bits, read_floats


@triton.jit
def pack_rows(x, words, n_rows, n_features, n_words, FEATURES: tl.constexpr):
    """Bytes, (n_rows, n_features), anything but 0 for true, as words, (n_features, n_words); missing rows are false."""
    features = tl.program_id(0) * FEATURES + tl.arange(0, FEATURES)
    bit = tl.arange(0, 32)[:, None]
    rows = tl.program_id(1) * 32 + bit
    is_feature = features < n_features
    place = rows.to(tl.int64) * n_features + features[None, :]
    found = tl.load(x + place, (rows < n_rows) & is_feature[None, :], 0) != 0
    packed = tl.xor_sum(found.to(tl.int32) << bit, 0)
    tl.store(words + features.to(tl.int64) * n_words + tl.program_id(1), packed, is_feature)


@triton.jit
def forward_bits(x, a, b, coefficients, y, n_gates, n_words, GATES: tl.constexpr, WORDS: tl.constexpr):
    """Gates of whole words. Coefficients of a gate of 0 and 1, modulo 2, are those of AND and XOR."""
    gates = tl.program_id(0) * GATES + tl.arange(0, GATES)
    words = tl.program_id(1) * WORDS + tl.arange(0, WORDS)[None, :]
    is_gate = gates < n_gates
    mask = is_gate[:, None] & (words < n_words)
    left = tl.load(x + tl.load(a + gates, is_gate, 0).to(tl.int64)[:, None] * n_words + words, mask, 0)
    right = tl.load(x + tl.load(b + gates, is_gate, 0).to(tl.int64)[:, None] * n_words + words, mask, 0)
    of_gate = coefficients + 4 * gates
    m0 = -(tl.load(of_gate, is_gate, 0.0).to(tl.int32) & 1)[:, None]
    m1 = -(tl.load(of_gate + 1, is_gate, 0.0).to(tl.int32) & 1)[:, None]
    m2 = -(tl.load(of_gate + 2, is_gate, 0.0).to(tl.int32) & 1)[:, None]
    m3 = -(tl.load(of_gate + 3, is_gate, 0.0).to(tl.int32) & 1)[:, None]
    value = m0 ^ (left & m1) ^ (right & (m2 ^ (left & m3)))
    tl.store(y + gates.to(tl.int64)[:, None] * n_words + words, value, mask)


@triton.jit
def count_groups(words, sums, per_group, n_words, GATES: tl.constexpr):
    """How many gates of each group are true, (n_groups, 32 n_words), in float32."""
    group, word = tl.program_id(0), tl.program_id(1)
    bit = tl.arange(0, 32)
    total = tl.zeros((32,), tl.int32)
    for first in range(0, per_group, GATES):
        gates = first + tl.arange(0, GATES)
        place = (group * per_group + gates).to(tl.int64) * n_words + word
        packed = tl.load(words + place, gates < per_group, 0)
        total += tl.sum((packed[:, None] >> bit[None, :]) & 1, 0)
    tl.store(sums + (group * n_words + word) * 32 + bit, total.to(tl.float32))


@triton.jit
def backward_pins(
    x,
    a,
    b,
    candidates,
    coefficients,
    grad_y,
    parts,
    per_group,
    n_gates,
    n_rows,
    k,
    GATES: tl.constexpr,
    ROWS: tl.constexpr,
):
    """For each candidate the sum of its bits times the gradient of the pin, which the gate's other operand decides."""
    gates = tl.program_id(0) * GATES + tl.arange(0, GATES)
    first_row, pin = tl.program_id(1) * ROWS, tl.program_id(2)
    is_gate = gates < n_gates
    other = tl.load(b + gates, is_gate & (pin == 0), 0) + tl.load(a + gates, is_gate & (pin == 1), 0)
    value = read_bits(x, other, is_gate, first_row, n_rows, ROWS)
    grad = read_floats(grad_y, gates // per_group, is_gate, first_row, n_rows, ROWS)
    alone = tl.load(coefficients + 4 * gates + 1 + pin, is_gate, 0.0)[:, None]
    both = tl.load(coefficients + 4 * gates + 3, is_gate, 0.0)[:, None]
    grad *= alone + both * value
    place = (pin * n_gates + gates).to(tl.int64) * k
    part = parts + tl.program_id(1).to(tl.int64) * 2 * n_gates * k
    for i in range(k):
        wires = tl.load(candidates + place + i, is_gate, 0)
        tl.store(part + place + i, tl.sum(grad * read_bits(x, wires, is_gate, first_row, n_rows, ROWS), 1), is_gate)
