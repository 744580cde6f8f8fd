// Gates on bits: forward, and the gradients of coefficients and wires.
#pragma once

#include <algorithm>

#include "simd/floats.hpp"
#include "simd/words.hpp"
#include "train/bits/kernels.hpp"
#include "train/gates.inc.hpp"

namespace gatewise {
namespace {

constexpr size_t kTileVectors = kBitTile / kLanes;

inline Ints splat_bits(uint32_t bits) { return Ints{} + static_cast<int32_t>(bits); }

// select[v][i] is the bit of sample v * kLanes + i.
struct LaneBits {
  Ints select[kTileVectors];
  LaneBits() {
    for (size_t v = 0; v < kTileVectors; ++v)
      for (size_t i = 0; i < kLanes; ++i) select[v][i] = static_cast<int32_t>(uint32_t{1} << (v * kLanes + i));
  }
  // All ones in the lanes of samples whose bit is set.
  Ints mask(Ints bits, size_t v) const {
#if defined(GATEWISE_AVX512)
    return (bits & select[v]) != 0;  // one instruction
#else
    return (bits & select[v]) == select[v];
#endif
  }
};

inline Floats keep(Floats values, Ints mask) { return (Floats)((Ints)values & mask); }

// Which terms of 1, a, b, ab add up, modulo 2, to a gate: its algebraic normal form, as masks.
struct Terms {
  uint64_t one, a, b, ab;
};

constexpr Terms terms_of(unsigned gate) {
  const bool t00 = truth(gate, 0, 0), t01 = truth(gate, 0, 1), t10 = truth(gate, 1, 0), t11 = truth(gate, 1, 1);
  const auto mask = [](bool is_present) { return is_present ? ~uint64_t{0} : 0; };
  return {mask(t00), mask(t00 != t10), mask(t00 != t01), mask(t00 ^ t01 ^ t10 ^ t11)};
}

struct TermTable {
  Terms of[kNumGates];
  constexpr TermTable() : of{} {
    for (unsigned gate = 0; gate < kNumGates; ++gate) of[gate] = terms_of(gate);
  }
};
constexpr TermTable kTerms;

inline void evaluate_words(const Terms& t, const uint64_t* a, const uint64_t* b, size_t n_words, uint64_t* y) {
  for (size_t w = 0; w < n_words; ++w) y[w] = t.one ^ (t.a & a[w]) ^ (b[w] & (t.b ^ (t.ab & a[w])));
}

// How many outputs of one gate, from i to before `end`, read neighboring wires: they are as many words of one output.
inline size_t count_neighbors(const BitLayer& layer, size_t i, size_t end) {
  const int32_t *a = layer.a + i, *b = layer.b + i;
  size_t n = 1;
  while (i + n < end && a[n] - a[0] == int32_t(n) && b[n] - b[0] == int32_t(n)) ++n;
  return n;
}

void evaluate_shared(const BitLayer& layer, size_t n_words, size_t begin, size_t end, const uint64_t* x, uint64_t* y) {
  size_t gate = begin / layer.n_positions, n = 0;
  for (size_t i = begin; i < end; i += n) {
    if (i == (gate + 1) * layer.n_positions) ++gate;
    n = count_neighbors(layer, i, std::min(end, (gate + 1) * layer.n_positions));
    evaluate_words(kTerms.of[layer.gates[gate]], x + size_t(layer.a[i]) * n_words, x + size_t(layer.b[i]) * n_words,
                   n * n_words, y + i * n_words);
  }
}

void evaluate(const BitLayer& layer, size_t n_words, size_t begin, size_t end, const uint64_t* x, uint64_t* y) {
  if (layer.n_positions != 1) return evaluate_shared(layer, n_words, begin, end, x, y);
  for (size_t i = begin; i < end; ++i)
    evaluate_words(kTerms.of[layer.gates[i]], x + size_t(layer.a[i]) * n_words, x + size_t(layer.b[i]) * n_words,
                   n_words, y + i * n_words);
}

void count(const uint64_t* x, size_t n_words, size_t begin, size_t end, float* counts) {
  const LaneBits lanes;
  for (size_t h = 0; h < 2 * n_words; ++h) {
    Ints sums[kTileVectors] = {};
    for (size_t i = begin; i < end; ++i) {
      const Ints bits = splat_bits(tile_of(x + i * n_words, h));
#pragma GCC unroll 8
      for (size_t v = 0; v < kTileVectors; ++v) sums[v] -= lanes.mask(bits, v);
    }
    for (size_t v = 0; v < kTileVectors; ++v)
      store(counts + h * kBitTile + v * kLanes, __builtin_convertvector(sums[v], Floats));
  }
}

inline const float* row_of(const GradRows& grads, size_t i, size_t n_words) {
  return grads.values + i / grads.per_row * 64 * n_words;
}

// Calls use(at, g, mask_a, mask_b) for each vector of a gate's samples, and adds up g, g a, g b and g ab.
template <typename Use>
inline Quadruple sum_gate(const LaneBits& lanes, const uint64_t* a, const uint64_t* b, const float* grads,
                          size_t n_words, const Use& use) {
  Floats s0 = {}, s1 = {}, s2 = {}, s3 = {};
  for (size_t h = 0; h < 2 * n_words; ++h) {
    const Ints bits_a = splat_bits(tile_of(a, h)), bits_b = splat_bits(tile_of(b, h));
#pragma GCC unroll 8
    for (size_t v = 0; v < kTileVectors; ++v) {
      const size_t at = h * kBitTile + v * kLanes;
      const Ints mask_a = lanes.mask(bits_a, v), mask_b = lanes.mask(bits_b, v);
      const Floats g = load(grads + at), ga = keep(g, mask_a);
      s0 += g;
      s1 += ga;
      s2 += keep(g, mask_b);
      s3 += keep(ga, mask_b);
      use(at, g, mask_a, mask_b);
    }
  }
  return sum_lanes(s0, s1, s2, s3);
}

void sum(const BitLayer& layer, size_t n_words, size_t begin, size_t end, const uint64_t* x, const GradRows& grads,
         float* grad_coefficients) {
  const LaneBits lanes;
  for (size_t i = begin; i < end; ++i) {
    const uint64_t* a = x + size_t(layer.a[i]) * n_words;
    const uint64_t* b = x + size_t(layer.b[i]) * n_words;
    const Quadruple sums = sum_gate(lanes, a, b, row_of(grads, i, n_words), n_words, [](size_t, Floats, Ints, Ints) {});
    std::memcpy(grad_coefficients + 4 * i, &sums, sizeof sums);
  }
}

void pass_back(const BitLayer& layer, size_t n_words, size_t begin, size_t end, const uint64_t* x,
               const GradRows& grads, const Readers& readers, float* grad_x) {
  const LaneBits lanes;
  for (size_t wire = begin; wire < end; ++wire) {
    for (size_t h = 0; h < 2 * n_words; ++h) {
      Floats sums[kTileVectors] = {};
      for (uint32_t e = readers.begin[wire]; e < readers.begin[wire + 1]; ++e) {
        const size_t gate = readers.edges[e] / 2, pin = readers.edges[e] % 2;
        const float* c = layer.coefficients + 4 * gate;
        const uint64_t* other = x + size_t(pin ? layer.a[gate] : layer.b[gate]) * n_words;
        const float* g = row_of(grads, gate, n_words) + h * kBitTile;
        const Ints bits = splat_bits(tile_of(other, h));
        // The derivative by a is c1 + c3 b, and by b it is c2 + c3 a.
        const Floats off = splat(c[1 + pin]), on = splat(c[1 + pin] + c[3]);
#pragma GCC unroll 8
        for (size_t v = 0; v < kTileVectors; ++v) sums[v] += load(g + v * kLanes) * (lanes.mask(bits, v) ? on : off);
      }
      for (size_t v = 0; v < kTileVectors; ++v)
        store(grad_x + wire * 64 * n_words + h * kBitTile + v * kLanes, sums[v]);
    }
  }
}

}  // namespace
}  // namespace gatewise
