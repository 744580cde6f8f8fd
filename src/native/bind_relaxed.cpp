// The Python side of training: argument checks and array plumbing for RelaxedStack and the mixture of gates.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/vector.h>

#include "bind_floats.hpp"

namespace nb = nanobind;
namespace gw = gatewise;

using namespace gatewise::binding;

namespace {

using Operands = nb::ndarray<const int32_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using StridedOut = nb::ndarray<float, nb::ndim<2>, nb::device::cpu>;

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

gw::SamplesOut make_output(const StridedOut& array, const gw::Samples& x, size_t n_columns, const char* rule) {
  require(array.shape(0) == x.n_samples && array.shape(1) == n_columns, rule);
  return {array.data(), array.stride(0), array.stride(1)};
}

void forward(const gw::RelaxedStack& stack, SamplesIn x, FloatsIn coefficients, StridedOut y, gw::Pool& pool) {
  const gw::Samples samples = make_samples(stack.n_inputs(), x);
  require(coefficients.shape(0) == stack.n_gates() && coefficients.shape(1) == 4, "coefficients must be n_gates x 4");
  const gw::SamplesOut to = make_output(y, samples, stack.n_outputs(), "y must be n_samples x n_outputs");
  const float* c = coefficients.data();
  nb::gil_scoped_release unlocked;
  stack.forward(samples, c, to, pool);
}

void backward(const gw::RelaxedStack& stack, SamplesIn x, FloatsIn coefficients, SamplesIn grad_y,
              FloatsOut grad_coefficients, std::optional<StridedOut> grad_x, gw::Pool& pool) {
  const gw::Samples samples = make_samples(stack.n_inputs(), x), grads = make_samples(stack.n_outputs(), grad_y);
  require(coefficients.shape(0) == stack.n_gates() && coefficients.shape(1) == 4, "coefficients must be n_gates x 4");
  require(grad_coefficients.shape(0) == stack.n_gates() && grad_coefficients.shape(1) == 4,
          "grad_coefficients must be n_gates x 4");
  require(grads.n_samples == samples.n_samples, "grad_y must have as many rows as x");
  std::optional<gw::SamplesOut> to_x;
  if (grad_x) to_x = make_output(*grad_x, samples, stack.n_inputs(), "grad_x must be n_samples x n_inputs");
  nb::gil_scoped_release unlocked;
  stack.backward(samples, coefficients.data(), grads, grad_coefficients.data(), to_x ? &*to_x : nullptr, pool);
}

gw::Mixtures make_mixtures(const std::vector<FloatsIn>& logits, const Bytes& gates, float temperature, bool hard) {
  std::vector<gw::Mixture> layers;
  for (const FloatsIn& z : logits) layers.push_back(make_mixture(z, gates, temperature, hard));
  return gw::Mixtures(std::move(layers));
}

double mix(const std::vector<FloatsIn>& logits, Bytes gates, float temperature, bool hard, FloatsOut coefficients,
           gw::Pool& pool) {
  const gw::Mixtures mixtures = make_mixtures(logits, gates, temperature, hard);
  require(coefficients.shape(0) == mixtures.n_gates() && coefficients.shape(1) == 4,
          "coefficients must be n_gates x 4");
  nb::gil_scoped_release unlocked;
  return mixtures.mix(coefficients.data(), pool);
}

void mix_backward(const std::vector<FloatsIn>& logits, Bytes gates, float temperature, FloatsIn grad_coefficients,
                  const std::vector<FloatsOut>& grad_logits, gw::Pool& pool) {
  const gw::Mixtures mixtures = make_mixtures(logits, gates, temperature, false);
  require(grad_coefficients.shape(0) == mixtures.n_gates() && grad_coefficients.shape(1) == 4,
          "grad_coefficients must be n_gates x 4");
  require(grad_logits.size() == logits.size(), "grad_logits must be as many as logits");
  std::vector<float*> to;
  for (size_t i = 0; i < logits.size(); ++i) {
    require(grad_logits[i].shape(0) == logits[i].shape(0) && grad_logits[i].shape(1) == logits[i].shape(1),
            "grad_logits must have the shapes of logits");
    to.push_back(grad_logits[i].data());
  }
  nb::gil_scoped_release unlocked;
  mixtures.backward({grad_coefficients.data(), 1, 0, 1.0f}, to, pool);
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
