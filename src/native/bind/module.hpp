// The parts of the Python module, one file each.
#pragma once

#include <nanobind/nanobind.h>

#include <string>

#include "simd/targets.hpp"

void bind_pool(nanobind::module_& m);
void bind_circuit(nanobind::module_& m);
void bind_engine(nanobind::module_& m);
void bind_encode(nanobind::module_& m);
void bind_train(nanobind::module_& m);
void bind_bits(nanobind::module_& m);
void bind_tables(nanobind::module_& m);
void bind_boost(nanobind::module_& m);
void bind_verify(nanobind::module_& m);

namespace gatewise::binding {

// The target of this name; an error if this machine has none.
const Target& require_target(const std::string& name);

}  // namespace gatewise::binding
