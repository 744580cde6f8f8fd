// The Python side of training lookup tables on bits.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <optional>
#include <tuple>
#include <utility>

#include "bind/module.hpp"
#include "bind/train.hpp"
#include "train/bits/table_stack.hpp"

namespace nb = nanobind;
namespace gw = gatewise;
using namespace gatewise::binding;

namespace {

using FixedWires = Matrix<const int32_t>;                     // k x n
using Entries = std::tuple<FloatsOut, FloatsOut, FloatsOut>;  // and both moments, n x 2^k each

// A stack of tables on bits, and all that a step of it changes.
class TableStepper {
 public:
  TableStepper(uint32_t n_inputs, std::vector<Entries> entries, const std::vector<std::optional<FixedWires>>& wires,
               std::vector<std::optional<PinArrays>> pins, uint32_t n_groups, std::vector<float> scales,
               const std::vector<bool>& frozen)
      : entries_(std::move(entries)),
        pins_(std::move(pins)),
        stack_(n_inputs, make_layers(n_inputs, wires), n_groups),
        scales_(std::move(scales)) {
    const size_t n = entries_.size();
    require(n >= 1 && scales_.size() == n && frozen.size() == n, "scales and frozen must be one per layer");
    require(n_groups >= 1 && std::get<0>(entries_.back()).shape(0) % n_groups == 0,
            "n_groups must divide the width of the last layer");
    for (size_t i = 0; i < n; ++i) {
      const auto& [weights, first, second] = entries_[i];
      moments_.push_back(frozen[i] ? gw::Moments{} : gw::Moments{weights.data(), first.data(), second.data()});
    }
  }

  // Returns the loss before the step.
  double run(AnyMatrix x, const gw::Loss& loss, float temperature, AdamSettings adam, gw::Pool& pool) {
    const gw::Samples samples = make_bits(stack_.n_inputs(), x, loss, stack_.n_groups());
    require(temperature > 0, "temperature must be positive");
    nb::gil_scoped_release unlocked;
    return stack_.run(samples, loss, {moments_, scales_, temperature}, make_adam(adam), pool);
  }

 private:
  std::vector<gw::TableStack::Layer> make_layers(size_t width, const std::vector<std::optional<FixedWires>>& wires) {
    require(wires.size() == entries_.size() && pins_.size() == entries_.size(),
            "entries, wires and pins must be one per layer");
    std::vector<gw::TableStack::Layer> layers;
    candidates_.reserve(pins_.size());
    for (size_t i = 0; i < entries_.size(); ++i) {
      require(wires[i].has_value() != pins_[i].has_value(), "a layer must have either wires or pins");
      const size_t k = wires[i] ? wires[i]->shape(0) : std::get<0>(*pins_[i]).shape(0);
      const size_t n = check_entries(entries_[i], k);
      gw::TableStack::Layer layer{static_cast<uint32_t>(k), std::vector<int32_t>(k * n), std::nullopt,
                                  std::get<0>(entries_[i]).data()};
      if (wires[i]) {
        require(wires[i]->shape(1) == n, "wires must be k x n");
        layer.wires = copy_wires(*wires[i], width);
      } else {
        layer.pins = check_pins(*pins_[i], n, width);
      }
      layers.push_back(std::move(layer));
      width = n;
    }
    return layers;
  }

  // The number of nodes.
  static size_t check_entries(const Entries& entries, size_t k) {
    require(k >= gw::kMinNodeInputs && k <= gw::kMaxNodeInputs, "tables must have 3 to 6 inputs");
    const size_t n = std::get<0>(entries).shape(0);
    const auto fits = [&](const FloatsOut& each) {
      return each.shape(0) == n && each.shape(1) == gw::table_size(static_cast<uint32_t>(k));
    };
    require(fits(std::get<0>(entries)) && fits(std::get<1>(entries)) && fits(std::get<2>(entries)),
            "entries and their moments must be n x 2^k");
    return n;
  }

  template <typename Indices>
  static std::vector<int32_t> copy_wires(const Indices& wires, size_t width) {
    std::vector<int32_t> copied = copy(wires);
    for (const int32_t wire : copied)
      require(wire >= 0 && static_cast<size_t>(wire) < width, "wires and candidates must index the layer before");
    return copied;
  }

  gw::TablePins check_pins(const PinArrays& arrays, size_t n, size_t width) {
    const auto& [candidates, logits, first, second] = arrays;
    const size_t k = candidates.shape(0), n_candidates = candidates.shape(2);
    require(candidates.shape(1) == n && n_candidates >= 1 && n_candidates <= (size_t{1} << 20),
            "candidates must be k x n x n_candidates, at least one");
    for (const Cube<float>& each : {logits, first, second})
      require(each.shape(0) == k && each.shape(1) == n && each.shape(2) == n_candidates,
              "logits and moments of pins must have the shape of candidates");
    candidates_.push_back(copy_wires(candidates, width));
    return {candidates_.back().data(), logits.data(), first.data(), second.data(), static_cast<uint32_t>(n_candidates)};
  }

  const std::vector<Entries> entries_;
  const std::vector<std::optional<PinArrays>> pins_;
  std::vector<std::vector<int32_t>> candidates_;  // own copies, so that they stay as they were checked
  gw::TableStack stack_;
  const std::vector<float> scales_;
  std::vector<gw::Moments> moments_;
};

}  // namespace

void bind_tables(nb::module_& m) {
  nb::class_<TableStepper>(m, "TableStep")
      .def(nb::init<uint32_t, std::vector<Entries>, const std::vector<std::optional<FixedWires>>&,
                    std::vector<std::optional<PinArrays>>, uint32_t, std::vector<float>, const std::vector<bool>&>(),
           nb::arg("n_inputs"), nb::kw_only(), nb::arg("entries"), nb::arg("wires"), nb::arg("pins"),
           nb::arg("n_groups"), nb::arg("scales"), nb::arg("frozen"))
      .def("run", &TableStepper::run, nb::arg("x"), nb::arg("loss"), nb::kw_only(), nb::arg("temperature"),
           nb::arg("adam"), nb::arg("pool"));
}
