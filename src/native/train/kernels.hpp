// Differentiable gates on the CPU: the relaxation of a gate is c0 + c1 a + c2 b + c3 ab, with coefficients that mix the
// 16 gates. A network runs on *tiles*: 16 samples side by side, so that one wire of a tile is one cache line and a
// whole layer of a tile stays near the core. The kernels are compiled once per target: see simd/targets.hpp.
#pragma once

#include <cstddef>
#include <cstdint>

#include "circuit/gates.hpp"
#include "train/bits/kernels.hpp"
#include "train/bits/tables.hpp"

namespace gatewise {

constexpr size_t kTile = 16;

// One layer: output i reads rows a[i] and b[i] of its input by gate g = i / n_positions, which has coefficients
// [4 g .. 4 g + 3] of 1, a, b and ab; or, without coefficients, is the larger of the two. Row n_in of the input is 0.
struct RelaxedLayer {
  uint32_t n_in, n_out;
  const int32_t* a;
  const int32_t* b;
  const float* coefficients;
  size_t n_positions;
};

// How logits become coefficients. Row k of the logits (n_gates apart) belongs to the operator gates[k]; or, if the
// gates are light, to entry k of the truth table, of which it is the angle.
struct Mixture {
  const float* logits;
  size_t n_gates;
  uint8_t gates[kNumGates];
  uint32_t n_operators;
  float temperature;  // of the softmax that gradients see
  bool hard;          // forward takes the operator with the largest logit, the lowest on ties
  bool is_light = false;
};

// Gradients of coefficients, summed in several shares that are still to be added up and multiplied by `scale`: share s
// of gate i begins at values[s * stride + 4 i].
struct Shares {
  const float* values;
  size_t n, stride;
  float scale;
};

// A step of Adam: `rate` and `second_scale` contain the corrections of its bias, the latter as a square root.
struct Adam {
  float rate, beta1, beta2, epsilon, second_scale;
};

// What a step of Adam changes, laid out like the logits.
struct Moments {
  float* weights;
  float* first;
  float* second;
};

struct TrainKernels {
  // Rows of kTile values: y[i] = gate i of x.
  void (*forward)(const RelaxedLayer& layer, const float* x, float* y);
  // Adds to grad_x (if not null) what grad_y says, and to grad_coefficients, which are overwritten if `is_first`.
  void (*backward)(const RelaxedLayer& layer, const float* x, const float* grad_y, float* grad_x,
                   float* grad_coefficients, bool is_first);
  // Gates begin .. end - 1: their coefficients, and the sum of the largest probability of each at temperature 1.
  double (*mix)(const Mixture& mixture, size_t begin, size_t end, float* coefficients);
  // Gradients of the logits from those of the coefficients.
  void (*mix_backward)(const Mixture& mixture, size_t begin, size_t end, const Shares& grads, float* grad_logits);
  // The same, used at once for a step of Adam.
  void (*update)(const Mixture& mixture, size_t begin, size_t end, const Shares& grads, const Adam& adam,
                 const Moments& moments);
  BitKernels bits;
  TableKernels tables;
};

}  // namespace gatewise
