// Relaxed gates on tiles of samples.
#pragma once

#include "simd/floats.hpp"
#include "train/kernels.hpp"

namespace gatewise {
namespace {

// Operands lie anywhere in a layer, mostly outside of the first-level cache: ask for them this many gates ahead.
constexpr size_t kAhead = 16;

inline void prefetch_rows(const RelaxedLayer& layer, size_t i, const float* rows) {
  if (i >= layer.n_out) return;
  __builtin_prefetch(rows + size_t(layer.a[i]) * kTile);
  __builtin_prefetch(rows + size_t(layer.b[i]) * kTile);
}

void forward_maximum(const RelaxedLayer& layer, const float* x, float* y) {
  for (size_t i = 0; i < layer.n_out; ++i)
    for (size_t k = 0; k < kTile; k += kLanes) {
      const Floats a = load(x + size_t(layer.a[i]) * kTile + k), b = load(x + size_t(layer.b[i]) * kTile + k);
      store(y + i * kTile + k, a >= b ? a : b);
    }
}

void forward(const RelaxedLayer& layer, const float* x, float* y) {
  if (!layer.coefficients) return forward_maximum(layer, x, y);
  const float* c = layer.coefficients;
  for (size_t i = 0, position = 0; i < layer.n_out; ++i, ++position) {
    if (position == layer.n_positions) c += 4, position = 0;
    prefetch_rows(layer, i + kAhead, x);
    const float* a = x + size_t(layer.a[i]) * kTile;
    const float* b = x + size_t(layer.b[i]) * kTile;
    for (size_t k = 0; k < kTile; k += kLanes) {
      const Floats va = load(a + k), vb = load(b + k);
      store(y + i * kTile + k, (c[0] + c[1] * va) + vb * (c[2] + c[3] * va));
    }
  }
}

typedef float Quadruple __attribute__((vector_size(16)));

// The sums over all lanes of s0 .. s3.
inline Quadruple sum_lanes(Floats s0, Floats s1, Floats s2, Floats s3) {
#if defined(__AVX2__)
#if defined(GATEWISE_AVX512)
  const auto fold = [](Floats v) {
    return _mm256_add_ps(_mm512_castps512_ps256((__m512)v), _mm512_extractf32x8_ps((__m512)v, 1));
  };
#else
  const auto fold = [](Floats v) { return (__m256)v; };
#endif
  const __m256 t = _mm256_hadd_ps(_mm256_hadd_ps(fold(s0), fold(s1)), _mm256_hadd_ps(fold(s2), fold(s3)));
  return (Quadruple)_mm_add_ps(_mm256_castps256_ps128(t), _mm256_extractf128_ps(t, 1));
#else
  Quadruple sums = {};
  for (size_t k = 0; k < kLanes; ++k) sums += Quadruple{s0[k], s1[k], s2[k], s3[k]};
  return sums;
#endif
}

// A gate's coefficients but the first, and the sums over samples of g, g a, g b and g ab.
struct OpenGate {
  Floats c1, c2, c3, s0 = {}, s1 = {}, s2 = {}, s3 = {};
  explicit OpenGate(const float* c) : c1(splat(c[1])), c2(splat(c[2])), c3(splat(c[3])) {}

  void store_to(float* to, bool is_first) const {
    Quadruple sums = sum_lanes(s0, s1, s2, s3), before;
    if (!is_first) {
      std::memcpy(&before, to, sizeof before);
      sums += before;
    }
    std::memcpy(to, &sums, sizeof sums);
  }
};

template <bool WithInput>
inline void add_output(const RelaxedLayer& layer, size_t i, const float* x, const float* grad_y, float* grad_x,
                       OpenGate& of_gate) {
  prefetch_rows(layer, i + kAhead, x);
  if constexpr (WithInput) prefetch_rows(layer, i + kAhead, grad_x);
  const size_t row_a = size_t(layer.a[i]) * kTile, row_b = size_t(layer.b[i]) * kTile;
  for (size_t k = 0; k < kTile; k += kLanes) {
    const Floats a = load(x + row_a + k), b = load(x + row_b + k), g = load(grad_y + i * kTile + k);
    const Floats ga = g * a;
    of_gate.s0 += g;
    of_gate.s1 += ga;
    of_gate.s2 += g * b;
    of_gate.s3 += ga * b;
    if constexpr (WithInput) {
      // One after the other, because a gate may read one wire twice.
      store(grad_x + row_a + k, load(grad_x + row_a + k) + g * (of_gate.c1 + of_gate.c3 * b));
      store(grad_x + row_b + k, load(grad_x + row_b + k) + g * (of_gate.c2 + of_gate.c3 * a));
    }
  }
}

template <bool WithInput>
void backward_layer(const RelaxedLayer& layer, const float* x, const float* grad_y, float* grad_x,
                    float* grad_coefficients, bool is_first) {
  for (size_t i = 0, gate = 0; i < layer.n_out; ++gate) {
    OpenGate of_gate(layer.coefficients + 4 * gate);
    for (const size_t end = i + layer.n_positions; i < end; ++i)
      add_output<WithInput>(layer, i, x, grad_y, grad_x, of_gate);
    of_gate.store_to(grad_coefficients + 4 * gate, is_first);
  }
}

// The gradient of a maximum goes to b where that is larger, and to a where it is not.
void backward_maximum(const RelaxedLayer& layer, const float* x, const float* grad_y, float* grad_x) {
  for (size_t i = 0; i < layer.n_out; ++i) {
    const size_t row_a = size_t(layer.a[i]) * kTile, row_b = size_t(layer.b[i]) * kTile;
    for (size_t k = 0; k < kTile; k += kLanes) {
      const Floats g = load(grad_y + i * kTile + k);
      const Ints to_a = (Ints)(load(x + row_a + k) >= load(x + row_b + k));
      store(grad_x + row_a + k, load(grad_x + row_a + k) + (Floats)((Ints)g & to_a));
      store(grad_x + row_b + k, load(grad_x + row_b + k) + (Floats)((Ints)g & ~to_a));
    }
  }
}

void backward(const RelaxedLayer& layer, const float* x, const float* grad_y, float* grad_x, float* grad_coefficients,
              bool is_first) {
  if (layer.coefficients)
    (grad_x ? backward_layer<true> : backward_layer<false>)(layer, x, grad_y, grad_x, grad_coefficients, is_first);
  else if (grad_x)
    backward_maximum(layer, x, grad_y, grad_x);
}

}  // namespace
}  // namespace gatewise
