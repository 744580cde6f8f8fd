#include "lower.hpp"

#include <utility>

#include "literal.hpp"

namespace gatewise {
namespace {

constexpr uint32_t kNot = 12;

struct Signed {
  std::vector<Term> terms;  // AND and XOR only
  std::vector<Literal> outputs;
};

std::vector<bool> mark_live(const CircuitView& circuit) {
  std::vector<bool> live(circuit.first_gate() + circuit.n_gates);
  for (uint32_t i = 0; i < circuit.n_outputs; ++i) live[circuit.outputs[i]] = true;
  for (uint32_t i = circuit.n_gates; i-- > 0;) {
    if (!live[circuit.first_gate() + i]) continue;
    const unsigned gate = circuit.gate[i];
    if ((gate >> 2) != (gate & 3)) live[circuit.a[i]] = true;
    if ((gate >> 1 & 5) != (gate & 5)) live[circuit.b[i]] = true;
  }
  return live;
}

// Fold constants, pass-throughs and inverters; node n of a literal is the constant, an input, or terms[n - 1 - n_inputs].
Signed fold(const CircuitView& circuit) {
  const std::vector<bool> live = mark_live(circuit);
  const uint32_t first = circuit.first_gate();
  Signed folded;
  std::vector<Literal> value(first + circuit.n_gates);
  for (uint32_t wire = 0; wire < first; ++wire) value[wire] = literal_of_wire(wire);
  for (uint32_t i = 0; i < circuit.n_gates; ++i) {
    if (!live[first + i]) continue;
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

// Literals count the constant once, nodes count it twice (false and true).
constexpr uint32_t to_node(Literal x) { return node_of(x) == 0 ? x : node_of(x) + 1; }

// Keep the kinds few: exchange operands so that 2 becomes 4 and 11 becomes 13.
Netlist::Gate make_gate(const Term& term) {
  Netlist::Gate gate{gate_of(term), to_node(positive(term.a)), to_node(positive(term.b))};
  if (gate.kind == 2 || gate.kind == 11) {
    gate.kind = gate.kind == 2 ? 4 : 13;
    std::swap(gate.a, gate.b);
  }
  return gate;
}

}  // namespace

Netlist lower(const CircuitView& circuit) {
  const Signed folded = fold(circuit);
  Netlist net{circuit.first_gate(), {}, {}, {}};
  net.gates.reserve(folded.terms.size());
  net.n_reads.assign(net.first_gate + folded.terms.size(), 0);
  for (const Term& term : folded.terms) {
    ++net.n_reads[to_node(positive(term.a))];
    ++net.n_reads[to_node(positive(term.b))];
  }
  std::vector<uint8_t> output_sign(net.n_reads.size(), 2);  // of the output that reads a gate, if there is one
  for (const Literal x : folded.outputs) {
    ++net.n_reads[to_node(x)];
    output_sign[to_node(positive(x))] = is_inverted(x);
  }
  std::vector<uint8_t> holds_inverse(net.n_reads.size(), 0);
  for (size_t i = 0; i < folded.terms.size(); ++i) {
    const uint32_t node = net.first_gate + static_cast<uint32_t>(i);
    Term term = folded.terms[i];
    term.a ^= holds_inverse[to_node(positive(term.a))];
    term.b ^= holds_inverse[to_node(positive(term.b))];
    const bool is_sink = net.n_reads[node] == 1 && output_sign[node] != 2;
    // Prefer the cheap sign: ~a & ~b is the inverse of a | b, and an XOR's signs move to its output.
    const bool cheap = term.kind == Kind::kXor ? is_inverted(term.a) != is_inverted(term.b)
                                               : is_inverted(term.a) && is_inverted(term.b);
    term.inverted = is_sink ? output_sign[node] : cheap;
    holds_inverse[node] = term.inverted;
    net.gates.push_back(make_gate(term));
  }
  for (const Literal x : folded.outputs) {
    const uint32_t node = to_node(x);
    if (node < 2 || is_inverted(x) == holds_inverse[node]) {
      net.outputs.push_back(node);
      continue;
    }
    net.outputs.push_back(net.n_nodes());
    net.gates.push_back({kNot, node, node});
    ++net.n_reads[node];  // a NOT names its operand twice, and stands for the output that was counted
    net.n_reads.push_back(1);
  }
  return net;
}

}  // namespace gatewise
