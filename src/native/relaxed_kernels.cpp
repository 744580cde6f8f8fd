// The inner loops of training. Compiled once per SIMD level with GATEWISE_RELAXED naming the table it defines; as in
// kernels.cpp, nothing here may have external linkage but that table.
#include <cstring>

#include "relaxed.hpp"
#include "truth.hpp"

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
constexpr size_t kParts = kTile / kLanes;

typedef float V __attribute__((vector_size(4 * kLanes)));
typedef int32_t I __attribute__((vector_size(4 * kLanes)));

inline V load(const float* p) {
  V v;
  std::memcpy(&v, p, sizeof v);
  return v;
}
inline void store(float* p, V v) { std::memcpy(p, &v, sizeof v); }
inline V splat(float x) { return V{} + x; }
inline V select(I mask, V yes, V no) { return (V)((mask & (I)yes) | (~mask & (I)no)); }

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
      const V va = load(a + k), vb = load(b + k);
      store(y + i * kTile + k, (c[0] + c[1] * va) + vb * (c[2] + c[3] * va));
    }
  }
}

// sums[0..3] += the sum over all lanes of s0 .. s3.
inline void add_sums(V s0, V s1, V s2, V s3, float* sums) {
#if defined(__AVX2__)
#if defined(GATEWISE_AVX512)
  const auto fold = [](V v) {
    return _mm256_add_ps(_mm512_castps512_ps256((__m512)v), _mm512_extractf32x8_ps((__m512)v, 1));
  };
#else
  const auto fold = [](V v) { return (__m256)v; };
#endif
  const __m256 t = _mm256_hadd_ps(_mm256_hadd_ps(fold(s0), fold(s1)), _mm256_hadd_ps(fold(s2), fold(s3)));
  const __m128 four = _mm_add_ps(_mm256_castps256_ps128(t), _mm256_extractf128_ps(t, 1));
  _mm_storeu_ps(sums, _mm_add_ps(_mm_loadu_ps(sums), four));
#else
  for (size_t k = 0; k < kLanes; ++k) {
    sums[0] += s0[k];
    sums[1] += s1[k];
    sums[2] += s2[k];
    sums[3] += s3[k];
  }
#endif
}

