// One round of circuit shrinking.
#pragma once

#include "circuit/circuit.hpp"

namespace gatewise {

// Gates removed, by cause; the sum is the number of gates before minus after.
struct Removed {
  int64_t constant = 0;
  int64_t pass_through = 0;  // copies and inverters
  int64_t shared = 0;
  int64_t rewritten = 0;
  int64_t dead = 0;
};

struct Simplified {
  Circuit circuit;
  Removed removed;
};

// An equivalent circuit: folded, shared, rewritten locally, swept of dead gates. Outputs keep their order.
Simplified simplify(const CircuitView& circuit);

}  // namespace gatewise
