// Pins that learn which wire to read: the choice, and a step of its logits.
#pragma once

#include "train/bits/gates.inc.hpp"

namespace gatewise {
namespace {

typedef int16_t Shorts __attribute__((vector_size(4 * kLanes)));

// Products of neighboring lanes, added up two by two.
inline Ints multiply_pairs(Shorts x, Shorts y) {
#if defined(GATEWISE_AVX512)
  return (Ints)_mm512_madd_epi16((__m512i)x, (__m512i)y);
#elif defined(GATEWISE_AVX2)
  return (Ints)_mm256_madd_epi16((__m256i)x, (__m256i)y);
#else
  Ints sums;
  for (size_t i = 0; i < kLanes; ++i) sums[i] = x[2 * i] * y[2 * i] + x[2 * i + 1] * y[2 * i + 1];
  return sums;
#endif
}

// Samples in pairs: lane i of vector v holds sample v * kLanes + i in its lower half and the one 16 further on in its
// upper half. In both halves the sample's bit is at the same place, since 16 is the number of bits in a half.
constexpr size_t kPairVectors = kBitTile / 2 / kLanes;

struct PairBits {
  Ints select[kPairVectors];
  PairBits() {
    for (size_t v = 0; v < kPairVectors; ++v)
      for (size_t i = 0; i < kLanes; ++i) select[v][i] = static_cast<int32_t>(uint32_t{0x10001} << (v * kLanes + i));
  }
  // -1 where the sample's bit is set, else 0.
  Shorts mask(Ints bits, size_t v) const { return (Shorts)(bits & select[v]) == (Shorts)select[v]; }
};

constexpr float kLargestShort = 32767.0f;

// A row of values -> pairs of 16-bit integers, relative to the largest magnitude; returns the unit.
inline float quantize(const float* values, Floats magnitudes, size_t n_tiles, int32_t* pairs) {
  float largest = 0;
  for (size_t i = 0; i < kLanes; ++i) largest = magnitudes[i] > largest ? magnitudes[i] : largest;
  const float scale = largest > 0 ? kLargestShort / largest : 0.0f;
  for (size_t h = 0; h < n_tiles; ++h)
    for (size_t v = 0; v < kPairVectors; ++v) {
      const float* low = values + h * kBitTile + v * kLanes;
      const Ints lower = (Ints)(load(low) * scale + kRounder), upper = (Ints)(load(low + 16) * scale + kRounder);
      const Ints pair = (lower & 0xFFFF) | (upper << 16);
      std::memcpy(pairs + (h * kPairVectors + v) * kLanes, &pair, sizeof pair);
    }
  return largest / kLargestShort;
}

// Sums of a quantized row over the samples at which each of four candidates is true, negated; bits_of(j, h) are those
// of candidate j in tile h.
template <typename BitsOf>
inline Quadruple sum_where_true(const PairBits& lanes, const BitsOf& bits_of, const int32_t* pairs, size_t n_tiles) {
  Ints sums[4] = {};
  for (size_t h = 0; h < n_tiles; ++h) {
    Ints bits[4];
#pragma GCC unroll 4
    for (size_t j = 0; j < 4; ++j) bits[j] = splat_bits(bits_of(j, h));
#pragma GCC unroll 4
    for (size_t v = 0; v < kPairVectors; ++v) {
      Ints pair;
      std::memcpy(&pair, pairs + (h * kPairVectors + v) * kLanes, sizeof pair);
#pragma GCC unroll 4
      for (size_t j = 0; j < 4; ++j) sums[j] += multiply_pairs(lanes.mask(bits[j], v), (Shorts)pair);
    }
  }
  const auto as_floats = [](Ints sum) { return __builtin_convertvector(sum, Floats); };
  return sum_lanes(as_floats(sums[0]), as_floats(sums[1]), as_floats(sums[2]), as_floats(sums[3]));
}

// Sums of a quantized row in this unit over the samples at which each of the k candidates from `at` on is true.
inline void sum_candidates(const PairBits& lanes, const Pins& pins, size_t at, const uint64_t* x, size_t n_words,
                           const int32_t* pairs, float unit, float* sums) {
  for (uint32_t j = 0; j < pins.k; j += 4) {
    const uint64_t* wires[4];
    for (uint32_t m = 0; m < 4; ++m) {
      const uint32_t place = j + m < pins.k ? j + m : pins.k - 1;
      wires[m] = x + size_t(pins.candidates[at + place]) * n_words;
    }
    const auto bits_of = [&](size_t m, size_t h) { return tile_of(wires[m], h); };
    const Quadruple found = sum_where_true(lanes, bits_of, pairs, 2 * n_words) * -unit;
    std::memcpy(sums + j, &found, sizeof found);
  }
}

// The place of the largest logit, the first on ties, among candidates other than `taken`; k if there are none.
inline uint32_t pick_other(const float* logits, const int32_t* candidates, uint32_t k, int32_t taken) {
  uint32_t best = k;
  for (uint32_t j = 0; j < k; ++j)
    if (candidates[j] != taken && (best == k || logits[j] > logits[best])) best = j;
  return best;
}

inline float reduce_largest(Floats values) {
  float largest = values[0];
  for (size_t i = 1; i < kLanes; ++i) largest = values[i] > largest ? values[i] : largest;
  return largest;
}

inline float reduce_sum(Floats values) {
  float total = 0;
  for (size_t i = 0; i < kLanes; ++i) total += values[i];
  return total;
}

// The place of the largest logit, the first on ties.
inline uint32_t pick_largest(const float* logits, uint32_t k) {
  uint32_t j = 0;
  Floats largest = splat(logits[0]);
  for (; j + kLanes <= k; j += kLanes) {
    const Floats z = load(logits + j);
    largest = z > largest ? z : largest;
  }
  float most = reduce_largest(largest);
  for (; j < k; ++j) most = logits[j] > most ? logits[j] : most;
  for (j = 0; j + 1 < k && logits[j] != most;) ++j;
  return j;
}

void choose_wires(const Pins& pins, size_t begin, size_t end, int32_t* a, int32_t* b) {
  const uint32_t k = pins.k;
  for (size_t i = begin; i < end; ++i) {
    const size_t at = i * k, at_b = (pins.n_gates + i) * k;
    a[i] = pins.candidates[at + pick_largest(pins.logits + at, k)];
    b[i] = pins.candidates[at_b + pick_largest(pins.logits + at_b, k)];
    if (b[i] != a[i]) continue;
    const uint32_t other = pick_other(pins.logits + at_b, pins.candidates + at_b, k, a[i]);
    if (other < k) b[i] = pins.candidates[at_b + other];
  }
}

// A step of Adam for the k logits at `at`, given the gradients of their probabilities. p: scratch of k rounded up.
inline void step_pin(const Pins& pins, size_t at, const float* grads, const PinStep& step, float* p) {
  const uint32_t k = pins.k;
  const Moments moments{pins.logits, pins.first, pins.second};
  Floats largest = splat(-3e38f), total = {}, weighted = {};
  for (uint32_t j = 0; j < k; j += kLanes) {
    const size_t n = k - j < kLanes ? k - j : kLanes;
    Floats z = load_first(pins.logits + at + j, n);
    for (size_t i = n; i < kLanes; ++i) z[i] = -3e38f;
    largest = z > largest ? z : largest;
  }
  const float most = reduce_largest(largest);
  for (uint32_t j = 0; j < k; j += kLanes) {
    const size_t n = k - j < kLanes ? k - j : kLanes;
    Floats each = exp_of((load_first(pins.logits + at + j, n) - most) * (1.0f / step.temperature));
    for (size_t i = n; i < kLanes; ++i) each[i] = 0;
    store(p + j, each);
    total += each;
    weighted += each * load_first(grads + j, n);
  }
  const float scale = 1.0f / reduce_sum(total), mean = reduce_sum(weighted) * scale;
  for (uint32_t j = 0; j < k; j += kLanes) {
    const size_t n = k - j < kLanes ? k - j : kLanes;
    const Floats of_logits = load(p + j) * (load_first(grads + j, n) - mean) * (scale * step.scale / step.temperature);
    step_adam(step.adam, moments, at + j, n, of_logits);
  }
}

// The wires among which a pin chooses: they lie anywhere in a layer.
inline void prefetch_candidates(const Pins& pins, size_t pin, const uint64_t* x, size_t n_words) {
  for (uint32_t j = 0; j < pins.k; ++j) __builtin_prefetch(x + size_t(pins.candidates[pin * pins.k + j]) * n_words);
}

// Stores a vector of a pin's gradients, and notes the largest magnitude of each lane.
inline void keep_gradient(Floats gradient, float* to, Floats& magnitudes) {
  store(to, gradient);
  const Floats magnitude = (Floats)((Ints)gradient & 0x7FFFFFFF);
  magnitudes = magnitude > magnitudes ? magnitude : magnitudes;
}

void update_pins(const BitLayer& layer, size_t n_words, size_t begin, size_t end, const uint64_t* x,
                 const GradRows& grads, float* grad_coefficients, const Pins& pins, const PinStep& step,
                 float* scratch) {
  const LaneBits lanes;
  const PairBits pair_lanes;
  const size_t row = 64 * n_words;
  float* of_pin[2] = {scratch, scratch + row};
  int32_t* pairs = reinterpret_cast<int32_t*>(scratch + 2 * row);
  float* sums = scratch + 3 * row;
  float* p = sums + pins.k + 64;
  for (size_t i = begin; i < end; ++i) {
    const uint64_t* a = x + size_t(layer.a[i]) * n_words;
    const uint64_t* b = x + size_t(layer.b[i]) * n_words;
    const float* c = layer.coefficients + 4 * i;
    const Floats off[2] = {splat(c[1]), splat(c[2])}, on[2] = {splat(c[1] + c[3]), splat(c[2] + c[3])};
    Floats magnitudes[2] = {};
    const auto note = [&](size_t at, Floats g, Ints mask_a, Ints mask_b) {
      const Floats of[2] = {g * (mask_b ? on[0] : off[0]), g * (mask_a ? on[1] : off[1])};
      for (int pin = 0; pin < 2; ++pin) keep_gradient(of[pin], of_pin[pin] + at, magnitudes[pin]);
    };
    const Quadruple of_gate = sum_gate(lanes, a, b, row_of(grads, i, n_words), n_words, note);
    std::memcpy(grad_coefficients + 4 * i, &of_gate, sizeof of_gate);
    for (int pin = 0; pin < 2; ++pin) {
      if (!pin || i + 1 < end) prefetch_candidates(pins, pin ? i + 1 : pins.n_gates + i, x, n_words);
      const float unit = quantize(of_pin[pin], magnitudes[pin], 2 * n_words, pairs);
      const size_t at = (pin * pins.n_gates + i) * pins.k;
      sum_candidates(pair_lanes, pins, at, x, n_words, pairs, unit, sums);
      step_pin(pins, at, sums, step, p);
    }
  }
}

}  // namespace
}  // namespace gatewise
