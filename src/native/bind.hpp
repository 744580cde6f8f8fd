// The parts of the Python module.
#pragma once

#include <nanobind/nanobind.h>

void bind_relaxed(nanobind::module_& m);
void bind_train_step(nanobind::module_& m);