template <bool WithInput>
void backward_layer(const RelaxedLayer& layer, const float* x, const float* grad_y, float* grad_x,
                    float* grad_coefficients) {
  for (size_t i = 0; i < layer.n_out; ++i) {
    prefetch_rows(layer, i + kAhead, x);
    if constexpr (WithInput) prefetch_rows(layer, i + kAhead, grad_x);
    const size_t row_a = size_t(layer.a[i]) * kTile, row_b = size_t(layer.b[i]) * kTile;
    const float* c = layer.coefficients + 4 * i;
    V s0 = {}, s1 = {}, s2 = {}, s3 = {};
    for (size_t k = 0; k < kTile; k += kLanes) {
      const V a = load(x + row_a + k), b = load(x + row_b + k), g = load(grad_y + i * kTile + k);
      const V ga = g * a;
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
    add_sums(s0, s1, s2, s3, grad_coefficients + 4 * i);
  }
}

void backward(const RelaxedLayer& layer, const float* x, const float* grad_y, float* grad_x, float* grad_coefficients) {
  if (grad_x)
    backward_layer<true>(layer, x, grad_y, grad_x, grad_coefficients);
  else
    backward_layer<false>(layer, x, grad_y, grad_x, grad_coefficients);
}

// exp(x) for x <= 0: 2^n times a polynomial on [-ln 2 / 2, ln 2 / 2] (the coefficients are those of Cephes' expf).
inline V exp_of(V x) {
  x = select((I)(x > -87.0f), x, splat(-87.0f));
  const V shifted = x * 1.44269504f + 12582912.0f;  // adding 1.5 * 2^23 rounds to an integer
  const V n = shifted - 12582912.0f;
  x = x - n * 0.693359375f + n * 2.12194440e-4f;
  V p = splat(1.9875691500e-4f);
  p = p * x + 1.3981999507e-3f;
  p = p * x + 8.3334519073e-3f;
  p = p * x + 4.1665795894e-2f;
  p = p * x + 1.6666665459e-1f;
  p = p * x + 5.0000001201e-1f;
  p = p * x * x + x + 1.0f;
  return (V)((I)p + (((I)shifted - 0x4B400000) << 23));
}

constexpr uint32_t kMaxOperators = 16;

// Whether a gate is true for operands t = 00, 01, 10, 11.
constexpr bool is_true(unsigned gate, unsigned t) { return truth(gate, t >> 1, t & 1); }

// Which operators a mixture has. All 16 in order is the usual case, known to the compiler; any others come as data.
struct AllOperators {
  static constexpr uint32_t n = kMaxOperators;
  explicit AllOperators(const Mixture&) {}
  static constexpr uint32_t gate(uint32_t k) { return k; }
};
struct SomeOperators {
  uint32_t n;
  const uint8_t* gates;
  explicit SomeOperators(const Mixture& m) : n(m.n_operators), gates(m.gates) {}
  uint32_t gate(uint32_t k) const { return gates[k]; }
};

bool has_all_operators(const Mixture& m) {
  bool all = m.n_operators == kMaxOperators;
  for (uint32_t k = 0; k < m.n_operators; ++k) all &= m.gates[k] == k;
  return all;
}

// Logits of kLanes gates, one vector an operator; lanes past `n` hold zeros.
template <typename Operators>
inline void load_logits(const Mixture& m, const Operators& operators, size_t at, size_t n, V* z) {
#pragma GCC unroll 16
  for (uint32_t k = 0; k < operators.n; ++k) {
    const float* row = m.logits + k * m.n_gates + at;
    if (n == kLanes) {
      z[k] = load(row);
    } else {
      z[k] = V{};
      std::memcpy(&z[k], row, 4 * n);
    }
  }
}

template <typename Operators>
inline V largest_of(const V* z, const Operators& operators) {
  V largest = z[0];
#pragma GCC unroll 16
  for (uint32_t k = 1; k < operators.n; ++k) largest = select((I)(z[k] > largest), z[k], largest);
  return largest;
}

// p = softmax(z / temperature).
template <typename Operators>
inline void softmax(const V* z, const Operators& operators, float temperature, V* p) {
  const V largest = largest_of(z, operators);
  V total = {};
#pragma GCC unroll 16
  for (uint32_t k = 0; k < operators.n; ++k) total += p[k] = exp_of((z[k] - largest) * (1.0f / temperature));
  const V scale = 1.0f / total;
#pragma GCC unroll 16
  for (uint32_t k = 0; k < operators.n; ++k) p[k] *= scale;
}

// p = 1 for the largest logit, the lowest on ties, and 0 for the others.
template <typename Operators>
inline void harden(const V* z, const Operators& operators, V* p) {
  const V largest = largest_of(z, operators);
  I open = (I)V{} == (I)V{};
#pragma GCC unroll 16
  for (uint32_t k = 0; k < operators.n; ++k) {
    const I chosen = (I)(z[k] == largest) & open;
    open &= ~chosen;
    p[k] = select(chosen, splat(1.0f), V{});
  }
}

// expected[t]: the probability that the gate is true for operands t.
template <typename Operators>
inline void expect_truth(const V* p, const Operators& operators, V* expected) {
  for (int t = 0; t < 4; ++t) expected[t] = V{};
#pragma GCC unroll 16
  for (uint32_t k = 0; k < operators.n; ++k)
#pragma GCC unroll 4
    for (int t = 0; t < 4; ++t)
      if (is_true(operators.gate(k), t)) expected[t] += p[k];
}

template <typename Operators>
double mix_with(const Mixture& m, size_t begin, size_t end, float* coefficients) {
  const Operators operators(m);
  double confidence = 0;
  for (size_t at = begin; at < end; at += kLanes) {
    const size_t n = end - at < kLanes ? end - at : kLanes;
    V z[kMaxOperators] = {}, p[kMaxOperators] = {}, truth[4];
    load_logits(m, operators, at, n, z);
    softmax(z, operators, 1.0f, p);
    const V largest = largest_of(p, operators);
    for (size_t k = 0; k < n; ++k) confidence += largest[k];
    if (m.hard) {
      harden(z, operators, p);
    } else if (m.temperature != 1.0f) {
      softmax(z, operators, m.temperature, p);
    }
    expect_truth(p, operators, truth);
    const V c1 = truth[2] - truth[0], c2 = truth[1] - truth[0], c3 = truth[3] - truth[2] - c2;
    for (size_t k = 0; k < n; ++k) {
      float* c = coefficients + 4 * (at + k);
      c[0] = truth[0][k];
      c[1] = c1[k];
      c[2] = c2[k];
      c[3] = c3[k];
    }
  }
  return confidence;
}

double mix(const Mixture& m, size_t begin, size_t end, float* coefficients) {
  return has_all_operators(m) ? mix_with<AllOperators>(m, begin, end, coefficients)
                              : mix_with<SomeOperators>(m, begin, end, coefficients);
}

template <typename Operators>
void mix_backward_with(const Mixture& m, size_t begin, size_t end, const float* grad_coefficients, float* grad_logits) {
  const Operators operators(m);
  for (size_t at = begin; at < end; at += kLanes) {
    const size_t n = end - at < kLanes ? end - at : kLanes;
    V z[kMaxOperators] = {}, p[kMaxOperators] = {}, of_gate[kMaxOperators] = {}, grad[4] = {}, mean = {};
    load_logits(m, operators, at, n, z);
    softmax(z, operators, m.temperature, p);
    for (size_t k = 0; k < n; ++k)
      for (int c = 0; c < 4; ++c) grad[c][k] = grad_coefficients[4 * (at + k) + c];
    // From coefficients of 1, a, b, ab back to the truth table's entries.
    const V truth[4] = {grad[0] - grad[1] - grad[2] + grad[3], grad[2] - grad[3], grad[1] - grad[3], grad[3]};
#pragma GCC unroll 16
    for (uint32_t k = 0; k < operators.n; ++k) {
#pragma GCC unroll 4
      for (int t = 0; t < 4; ++t)
        if (is_true(operators.gate(k), t)) of_gate[k] += truth[t];
      mean += p[k] * of_gate[k];
    }
#pragma GCC unroll 16
    for (uint32_t k = 0; k < operators.n; ++k) {
      const V g = p[k] * (of_gate[k] - mean) * (1.0f / m.temperature);
      float* row = grad_logits + k * m.n_gates + at;
      if (n == kLanes) {
        store(row, g);
      } else {
        std::memcpy(row, &g, 4 * n);
      }
    }
  }
}

void mix_backward(const Mixture& m, size_t begin, size_t end, const float* grad_coefficients, float* grad_logits) {
  if (has_all_operators(m))
    mix_backward_with<AllOperators>(m, begin, end, grad_coefficients, grad_logits);
  else
    mix_backward_with<SomeOperators>(m, begin, end, grad_coefficients, grad_logits);
}

}  // namespace

extern const RelaxedKernels GATEWISE_RELAXED;
const RelaxedKernels GATEWISE_RELAXED = {forward, backward, mix, mix_backward};

}  // namespace gatewise
