// The Python side of training: relaxed stacks, mixtures of gates, losses, and whole steps.
#include "bind/train.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <tuple>

#include "bind/arrays.hpp"
#include "bind/module.hpp"
#include "train/losses.hpp"
#include "train/mixtures.hpp"
#include "train/stack.hpp"
#include "train/step.hpp"

namespace nb = nanobind;
namespace gw = gatewise;
using namespace gatewise::binding;

namespace gatewise::binding {

Samples make_samples(size_t n_columns, const AnyMatrix& x) {
  const bool is_bytes = x.dtype() == nb::dtype<bool>() || x.dtype() == nb::dtype<uint8_t>();
  require(is_bytes || x.dtype() == nb::dtype<float>(), "samples must be float32, bool or uint8");
  require(x.shape(1) == n_columns, "samples must have as many columns as the stack has inputs, gradients as outputs");
  return {x.data(), is_bytes, x.shape(0), x.stride(0), x.stride(1)};
}

Samples make_bits(size_t n_inputs, const AnyMatrix& x, const Loss& loss, size_t n_groups) {
  const Samples samples = make_samples(n_inputs, x);
  require(samples.is_bytes && samples.column_stride == 1, "x must be bool or uint8, with the bits of a row together");
  require(samples.n_samples >= 1 && samples.n_samples == loss.n_samples(), "x and y must have equal lengths, not 0");
  require(samples.n_samples <= kMaxBitSamples, "x must have at most 32768 rows");
  require(loss.fits(n_groups), "y must be classes 0 .. groups - 1, or have one column per group");
  return samples;
}

std::vector<int32_t> copy_operands(const Array<int32_t>& operands, size_t width) {
  std::vector<int32_t> copied = copy(operands);
  for (const int32_t wire : copied)
    require(wire >= 0 && static_cast<size_t>(wire) < width, "operands must index the layer before");
  return copied;
}

void check_wires(const Wires& wires) {
  const auto& [a, b, n_gates] = wires;
  require(a.size() == b.size(), "operands a and b must have equal lengths");
  require(n_gates == 0 || (a.size() >= n_gates && a.size() % n_gates == 0), "operands must be as many for every gate");
}

Adam make_adam(const AdamSettings& settings) {
  const auto [rate, beta1, beta2, epsilon, step] = settings;
  const double exponent = static_cast<double>(step);
  return {static_cast<float>(rate / (1 - std::pow(beta1, exponent))), static_cast<float>(beta1),
          static_cast<float>(beta2), static_cast<float>(epsilon),
          static_cast<float>(1 / std::sqrt(1 - std::pow(beta2, exponent)))};
}

std::vector<Moments> Weights::check(size_t n_gates) const {
  require(first.size() == values.size() && second.size() == values.size(), "moments must be one per layer");
  std::vector<Moments> moments;
  size_t n_columns = 0;
  for (size_t i = 0; i < values.size(); ++i) {
    for (const FloatsOut& moment : {first[i], second[i]})
      require(moment.shape(0) == values[i].shape(0) && moment.shape(1) == values[i].shape(1),
              "moments must have the shapes of weights");
    n_columns += values[i].shape(1);
    moments.push_back({values[i].data(), first[i].data(), second[i].data()});
  }
  require(n_columns == n_gates, "weights must have one column per gate");
  return moments;
}

}  // namespace gatewise::binding

