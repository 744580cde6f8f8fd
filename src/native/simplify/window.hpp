// Local rewriting: a gate and the nodes right below it, replaced by a cheaper form of the same function.
#pragma once

#include "simplify/graph.hpp"

namespace gatewise {

// The literal that computes `term`, an AND or XOR that no referenced node computes: in a form that costs fewer nodes if
// there is one in a small window, else as a node. Expects the graph to count one reference to each operand of `term`.
Literal rewrite(Graph& graph, const Term& term);

}  // namespace gatewise
