// The Python side of TrainStep: holds on to the arrays that a step changes, and checks what each step is given.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <cmath>
#include <string>
#include <tuple>

#include "bind_floats.hpp"
#include "train_step.hpp"

namespace nb = nanobind;
namespace gw = gatewise;
using namespace gatewise::binding;

namespace {

using Classes = nb::ndarray<const int64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Weights = nb::ndarray<const float, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using AdamSettings = std::tuple<double, double, double, double, int64_t>;  // rate, two betas, epsilon, step from 1
using Head = std::pair<float, float>;                                      // scale, shift

class Stepper {
 public:
  Stepper(const gw::RelaxedStack& stack, Bytes gates, std::vector<FloatsOut> weights, std::vector<FloatsOut> first,
          std::vector<FloatsOut> second, std::vector<float> scales)
      : stack_(stack), gates_(gates), weights_(weights), first_(first), second_(second), scales_(std::move(scales)) {
    const size_t n = weights.size();
    require(first.size() == n && second.size() == n && scales_.size() == n, "moments and scales must be one a layer");
    size_t n_gates = 0;
    for (size_t i = 0; i < n; ++i) {
      for (const FloatsOut& moment : {first[i], second[i]})
        require(moment.shape(0) == weights[i].shape(0) && moment.shape(1) == weights[i].shape(1),
                "moments must have the shapes of weights");
      n_gates += weights[i].shape(1);
      moments_.push_back({weights[i].data(), first[i].data(), second[i].data()});
    }
    require(n_gates == stack.n_gates(), "weights must have one column a gate");
    coefficients_.resize(4 * n_gates);
  }

  // Returns the loss and the confidence.
  std::pair<double, double> run(SamplesIn x, const gw::Loss& loss, const std::optional<std::vector<FloatsIn>>& logits,
                                float temperature, bool hard, AdamSettings settings, gw::Pool& pool) {
    const gw::Samples samples = make_samples(stack_.n_inputs(), x);
    require(samples.n_samples >= 1 && samples.n_samples == loss.n_samples, "x and y must have equal lengths, not 0");
    require(loss.n_groups == stack_.n_outputs(), "groups must be those of the stack");
    std::vector<gw::Mixture> layers;
    for (size_t i = 0; i < weights_.size(); ++i) {
      layers.push_back(logits ? make_mixture(logits->at(i), gates_, temperature, hard)
                              : make_mixture(weights_[i], gates_, temperature, hard));
      require(layers[i].n_gates == weights_[i].shape(1), "logits must have the shapes of weights");
    }
    const auto [rate, beta1, beta2, epsilon, step] = settings;
    const double exponent = static_cast<double>(step);
    const gw::Adam adam{static_cast<float>(rate / (1 - std::pow(beta1, exponent))), static_cast<float>(beta1),
                        static_cast<float>(beta2), static_cast<float>(epsilon),
                        static_cast<float>(1 / std::sqrt(1 - std::pow(beta2, exponent)))};
    const gw::Mixtures mixtures(std::move(layers));
    nb::gil_scoped_release unlocked;
    const gw::TrainStep whole{stack_, mixtures, moments_, scales_, coefficients_.data()};
    const gw::StepReport report = whole.run(samples, loss, adam, pool);
    return {report.loss, report.confidence};
  }

  uint32_t n_groups() const { return stack_.n_outputs(); }

 private:
  const gw::RelaxedStack& stack_;
  Bytes gates_;
  std::vector<FloatsOut> weights_, first_, second_;
  std::vector<float> scales_, coefficients_;
  std::vector<gw::Moments> moments_;
};

const float* check_weights(const std::optional<Weights>& weights, size_t n_samples) {
  if (!weights) return nullptr;
  require(weights->size() == n_samples, "weight must have one value a row");
  return weights->data();
}

auto run_classes(Stepper& stepper, SamplesIn x, Classes y, std::optional<Weights> weights, float smoothing, Head head,
                 std::optional<std::vector<FloatsIn>> logits, float temperature, bool hard, AdamSettings adam,
                 gw::Pool& pool) {
  const size_t n_groups = stepper.n_groups();
  for (size_t i = 0; i < y.size(); ++i)
    require(y.data()[i] >= 0 && static_cast<uint64_t>(y.data()[i]) < n_groups, "y must be classes 0 .. groups - 1");
  const gw::Loss loss{
      gw::Loss::Kind::kCrossEntropy,   y.size(), n_groups, head.first, head.second, smoothing, y.data(), nullptr,
      check_weights(weights, y.size())};
  return stepper.run(x, loss, logits, temperature, hard, adam, pool);
}

auto run_targets(Stepper& stepper, SamplesIn x, FloatsIn y, std::optional<Weights> weights, bool binary, Head head,
                 std::optional<std::vector<FloatsIn>> logits, float temperature, bool hard, AdamSettings adam,
                 gw::Pool& pool) {
  require(y.shape(1) == stepper.n_groups(), "y must have one column a group");
  const auto kind = binary ? gw::Loss::Kind::kBinary : gw::Loss::Kind::kSquared;
  const gw::Loss loss{kind,       y.shape(0),  y.shape(1),
                      head.first, head.second, 0.0f,
                      nullptr,    y.data(),    check_weights(weights, y.shape(0))};
  return stepper.run(x, loss, logits, temperature, hard, adam, pool);
}

}  // namespace

void bind_train_step(nb::module_& m) {
  nb::class_<Stepper>(m, "TrainStep")
      .def(nb::init<const gw::RelaxedStack&, Bytes, std::vector<FloatsOut>, std::vector<FloatsOut>,
                    std::vector<FloatsOut>, std::vector<float>>(),
           nb::keep_alive<1, 2>())
      .def("run_classes", &run_classes, nb::arg("x"), nb::arg("y"), nb::arg("weight").none(), nb::arg("smoothing"),
           nb::arg("head"), nb::arg("logits").none(), nb::arg("temperature"), nb::arg("hard"), nb::arg("adam"),
           nb::arg("pool"))
      .def("run_targets", &run_targets, nb::arg("x"), nb::arg("y"), nb::arg("weight").none(), nb::arg("binary"),
           nb::arg("head"), nb::arg("logits").none(), nb::arg("temperature"), nb::arg("hard"), nb::arg("adam"),
           nb::arg("pool"));
}
