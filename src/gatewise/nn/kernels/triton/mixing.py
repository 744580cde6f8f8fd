"""Kernels of mixtures: logits to coefficients, gradients of logits, and Adam fused with them, all layers in one launch.

In: tables of addresses, one for each layer, of (n_operators, n_gates) each; `ends` has the number of gates up to and
with each layer. Out: coefficients, (n_gates, 4), of all layers one after the other, or logits changed in place. A
program takes GATES gates of one layer and all of their operators, of which there is room for OPERATORS.
"""

import triton
import triton.language as tl


@triton.jit
def place_gates(ends, GATES: tl.constexpr):
    """The gates of a program in their layer, which of them there are, how many, and the number of the first of all."""
    layer = tl.program_id(1)
    first = tl.load(ends + layer - 1, layer > 0, 0)
    n_gates = tl.load(ends + layer) - first
    gates = tl.program_id(0) * GATES + tl.arange(0, GATES)
    return gates, gates < n_gates, n_gates, first


@triton.jit
def load_logits(table, gates, is_gate, n_gates, n_operators, OPERATORS: tl.constexpr):
    """Logits, (OPERATORS, GATES), minus infinity where there is no operator; their place and where they are."""
    k = tl.arange(0, OPERATORS)[:, None]
    place = k.to(tl.int64) * n_gates + gates[None, :]
    mask = (k < n_operators) & is_gate[None, :]
    logits = tl.load(tl.load(table + tl.program_id(1)).to(tl.pointer_type(tl.float32)) + place, mask, 0.0)
    return tl.where(k < n_operators, logits, float("-inf")), place, mask


@triton.jit
def take_softmax(logits, temperature):
    scaled = logits / temperature
    powers = tl.exp(scaled - tl.max(scaled, 0)[None, :])
    return powers / tl.sum(powers, 0)[None, :]


@triton.jit
def load_column(operators, i: tl.constexpr, n_operators, OPERATORS: tl.constexpr):
    """The i-th coefficient of each operator, (OPERATORS, 1)."""
    k = tl.arange(0, OPERATORS)
    return tl.load(operators + 4 * k + i, k < n_operators, 0.0)[:, None]


@triton.jit
def mix(
    table,
    ends,
    operators,
    temperature,
    coefficients,
    confidence,
    n_operators,
    HARD: tl.constexpr,
    OPERATORS: tl.constexpr,
    GATES: tl.constexpr,
):
    """Coefficients of gates, and the largest probability of each."""
    gates, is_gate, n_gates, first = place_gates(ends, GATES)
    if tl.program_id(0) * GATES < n_gates:
        logits, _, _ = load_logits(table, gates, is_gate, n_gates, n_operators, OPERATORS)
        if HARD:
            chosen = tl.argmax(logits, 0, tie_break_left=True)
            shares = (tl.arange(0, OPERATORS)[:, None] == chosen[None, :]).to(tl.float32)
        else:
            shares = take_softmax(logits, tl.load(temperature).to(tl.float32))
        place = coefficients + 4 * (first + gates)
        for i in tl.static_range(4):
            column = load_column(operators, i, n_operators, OPERATORS)
            tl.store(place + i, tl.sum(shares * column, 0), is_gate)
        largest = tl.max(take_softmax(logits, 1.0), 0)
        tl.store(confidence + first + gates, largest, is_gate)


@triton.jit
def add_parts(parts, n_parts, stride, mask):
    """What all tiles of rows gave, in their order."""
    total = tl.load(parts, mask, 0.0)
    for _ in range(1, n_parts):
        parts += stride
        total += tl.load(parts, mask, 0.0)
    return total


@triton.jit
def differentiate_logits(
    logits,
    operators,
    temperature,
    parts,
    n_parts,
    part_stride,
    is_gate,
    n_operators,
    OPERATORS: tl.constexpr,
):
    """The gradient of the logits, (OPERATORS, GATES), for parts of that of their gates' coefficients."""
    degree = tl.load(temperature).to(tl.float32)
    shares = take_softmax(logits, degree)
    of_shares = tl.zeros_like(shares)
    for i in tl.static_range(4):
        grad = add_parts(parts + i, n_parts, part_stride, is_gate)
        of_shares += load_column(operators, i, n_operators, OPERATORS) * grad[None, :]
    return shares * (of_shares - tl.sum(shares * of_shares, 0)[None, :]) / degree


