// From the graph back to a circuit.
#pragma once

#include <vector>

#include "circuit/circuit.hpp"
#include "simplify/graph.hpp"

namespace gatewise {

struct WrittenBack {
  Circuit circuit;  // without groups
  uint32_t n_inverters;
};

// Writes the referenced nodes ordered by (level, a, b) with a < b, then the inverters that outputs need, ordered by
// wire.
WrittenBack write_back(const Graph& graph, const std::vector<Literal>& outputs);

}  // namespace gatewise
