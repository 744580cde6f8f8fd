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

void forward(const RelaxedLayer& layer, const float* x, float* y) {
  for (size_t i = 0; i < layer.n_out; ++i) {
    prefetch_rows(layer, i + kAhead, x);
    const float* a = x + size_t(layer.a[i]) * kTile;
    const float* b = x + size_t(layer.b[i]) * kTile;
    const float* c = layer.coefficients + 4 * i;
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

template <bool WithInput, bool IsFirst>
void backward_layer(const RelaxedLayer& layer, const float* x, const float* grad_y, float* grad_x,
                    float* grad_coefficients) {
  for (size_t i = 0; i < layer.n_out; ++i) {
    prefetch_rows(layer, i + kAhead, x);
    if constexpr (WithInput) prefetch_rows(layer, i + kAhead, grad_x);
    const size_t row_a = size_t(layer.a[i]) * kTile, row_b = size_t(layer.b[i]) * kTile;
    const float* c = layer.coefficients + 4 * i;
    Floats s0 = {}, s1 = {}, s2 = {}, s3 = {};
    for (size_t k = 0; k < kTile; k += kLanes) {
      const Floats a = load(x + row_a + k), b = load(x + row_b + k), g = load(grad_y + i * kTile + k);
      const Floats ga = g * a;
      s0 += g;
      s1 += ga;
      s2 += g * b;
      s3 += ga * b;
      if constexpr (WithInput) {
        // One after the other, because a gate may read one wire twice.
        store(grad_x + row_a + k, load(grad_x + row_a + k) + g * (c[1] + c[3] * b));
        store(grad_x + row_b + k, load(grad_x + row_b + k) + g * (c[2] + c[3] * a));
      }
    }
    Quadruple sums = sum_lanes(s0, s1, s2, s3), before;
    if constexpr (!IsFirst) {
      std::memcpy(&before, grad_coefficients + 4 * i, sizeof before);
      sums += before;
    }
    std::memcpy(grad_coefficients + 4 * i, &sums, sizeof sums);
  }
}

template <bool WithInput>
void backward_layer(const RelaxedLayer& layer, const float* x, const float* grad_y, float* grad_x,
                    float* grad_coefficients, bool is_first) {
  if (is_first)
    backward_layer<WithInput, true>(layer, x, grad_y, grad_x, grad_coefficients);
  else
    backward_layer<WithInput, false>(layer, x, grad_y, grad_x, grad_coefficients);
}

void backward(const RelaxedLayer& layer, const float* x, const float* grad_y, float* grad_x, float* grad_coefficients,
              bool is_first) {
  if (grad_x)
    backward_layer<true>(layer, x, grad_y, grad_x, grad_coefficients, is_first);
  else
    backward_layer<false>(layer, x, grad_y, grad_x, grad_coefficients, is_first);
}

}  // namespace
}  // namespace gatewise
