// What the bindings of training share.
#pragma once

#include <cstdint>
#include <tuple>
#include <vector>

#include "bind/arrays.hpp"
#include "train/losses.hpp"
#include "train/mixtures.hpp"
#include "train/samples.hpp"

namespace gatewise::binding {

using FloatsIn = Matrix<const float>;
using FloatsOut = Matrix<float>;

// float32 or 0/1 bytes, n_columns of them per row.
Samples make_samples(size_t n_columns, const AnyMatrix& x);

// The rows of a step on bits; raises ValueError unless they are that, and fit the loss of so many groups.
Samples make_bits(size_t n_inputs, const AnyMatrix& x, const Loss& loss, size_t n_groups);

template <typename Value>
using Cube = nanobind::ndarray<Value, nanobind::ndim<3>, nanobind::c_contig, nanobind::device::cpu>;

// Candidates, logits and both moments of a layer's pins: pins x outputs x candidates each.
using PinArrays = std::tuple<Cube<const int32_t>, Cube<float>, Cube<float>, Cube<float>>;

// Operands of a layer's outputs, and how many gates they share; 0: outputs are the larger of their operands.
using Wires = std::tuple<Array<int32_t>, Array<int32_t>, size_t>;

// Raises ValueError unless both operands are as many for every gate.
void check_wires(const Wires& wires);

std::vector<int32_t> copy_operands(const Array<int32_t>& operands, size_t width);

using AdamSettings = std::tuple<double, double, double, double, int64_t>;  // rate, two betas, epsilon, step from 1

Adam make_adam(const AdamSettings& settings);

template <typename Logits>
Mixture make_mixture(const Logits& logits, const std::vector<uint8_t>& gates, float temperature, bool hard) {
  require(!gates.empty() && gates.size() <= kNumGates, "operators must number 1 to 16");
  require(temperature > 0, "temperature must be positive");
  require(logits.shape(0) == gates.size(), "logits must have one row per operator");
  Mixture mixture{logits.data(), logits.shape(1), {}, static_cast<uint32_t>(gates.size()), temperature, hard};
  for (size_t k = 0; k < gates.size(); ++k) {
    require(gates[k] < kNumGates, "operators must be below 16");
    mixture.gates[k] = gates[k];
  }
  return mixture;
}

// Gates whose truth tables are learned, given the angles of their entries.
template <typename Angles>
Mixture make_light(const Angles& angles) {
  require(angles.shape(0) == 4, "weights must have four rows, one per entry of the truth table");
  return {angles.data(), angles.shape(1), {}, 0, 1.0f, false, true};
}

// The weights of all layers and the moments of Adam, as arrays that a step changes and holds on to.
struct Weights {
  std::vector<FloatsOut> values, first, second;

  // What a step changes, layer by layer; raises ValueError unless the shapes agree, with one column per gate.
  std::vector<Moments> check(size_t n_gates) const;
};

}  // namespace gatewise::binding
