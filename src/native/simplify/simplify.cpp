// A reverse sweep counts who reads what, a forward sweep builds the graph of what is read, `write_back` writes it down.
// "Old" literals number the nodes of the given circuit (node = wire - 1), all others those of the graph.
#include "simplify/simplify.hpp"

#include <algorithm>

#include "circuit/literal.hpp"
#include "simplify/graph.hpp"
#include "simplify/window.hpp"
#include "simplify/write_back.hpp"

namespace gatewise {

namespace {

Term old_term(const CircuitView& circuit, uint32_t gate_idx) {
  return normalize(circuit.gate[gate_idx], literal_of_wire(circuit.a[gate_idx]), literal_of_wire(circuit.b[gate_idx]));
}

// By old node, how many outputs and live gates read it. A gate that passes one operand through reads only that one.
std::vector<uint32_t> count_readers(const CircuitView& circuit) {
  const uint32_t first = circuit.first_gate() - 1;
  std::vector<uint32_t> n_readers(first + circuit.n_gates, 0);
  for (uint32_t i = 0; i < circuit.n_outputs; ++i) ++n_readers[node_of(literal_of_wire(circuit.outputs[i]))];
  for (uint32_t i = circuit.n_gates; i-- > 0;) {
    if (n_readers[first + i] == 0) continue;
    const Term term = old_term(circuit, i);
    ++n_readers[node_of(term.a)];
    if (term.kind != Kind::kLiteral) ++n_readers[node_of(term.b)];
  }
  return n_readers;
}

class Builder {
 public:
  explicit Builder(const CircuitView& circuit)
      : circuit_(circuit), n_readers_(count_readers(circuit)), graph_(circuit.n_inputs) {
    built_.resize(n_readers_.size(), kFalseLiteral);
    for (uint32_t node = 0; node <= circuit.n_inputs; ++node) {
      built_[node] = literal(node);
      graph_.retain(node, n_readers_[node]);
    }
  }

  Simplified run() {
    for (uint32_t i = 0; i < circuit_.n_gates; ++i) add_gate(i);
    std::vector<Literal> outputs(circuit_.n_outputs);
    for (uint32_t i = 0; i < circuit_.n_outputs; ++i) outputs[i] = translate(literal_of_wire(circuit_.outputs[i]));
    WrittenBack written = write_back(graph_, outputs);
    take_back(written.n_inverters);
    written.circuit.group_ptr.assign(circuit_.group_ptr, circuit_.group_ptr + circuit_.n_groups + 1);
    return {std::move(written.circuit), removed_};
  }

 private:
  Literal translate(Literal old) const { return built_[node_of(old)] ^ static_cast<Literal>(is_inverted(old)); }

  Term translate(const Term& old) const {
    if (old.kind == Kind::kLiteral) return {Kind::kLiteral, false, translate(old.a), kFalseLiteral};
    Term term = normalize(old.kind == Kind::kAnd ? gates::kAnd : gates::kXor, translate(old.a), translate(old.b));
    if (term.kind == Kind::kLiteral)
      term.a ^= static_cast<Literal>(old.inverted);
    else
      term.inverted ^= old.inverted;
    return term;
  }

  // Inverters that outputs need were counted as removed, when they were folded, shared or rewritten.
  void take_back(int64_t n_inverters) {
    for (int64_t* count : {&removed_.pass_through, &removed_.shared}) {
      const int64_t n_taken = std::min(n_inverters, *count);
      *count -= n_taken;
      n_inverters -= n_taken;
    }
    removed_.rewritten -= n_inverters;
  }

  // Counts the gate itself under `cause`, and nodes that appear or disappear with it under `side_effect`.
  void add_gate(uint32_t gate_idx) {
    const uint32_t old_node = circuit_.first_gate() - 1 + gate_idx;
    if (n_readers_[old_node] == 0) {
      ++removed_.dead;
      return;
    }
    const Term old = old_term(circuit_, gate_idx);
    const Term term = translate(old);
    Literal result = graph_.find(term);
    int64_t* cause = &removed_.shared;
    int64_t* side_effect = &removed_.dead;
    if (term.kind == Kind::kLiteral) {
      cause = node_of(result) == 0 ? &removed_.constant : &removed_.pass_through;
    } else if (result == Graph::kAbsent || graph_.references(node_of(result)) == 0) {
      result = rewrite(graph_, term);
      cause = side_effect = &removed_.rewritten;
    }
    const int64_t n_before = graph_.n_used();
    graph_.retain(node_of(result), n_readers_[old_node]);
    graph_.release(node_of(translate(old.a)));
    if (old.kind != Kind::kLiteral) graph_.release(node_of(translate(old.b)));
    built_[old_node] = result;
    ++*cause;
    *side_effect -= graph_.n_used() - n_before;
  }

  const CircuitView& circuit_;
  std::vector<uint32_t> n_readers_;  // by old node
  Graph graph_;
  std::vector<Literal> built_;  // by old node
  Removed removed_;
};

}  // namespace

Simplified simplify(const CircuitView& circuit) { return Builder(circuit).run(); }

}  // namespace gatewise
