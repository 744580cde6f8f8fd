// From the graph back to a circuit.
#pragma once

#include <vector>

#include "circuit.hpp"
#include "graph.hpp"

namespace gatewise {

struct Emitted {
  CircuitArrays circuit;
  uint32_t n_inverters;
};

// Writes the referenced nodes ordered by (level, a, b) with a < b, then the inverters that outputs need, ordered by
// wire.
Emitted emit(const Graph& graph, const std::vector<Literal>& outputs);

}  // namespace gatewise
