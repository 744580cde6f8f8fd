// Operations -> stages: when each one runs. Operands always come from earlier stages, so the operations of a stage may
// run in any order.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/pairs.hpp"

namespace gatewise {

// Outputs are taken in bands of consecutive ones. A node belongs to the first band that depends on it, and its stage is
// its band plus its level: while one band is at its last level, the next is at the level before, and so on. So a stage
// holds operations of all levels, and if neighboring outputs depend on the same gates, few wires are alive at a time.
// With a single band, stages are levels.
struct Schedule {
  std::vector<uint32_t> stage;  // per node; kNone for absorbed gates, constants and inputs that nothing reads
  uint32_t n_stages = 0;
  bool is_banded = false;
};

// `band` is the number of outputs in a band, or 0 to choose it: one band for all unless several need far fewer wires.
Schedule make_schedule(const Netlist& net, const Operations& operations, uint32_t band);

}  // namespace gatewise
