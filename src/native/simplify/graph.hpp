// The circuit under construction: AND and XOR nodes over signed literals, each stored once, with exact reference
// counts. Invariant: a referenced node holds one reference to each of its operands, an unreferenced node holds none.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "circuit/literal.hpp"

namespace gatewise {

// An AND has a < b, an XOR has a > b, so that the kind needs no room of its own.
struct Node {
  Literal a, b;

  bool is_xor() const { return a > b; }
};

class Graph {
 public:
  explicit Graph(uint32_t n_inputs);

  uint32_t n_inputs() const { return n_inputs_; }
  uint32_t n_nodes() const { return static_cast<uint32_t>(nodes_.size()); }
  // Number of referenced nodes: the gates that the graph costs.
  int64_t n_used() const { return n_used_; }

  bool is_gate(uint32_t node) const { return node > n_inputs_; }
  const Node& operator[](uint32_t node) const { return nodes_[node]; }
  uint32_t references(uint32_t node) const { return references_[node]; }

  // The literal that computes `term`, or kAbsent.
  static constexpr Literal kAbsent = ~0u;
  Literal find(const Term& term) const;
  // The same, after appending a node if there is none yet.
  Literal build(const Term& term);

  // Adds references; the first one makes the node hold its operands.
  void retain(uint32_t node, uint32_t count);
  // Drops one reference; the last one makes the node let go of its operands.
  void release(uint32_t node);

 private:
  size_t slot_of(Node key) const;
  void grow();

  uint32_t n_inputs_;
  int64_t n_used_ = 0;
  std::vector<Node> nodes_;
  std::vector<uint32_t> references_;
  std::vector<uint32_t> slots_;    // open addressing: a node, or 0 for an empty slot
  std::vector<uint32_t> pending_;  // work list, empty between calls
};

}  // namespace gatewise
