// A target is an instruction set for which the kernels are compiled. Each folder with kernels has its contract, a table
// of plain function pointers in kernels.hpp, and one kernels.cpp that CMake compiles once per target.
//
// The rule that keeps targets apart: such a file includes no standard templates, and nothing in it has external linkage
// but its table, in a namespace named like the target. So the linker never takes a function that was compiled for a
// wide instruction set in the place of one for a narrow one.
#pragma once

#include <span>
#include <string_view>

#include "encode/kernels.hpp"
#include "engine/kernels.hpp"
#include "train/kernels.hpp"

namespace gatewise {

struct Target {
  const char* name;
  const EngineKernels& engine;
  const EncodeKernels& encode;
  const TrainKernels& train;
};

// Those that this build holds and this machine can run, best first; never empty.
std::span<const Target> targets();

inline const Target& best_target() { return targets().front(); }

// The one of that name, or null.
const Target* find_target(std::string_view name);

}  // namespace gatewise
