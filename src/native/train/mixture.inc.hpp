// Logits over operators -> coefficients, and the way back: gradients of the logits, or a step of Adam with them.
#pragma once

#include "circuit/gates.hpp"
#include "simd/floats.hpp"
#include "train/kernels.hpp"

namespace gatewise {
namespace {

// Whether a gate is true for operands t = 00, 01, 10, 11.
constexpr bool is_true(unsigned gate, unsigned t) { return truth(gate, t >> 1, t & 1); }

// Which operators a mixture has. All 16 in order, or all but the two constants, are the usual cases, known to the
// compiler; any others come as data.
template <uint32_t kFirst>
struct OperatorsFrom {
  static constexpr uint32_t n = kNumGates - 2 * kFirst;
  explicit OperatorsFrom(const Mixture&) {}
  static constexpr uint32_t gate(uint32_t k) { return kFirst + k; }
};
struct SomeOperators {
  uint32_t n;
  const uint8_t* gates;
  explicit SomeOperators(const Mixture& m) : n(m.n_operators), gates(m.gates) {}
  uint32_t gate(uint32_t k) const { return gates[k]; }
};

template <typename Operators>
bool has(const Mixture& m) {
  bool all = m.n_operators == Operators::n;
  for (uint32_t k = 0; k < m.n_operators; ++k) all &= m.gates[k] == Operators::gate(k);
  return all;
}

// Calls use with what knows most about the operators of the mixture.
template <typename Use>
auto with_operators(const Mixture& m, const Use& use) {
  if (has<OperatorsFrom<0>>(m)) return use(OperatorsFrom<0>(m));
  if (has<OperatorsFrom<1>>(m)) return use(OperatorsFrom<1>(m));
  return use(SomeOperators(m));
}

// Logits of kLanes gates, one vector per operator; lanes past `n` hold zeros.
template <typename Operators>
inline void load_logits(const Mixture& m, const Operators& operators, size_t at, size_t n, Floats* z) {
#pragma GCC unroll 16
  for (uint32_t k = 0; k < operators.n; ++k) z[k] = load_first(m.logits + k * m.n_gates + at, n);
}

template <typename Operators>
inline Floats largest_of(const Floats* z, const Operators& operators) {
  Floats largest = z[0];
#pragma GCC unroll 16
  for (uint32_t k = 1; k < operators.n; ++k) largest = z[k] > largest ? z[k] : largest;
  return largest;
}

// p = softmax(z / temperature), but for a factor, which is returned: the largest probability, as the largest p is 1.
template <typename Operators>
inline Floats softmax(const Floats* z, const Operators& operators, float temperature, Floats* p) {
  const Floats largest = largest_of(z, operators);
  Floats total = {};
#pragma GCC unroll 16
  for (uint32_t k = 0; k < operators.n; ++k) total += p[k] = exp_of((z[k] - largest) * (1.0f / temperature));
  return 1.0f / total;
}

// p = 1 for the largest logit, the lowest on ties, and 0 for the others.
template <typename Operators>
inline void harden(const Floats* z, const Operators& operators, Floats* p) {
  const Floats largest = largest_of(z, operators);
  Ints open = (Ints)Floats{} == (Ints)Floats{};
#pragma GCC unroll 16
  for (uint32_t k = 0; k < operators.n; ++k) {
    const Ints chosen = (Ints)(z[k] == largest) & open;
    open &= ~chosen;
    p[k] = chosen ? splat(1.0f) : Floats{};
  }
}

// expected[t]: the probability that the gate is true for operands t.
template <typename Operators>
inline void expect_truth(const Floats* p, const Operators& operators, Floats* expected) {
  for (int t = 0; t < 4; ++t) expected[t] = Floats{};
#pragma GCC unroll 16
  for (uint32_t k = 0; k < operators.n; ++k)
#pragma GCC unroll 4
    for (int t = 0; t < 4; ++t)
      if (is_true(operators.gate(k), t)) expected[t] += p[k];
}

// Entries of truth tables, but for a factor -> coefficients of 1, a, b, ab of gates at .. at + n - 1.
inline void store_coefficients(const Floats* truth, Floats scale, size_t at, size_t n, float* coefficients) {
  Floats c[4] = {truth[0] * scale, (truth[2] - truth[0]) * scale, (truth[1] - truth[0]) * scale,
                 (truth[3] - truth[2] - truth[1] + truth[0]) * scale};
  join_quadruples(c);
  for (size_t k = 0; k < 4 && k * kLanes < 4 * n; ++k) {
    const size_t rest = 4 * n - k * kLanes;
    store_first(coefficients + 4 * at + k * kLanes, c[k], rest < kLanes ? rest : kLanes);
  }
}

template <typename Operators>
double mix_with(const Mixture& m, size_t begin, size_t end, float* coefficients) {
  const Operators operators(m);
  Floats confidence = {};
  for (size_t at = begin; at < end; at += kLanes) {
    const size_t n = end - at < kLanes ? end - at : kLanes;
    Floats z[kNumGates] = {}, p[kNumGates] = {}, truth[4];
    load_logits(m, operators, at, n, z);
    Floats scale = softmax(z, operators, 1.0f, p);
    for (size_t k = 0; k < n; ++k) confidence[k] += scale[k];
    if (m.hard) {
      harden(z, operators, p);
      scale = splat(1.0f);
    } else if (m.temperature != 1.0f) {
      scale = softmax(z, operators, m.temperature, p);
    }
    expect_truth(p, operators, truth);
    store_coefficients(truth, scale, at, n, coefficients);
  }
  double total = 0;
  for (size_t k = 0; k < kLanes; ++k) total += confidence[k];
  return total;
}

double mix_softmax(const Mixture& m, size_t begin, size_t end, float* coefficients) {
  return with_operators(m, [&](auto operators) { return mix_with<decltype(operators)>(m, begin, end, coefficients); });
}

// Gradients of the coefficients of n gates, summed over the shares, one vector per coefficient.
inline void load_gradients(const Shares& grads, size_t at, size_t n, Floats* grad) {
  for (size_t k = 0; k < 4 && k * kLanes < 4 * n; ++k) {
    const size_t rest = 4 * n - k * kLanes, count = rest < kLanes ? rest : kLanes;
    const float* first = grads.values + 4 * at + k * kLanes;
    for (size_t share = 0; share < grads.n; ++share) grad[k] += load_first(first + share * grads.stride, count);
  }
  split_quadruples(grad);
}

// Gradients of coefficients of 1, a, b, ab -> those of the truth table's entries.
inline void to_truth(const Floats* grad, Floats* truth) {
  truth[0] = grad[0] - grad[1] - grad[2] + grad[3];
  truth[1] = grad[2] - grad[3];
  truth[2] = grad[1] - grad[3];
  truth[3] = grad[3];
}

// Calls use(at, n, g) with the gradients g of the logits at .. at + n - 1, counted through all operators.
template <typename Operators, typename Use>
void for_each_gradient(const Mixture& m, size_t begin, size_t end, const Shares& grads, const Use& use) {
  const Operators operators(m);
  for (size_t at = begin; at < end; at += kLanes) {
    const size_t n = end - at < kLanes ? end - at : kLanes;
    Floats z[kNumGates] = {}, p[kNumGates] = {}, of_gate[kNumGates] = {}, grad[4] = {}, truth[4], mean = {};
    load_logits(m, operators, at, n, z);
    const Floats scale = softmax(z, operators, m.temperature, p);
    load_gradients(grads, at, n, grad);
    to_truth(grad, truth);
#pragma GCC unroll 16
    for (uint32_t k = 0; k < operators.n; ++k) {
#pragma GCC unroll 4
      for (int t = 0; t < 4; ++t)
        if (is_true(operators.gate(k), t)) of_gate[k] += truth[t];
      mean += p[k] * of_gate[k];
    }
    mean *= scale;
    const Floats factor = scale * (grads.scale / m.temperature);
#pragma GCC unroll 16
    for (uint32_t k = 0; k < operators.n; ++k) use(k * m.n_gates + at, n, p[k] * (of_gate[k] - mean) * factor);
  }
}

template <typename Use>
void use_gradients(const Mixture& m, size_t begin, size_t end, const Shares& grads, const Use& use) {
  with_operators(m, [&](auto operators) { for_each_gradient<decltype(operators)>(m, begin, end, grads, use); });
}

void mix_backward(const Mixture& m, size_t begin, size_t end, const Shares& grads, float* grad_logits) {
  use_gradients(m, begin, end, grads, [&](size_t at, size_t n, Floats g) { store_first(grad_logits + at, g, n); });
}

// Weights of many operators are streams that the hardware does not follow: ask for them as many floats ahead.
constexpr size_t kSoon = 32;

// A step of Adam for the weights at .. at + n - 1, given their gradients.
inline void step_adam(const Adam& adam, const Moments& moments, size_t at, size_t n, Floats grads) {
  Floats first = load_first(moments.first + at, n), second = load_first(moments.second + at, n);
  for (const float* each : {moments.first, moments.second, moments.weights}) __builtin_prefetch(each + at + kSoon, 1);
  first += (grads - first) * (1.0f - adam.beta1);
  second = second * adam.beta2 + grads * grads * (1.0f - adam.beta2);
  const Floats step = first * adam.rate / (sqrt_of(second) * adam.second_scale + adam.epsilon);
  store_first(moments.first + at, first, n);
  store_first(moments.second + at, second, n);
  store_first(moments.weights + at, load_first(moments.weights + at, n) - step, n);
}

void update_softmax(const Mixture& m, size_t begin, size_t end, const Shares& grads, const Adam& adam,
                    const Moments& moments) {
  use_gradients(m, begin, end, grads, [&](size_t at, size_t n, Floats g) { step_adam(adam, moments, at, n, g); });
}

}  // namespace
}  // namespace gatewise
