// Vectors of floats for the target being compiled. Included by kernel files only; everything has internal linkage,
// because each target compiles its own copy.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#if defined(__AVX2__)
#include <immintrin.h>
#endif

namespace gatewise {
namespace {

#if defined(GATEWISE_AVX512)
constexpr size_t kLanes = 16;
#elif defined(GATEWISE_AVX2)
constexpr size_t kLanes = 8;
#else
constexpr size_t kLanes = 4;
#endif

typedef float Floats __attribute__((vector_size(4 * kLanes)));
typedef int32_t Ints __attribute__((vector_size(4 * kLanes)));

inline Floats load(const float* p) {
  Floats v;
  std::memcpy(&v, p, sizeof v);
  return v;
}
inline void store(float* p, Floats v) { std::memcpy(p, &v, sizeof v); }

// The first n values, zeros after them.
inline Floats load_first(const float* p, size_t n) {
  if (n == kLanes) return load(p);
  Floats v = {};
  std::memcpy(&v, p, 4 * n);
  return v;
}
inline void store_first(float* p, Floats v, size_t n) {
  if (n == kLanes) return store(p, v);
  std::memcpy(p, &v, 4 * n);
}

inline Floats splat(float x) { return Floats{} + x; }

inline Floats sqrt_of(Floats x) {
#if defined(GATEWISE_AVX512)
  return (Floats)_mm512_maskz_sqrt_ps(0xFFFF,
                                      (__m512)x);  // all lanes; gcc warns of what _mm512_sqrt_ps leaves undefined
#elif defined(GATEWISE_AVX2)
  return (Floats)_mm256_sqrt_ps((__m256)x);
#else
  for (size_t k = 0; k < kLanes; ++k) x[k] = __builtin_sqrtf(x[k]);
  return x;
#endif
}

// Adding 1.5 * 2^23 rounds to an integer, which is then in the lowest bits.
constexpr float kRounder = 12582912.0f;

// exp(x) for x <= 0: 2^n times a polynomial on [-ln 2 / 2, ln 2 / 2] (the coefficients are those of Cephes' expf).
inline Floats exp_of(Floats x) {
  x = x > -87.0f ? x : splat(-87.0f);
  const Floats shifted = x * 1.44269504f + kRounder;
  const Floats n = shifted - kRounder;
  x = x - n * 0.693359375f + n * 2.12194440e-4f;
  Floats p = splat(1.9875691500e-4f);
  p = p * x + 1.3981999507e-3f;
  p = p * x + 8.3334519073e-3f;
  p = p * x + 4.1665795894e-2f;
  p = p * x + 1.6666665459e-1f;
  p = p * x + 5.0000001201e-1f;
  p = p * x * x + x + 1.0f;
  return (Floats)((Ints)p + (((Ints)shifted - 0x4B400000) << 23));
}

// Lanes of a followed by b.
inline Floats shuffle(Floats a, Floats b, Ints at) {
#if defined(__clang__)
  Floats picked;
  for (size_t k = 0; k < kLanes; ++k) picked[k] = at[k] < int(kLanes) ? a[at[k]] : b[at[k] - kLanes];
  return picked;
#else
  return __builtin_shuffle(a, b, at);
#endif
}

// Every other lane of a followed by b.
template <int First>
inline Floats every_other(Floats a, Floats b) {
  Ints at;
  for (size_t k = 0; k < kLanes; ++k) at[k] = First + 2 * static_cast<int>(k);
  return shuffle(a, b, at);
}

// Lanes of a and b by turns; all the results together are zip<0> and then zip<1>.
template <int Half>
inline Floats zip(Floats a, Floats b) {
  Ints at;
  for (size_t k = 0; k < kLanes; ++k) at[k] = static_cast<int>((Half * kLanes + k) / 2 + k % 2 * kLanes);
  return shuffle(a, b, at);
}

// Four vectors of quadruples, one after the other -> one vector for each place in a quadruple.
inline void split_quadruples(Floats* v) {
  const Floats even0 = every_other<0>(v[0], v[1]), even1 = every_other<0>(v[2], v[3]);
  const Floats odd0 = every_other<1>(v[0], v[1]), odd1 = every_other<1>(v[2], v[3]);
  v[0] = every_other<0>(even0, even1);
  v[1] = every_other<0>(odd0, odd1);
  v[2] = every_other<1>(even0, even1);
  v[3] = every_other<1>(odd0, odd1);
}

// And back.
inline void join_quadruples(Floats* v) {
  const Floats even0 = zip<0>(v[0], v[2]), even1 = zip<1>(v[0], v[2]);
  const Floats odd0 = zip<0>(v[1], v[3]), odd1 = zip<1>(v[1], v[3]);
  v[0] = zip<0>(even0, odd0);
  v[1] = zip<1>(even0, odd0);
  v[2] = zip<0>(even1, odd1);
  v[3] = zip<1>(even1, odd1);
}

}  // namespace
}  // namespace gatewise