namespace {

using StridedOut = StridedMatrix<float>;

void make_stack(gw::RelaxedStack* stack, uint32_t n_inputs, const std::vector<Wires>& layers, uint32_t n_groups) {
  std::vector<gw::RelaxedStack::Wiring> wirings;
  uint32_t width = n_inputs;
  for (const Wires& wires : layers) {
    const auto& [a, b, n_gates] = wires;
    check_wires(wires);
    wirings.push_back({copy_operands(a, width + 1), copy_operands(b, width + 1), n_gates});
    width = static_cast<uint32_t>(a.size());
  }
  require(n_groups == 0 || width % n_groups == 0, "n_groups must divide the width of the last layer");
  new (stack) gw::RelaxedStack(n_inputs, std::move(wirings), n_groups);
}

gw::SamplesOut make_output(const StridedOut& array, const gw::Samples& x, size_t n_columns, const char* rule) {
  require(array.shape(0) == x.n_samples && array.shape(1) == n_columns, rule);
  return {array.data(), array.stride(0), array.stride(1)};
}

template <typename Floats>
void require_coefficients(const Floats& coefficients, size_t n_gates) {
  require(coefficients.shape(0) == n_gates && coefficients.shape(1) == 4,
          "coefficients and their gradients must be n_gates x 4");
}

void forward(const gw::RelaxedStack& stack, AnyMatrix x, FloatsIn coefficients, StridedOut y, gw::Pool& pool) {
  const gw::Samples samples = make_samples(stack.n_inputs(), x);
  require_coefficients(coefficients, stack.n_gates());
  const gw::SamplesOut to = make_output(y, samples, stack.n_outputs(), "y must be n_samples x n_outputs");
  nb::gil_scoped_release unlocked;
  stack.forward(samples, coefficients.data(), to, pool);
}

void backward(const gw::RelaxedStack& stack, AnyMatrix x, FloatsIn coefficients, AnyMatrix grad_y,
              FloatsOut grad_coefficients, std::optional<StridedOut> grad_x, gw::Pool& pool) {
  const gw::Samples samples = make_samples(stack.n_inputs(), x), grads = make_samples(stack.n_outputs(), grad_y);
  require_coefficients(coefficients, stack.n_gates());
  require_coefficients(grad_coefficients, stack.n_gates());
  require(grads.n_samples == samples.n_samples, "grad_y must have as many rows as x");
  std::optional<gw::SamplesOut> to_x;
  if (grad_x) to_x = make_output(*grad_x, samples, stack.n_inputs(), "grad_x must be n_samples x n_inputs");
  nb::gil_scoped_release unlocked;
  stack.backward(samples, coefficients.data(), grads, grad_coefficients.data(), to_x ? &*to_x : nullptr, pool);
}

gw::Mixtures make_mixtures(const std::vector<FloatsIn>& logits, const Array<uint8_t>& gates, float temperature,
                           bool hard) {
  std::vector<gw::Mixture> layers;
  for (const FloatsIn& each : logits) layers.push_back(make_mixture(each, copy(gates), temperature, hard));
  return gw::Mixtures(std::move(layers));
}

double mix(const std::vector<FloatsIn>& logits, Array<uint8_t> gates, float temperature, bool hard,
           FloatsOut coefficients, gw::Pool& pool) {
  const gw::Mixtures mixtures = make_mixtures(logits, gates, temperature, hard);
  require_coefficients(coefficients, mixtures.n_gates());
  nb::gil_scoped_release unlocked;
  return mixtures.mix(coefficients.data(), pool);
}

void mix_backward(const std::vector<FloatsIn>& logits, Array<uint8_t> gates, float temperature,
                  FloatsIn grad_coefficients, const std::vector<FloatsOut>& grad_logits, gw::Pool& pool) {
  const gw::Mixtures mixtures = make_mixtures(logits, gates, temperature, false);
  require_coefficients(grad_coefficients, mixtures.n_gates());
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

using Scale = std::pair<float, float>;  // factor and summand of the sums
using RowWeights = std::optional<Array<float>>;

gw::Loss finish_loss(gw::Loss loss, Scale head, const RowWeights& weight) {
  loss.head = {head.first, head.second};
  if (!weight) return loss;
  require(weight->size() == loss.n_samples(), "weight must have one value per row");
  loss.weights = copy(*weight);
  return loss;
}

gw::Loss cross_entropy(Array<int64_t> y, float smoothing, Scale head, RowWeights weight) {
  std::vector<int32_t> classes;
  classes.reserve(y.size());
  for (const int64_t each : copy(y)) {
    require(each >= 0 && each <= std::numeric_limits<int32_t>::max(), "y must be classes 0 .. groups - 1");
    classes.push_back(static_cast<int32_t>(each));
  }
  return finish_loss(gw::Loss::cross_entropy(std::move(classes), smoothing), head, weight);
}

gw::Loss binary(FloatsIn y, Scale head, RowWeights weight) {
  return finish_loss(gw::Loss::binary(copy(y), y.shape(0)), head, weight);
}

gw::Loss squared(FloatsIn y, Scale head, RowWeights weight) {
  return finish_loss(gw::Loss::squared(copy(y), y.shape(0)), head, weight);
}

// Holds on to the arrays that a step changes.
class Stepper {
 public:
  Stepper(const gw::RelaxedStack& stack, Array<uint8_t> gates, std::vector<FloatsOut> weights,
          std::vector<FloatsOut> first, std::vector<FloatsOut> second, std::vector<float> scales)
      : stack_(stack),
        gates_(copy(gates)),
        weights_{std::move(weights), std::move(first), std::move(second)},
        scales_(std::move(scales)),
        coefficients_(4 * stack.n_gates()),
        moments_(weights_.check(stack.n_gates())) {
    require(scales_.size() == moments_.size(), "scales must be one per layer");
  }

  // Returns the loss and the confidence. The logits are the weights, unless others are given.
  std::pair<double, double> run(AnyMatrix x, const gw::Loss& loss, const std::optional<std::vector<FloatsIn>>& logits,
                                float temperature, bool hard, AdamSettings adam, gw::Pool& pool) {
    const gw::Samples samples = make_samples(stack_.n_inputs(), x);
    require(samples.n_samples >= 1 && samples.n_samples == loss.n_samples(), "x and y must have equal lengths, not 0");
    require(loss.fits(stack_.n_outputs()), "y must be classes 0 .. groups - 1, or have one column per group");
    require(!logits || logits->size() == moments_.size(), "logits must be one per layer");
    std::vector<gw::Mixture> layers;
    for (size_t i = 0; i < moments_.size(); ++i) {
      layers.push_back(logits ? make_mixture((*logits)[i], gates_, temperature, hard)
                              : make_mixture(weights_.values[i], gates_, temperature, hard));
      require(layers[i].n_gates == weights_.values[i].shape(1), "logits must have the shapes of weights");
    }
    const gw::Mixtures mixtures(std::move(layers));
    nb::gil_scoped_release unlocked;
    const gw::TrainStep step{stack_, mixtures, moments_, scales_, coefficients_.data()};
    const gw::StepReport report = step.run(samples, loss, make_adam(adam), pool);
    return {report.loss, report.confidence};
  }

 private:
  const gw::RelaxedStack& stack_;
  const std::vector<uint8_t> gates_;
  const Weights weights_;
  const std::vector<float> scales_;
  std::vector<float> coefficients_;
  const std::vector<gw::Moments> moments_;
};

}  // namespace

void bind_train(nb::module_& m) {
  nb::class_<gw::RelaxedStack>(m, "RelaxedStack")
      .def("__init__", &make_stack, nb::arg("n_inputs"), nb::arg("layers"), nb::arg("n_groups"))
      .def("forward", &forward)
      .def("backward", &backward, nb::arg("x"), nb::arg("coefficients"), nb::arg("grad_y"),
           nb::arg("grad_coefficients"), nb::arg("grad_x").none(), nb::arg("pool"));
  m.def("mix", &mix);
  m.def("mix_backward", &mix_backward);
  nb::class_<gw::Loss>(m, "Loss")
      .def_static("cross_entropy", &cross_entropy, nb::arg("y"), nb::arg("smoothing"), nb::kw_only(), nb::arg("head"),
                  nb::arg("weight").none())
      .def_static("binary", &binary, nb::arg("y"), nb::kw_only(), nb::arg("head"), nb::arg("weight").none())
      .def_static("squared", &squared, nb::arg("y"), nb::kw_only(), nb::arg("head"), nb::arg("weight").none());
  nb::class_<Stepper>(m, "TrainStep")
      .def(nb::init<const gw::RelaxedStack&, Array<uint8_t>, std::vector<FloatsOut>, std::vector<FloatsOut>,
                    std::vector<FloatsOut>, std::vector<float>>(),
           nb::keep_alive<1, 2>())
      .def("run", &Stepper::run, nb::arg("x"), nb::arg("loss"), nb::kw_only(), nb::arg("logits").none(),
           nb::arg("temperature"), nb::arg("hard"), nb::arg("adam"), nb::arg("pool"));
}
