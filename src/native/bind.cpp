// The Python module: argument checks and array plumbing, nothing else.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include "circuit.hpp"
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

gw::CircuitView view(uint32_t n_inputs, Array<uint8_t> gate, Array<int32_t> a, Array<int32_t> b,
                     Array<int32_t> outputs, Array<int32_t> group_ptr) {
  if (gate.size() != a.size() || gate.size() != b.size() || group_ptr.size() == 0)
    throw nb::value_error("the arrays must come from a valid Circuit");
  return {n_inputs, static_cast<uint32_t>(gate.size()), gate.data(), a.data(), b.data(),
          static_cast<uint32_t>(outputs.size()), outputs.data(),
          static_cast<uint32_t>(group_ptr.size() - 1), group_ptr.data()};
}

auto simplify(uint32_t n_inputs, Array<uint8_t> gate, Array<int32_t> a, Array<int32_t> b,
              Array<int32_t> outputs, Array<int32_t> group_ptr) {
  const gw::CircuitView circuit = view(n_inputs, gate, a, b, outputs, group_ptr);
  gw::Simplified result;
  {
    nb::gil_scoped_release unlocked;
    result = gw::simplify(circuit);
  }
  auto& [arrays, removed] = result;
  return nb::make_tuple(to_numpy(std::move(arrays.gate)), to_numpy(std::move(arrays.a)), to_numpy(std::move(arrays.b)),
                        to_numpy(std::move(arrays.outputs)),
                        nb::make_tuple(removed.constant, removed.pass_through, removed.shared, removed.rewritten,
                                       removed.dead));
}

}  // namespace

NB_MODULE(_native, m) {
  m.def("simplify", &simplify, nb::arg("n_inputs"), nb::arg("gate"), nb::arg("a"), nb::arg("b"),
        nb::arg("outputs"), nb::arg("group_ptr"));
}
