// A circuit planned for execution: steps over slots, see kernels.hpp for what a step does.
#pragma once

#include <cstdint>
#include <vector>

#include "circuit/circuit.hpp"
#include "engine/kernels.hpp"

namespace gatewise {

// Slots 0 and 1 hold zeros and ones. Inputs start in slots 2 .. n_inputs + 1, or are loaded by steps. Slots are reused
// as soon as their wire is dead.
struct Program {
  uint32_t n_slots = 0;
  bool loads_inputs = false;
  uint32_t n_planes = 0;  // digits of the largest group's count
  std::vector<Step> steps;
  std::vector<uint32_t> code32;
  std::vector<uint16_t> code16;        // instead of code32 when slots number at most 65,536
  std::vector<uint32_t> inputs;        // what the load steps load
  std::vector<uint32_t> bias;          // per group: how many outputs are constant true
  std::vector<uint32_t> output_slots;  // where each output ends up, if they are kept

  bool is_wide() const { return code16.empty(); }
  ProgramView view() const {
    const void* code = is_wide() ? static_cast<const void*>(code32.data()) : code16.data();
    return {steps.data(), steps.size(), code, inputs.data(), inputs.size(), n_planes};
  }
};

enum class Outputs {
  kCounted,  // outputs are added to their group's planes as soon as they exist, and forgotten
  kKept,     // outputs stay in output_slots
};

// `band` is the number of outputs that are planned together, or 0 to choose it; see schedule.hpp.
Program plan(const CircuitView& circuit, Outputs outputs, uint32_t band);

}  // namespace gatewise
