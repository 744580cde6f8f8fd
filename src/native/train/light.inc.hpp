// Gates whose truth table is learned entry by entry: the probability of an entry is (1 + sin angle) / 2. Angles are
// four rows, for operands 00, 01, 10, 11.
#pragma once

#include "train/mixture.inc.hpp"

namespace gatewise {
namespace {

// sin(x): x - n pi lies in [-pi / 2, pi / 2], where the series up to the 11th power is exact to 6e-8.
inline Floats sin_of(Floats x) {
  const Floats shifted = x * 0.318309886f + kRounder;
  const Floats n = shifted - kRounder;
  x = x - n * 3.140625f - n * 9.67653590e-4f;  // pi in two parts, the first of which n times is exact
  const Floats square = x * x;
  Floats p = splat(-1.0f / 39916800);
  p = p * square + 1.0f / 362880;
  p = p * square - 1.0f / 5040;
  p = p * square + 1.0f / 120;
  p = p * square - 1.0f / 6;
  const Floats sine = x + x * square * p;
  return (Floats)((Ints)sine ^ ((Ints)shifted << 31));  // the sign changes with every n that is odd
}

inline Floats cos_of(Floats x) { return sin_of(x + 1.57079633f); }

inline void load_truth(const Mixture& m, size_t at, size_t n, Floats* truth) {
  for (size_t t = 0; t < 4; ++t) truth[t] = 0.5f + 0.5f * sin_of(load_first(m.logits + t * m.n_gates + at, n));
}

double mix_light(const Mixture& m, size_t begin, size_t end, float* coefficients) {
  Floats confidence = {};
  for (size_t at = begin; at < end; at += kLanes) {
    const size_t n = end - at < kLanes ? end - at : kLanes;
    Floats truth[4], sure = splat(1.0f);
    load_truth(m, at, n, truth);
    for (Floats& each : truth) sure *= each >= 0.5f ? each : 1.0f - each;
    for (size_t k = 0; k < n; ++k) confidence[k] += sure[k];
    store_coefficients(truth, splat(1.0f), at, n, coefficients);
  }
  double total = 0;
  for (size_t k = 0; k < kLanes; ++k) total += confidence[k];
  return total;
}

void choose_light(const Mixture& m, size_t begin, size_t end, float* coefficients, uint8_t* gates) {
  for (size_t at = begin; at < end; at += kLanes) {
    const size_t n = end - at < kLanes ? end - at : kLanes;
    Floats truth[4];
    load_truth(m, at, n, truth);
    store_coefficients(truth, splat(1.0f), at, n, coefficients);
    Ints gate = {};
    for (const Floats& each : truth) gate = gate + gate - (Ints)(each >= 0.5f);  // the first entry is the highest bit
    for (size_t i = 0; i < n; ++i) gates[at + i] = static_cast<uint8_t>(gate[i]);
  }
}

void update_light(const Mixture& m, size_t begin, size_t end, const Shares& grads, const Adam& adam,
                  const Moments& moments) {
  for (size_t at = begin; at < end; at += kLanes) {
    const size_t n = end - at < kLanes ? end - at : kLanes;
    Floats grad[4] = {}, of_truth[4];
    load_gradients(grads, at, n, grad);
    to_truth(grad, of_truth);
    for (size_t t = 0; t < 4; ++t) {
      const size_t place = t * m.n_gates + at;
      const Floats slope = 0.5f * grads.scale * cos_of(load_first(m.logits + place, n));
      step_adam(adam, moments, place, n, of_truth[t] * slope);
    }
  }
}

}  // namespace
}  // namespace gatewise
