// The Python side of circuits and of simplifying them.
#include "circuit/circuit.hpp"

#include "bind/arrays.hpp"
#include "bind/module.hpp"
#include "simplify/simplify.hpp"

namespace nb = nanobind;
namespace gw = gatewise;
using namespace gatewise::binding;

namespace {

void make_circuit(gw::Circuit* circuit, uint32_t n_inputs, Array<uint8_t> gate, Array<int32_t> a, Array<int32_t> b,
                  Array<int32_t> outputs, Array<int32_t> group_ptr) {
  gw::Circuit copied{n_inputs, copy(gate), copy(a), copy(b), copy(outputs), copy(group_ptr)};
  copied.check();
  new (circuit) gw::Circuit(std::move(copied));
}

auto simplify(const gw::Circuit& circuit) {
  gw::Simplified result;
  {
    nb::gil_scoped_release unlocked;
    result = gw::simplify(circuit.view());
  }
  auto& [small, removed] = result;
  return nb::make_tuple(
      to_numpy(std::move(small.gate)), to_numpy(std::move(small.a)), to_numpy(std::move(small.b)),
      to_numpy(std::move(small.outputs)),
      nb::make_tuple(removed.constant, removed.pass_through, removed.shared, removed.rewritten, removed.dead));
}

}  // namespace

void bind_circuit(nb::module_& m) {
  nb::class_<gw::Circuit>(m, "Circuit")
      .def("__init__", &make_circuit, nb::arg("n_inputs"), nb::arg("gate"), nb::arg("a"), nb::arg("b"),
           nb::arg("outputs"), nb::arg("group_ptr"));
  m.def("simplify", &simplify, nb::arg("circuit"));
}
