// The Python module: argument checks and array plumbing, nothing else.
#include "bind.hpp"

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

#include "circuit.hpp"
#include "engine.hpp"
#include "optimize.hpp"

namespace nb = nanobind;
namespace gw = gatewise;

namespace {

template <typename T>
using Array = nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

template <typename T>
nb::ndarray<nb::numpy, T, nb::ndim<1>> to_numpy(std::vector<T>&& values) {
  auto* owned = new std::vector<T>(std::move(values));
  nb::capsule owner(owned, [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
  return {owned->data(), {owned->size()}, owner};
}

gw::CircuitView view(uint32_t n_inputs, Array<uint8_t> gate, Array<int32_t> a, Array<int32_t> b, Array<int32_t> outputs,
                     Array<int32_t> group_ptr) {
  if (gate.size() != a.size() || gate.size() != b.size() || group_ptr.size() == 0)
    throw nb::value_error("the arrays must come from a valid Circuit");
  return {n_inputs,        static_cast<uint32_t>(gate.size()),
          gate.data(),     a.data(),
          b.data(),        static_cast<uint32_t>(outputs.size()),
          outputs.data(),  static_cast<uint32_t>(group_ptr.size() - 1),
          group_ptr.data()};
}

auto simplify(uint32_t n_inputs, Array<uint8_t> gate, Array<int32_t> a, Array<int32_t> b, Array<int32_t> outputs,
              Array<int32_t> group_ptr) {
  const gw::CircuitView circuit = view(n_inputs, gate, a, b, outputs, group_ptr);
  gw::Simplified result;
  {
    nb::gil_scoped_release unlocked;
    result = gw::simplify(circuit);
  }
  auto& [arrays, removed] = result;
  return nb::make_tuple(
      to_numpy(std::move(arrays.gate)), to_numpy(std::move(arrays.a)), to_numpy(std::move(arrays.b)),
      to_numpy(std::move(arrays.outputs)),
      nb::make_tuple(removed.constant, removed.pass_through, removed.shared, removed.rewritten, removed.dead));
}

using ByteRows = nb::ndarray<const uint8_t, nb::ndim<2>, nb::device::cpu>;

std::vector<std::string> levels() {
  std::vector<std::string> names;
  for (const gw::Kernels* const* k = gw::available_kernels(); *k; ++k) names.emplace_back((*k)->name);
  return names;
}

std::unique_ptr<gw::Engine> make_engine(uint32_t n_inputs, Array<uint8_t> gate, Array<int32_t> a, Array<int32_t> b,
                                        Array<int32_t> outputs, Array<int32_t> group_ptr, bool keep_outputs,
                                        unsigned threads, const std::string& level, uint32_t words, uint32_t tile) {
  const gw::CircuitView circuit = view(n_inputs, gate, a, b, outputs, group_ptr);
  const gw::Kernels& kernels = find_kernels(level);
  const auto mode = keep_outputs ? gw::Outputs::kKept : gw::Outputs::kCounted;
  nb::gil_scoped_release unlocked;
  return std::make_unique<gw::Engine>(circuit, mode, threads, kernels, words, tile);
}

gw::Rows make_rows(const gw::Engine& engine, ByteRows data, size_t n_rows, const std::string& layout) {
  const gw::Layout kind = layout == "bytes"    ? gw::Layout::kBytes
                          : layout == "big"    ? gw::Layout::kBitsHigh
                          : layout == "little" ? gw::Layout::kBitsLow
                                               : gw::Layout::kPlanes;
  const bool planes = kind == gw::Layout::kPlanes;
  const size_t n_inputs = engine.n_inputs();
  const size_t rows = planes ? n_inputs : n_rows;
  const size_t columns = planes ? (n_rows + 63) / 64 * 8 : kind == gw::Layout::kBytes ? n_inputs : (n_inputs + 7) / 8;
  if (data.shape(0) != rows || data.shape(1) != columns) throw nb::value_error("data must have the engine's shape");
  if (kind != gw::Layout::kBytes && rows > 0 && columns > 1 && data.stride(1) != 1)
    throw nb::value_error("packed data must be contiguous along its last axis");
  return {kind, data.data(), n_rows, data.stride(0), data.stride(1)};
}

// Allocate rows x columns, let `fill` write into it; None if the input held something else than bits.
template <typename T, typename Fill>
nb::object run(size_t n_values, std::initializer_list<size_t> shape, Fill fill) {
  std::unique_ptr<T[]> values(new T[n_values]);
  bool valid;
  {
    nb::gil_scoped_release unlocked;
    valid = fill(values.get());
  }
  if (!valid) return nb::none();
  T* data = values.release();
  nb::capsule owner(data, [](void* p) noexcept { delete[] static_cast<T*>(p); });
  return nb::cast(nb::ndarray<nb::numpy, T>(data, shape, owner));
}

nb::object counts(gw::Engine& engine, ByteRows data, size_t n_rows, const std::string& layout) {
  const gw::Rows rows = make_rows(engine, data, n_rows, layout);
  const size_t n_groups = engine.n_groups();
  return run<int32_t>(n_rows * n_groups, {n_rows, n_groups}, [&](int32_t* out) { return engine.counts(rows, out); });
}

nb::object classify(gw::Engine& engine, ByteRows data, size_t n_rows, const std::string& layout) {
  const gw::Rows rows = make_rows(engine, data, n_rows, layout);
  if (engine.n_groups() == 0) throw nb::value_error("a circuit without groups cannot classify");
  return run<int32_t>(n_rows, {n_rows}, [&](int32_t* out) { return engine.classify(rows, out); });
}

nb::object outputs(gw::Engine& engine, ByteRows data, size_t n_rows, const std::string& layout) {
  const gw::Rows rows = make_rows(engine, data, n_rows, layout);
  const size_t n_outputs = engine.n_outputs();
  return run<bool>(n_rows * n_outputs, {n_rows, n_outputs},
                   [&](bool* out) { return engine.outputs(rows, reinterpret_cast<uint8_t*>(out)); });
}

}  // namespace

const gw::Kernels& find_kernels(const std::string& level) {
  for (const gw::Kernels* const* k = gw::available_kernels(); *k; ++k)
    if (level == (*k)->name) return **k;
  throw nb::value_error("level must be one of levels()");
}

NB_MODULE(_native, m) {
  nb::set_leak_warnings(false);  // thread pools live until the interpreter ends
  m.def("simplify", &simplify, nb::arg("n_inputs"), nb::arg("gate"), nb::arg("a"), nb::arg("b"), nb::arg("outputs"),
        nb::arg("group_ptr"));
  m.def("levels", &levels);
  nb::class_<gw::Engine>(m, "Engine")
      .def(nb::new_(&make_engine))
      .def("counts", &counts)
      .def("classify", &classify)
      .def("outputs", &outputs)
      .def_prop_ro("words", &gw::Engine::words)
      .def_prop_ro("n_slots", [](const gw::Engine& engine) { return engine.program().n_slots; });
  bind_relaxed(m);
  bind_encode(m);
  bind_train_step(m);
}
