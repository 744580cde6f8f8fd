// The Python side of circuits and of simplifying them.
#include "circuit/circuit.hpp"

#include "bind/arrays.hpp"
#include "bind/module.hpp"
#include "circuit/expand.hpp"
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

auto expand_tables(uint32_t n_inputs, Array<uint64_t> tables, Array<int32_t> wires, uint32_t n_wires) {
  require(n_inputs >= 1 && n_inputs <= gw::kMaxTableInputs, "n_inputs must be 1 to 6");
  require(wires.size() == tables.size() * n_inputs, "wires must be n_inputs per table");
  const std::vector<uint64_t> own_tables = copy(tables);
  const std::vector<int32_t> own_wires = copy(wires);
  for (const int32_t wire : own_wires)
    require(wire >= 0 && static_cast<uint32_t>(wire) < n_wires, "wires must be below n_wires");
  gw::Expansion made;
  {
    nb::gil_scoped_release unlocked;
    made = gw::expand_tables(n_inputs, own_tables, own_wires, n_wires);
  }
  return nb::make_tuple(to_numpy(std::move(made.gate)), to_numpy(std::move(made.a)), to_numpy(std::move(made.b)),
                        to_numpy(std::move(made.outputs)));
}

}  // namespace

void bind_circuit(nb::module_& m) {
  nb::class_<gw::Circuit>(m, "Circuit")
      .def("__init__", &make_circuit, nb::arg("n_inputs"), nb::arg("gate"), nb::arg("a"), nb::arg("b"),
           nb::arg("outputs"), nb::arg("group_ptr"));
  m.def("simplify", &simplify, nb::arg("circuit"));
  m.def("expand_tables", &expand_tables, nb::arg("n_inputs"), nb::arg("tables"), nb::arg("wires"), nb::arg("n_wires"));
}
