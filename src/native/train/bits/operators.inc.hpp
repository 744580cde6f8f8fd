// The operators of gates on bits: the choice and its softmax, and a step of Adam. Maxima and sums are taken in pairs,
// so that no vector waits for all others, and what lies ahead is fetched, since memory is most of the time.
#pragma once

#include "simd/floats.hpp"
#include "train/mixture.inc.hpp"

namespace gatewise {
namespace {

constexpr float kLog2E = 1.44269504f;
constexpr float kNoLogit = -3e38f;

inline Floats larger(Floats a, Floats b) {
#if defined(GATEWISE_AVX512)
  return (Floats)_mm512_maskz_max_ps(0xFFFF, (__m512)a, (__m512)b);
#elif defined(GATEWISE_AVX2)
  return (Floats)_mm256_max_ps((__m256)a, (__m256)b);
#else
  return a > b ? a : b;
#endif
}

// 2^x for x <= 0: 2^n times a polynomial on [-1 / 2, 1 / 2] (the coefficients are those of Cephes' exp2f).
inline Floats exp2_of(Floats x) {
  x = larger(x, splat(-126.0f));
  const Floats shifted = x + kRounder;
  x -= shifted - kRounder;
  Floats p = splat(1.535336188319500e-4f);
  p = p * x + 1.339887440266574e-3f;
  p = p * x + 9.618437357674640e-3f;
  p = p * x + 5.550332471162809e-2f;
  p = p * x + 2.402264791363012e-1f;
  p = p * x + 6.931472028550421e-1f;
  p = p * x + 1.0f;
  return (Floats)((Ints)p + ((Ints)shifted << 23));  // n is in the lowest bits
}

// Logits of kLanes gates, and the logits and moments of gates as far ahead as kFarAhead floats.
constexpr size_t kFarAhead = 64;

// The logits of kLanes gates and what follows from them; those that do not exist are kNoLogit.
template <typename Operators>
struct Choice {
  Floats z[kNumGates], p[kNumGates], largest, scale;

  Choice(const Mixture& m, const Operators& operators, size_t at, size_t n) {
#pragma GCC unroll 16
    for (uint32_t k = 0; k < kNumGates; ++k)
      z[k] = k < operators.n ? load_first(m.logits + k * m.n_gates + at, n) : splat(kNoLogit);
    Floats most[kNumGates];
#pragma GCC unroll 16
    for (uint32_t k = 0; k < kNumGates; ++k) most[k] = z[k];
#pragma GCC unroll 4
    for (uint32_t half = kNumGates / 2; half > 0; half /= 2)
#pragma GCC unroll 8
      for (uint32_t k = 0; k < half; ++k) most[k] = larger(most[k], most[k + half]);
    largest = most[0];
  }

  // p: probabilities but for the factor `scale`.
  void find_shares(const Operators& operators, float temperature) {
    const Floats unit = splat(kLog2E / temperature), offset = largest * unit;
    Floats totals[4] = {};
#pragma GCC unroll 16
    for (uint32_t k = 0; k < operators.n; ++k) totals[k % 4] += p[k] = exp2_of(z[k] * unit - offset);
    scale = 1.0f / ((totals[0] + totals[1]) + (totals[2] + totals[3]));
  }

  // The lowest operator that has the largest logit.
  Ints find_gates(const Operators& operators) const {
    Ints found = Ints{} + static_cast<int32_t>(operators.gate(0));
#pragma GCC unroll 16
    for (uint32_t i = 1; i <= operators.n; ++i) {
      const uint32_t k = operators.n - i;  // the lowest comes last
      found = z[k] == largest ? Ints{} + static_cast<int32_t>(operators.gate(k)) : found;
    }
    return found;
  }
};

template <typename Operators>
void choose_with(const Mixture& m, size_t begin, size_t end, float* coefficients, uint8_t* gates) {
  const Operators operators(m);
  for (size_t at = begin; at < end; at += kLanes) {
    const size_t n = end - at < kLanes ? end - at : kLanes;
    for (uint32_t k = 0; k < operators.n; ++k) __builtin_prefetch(m.logits + k * m.n_gates + at + kFarAhead);
    Choice<Operators> choice(m, operators, at, n);
    choice.find_shares(operators, m.temperature);
    Floats truth[4];
    expect_truth(choice.p, operators, truth);
    store_coefficients(truth, choice.scale, at, n, coefficients);
    const Ints chosen = choice.find_gates(operators);
    for (size_t i = 0; i < n; ++i) gates[at + i] = static_cast<uint8_t>(chosen[i]);
  }
}

void choose_softmax(const Mixture& m, size_t begin, size_t end, float* coefficients, uint8_t* gates) {
  with_operators(m, [&](auto operators) { choose_with<decltype(operators)>(m, begin, end, coefficients, gates); });
}

template <typename Operators>
void step_with(const Mixture& m, size_t begin, size_t end, const Shares& grads, const Adam& adam,
               const Moments& moments) {
  const Operators operators(m);
  for (size_t at = begin; at < end; at += kLanes) {
    const size_t n = end - at < kLanes ? end - at : kLanes;
    Choice<Operators> choice(m, operators, at, n);
    choice.find_shares(operators, m.temperature);
    Floats grad[4] = {}, truth[4], of_gate[kNumGates] = {}, means[4] = {};
    load_gradients(grads, at, n, grad);
    to_truth(grad, truth);
#pragma GCC unroll 16
    for (uint32_t k = 0; k < operators.n; ++k) {
#pragma GCC unroll 4
      for (int t = 0; t < 4; ++t)
        if (is_true(operators.gate(k), t)) of_gate[k] += truth[t];
      means[k % 4] += choice.p[k] * of_gate[k];
    }
    const Floats mean = ((means[0] + means[1]) + (means[2] + means[3])) * choice.scale;
    const Floats factor = choice.scale * (grads.scale / m.temperature);
#pragma GCC unroll 16
    for (uint32_t k = 0; k < operators.n; ++k) {
      const size_t place = k * m.n_gates + at;
      for (const float* each : {moments.first, moments.second, moments.weights})
        __builtin_prefetch(each + place + kFarAhead, 1);
      step_adam(adam, moments, place, n, choice.p[k] * (of_gate[k] - mean) * factor);
    }
  }
}

void step_softmax(const Mixture& m, size_t begin, size_t end, const Shares& grads, const Adam& adam,
                  const Moments& moments) {
  with_operators(m, [&](auto operators) { step_with<decltype(operators)>(m, begin, end, grads, adam, moments); });
}

}  // namespace
}  // namespace gatewise
