#include "simplify/graph.hpp"

namespace gatewise {

namespace {

constexpr size_t kFirstSlots = 1024;  // a power of two, as all sizes of the table

// Multiplicative hashing; the high half of the product mixes all bits of both operands.
size_t hash(Node key) {
  const uint64_t packed = static_cast<uint64_t>(key.a) << 32 | key.b;
  const uint64_t product = (packed ^ packed >> 29) * 0x9E3779B97F4A7C15u;
  return product >> 32 ^ product >> 15;
}

Node key_of(const Term& term) { return term.kind == Kind::kXor ? Node{term.b, term.a} : Node{term.a, term.b}; }

}  // namespace

Graph::Graph(uint32_t n_inputs)
    : n_inputs_(n_inputs), nodes_(1 + n_inputs, Node{0, 0}), references_(1 + n_inputs, 0), slots_(kFirstSlots, 0) {}

size_t Graph::slot_of(Node key) const {
  const size_t mask = slots_.size() - 1;
  size_t slot = hash(key) & mask;
  for (; slots_[slot]; slot = (slot + 1) & mask) {
    const Node& node = nodes_[slots_[slot]];
    if (node.a == key.a && node.b == key.b) break;
  }
  return slot;
}

Literal Graph::find(const Term& term) const {
  if (term.kind == Kind::kLiteral) return term.a;
  const uint32_t node = slots_[slot_of(key_of(term))];
  return node ? literal(node, term.inverted) : kAbsent;
}

Literal Graph::build(const Term& term) {
  if (term.kind == Kind::kLiteral) return term.a;
  const Node key = key_of(term);
  const size_t slot = slot_of(key);
  if (slots_[slot]) return literal(slots_[slot], term.inverted);
  const uint32_t node = n_nodes();
  slots_[slot] = node;
  nodes_.push_back(key);
  references_.push_back(0);
  if (2 * (nodes_.size() - n_inputs_) > slots_.size()) grow();
  return literal(node, term.inverted);
}

void Graph::grow() {
  slots_.assign(2 * slots_.size(), 0);
  for (uint32_t node = n_inputs_ + 1; node < n_nodes(); ++node) slots_[slot_of(nodes_[node])] = node;
}

void Graph::retain(uint32_t node, uint32_t count) {
  const bool first = references_[node] == 0 && count > 0;
  references_[node] += count;
  if (!first || !is_gate(node)) return;
  pending_.push_back(node);
  while (!pending_.empty()) {
    const Node held = nodes_[pending_.back()];
    pending_.pop_back();
    ++n_used_;
    for (const Literal operand : {held.a, held.b})
      if (references_[node_of(operand)]++ == 0 && is_gate(node_of(operand))) pending_.push_back(node_of(operand));
  }
}

void Graph::release(uint32_t node) {
  if (--references_[node] > 0 || !is_gate(node)) return;
  pending_.push_back(node);
  while (!pending_.empty()) {
    const Node held = nodes_[pending_.back()];
    pending_.pop_back();
    --n_used_;
    for (const Literal operand : {held.a, held.b})
      if (--references_[node_of(operand)] == 0 && is_gate(node_of(operand))) pending_.push_back(node_of(operand));
  }
}

}  // namespace gatewise
