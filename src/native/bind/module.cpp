// The Python module. All files of this folder do argument checks and array plumbing, nothing else.
#include "bind/module.hpp"

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <string>
#include <vector>

namespace nb = nanobind;
namespace gw = gatewise;

namespace {

std::vector<std::string> target_names() {
  std::vector<std::string> names;
  for (const gw::Target& target : gw::targets()) names.emplace_back(target.name);
  return names;
}

}  // namespace

const gw::Target& gatewise::binding::require_target(const std::string& name) {
  const Target* target = find_target(name);
  if (!target) throw nb::value_error("target must be one of targets()");
  return *target;
}

NB_MODULE(_native, m) {
  nb::set_leak_warnings(false);  // thread pools live until the interpreter ends
  m.def("targets", &target_names);
  bind_pool(m);
  bind_circuit(m);
  bind_engine(m);
  bind_encode(m);
  bind_train(m);
  bind_bits(m);
  bind_tables(m);
  bind_boost(m);
  bind_verify(m);
}
