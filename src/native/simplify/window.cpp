// A window is the term and up to four inner nodes below it, a function of at most four leaves. Replacing it frees the
// inner nodes that nothing else reads; a shortest formula of the same function adds those of its steps that no other
// node computes. Absorption, x ^ y ^ x, shared operands and reassociation towards existing nodes all are cases of this.
#include "simplify/window.hpp"

#include <algorithm>
#include <span>

#include "simplify/formula.hpp"

namespace gatewise {

namespace {

constexpr unsigned kMaxInner = 4;

struct Window {
  unsigned n_leaves, n_inner;
  uint32_t leaves[kMaxLeaves];
  uint32_t inner[kMaxInner];  // descending, so that readers come first

  bool has_leaf(uint32_t node) const { return std::find(leaves, leaves + n_leaves, node) != leaves + n_leaves; }

  // No leaf is read twice.
  bool is_tree() const { return n_leaves == n_inner + 2; }
};

// The nodes of a window that nothing outside of it reads.
struct Doomed {
  unsigned n_nodes = 0;
  uint32_t nodes[kMaxInner];

  bool contains(uint32_t node) const { return std::find(nodes, nodes + n_nodes, node) != nodes + n_nodes; }
};

bool reads(const Node& reader, uint32_t node) { return node_of(reader.a) == node || node_of(reader.b) == node; }

class Rewriter {
 public:
  Rewriter(const Graph& graph, const Term& term) : graph_(graph), term_(term) {
    explore({2, 0, {node_of(term.a), node_of(term.b)}, {}});
  }

  bool is_cheaper() const { return best_gain_ > 0; }

  Literal build(Graph& graph) const {
    Literal values[kMaxValues] = {kFalseLiteral};
    load_leaves(best_window_, values);
    for (unsigned k = 0; k < best_formula_.n_steps; ++k) {
      const FormulaStep& step = best_formula_.steps[k];
      values[kFirstStep + k] = graph.build(normalize(step.gate, values[step.a], values[step.b]));
    }
    return values[best_formula_.result] ^ static_cast<Literal>(best_inverted_);
  }

 private:
  // Visits this window and those with more inner nodes. Inner nodes are added in descending order: each set once.
  void explore(const Window& window) {
    evaluate(window);
    if (window.n_inner == kMaxInner) return;
    const uint32_t bound = window.n_inner == 0 ? graph_.n_nodes() : window.inner[window.n_inner - 1];
    for (unsigned i = 0; i < window.n_leaves; ++i) {
      const uint32_t node = window.leaves[i];
      if (node >= bound || !graph_.is_gate(node)) continue;
      Window larger = window;
      if (expand(larger, i)) explore(larger);
    }
  }

  // Turns a leaf into an inner node; false if that takes too many leaves.
  bool expand(Window& window, unsigned leaf_idx) const {
    const uint32_t node = window.leaves[leaf_idx];
    window.inner[window.n_inner++] = node;
    window.leaves[leaf_idx] = window.leaves[--window.n_leaves];
    for (const Literal operand : {graph_[node].a, graph_[node].b}) {
      if (window.has_leaf(node_of(operand))) continue;
      if (window.n_leaves == kMaxLeaves) return false;
      window.leaves[window.n_leaves++] = node_of(operand);
    }
    return true;
  }

  void evaluate(const Window& window) {
    // A tree over n leaves has n - 1 gates, as few as any function of n variables, so that only nodes from outside
    // could beat it. That happens in small trees that free a node; looking further costs time and finds next to
    // nothing.
    if (window.is_tree() && window.n_leaves > 3) return;
    const Doomed doomed = find_doomed(window);
    if (window.is_tree() && doomed.n_nodes == 0) return;
    const Truth a = truth_of(window, term_.a), b = truth_of(window, term_.b);
    Truth truth = term_.kind == Kind::kXor ? a ^ b : a & b;
    const bool inverted = truth & 1;
    if (inverted) truth = static_cast<Truth>(~truth);
    const int budget = 1 + static_cast<int>(doomed.n_nodes);
    for (const Formula& formula : shortest_formulas(truth)) {
      const int gain = budget - count_added(window, doomed, formula);
      if (gain <= best_gain_) continue;
      best_gain_ = gain;
      best_window_ = window;
      best_formula_ = formula;
      best_inverted_ = inverted != term_.inverted;
    }
  }

  Truth truth_of(const Window& window, Literal x) const {
    const uint32_t node = node_of(x);
    const auto leaf_idx = std::find(window.leaves, window.leaves + window.n_leaves, node) - window.leaves;
    Truth truth = 0;
    if (leaf_idx < window.n_leaves) {
      truth = kLeafTruth[leaf_idx];
    } else {
      const Truth a = truth_of(window, graph_[node].a), b = truth_of(window, graph_[node].b);
      truth = graph_[node].is_xor() ? a ^ b : a & b;
    }
    return is_inverted(x) ? static_cast<Truth>(~truth) : truth;
  }

  Doomed find_doomed(const Window& window) const {
    Doomed doomed;
    for (const uint32_t node : std::span(window.inner, window.n_inner)) {
      uint32_t n_reads = reads({term_.a, term_.b}, node);
      for (const uint32_t reader : std::span(doomed.nodes, doomed.n_nodes)) n_reads += reads(graph_[reader], node);
      if (n_reads == graph_.references(node)) doomed.nodes[doomed.n_nodes++] = node;
    }
    return doomed;
  }

  // How many nodes the formula would add to the graph without the window.
  int count_added(const Window& window, const Doomed& doomed, const Formula& formula) const {
    Literal values[kMaxValues] = {kFalseLiteral};
    load_leaves(window, values);
    int n_added = 0;
    for (unsigned k = 0; k < formula.n_steps; ++k) {
      const Literal a = values[formula.steps[k].a], b = values[formula.steps[k].b];
      const bool is_buildable = a != Graph::kAbsent && b != Graph::kAbsent;
      const Literal x = is_buildable ? graph_.find(normalize(formula.steps[k].gate, a, b)) : Graph::kAbsent;
      values[kFirstStep + k] = x;
      n_added += x == Graph::kAbsent || graph_.references(node_of(x)) == 0 || doomed.contains(node_of(x));
    }
    return n_added;
  }

  static void load_leaves(const Window& window, Literal* values) {
    for (unsigned i = 0; i < window.n_leaves; ++i) values[kFirstLeaf + i] = literal(window.leaves[i]);
  }

  const Graph& graph_;
  const Term& term_;
  int best_gain_ = 0;
  Window best_window_;
  Formula best_formula_;
  bool best_inverted_ = false;
};

}  // namespace

Literal rewrite(Graph& graph, const Term& term) {
  const Rewriter rewriter(graph, term);
  return rewriter.is_cheaper() ? rewriter.build(graph) : graph.build(term);
}

}  // namespace gatewise
