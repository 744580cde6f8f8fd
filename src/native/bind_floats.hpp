// Arrays of floats from Python, checked: what the bindings of training share.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include "bind.hpp"
#include "mixtures.hpp"
#include "relaxed_stack.hpp"

namespace gatewise::binding {

namespace nb = nanobind;

using Bytes = nb::ndarray<const uint8_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using FloatsIn = nb::ndarray<const float, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using FloatsOut = nb::ndarray<float, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using SamplesIn = nb::ndarray<nb::ro, nb::ndim<2>, nb::device::cpu>;

inline void require(bool ok, const char* message) {
  if (!ok) throw nb::value_error(message);
}

inline Samples make_samples(size_t n_columns, const SamplesIn& x) {
  const bool is_bytes = x.dtype() == nb::dtype<bool>() || x.dtype() == nb::dtype<uint8_t>();
  require(is_bytes || x.dtype() == nb::dtype<float>(), "samples must be float32, bool or uint8");
  require(x.shape(1) == n_columns, "samples must have as many columns as the stack has inputs, gradients as outputs");
  return {x.data(), is_bytes, x.shape(0), x.stride(0), x.stride(1)};
}

template <typename Logits>
Mixture make_mixture(const Logits& logits, const Bytes& gates, float temperature, bool hard) {
  require(gates.size() >= 1 && gates.size() <= 16, "operators must number 1 to 16");
  for (size_t k = 0; k < gates.size(); ++k) require(gates.data()[k] < 16, "operators must be below 16");
  require(temperature > 0, "temperature must be positive");
  require(logits.shape(0) == gates.size(), "logits must have one row an operator");
  return {logits.data(), logits.shape(1), gates.data(), static_cast<uint32_t>(gates.size()), temperature, hard};
}

}  // namespace gatewise::binding
