// The Python side of training on bits.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <optional>
#include <utility>

#include "bind/module.hpp"
#include "bind/train.hpp"
#include "train/bits/step.hpp"

namespace nb = nanobind;
namespace gw = gatewise;
using namespace gatewise::binding;

namespace {

// The wires of a window's values, n_values x n_positions, of pins that positions share and whose candidates are values.
using WindowArray = Matrix<const int32_t>;

// A stack of gates on bits, and all that a step of it changes. Without operators `gates` the weights are the angles of
// truth tables. Layers are rounded as in BitStack::Wiring; `rounded` is of all or of none.
class BitStepper {
 public:
  BitStepper(uint32_t n_inputs, const std::vector<std::optional<Wires>>& wires,
             std::vector<std::optional<PinArrays>> pins, const std::vector<std::optional<WindowArray>>& windows,
             uint32_t n_groups, Array<uint8_t> gates, std::vector<FloatsOut> weights, std::vector<FloatsOut> first,
             std::vector<FloatsOut> second, std::vector<float> scales, const std::vector<bool>& frozen,
             const std::vector<bool>& rounded)
      : pins_(std::move(pins)),
        stack_(n_inputs, make_wirings(n_inputs, wires, windows, rounded), n_groups),
        gates_(copy(gates)),
        weights_{std::move(weights), std::move(first), std::move(second)},
        scales_(std::move(scales)),
        moments_(weights_.check(stack_.n_gates())) {
    const size_t n = moments_.size();
    require(wires.size() == n && scales_.size() == n && frozen.size() == n,
            "wires, pins, weights, scales and frozen must be one per layer");
    require(n_groups >= 1 && n >= 1 && stack_.n_outputs() >= 1 && stack_.n_outputs() % n_groups == 0,
            "n_groups must divide the width of the last layer");
    for (size_t i = 0; i < n; ++i) {
      require(weights_.values[i].shape(1) == n_gates_[i], "weights must have one column per gate");
      if (frozen[i] || !n_gates_[i]) moments_[i] = {};
    }
  }

  // Returns the loss before the step.
  double run(AnyMatrix x, const gw::Loss& loss, float temperature, AdamSettings adam, gw::Pool& pool) {
    const gw::Samples samples = make_bits(stack_.n_inputs(), x, loss, stack_.n_groups());
    std::vector<gw::Mixture> layers;
    require(temperature > 0, "temperature must be positive");
    for (const FloatsOut& each : weights_.values)
      layers.push_back(gates_.empty() ? make_light(each) : make_mixture(each, gates_, temperature, false));
    const gw::Mixtures mixtures(std::move(layers));
    nb::gil_scoped_release unlocked;
    const gw::BitStack::Update update{mixtures, moments_, scales_, temperature};
    return stack_.run(samples, loss, update, make_adam(adam), pool);
  }

 private:
  std::vector<gw::BitStack::Wiring> make_wirings(size_t width, const std::vector<std::optional<Wires>>& wires,
                                                 const std::vector<std::optional<WindowArray>>& windows,
                                                 const std::vector<bool>& rounded) {
    require(rounded.empty() || rounded.size() == wires.size(), "rounded must be one per layer");
    require(wires.size() == pins_.size() && windows.size() == pins_.size(), "wires and pins must be one per layer");
    std::vector<gw::BitStack::Wiring> wirings;
    candidates_.reserve(pins_.size());
    bool has_pins = false;
    for (size_t i = 0; i < wires.size(); ++i) {
      require(wires[i].has_value() != pins_[i].has_value(), "a layer must have either wires or pins");
      wirings.push_back(wires[i] ? fix_wires(*wires[i], width) : choose_wires(*pins_[i], windows[i], width));
      width = wirings.back().a.size();
      wirings.back().is_rounded = !rounded.empty() && rounded[i];
      require(!wirings.back().is_rounded || (wires[i] && wirings.back().n_gates == width),
              "layers that are rounded must have fixed wires and share no gates");
      n_gates_.push_back(wirings.back().n_gates);
      require(!has_pins || n_gates_[i] == width, "layers after one with pins must not share gates");
      has_pins |= pins_[i] && !windows[i];
    }
    return wirings;
  }

  static gw::BitStack::Wiring fix_wires(const Wires& wires, size_t width) {
    const auto& [a, b, n_gates] = wires;
    check_wires(wires);
    return {copy_operands(a, width + 1), copy_operands(b, width + 1), std::nullopt, n_gates};
  }

  gw::BitStack::Wiring choose_wires(const PinArrays& arrays, const std::optional<WindowArray>& window, size_t width) {
    const auto& [candidates, logits, first, second] = arrays;
    const size_t n = candidates.shape(1), k = candidates.shape(2);
    require(candidates.shape(0) == 2 && k >= 1 && k <= (size_t{1} << 20), "candidates must be 2 x n_gates x k, k >= 1");
    for (const Cube<float>& each : {logits, first, second})
      require(each.shape(0) == 2 && each.shape(1) == n && each.shape(2) == k,
              "logits and moments of pins must have the shape of candidates");
    require(n >= 1, "candidates must be of at least one gate");
    candidates_.push_back(copy(candidates));
    const size_t n_values = window ? window->shape(0) : width, n_positions = window ? window->shape(1) : 1;
    for (const int32_t value : candidates_.back())
      require(value >= 0 && static_cast<size_t>(value) < n_values,
              "candidates must index the layer before, or a window");
    std::vector<int32_t> window_wires;
    if (window) window_wires = copy(*window);
    require(n_positions >= 1, "windows must have at least one position");
    for (const int32_t wire : window_wires)
      require(wire >= 0 && static_cast<size_t>(wire) <= width, "windows must index the layer before");
    const gw::Pins pins{candidates_.back().data(), logits.data(), first.data(), second.data(), n,
                        static_cast<uint32_t>(k)};
    const size_t n_out = n * n_positions;
    return {std::vector<int32_t>(n_out), std::vector<int32_t>(n_out), pins, n, std::move(window_wires)};
  }

  const std::vector<std::optional<PinArrays>> pins_;
  std::vector<std::vector<int32_t>> candidates_;  // own copies, so that they stay as they were checked
  std::vector<size_t> n_gates_;
  gw::BitStack stack_;
  const std::vector<uint8_t> gates_;
  const Weights weights_;
  const std::vector<float> scales_;
  std::vector<gw::Moments> moments_;
};

}  // namespace

void bind_bits(nb::module_& m) {
  nb::class_<BitStepper>(m, "BitStep")
      .def(nb::init<uint32_t, const std::vector<std::optional<Wires>>&, std::vector<std::optional<PinArrays>>,
                    const std::vector<std::optional<WindowArray>>&, uint32_t, Array<uint8_t>, std::vector<FloatsOut>,
                    std::vector<FloatsOut>, std::vector<FloatsOut>, std::vector<float>, const std::vector<bool>&,
                    const std::vector<bool>&>(),
           nb::arg("n_inputs"), nb::kw_only(), nb::arg("wires"), nb::arg("pins"), nb::arg("windows"),
           nb::arg("n_groups"), nb::arg("gates"), nb::arg("weights"), nb::arg("first"), nb::arg("second"),
           nb::arg("scales"), nb::arg("frozen"), nb::arg("rounded") = std::vector<bool>())
      .def("run", &BitStepper::run, nb::arg("x"), nb::arg("loss"), nb::kw_only(), nb::arg("temperature"),
           nb::arg("adam"), nb::arg("pool"));
}
