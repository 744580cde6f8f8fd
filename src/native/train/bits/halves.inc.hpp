// The way back through fixed wires on one tile, with gradients in 16 bits. A row is one cache line, and a layer of them
// fits into half of the second-level cache. Bfloat16 is the upper half of a float, so that it is read by a shift or a
// mask, and written rounded to the nearest, to even on ties.
#pragma once

#include "train/bits/gates.inc.hpp"

namespace gatewise {
namespace {

constexpr size_t kHalfVectors = kTileHalves / kLanes;

inline Ints load_ints(const uint32_t* p) {
  Ints v;
  std::memcpy(&v, p, sizeof v);
  return v;
}

constexpr int32_t kUpper = static_cast<int32_t>(0xFFFF0000);
inline Floats lower_of(Ints pair) { return (Floats)(pair << 16); }
inline Floats upper_of(Ints pair) { return (Floats)(pair & kUpper); }

// Rounded to bfloat16, in the upper half; what is in the lower half means nothing. Values must be numbers.
inline Ints round_upper(Floats values) {
  const Ints bits = (Ints)values;
  return bits + ((bits >> 16) & 1) + 0x7FFF;
}

inline void store_halves(uint32_t* to, Floats lower, Floats upper) {
  typedef uint32_t Words __attribute__((vector_size(sizeof(Ints))));
  const Words pair = ((Words)round_upper(lower) >> 16) | (Words)(round_upper(upper) & kUpper);
  std::memcpy(to, &pair, sizeof pair);
}

// The bits of a wire in a tile, a mask for each vector of its rows.
#if defined(GATEWISE_AVX512)
typedef __mmask16 Mask;
struct TileMasks {
  Mask of[kTileVectors];
  explicit TileMasks(uint32_t bits) : of{static_cast<Mask>(bits), static_cast<Mask>(bits >> kLanes)} {}
};
inline Floats keep_where(Mask mask, Floats x) { return (Floats)_mm512_maskz_mov_ps(mask, (__m512)x); }
inline Floats add_where(Mask mask, Floats sum, Floats x) {
  return (Floats)_mm512_mask_add_ps((__m512)sum, mask, (__m512)sum, (__m512)x);
}
inline Floats pick(Mask mask, Floats on, Floats off) {
  return (Floats)_mm512_mask_blend_ps(mask, (__m512)off, (__m512)on);
}
inline Mask both(Mask a, Mask b) { return _kand_mask16(a, b); }
#else
typedef Ints Mask;
struct TileMasks {
  Mask of[kTileVectors];
  explicit TileMasks(uint32_t bits) {
    const LaneBits lanes;
    for (size_t v = 0; v < kTileVectors; ++v) of[v] = lanes.mask(splat_bits(bits), v);
  }
};
inline Floats keep_where(Mask mask, Floats x) { return keep(x, mask); }
inline Floats add_where(Mask mask, Floats sum, Floats x) { return sum + keep(x, mask); }
inline Floats pick(Mask mask, Floats on, Floats off) { return mask ? on : off; }
inline Mask both(Mask a, Mask b) { return a & b; }
#endif

constexpr size_t kQuadruples = kLanes / 4;  // in a vector

// In each quadruple of lanes the sums over those of s0 .. s3.
inline Floats sum_quadruples(const Floats* s) {
  Ints low, high, first, second;
#pragma GCC unroll 16
  for (int i = 0; i < int(kLanes); ++i) {
    const int quadruple = i & ~3, place = i & 3;
    low[i] = quadruple + place / 2 + place % 2 * int(kLanes);
    high[i] = low[i] + 2;
    first[i] = quadruple + place % 2 + place / 2 * int(kLanes);
    second[i] = first[i] + 2;
  }
  const Floats s01 = shuffle(s[0], s[1], low) + shuffle(s[0], s[1], high);
  const Floats s23 = shuffle(s[2], s[3], low) + shuffle(s[2], s[3], high);
  return shuffle(s01, s23, first) + shuffle(s01, s23, second);
}

// Vectors of quadruples -> the sum over each of them, one after the other.
inline Floats join_sums(const Floats* q) {
  if constexpr (kQuadruples == 1) {
    return q[0];
  } else {
    Ints even;
#pragma GCC unroll 16
    for (int i = 0; i < int(kLanes); ++i) even[i] = i / 4 * 8 + i % 4;
    const auto add_pairs = [&](Floats a, Floats b) { return shuffle(a, b, even) + shuffle(a, b, even + 4); };
    if constexpr (kQuadruples == 2) return add_pairs(q[0], q[1]);
    return add_pairs(add_pairs(q[0], q[1]), add_pairs(q[2 % kQuadruples], q[3 % kQuadruples]));
  }
}

// The quadruples of a gate's sums over a tile.
inline Floats sum_output(const BitLayer& layer, size_t i, const uint32_t* x, const uint32_t* row) {
  const TileMasks a(x[layer.a[i]]), b(x[layer.b[i]]);
  const Floats g = lower_of(load_ints(row));
  // Over samples of g, g a, g b and g ab.
  Floats sums[4] = {g, keep_where(a.of[0], g), keep_where(b.of[0], g), keep_where(both(a.of[0], b.of[0]), g)};
#pragma GCC unroll 8
  for (size_t v = 1; v < kTileVectors; ++v) {
    const Ints pair = load_ints(row + v % kHalfVectors * kLanes);
    const Floats next = v < kHalfVectors ? lower_of(pair) : upper_of(pair);
    sums[0] += next;
    sums[1] = add_where(a.of[v], sums[1], next);
    sums[2] = add_where(b.of[v], sums[2], next);
    sums[3] = add_where(both(a.of[v], b.of[v]), sums[3], next);
  }
  return sum_quadruples(sums);
}

void sum_halves(const BitLayer& layer, size_t n_out, const uint32_t* x, const HalfRows& grads, float* grad_coefficients,
                bool is_first) {
  const uint32_t* row = grads.values;
  for (size_t i = 0, place = 0; i < n_out; i += kQuadruples) {
    const size_t n = std::min(kQuadruples, n_out - i);
    Floats quadruples[kQuadruples];
#pragma GCC unroll 4
    for (size_t j = 0; j < kQuadruples; ++j) {
      quadruples[j] = sum_output(layer, std::min(i + j, n_out - 1), x, row);
      if (++place == grads.per_row && i + j + 1 < n_out) row += kTileHalves, place = 0;
    }
    float* to = grad_coefficients + 4 * i;
    Floats sums = join_sums(quadruples);
    if (!is_first) sums += load_first(to, 4 * n);
    store_first(to, sums, 4 * n);
  }
}

// The gradient of one wire.
struct WireSum {
  Floats lower[kHalfVectors] = {}, upper[kHalfVectors] = {};

