// The parts of the Python module.
#pragma once

#include <nanobind/nanobind.h>

#include <string>

#include "kernels.hpp"

// The level of this name; an error if this machine has none.
const gatewise::Kernels& find_kernels(const std::string& level);

void bind_encode(nanobind::module_& m);
void bind_relaxed(nanobind::module_& m);
void bind_train_step(nanobind::module_& m);
