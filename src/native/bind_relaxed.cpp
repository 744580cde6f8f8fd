// The Python side of training: argument checks and array plumbing for RelaxedStack and the mixture of gates.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/vector.h>

#include <algorithm>

#include "bind.hpp"
#include "relaxed_stack.hpp"

namespace nb = nanobind;
namespace gw = gatewise;

namespace {

using Operands = nb::ndarray<const int32_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Bytes = nb::ndarray<const uint8_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using FloatsIn = nb::ndarray<const float, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using FloatsOut = nb::ndarray<float, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using SamplesIn = nb::ndarray<nb::ro, nb::ndim<2>, nb::device::cpu>;

void require(bool ok, const char* message) {
  if (!ok) throw nb::value_error(message);
}

std::vector<int32_t> copy_operands(const Operands& operands, uint32_t width) {
  std::vector<int32_t> copy(operands.data(), operands.data() + operands.size());
  for (const int32_t wire : copy)
    require(wire >= 0 && static_cast<uint32_t>(wire) < width, "operands must index the layer before");
  return copy;
}

void make_stack(gw::RelaxedStack* stack, uint32_t n_inputs, const std::vector<std::pair<Operands, Operands>>& layers,
                uint32_t n_groups) {
  std::vector<gw::RelaxedStack::Wiring> wirings;
  uint32_t width = n_inputs;
  for (const auto& [a, b] : layers) {
    require(a.size() == b.size(), "operands a and b must have equal lengths");
    wirings.push_back({copy_operands(a, width), copy_operands(b, width)});
    width = static_cast<uint32_t>(a.size());
  }
  require(n_groups == 0 || width % n_groups == 0, "n_groups must divide the width of the last layer");
  new (stack) gw::RelaxedStack(n_inputs, std::move(wirings), n_groups);
}

gw::Samples make_samples(const gw::RelaxedStack& stack, const SamplesIn& x) {
  const bool is_bytes = x.dtype() == nb::dtype<bool>() || x.dtype() == nb::dtype<uint8_t>();
  require(is_bytes || x.dtype() == nb::dtype<float>(), "x must be float32, bool or uint8");
  require(x.shape(1) == stack.n_inputs(), "x must have as many columns as the stack has inputs");
  return {x.data(), is_bytes, x.shape(0), x.stride(0), x.stride(1)};
}

void forward(const gw::RelaxedStack& stack, SamplesIn x, FloatsIn coefficients, FloatsOut y, gw::Pool& pool) {
  const gw::Samples samples = make_samples(stack, x);
  require(coefficients.shape(0) == stack.n_gates() && coefficients.shape(1) == 4, "coefficients must be n_gates x 4");
  require(y.shape(0) == samples.n_samples && y.shape(1) == stack.n_outputs(), "y must be n_samples x n_outputs");
  const float* c = coefficients.data();
  nb::gil_scoped_release unlocked;
  stack.forward(samples, c, y.data(), pool);
}

void backward(const gw::RelaxedStack& stack, SamplesIn x, FloatsIn coefficients, FloatsIn grad_y,
              FloatsOut grad_coefficients, std::optional<FloatsOut> grad_x, gw::Pool& pool) {
  const gw::Samples samples = make_samples(stack, x);
  require(coefficients.shape(0) == stack.n_gates() && coefficients.shape(1) == 4, "coefficients must be n_gates x 4");
  require(grad_coefficients.shape(0) == stack.n_gates() && grad_coefficients.shape(1) == 4,
          "grad_coefficients must be n_gates x 4");
  require(grad_y.shape(0) == samples.n_samples && grad_y.shape(1) == stack.n_outputs(),
          "grad_y must be n_samples x n_outputs");
  require(!grad_x || (grad_x->shape(0) == samples.n_samples && grad_x->shape(1) == stack.n_inputs()),
          "grad_x must be n_samples x n_inputs");
  float* to_x = grad_x ? grad_x->data() : nullptr;
  nb::gil_scoped_release unlocked;
  stack.backward(samples, coefficients.data(), grad_y.data(), grad_coefficients.data(), to_x, pool);
}

constexpr size_t kMixChunk = 1024;

// One layer's mixture and where its rows begin in the coefficients of all layers.
struct Part {
  gw::Mixture mixture;
  size_t first;
  float* grad_logits;
};

std::vector<Part> make_parts(const std::vector<FloatsIn>& logits, const Bytes& gates, float temperature, bool hard) {
  require(gates.size() >= 1 && gates.size() <= 16, "operators must number 1 to 16");
  for (size_t k = 0; k < gates.size(); ++k) require(gates.data()[k] < 16, "operators must be below 16");
  require(temperature > 0, "temperature must be positive");
  std::vector<Part> parts;
  size_t first = 0;
  for (const FloatsIn& z : logits) {
    require(z.shape(0) == gates.size(), "logits must have one row an operator");
    const auto n_operators = static_cast<uint32_t>(gates.size());
    parts.push_back({{z.data(), z.shape(1), gates.data(), n_operators, temperature, hard}, first, nullptr});
    first += z.shape(1);
  }
  return parts;
}

size_t count_gates(const std::vector<Part>& parts) {
  return parts.empty() ? 0 : parts.back().first + parts.back().mixture.n_gates;
}

struct Chunk {
  const Part* part;
  size_t begin, end;
};

std::vector<Chunk> cut(const std::vector<Part>& parts) {
  std::vector<Chunk> chunks;
  for (const Part& part : parts)
    for (size_t begin = 0; begin < part.mixture.n_gates; begin += kMixChunk)
      chunks.push_back({&part, begin, std::min(begin + kMixChunk, part.mixture.n_gates)});
  return chunks;
}

// The mean over all gates of the largest probability, which is how sure the network is of its gates.
double mix(const std::vector<FloatsIn>& logits, Bytes gates, float temperature, bool hard, FloatsOut coefficients,
           gw::Pool& pool) {
  const std::vector<Part> parts = make_parts(logits, gates, temperature, hard);
  require(coefficients.shape(0) == count_gates(parts) && coefficients.shape(1) == 4,
          "coefficients must be n_gates x 4");
  const std::vector<Chunk> chunks = cut(parts);
  std::vector<double> confidence(chunks.size());
  nb::gil_scoped_release unlocked;
  pool.run(chunks.size(), [&](size_t, size_t i) {
    const auto& [part, begin, end] = chunks[i];
    float* to = coefficients.data() + 4 * part->first;
    confidence[i] = gw::relaxed_kernels().mix(part->mixture, begin, end, to);
  });
  double total = 0;
  for (const double each : confidence) total += each;
  return total / static_cast<double>(count_gates(parts));
}

void mix_backward(const std::vector<FloatsIn>& logits, Bytes gates, float temperature, FloatsIn grad_coefficients,
                  const std::vector<FloatsOut>& grad_logits, gw::Pool& pool) {
  std::vector<Part> parts = make_parts(logits, gates, temperature, false);
  require(grad_coefficients.shape(0) == count_gates(parts) && grad_coefficients.shape(1) == 4,
          "grad_coefficients must be n_gates x 4");
  require(grad_logits.size() == parts.size(), "grad_logits must be as many as logits");
  for (size_t i = 0; i < parts.size(); ++i) {
    require(grad_logits[i].shape(0) == gates.size() && grad_logits[i].shape(1) == parts[i].mixture.n_gates,
            "grad_logits must have the shapes of logits");
    parts[i].grad_logits = grad_logits[i].data();
  }
  const std::vector<Chunk> chunks = cut(parts);
  nb::gil_scoped_release unlocked;
  pool.run(chunks.size(), [&](size_t, size_t i) {
    const auto& [part, begin, end] = chunks[i];
    const float* from = grad_coefficients.data() + 4 * part->first;
    gw::relaxed_kernels().mix_backward(part->mixture, begin, end, from, part->grad_logits);
  });
}

}  // namespace

void bind_relaxed(nb::module_& m) {
  nb::class_<gw::Pool>(m, "Pool").def("__init__", [](gw::Pool* pool, unsigned threads) {
    require(threads >= 1, "threads must be at least 1");
    new (pool) gw::Pool(threads);
  });
  nb::class_<gw::RelaxedStack>(m, "RelaxedStack")
      .def("__init__", &make_stack)
      .def("forward", &forward)
      .def("backward", &backward, nb::arg("x"), nb::arg("coefficients"), nb::arg("grad_y"),
           nb::arg("grad_coefficients"), nb::arg("grad_x").none(), nb::arg("pool"));
  m.def("mix", &mix);
  m.def("mix_backward", &mix_backward);
}