@triton.jit
def mix_backward(
    table,
    ends,
    operators,
    temperature,
    parts,
    n_parts,
    part_stride,
    grads,
    n_operators,
    OPERATORS: tl.constexpr,
    GATES: tl.constexpr,
):
    """Gradients of the logits; `grads` is a table like that of the logits."""
    gates, is_gate, n_gates, first = place_gates(ends, GATES)
    if tl.program_id(0) * GATES < n_gates:
        logits, place, mask = load_logits(table, gates, is_gate, n_gates, n_operators, OPERATORS)
        own = parts + 4 * (first + gates)
        grad = differentiate_logits(
            logits, operators, temperature, own, n_parts, part_stride, is_gate, n_operators, OPERATORS
        )
        tl.store(tl.load(grads + tl.program_id(1)).to(tl.pointer_type(tl.float32)) + place, grad, mask)


@triton.jit
def update(
    table,
    ends,
    operators,
    temperature,
    parts,
    n_parts,
    part_stride,
    weights,
    first_moments,
    second_moments,
    rates,
    share1,
    share2,
    eps,
    n_operators,
    OPERATORS: tl.constexpr,
    GATES: tl.constexpr,
):
    """Adam on the weights, whose gradients are those of the logits and are nowhere stored.

    `rates` has the learning rate over the first correction of the step, and the root of the second one: values on the
    device, which change without a new launch. The shares are 1 - beta, as what is left of 1 in float64.
    """
    gates, is_gate, n_gates, first = place_gates(ends, GATES)
    if tl.program_id(0) * GATES < n_gates:
        layer = tl.program_id(1)
        logits, place, mask = load_logits(table, gates, is_gate, n_gates, n_operators, OPERATORS)
        own = parts + 4 * (first + gates)
        grad = differentiate_logits(
            logits, operators, temperature, own, n_parts, part_stride, is_gate, n_operators, OPERATORS
        )
        at_first = tl.load(first_moments + layer).to(tl.pointer_type(tl.float32)) + place
        at_second = tl.load(second_moments + layer).to(tl.pointer_type(tl.float32)) + place
        at_weight = tl.load(weights + layer).to(tl.pointer_type(tl.float32)) + place
        mean = tl.load(at_first, mask, 0.0)
        mean += share1 * (grad - mean)
        square = tl.load(at_second, mask, 0.0)
        square += share2 * (grad * grad - square)
        rate, correction = tl.load(rates).to(tl.float32), tl.load(rates + 1).to(tl.float32)
        change = rate * mean / (tl.sqrt(square) / correction + eps)
        tl.store(at_first, mean, mask)
        tl.store(at_second, square, mask)
        tl.store(at_weight, tl.load(at_weight, mask, 0.0) - change, mask)


@triton.jit
def update_pins(
    weights,
    temperature,
    parts,
    n_parts,
    first_moments,
    second_moments,
    rates,
    share1,
    share2,
    eps,
    n_pins,
    k,
    PINS: tl.constexpr,
    CANDIDATES: tl.constexpr,
):
    """Adam on logits, (n_pins, k), whose softmax is over the candidates of a pin; see `update`."""
    pins = tl.program_id(0) * PINS + tl.arange(0, PINS)[:, None]
    candidates = tl.arange(0, CANDIDATES)[None, :]
    mask = (pins < n_pins) & (candidates < k)
    place = pins.to(tl.int64) * k + candidates
    logits = tl.load(weights + place, mask, 0.0)
    degree = tl.load(temperature).to(tl.float32)
    scaled = tl.where(candidates < k, logits / degree, float("-inf"))
    powers = tl.exp(scaled - tl.max(scaled, 1)[:, None])
    shares = powers / tl.sum(powers, 1)[:, None]
    of_shares = add_parts(parts + place, n_parts, n_pins * k, mask)
    grad = shares * (of_shares - tl.sum(shares * of_shares, 1)[:, None]) / degree
    mean = tl.load(first_moments + place, mask, 0.0)
    mean += share1 * (grad - mean)
    square = tl.load(second_moments + place, mask, 0.0)
    square += share2 * (grad * grad - square)
    rate, correction = tl.load(rates).to(tl.float32), tl.load(rates + 1).to(tl.float32)
    tl.store(first_moments + place, mean, mask)
    tl.store(second_moments + place, square, mask)
    tl.store(weights + place, logits - rate * mean / (tl.sqrt(square) / correction + eps), mask)
