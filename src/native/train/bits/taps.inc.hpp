// Pins that positions share, tile by tile: the gradients of their candidates, and a step of their logits.
#pragma once

#include "train/bits/pins.inc.hpp"

namespace gatewise {
namespace {

// The gradients of both pins of outputs first .. first + n - 1, which are one gate's.
inline void find_gradients(const BitLayer& layer, size_t gate, size_t first, size_t n, const uint32_t* x,
                           const GradRows& grads, float* const* of_pin, Floats* magnitudes) {
  const LaneBits lanes;
  const float* c = layer.coefficients + 4 * gate;
  const Floats off[2] = {splat(c[1]), splat(c[2])}, on[2] = {splat(c[1] + c[3]), splat(c[2] + c[3])};
  for (size_t p = 0; p < n; ++p) {
    const size_t i = first + p;
    const float* row = grads.values + i / grads.per_row * kBitTile;
    const Ints bits_a = splat_bits(x[layer.a[i]]), bits_b = splat_bits(x[layer.b[i]]);
#pragma GCC unroll 8
    for (size_t v = 0; v < kTileVectors; ++v) {
      const size_t at = p * kBitTile + v * kLanes;
      const Floats g = load(row + v * kLanes);
      keep_gradient(g * (lanes.mask(bits_b, v) ? on[0] : off[0]), of_pin[0] + at, magnitudes[0]);
      keep_gradient(g * (lanes.mask(bits_a, v) ? on[1] : off[1]), of_pin[1] + at, magnitudes[1]);
    }
  }
}

void add_taps(const BitLayer& layer, const Pins& pins, const Window& window, const uint32_t* x, const GradRows& grads,
              float* sums, bool is_first, float* scratch) {
  const PairBits pair_lanes;
  const size_t n_positions = window.n_positions, k = pins.k;
  float* of_pin[2] = {scratch, scratch + kTapPositions * kBitTile};
  int32_t* pairs = reinterpret_cast<int32_t*>(scratch + 2 * kTapPositions * kBitTile);
  if (is_first) std::fill_n(sums, 2 * pins.n_gates * k, 0.0f);
  for (size_t gate = 0; gate < pins.n_gates; ++gate)
    for (size_t first = 0; first < n_positions; first += kTapPositions) {
      const size_t n = std::min(kTapPositions, n_positions - first);
      Floats magnitudes[2] = {};
      find_gradients(layer, gate, gate * n_positions + first, n, x, grads, of_pin, magnitudes);
      for (size_t pin = 0; pin < 2; ++pin) {
        const float unit = quantize(of_pin[pin], magnitudes[pin], n, pairs);
        const size_t at = (pin * pins.n_gates + gate) * k;
        for (size_t j = 0; j < k; j += 4) {
          const int32_t* wires[4];
          for (size_t m = 0; m < 4; ++m)
            wires[m] = window.wires + size_t(pins.candidates[at + std::min(j + m, k - 1)]) * n_positions + first;
          const auto bits_of = [&](size_t m, size_t h) { return x[wires[m][h]]; };
          const Quadruple found = sum_where_true(pair_lanes, bits_of, pairs, n) * -unit;
          for (size_t m = 0; m < std::min<size_t>(4, k - j); ++m) sums[at + j + m] += found[m];
        }
      }
    }
}

void step_taps(const Pins& pins, size_t begin, size_t end, const Shares& sums, const PinStep& step, float* p) {
  float* grads = p + pins.k + 64;
  for (size_t pin = begin; pin < end; ++pin) {
    for (size_t j = 0; j < pins.k; ++j) {
      grads[j] = 0;
      for (size_t share = 0; share < sums.n; ++share) grads[j] += sums.values[share * sums.stride + pin * pins.k + j];
    }
    step_pin(pins, pin * pins.k, grads, step, p);
  }
}

}  // namespace
}  // namespace gatewise
