#include "engine/netlist.hpp"

#include <utility>

#include "circuit/literal.hpp"

namespace gatewise {
namespace {

struct Signed {
  std::vector<Term> terms;  // AND and XOR only
  std::vector<Literal> outputs;
};

// Fold constants, pass-throughs and inverters; node n of a literal is the constant, an input, or terms[n - 1 -
// n_inputs].
Signed fold(const CircuitView& circuit) {
  const uint32_t first = circuit.first_gate();
  Signed folded;
  std::vector<Literal> value(first + circuit.n_gates);
  for (uint32_t wire = 0; wire < first; ++wire) value[wire] = literal_of_wire(wire);
  for (uint32_t i = 0; i < circuit.n_gates; ++i) {
    const Term term = normalize(circuit.gate[i], value[circuit.a[i]], value[circuit.b[i]]);
    if (term.kind == Kind::kLiteral) {
      value[first + i] = term.a;
      continue;
    }
    value[first + i] = literal(1 + circuit.n_inputs + static_cast<uint32_t>(folded.terms.size()), term.inverted);
    folded.terms.push_back({term.kind, false, term.a, term.b});
  }
  for (uint32_t i = 0; i < circuit.n_outputs; ++i) folded.outputs.push_back(value[circuit.outputs[i]]);
  return folded;
}

// Drop the terms that no output depends on, and renumber the rest.
void sweep(Signed& folded, uint32_t n_inputs) {
  const uint32_t first = 1 + n_inputs;
  std::vector<bool> live(first + folded.terms.size());
  for (const Literal x : folded.outputs) live[node_of(x)] = true;
  for (size_t i = folded.terms.size(); i-- > 0;) {
    if (!live[first + i]) continue;
    live[node_of(folded.terms[i].a)] = true;
    live[node_of(folded.terms[i].b)] = true;
  }
  std::vector<uint32_t> node(live.size());
  for (uint32_t n = 0; n < first; ++n) node[n] = n;
  const auto renumber = [&](Literal x) { return literal(node[node_of(x)], is_inverted(x)); };
  uint32_t n_kept = 0;
  for (size_t i = 0; i < folded.terms.size(); ++i) {
    if (!live[first + i]) continue;
    const Term& term = folded.terms[i];
    folded.terms[n_kept] = {term.kind, false, renumber(term.a), renumber(term.b)};
    node[first + i] = first + n_kept++;
  }
  folded.terms.resize(n_kept);
  for (Literal& x : folded.outputs) x = renumber(x);
}

// Literals count the constant once, nodes count it twice (false and true).
constexpr uint32_t to_node(Literal x) { return node_of(x) == 0 ? x : node_of(x) + 1; }

// Keep the kinds few: of two gates that differ in the order of their operands, only one occurs.
Netlist::Gate make_gate(const Term& term) {
  Netlist::Gate gate{gate_of(term), to_node(positive(term.a)), to_node(positive(term.b))};
  if (gate.kind == gates::kAAndNotB || gate.kind == gates::kAOrNotB) {
    gate.kind = exchange_operands(gate.kind);
    std::swap(gate.a, gate.b);
  }
  return gate;
}

}  // namespace

Netlist lower(const CircuitView& circuit) {
  Signed folded = fold(circuit);
  sweep(folded, circuit.n_inputs);
  Netlist net{circuit.first_gate(), {}, {}, {}};
  net.gates.reserve(folded.terms.size());
  net.n_reads.assign(net.first_gate + folded.terms.size(), 0);
  for (const Term& term : folded.terms) {
    ++net.n_reads[to_node(positive(term.a))];
    ++net.n_reads[to_node(positive(term.b))];
  }
  std::vector<uint32_t> inverted_reads(net.n_reads.size()), plain_reads(net.n_reads.size());  // by outputs
  for (const Literal x : folded.outputs) {
    ++net.n_reads[to_node(x)];
    ++(is_inverted(x) ? inverted_reads : plain_reads)[to_node(positive(x))];
  }
  std::vector<uint8_t> holds_inverse(net.n_reads.size(), 0);
  for (size_t i = 0; i < folded.terms.size(); ++i) {
    const uint32_t node = net.first_gate + static_cast<uint32_t>(i);
    Term term = folded.terms[i];
    term.a ^= holds_inverse[to_node(positive(term.a))];
    term.b ^= holds_inverse[to_node(positive(term.b))];
    const bool is_sink = net.n_reads[node] == inverted_reads[node] || net.n_reads[node] == plain_reads[node];
    // Prefer the cheap sign: ~a & ~b is the inverse of a | b, and an XOR's signs move to its output.
    const bool cheap = term.kind == Kind::kXor ? is_inverted(term.a) != is_inverted(term.b)
                                               : is_inverted(term.a) && is_inverted(term.b);
    term.inverted = is_sink ? inverted_reads[node] > 0 : cheap;
    holds_inverse[node] = term.inverted;
    net.gates.push_back(make_gate(term));
  }
  std::vector<uint32_t> inverse(net.n_reads.size());  // the NOT of a node, which outputs share, or 0
  for (const Literal x : folded.outputs) {
    const uint32_t node = to_node(x);
    if (node < 2 || is_inverted(x) == holds_inverse[node]) {
      net.outputs.push_back(node);
      continue;
    }
    if (inverse[node] == 0) {
      inverse[node] = net.n_nodes();
      net.gates.push_back({gates::kNotA, node, node});
      net.n_reads.push_back(0);
      net.n_reads[node] += 2;  // a NOT names its operand twice
    }
    --net.n_reads[node];
    ++net.n_reads[inverse[node]];
    net.outputs.push_back(inverse[node]);
  }
  return net;
}

}  // namespace gatewise
