// The way back through the gates of a layer on one tile of samples.
#pragma once

#include "train/bits/gates.inc.hpp"

namespace gatewise {
namespace {

// What becomes of the rows of a layer's inputs.
enum class Rows { kNone, kAdded, kWritten };

// The rows that gate i adds to.
inline void prefetch_tile(const BitLayer& layer, size_t i, const float* grad_x) {
  for (const int32_t wire : {layer.a[i], layer.b[i]}) {
    __builtin_prefetch(grad_x + size_t(wire) * kBitTile, 1);
    __builtin_prefetch(grad_x + size_t(wire) * kBitTile + kBitTile / 2, 1);
  }
}

// One vector of a row.
template <Rows kRows>
inline void pass_on(float* to, Floats g) {
  if constexpr (kRows == Rows::kAdded)
    store(to, load(to) + g);
  else
    store(to, g);
}

// The rows of a layer's outputs, one after the other.
struct RowCursor {
  const float* row;
  size_t per_row, place = 0;
  explicit RowCursor(const GradRows& grads) : row(grads.values), per_row(grads.per_row) {}
  const float* next() {
    if (place++ == per_row) row += kBitTile, place = 1;
    return row;
  }
};

template <Rows kRows>
inline void add_output(const BitLayer& layer, size_t i, const LaneBits& lanes, const uint32_t* x, const float* row,
                       float* grad_x, OpenGate& of_gate) {
  const size_t a = size_t(layer.a[i]), b = size_t(layer.b[i]);
  const Ints bits_a = splat_bits(x[a]), bits_b = splat_bits(x[b]);
#pragma GCC unroll 8
  for (size_t v = 0; v < kTileVectors; ++v) {
    const Ints mask_a = lanes.mask(bits_a, v), mask_b = lanes.mask(bits_b, v);
    const Floats g = load(row + v * kLanes), ga = keep(g, mask_a), gb = keep(g, mask_b);
    of_gate.s0 += g;
    of_gate.s1 += ga;
    of_gate.s2 += gb;
    of_gate.s3 += keep(ga, mask_b);
    if (kRows == Rows::kNone) continue;
    // The derivative by a is c1 + c3 b, and by b it is c2 + c3 a. Both may be one wire.
    pass_on<kRows>(grad_x + a * kBitTile + v * kLanes, of_gate.c1 * g + of_gate.c3 * gb);
    pass_on<kRows>(grad_x + b * kBitTile + v * kLanes, of_gate.c2 * g + of_gate.c3 * ga);
  }
}

template <Rows kRows>
void backward_gates(const BitLayer& layer, size_t n_out, const uint32_t* x, const GradRows& grads, float* grad_x,
                    float* grad_coefficients, bool is_first) {
  const LaneBits lanes;
  RowCursor rows(grads);
  for (size_t i = 0; i < n_out; ++i) {
    if (kRows == Rows::kAdded) prefetch_tile(layer, std::min(i + kAhead, n_out - 1), grad_x);
    OpenGate of_gate(layer.coefficients + 4 * i);
    add_output<kRows>(layer, i, lanes, x, rows.next(), grad_x, of_gate);
    of_gate.store_to(grad_coefficients + 4 * i, is_first);
  }
}

// The same with positions: neighbors read and write neighboring rows, which the hardware foresees.
template <Rows kRows>
void backward_shared(const BitLayer& layer, size_t n_out, const uint32_t* x, const GradRows& grads, float* grad_x,
                     float* grad_coefficients, bool is_first) {
  const LaneBits lanes;
  RowCursor rows(grads);
  for (size_t i = 0, gate = 0; i < n_out; ++gate) {
    OpenGate of_gate(layer.coefficients + 4 * gate);
    for (const size_t end = i + layer.n_positions; i < end; ++i)
      add_output<kRows>(layer, i, lanes, x, rows.next(), grad_x, of_gate);
    of_gate.store_to(grad_coefficients + 4 * gate, is_first);
  }
}

// The gradient of a maximum goes to b where only b is true, and to a where it is not.
template <Rows kRows>
void backward_maximum(const BitLayer& layer, size_t n_out, const uint32_t* x, const GradRows& grads, float* grad_x) {
  const LaneBits lanes;
  RowCursor rows(grads);
  for (size_t i = 0; i < n_out; ++i) {
    const float* row = rows.next();
    const size_t a = size_t(layer.a[i]), b = size_t(layer.b[i]);
    const Ints only_b = splat_bits(x[b] & ~x[a]);
#pragma GCC unroll 8
    for (size_t v = 0; v < kTileVectors; ++v) {
      const Ints mask = lanes.mask(only_b, v);
      const Floats g = load(row + v * kLanes);
      pass_on<kRows>(grad_x + a * kBitTile + v * kLanes, keep(g, ~mask));
      pass_on<kRows>(grad_x + b * kBitTile + v * kLanes, keep(g, mask));
    }
  }
}

template <Rows kRows>
void backward_rows(const BitLayer& layer, size_t n_out, const uint32_t* x, const GradRows& grads, float* grad_x,
                   float* grad_coefficients, bool is_first) {
  if (layer.coefficients)
    (layer.n_positions == 1 ? backward_gates<kRows> : backward_shared<kRows>)(layer, n_out, x, grads, grad_x,
                                                                              grad_coefficients, is_first);
  else if constexpr (kRows != Rows::kNone)
    backward_maximum<kRows>(layer, n_out, x, grads, grad_x);
}

void backward_tile(const BitLayer& layer, size_t n_out, const uint32_t* x, const GradRows& grads, float* grad_x,
                   float* grad_coefficients, bool is_first) {
  const auto run = !grad_x            ? backward_rows<Rows::kNone>
                   : layer.reads_once ? backward_rows<Rows::kWritten>
                                      : backward_rows<Rows::kAdded>;
  run(layer, n_out, x, grads, grad_x, grad_coefficients, is_first);
}

}  // namespace
}  // namespace gatewise