  // The derivative by an operand is c1 + c3 b or c2 + c3 a.
  void add(const Reader& reader, const float* coefficients, const uint32_t* x, const uint32_t* grads) {
    const Floats off = splat(coefficients[reader.coefficient]);
    const Floats on = off + splat(coefficients[reader.coefficient | 3]);
    const TileMasks other(x[reader.other]);
#pragma GCC unroll 4
    for (size_t v = 0; v < kHalfVectors; ++v) {
      const Ints pair = load_ints(grads + reader.row + v * kLanes);
      lower[v] += lower_of(pair) * pick(other.of[v], on, off);
      upper[v] += upper_of(pair) * pick(other.of[v + kHalfVectors], on, off);
    }
  }
};

// Rows are written in the order of sorted wires, and asked for as many wires ahead.
constexpr size_t kWiresAhead = 16;

// Rows of floats, sample after sample.
struct FloatRows {
  float* values;
  void prefetch(uint32_t wire) const {
    __builtin_prefetch(values + size_t{wire} * kBitTile, 1);
    __builtin_prefetch(values + size_t{wire} * kBitTile + kTileHalves, 1);
  }
  void store_at(uint32_t wire, const WireSum& sum) const {
    float* to = values + size_t{wire} * kBitTile;
    for (size_t v = 0; v < kHalfVectors; ++v) {
      store(to + v * kLanes, sum.lower[v]);
      store(to + kTileHalves + v * kLanes, sum.upper[v]);
    }
  }
};

struct RoundedRows {
  uint32_t* values;
  void prefetch(uint32_t wire) const { __builtin_prefetch(values + size_t{wire} * kTileHalves, 1); }
  void store_at(uint32_t wire, const WireSum& sum) const {
    for (size_t v = 0; v < kHalfVectors; ++v)
      store_halves(values + size_t{wire} * kTileHalves + v * kLanes, sum.lower[v], sum.upper[v]);
  }
};

// Where rows go, times a factor.
template <typename Rows>
struct Scaled {
  Rows rows;
  float factor;
  void prefetch(uint32_t wire) const { rows.prefetch(wire); }
  void store_at(uint32_t wire, WireSum sum) const {
    for (size_t v = 0; v < kHalfVectors; ++v) sum.lower[v] *= factor, sum.upper[v] *= factor;
    rows.store_at(wire, sum);
  }
};

// kReaders is how many there are of each wire, or 0 if the run knows.
template <size_t kReaders, typename To>
inline const Reader* gather_run(const ReaderRun& run, const uint32_t* wires, const Reader* reader,
                                const float* coefficients, const uint32_t* x, const uint32_t* grads, const To& to) {
  const size_t n_readers = kReaders ? kReaders : run.n_readers;
  for (size_t i = 0; i < run.n_wires; ++i) {
    to.prefetch(wires[std::min(i + kWiresAhead, run.n_wires - 1)]);
    WireSum sum;
#pragma GCC unroll 4
    for (size_t j = 0; j < n_readers; ++j, ++reader) {
      __builtin_prefetch(grads + reader[kReadersAhead].row);
      __builtin_prefetch(coefficients + reader[kReadersAhead].coefficient);
      sum.add(*reader, coefficients, x, grads);
    }
    to.store_at(wires[i], sum);
  }
  return reader;
}

template <typename To>
void gather_rows(const SortedReaders& sorted, const float* coefficients, const uint32_t* x, const uint32_t* grads,
                 const To& to) {
  const uint32_t* wires = sorted.wires;
  const Reader* reader = sorted.readers;
  for (size_t i = 0; i < sorted.n_runs; ++i) {
    const ReaderRun& run = sorted.runs[i];
    const size_t n = run.n_readers;
    const auto gather = n == 1   ? gather_run<1, To>
                        : n == 2 ? gather_run<2, To>
                        : n == 3 ? gather_run<3, To>
                        : n == 4 ? gather_run<4, To>
                                 : gather_run<0, To>;
    reader = gather(run, wires, reader, coefficients, x, grads, to);
    wires += run.n_wires;
  }
}

void gather_halves(const SortedReaders& readers, const float* coefficients, const uint32_t* x, const uint32_t* grads,
                   float factor, uint32_t* halves, float* floats) {
  const auto gather = [&](const auto& to) { gather_rows(readers, coefficients, x, grads, to); };
  if (!halves)
    gather(Scaled<FloatRows>{{floats}, factor});
  else if (factor != 1)
    gather(Scaled<RoundedRows>{{halves}, factor});
  else
    gather(RoundedRows{halves});
}

void to_halves(const float* values, size_t n_rows, float factor, uint32_t* halves) {
  for (size_t row = 0; row < n_rows; ++row) {
    const float* from = values + row * kBitTile;
    Floats read[kTileVectors];
    for (size_t v = 0; v < kTileVectors; ++v) read[v] = load(from + v * kLanes) * factor;
    for (size_t v = 0; v < kHalfVectors; ++v)
      store_halves(halves + row * kTileHalves + v * kLanes, read[v], read[v + kHalfVectors]);
  }
}

void round_halves(float* values, size_t n, float factor) {
  for (size_t at = 0; at < n; at += kLanes)
    store(values + at, (Floats)(round_upper(load(values + at) * factor) & kUpper) * (1.0f / factor));
}

}  // namespace
}  // namespace gatewise
