// The Python side of running circuits.
#include "engine/engine.hpp"

#include <nanobind/stl/string.h>
#include <nanobind/stl/unique_ptr.h>

#include <algorithm>
#include <initializer_list>
#include <memory>
#include <string>

#include "bind/arrays.hpp"
#include "bind/module.hpp"

namespace nb = nanobind;
namespace gw = gatewise;
using namespace gatewise::binding;

namespace {

constexpr size_t kMaxRows = size_t{1} << 48;

std::unique_ptr<gw::Engine> make_engine(const gw::Circuit& circuit, bool keep_outputs, const std::string& target,
                                        uint32_t words, uint32_t band) {
  const gw::EngineKernels& kernels = require_target(target).engine;
  const bool is_width = std::find(std::begin(gw::kWidths), std::end(gw::kWidths), words) != std::end(gw::kWidths);
  require(words == 0 || is_width, "words must be 0, 1, 4, 8 or 16");
  const auto mode = keep_outputs ? gw::Outputs::kKept : gw::Outputs::kCounted;
  nb::gil_scoped_release unlocked;
  return std::make_unique<gw::Engine>(circuit.view(), mode, kernels, words, band);
}

gw::Layout find_layout(const std::string& name) {
  if (name == "bytes") return gw::Layout::kBytes;
  if (name == "big") return gw::Layout::kBitsHigh;
  if (name == "little") return gw::Layout::kBitsLow;
  require(name == "planes", "layout must be bytes, big, little or planes");
  return gw::Layout::kPlanes;
}

using Data = StridedMatrix<const uint8_t>;

gw::Rows make_rows(const gw::Engine& engine, const Data& data, size_t n_rows, const std::string& layout) {
  const gw::Layout kind = find_layout(layout);
  const bool planes = kind == gw::Layout::kPlanes;
  const size_t n_inputs = engine.n_inputs();
  require(n_rows <= kMaxRows, "n_rows must be at most 2**48");
  const size_t rows = planes ? n_inputs : n_rows;
  const size_t columns = planes ? (n_rows + 63) / 64 * 8 : kind == gw::Layout::kBytes ? n_inputs : (n_inputs + 7) / 8;
  require(data.shape(0) == rows && data.shape(1) == columns, "data must have the engine's shape");
  require(kind == gw::Layout::kBytes || rows == 0 || columns <= 1 || data.stride(1) == 1,
          "packed data must be contiguous along its last axis");
  return {kind, data.data(), n_rows, data.stride(0), data.stride(1)};
}

// Allocates an array and lets `fill` write into it; None if the input held something else than bits.
template <typename Value, typename Fill>
nb::object fill_array(size_t n_values, std::initializer_list<size_t> shape, Fill fill) {
  std::unique_ptr<Value[]> values(new Value[n_values]);
  bool valid;
  {
    nb::gil_scoped_release unlocked;
    valid = fill(values.get());
  }
  if (!valid) return nb::none();
  Value* data = values.release();
  nb::capsule owner(data, [](void* p) noexcept { delete[] static_cast<Value*>(p); });
  return nb::cast(nb::ndarray<nb::numpy, Value>(data, shape, owner));
}

nb::object counts(const gw::Engine& engine, Data data, size_t n_rows, const std::string& layout, gw::Pool& pool) {
  const gw::Rows rows = make_rows(engine, data, n_rows, layout);
  require(!engine.keeps_outputs(), "an engine that keeps outputs does not count them");
  const size_t n_groups = engine.n_groups();
  return fill_array<int32_t>(n_rows * n_groups, {n_rows, n_groups},
                             [&](int32_t* out) { return engine.counts(rows, out, pool); });
}

nb::object classify(const gw::Engine& engine, Data data, size_t n_rows, const std::string& layout, gw::Pool& pool) {
  const gw::Rows rows = make_rows(engine, data, n_rows, layout);
  require(!engine.keeps_outputs(), "an engine that keeps outputs does not count them");
  require(engine.n_groups() > 0, "a circuit without groups cannot classify");
  return fill_array<int32_t>(n_rows, {n_rows}, [&](int32_t* out) { return engine.classify(rows, out, pool); });
}

nb::object outputs(const gw::Engine& engine, Data data, size_t n_rows, const std::string& layout, gw::Pool& pool) {
  const gw::Rows rows = make_rows(engine, data, n_rows, layout);
  require(engine.keeps_outputs(), "an engine that counts outputs does not keep them");
  const size_t n_outputs = engine.n_outputs();
  return fill_array<bool>(n_rows * n_outputs, {n_rows, n_outputs},
                          [&](bool* out) { return engine.outputs(rows, reinterpret_cast<uint8_t*>(out), pool); });
}

}  // namespace

void bind_engine(nb::module_& m) {
  nb::class_<gw::Engine>(m, "Engine")
      .def(nb::new_(&make_engine), nb::arg("circuit"), nb::kw_only(), nb::arg("keep_outputs"), nb::arg("target"),
           nb::arg("words"), nb::arg("band"))
      .def("counts", &counts)
      .def("classify", &classify)
      .def("outputs", &outputs)
      .def_prop_ro("words", &gw::Engine::words)
      .def_prop_ro("n_slots", [](const gw::Engine& engine) { return engine.program().n_slots; });
}
