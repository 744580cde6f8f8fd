#pragma once
#include "graph.hpp"
namespace gatewise {
inline Literal rewrite(Graph& graph, const Term& term) { return graph.build(term); }
}
