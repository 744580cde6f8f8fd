// One round of circuit shrinking.
#pragma once

#include "circuit.hpp"

namespace gatewise {

// An equivalent circuit: folded, shared, rewritten locally, swept of dead gates. Outputs keep their order.
CircuitArrays simplify(const CircuitView& circuit);

}  // namespace gatewise
