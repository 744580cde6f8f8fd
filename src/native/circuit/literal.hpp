// Gates over signed wires. Every two-input gate is a constant, a wire, an AND of signed wires or an XOR, each possibly
// inverted; `normalize` finds which, by evaluating the truth table.
#pragma once

#include <cstdint>
#include <utility>

#include "circuit/gates.hpp"

namespace gatewise {

// A node with a sign: 2 * node + inverted. Node 0 is the constant false, then the inputs, then whatever is built.
using Literal = uint32_t;
constexpr Literal kFalseLiteral = 0;
constexpr Literal kTrueLiteral = 1;

constexpr Literal literal(uint32_t node, bool inverted = false) { return 2 * node + inverted; }
constexpr uint32_t node_of(Literal x) { return x >> 1; }
constexpr bool is_inverted(Literal x) { return x & 1; }
constexpr Literal positive(Literal x) { return x & ~1u; }

// Wires 0 and 1 are both the constant node; wire w > 1 is node w - 1.
constexpr Literal literal_of_wire(uint32_t wire) { return wire < 2 ? wire : literal(wire - 1); }

enum class Kind : uint8_t { kLiteral, kAnd, kXor };

// The value (a), (a AND b) or (a XOR b), inverted if `inverted`. Canonical: a < b, XOR operands are positive, and
// a plain literal carries its sign in `a`.
struct Term {
  Kind kind;
  bool inverted;
  Literal a, b;
};

// The function of one operand x with values f0 and f1 at x = 0 and x = 1.
constexpr Term unary(bool f0, bool f1, Literal x) {
  const Literal value = f0 == f1 ? (f0 ? kTrueLiteral : kFalseLiteral) : x ^ static_cast<Literal>(f0);
  return {Kind::kLiteral, false, value, kFalseLiteral};
}

constexpr Term normalize(unsigned gate, Literal a, Literal b) {
  // f(i, j) is the gate's value when the nodes behind a and b have the values i and j.
  const unsigned sa = is_inverted(a), sb = is_inverted(b);
  bool f00 = truth(gate, sa, sb), f01 = truth(gate, sa, sb ^ 1);
  bool f10 = truth(gate, sa ^ 1, sb), f11 = truth(gate, sa ^ 1, sb ^ 1);
  a = positive(a);
  b = positive(b);
  if (a > b) {
    std::swap(a, b);
    std::swap(f01, f10);
  }
  if (a == b) return unary(f00, f11, a);
  if (a == kFalseLiteral || (f00 == f10 && f01 == f11)) return unary(f00, f01, b);
  if (f00 == f01 && f10 == f11) return unary(f00, f10, a);
  if (f00 == f11 && f01 == f10) return {Kind::kXor, f00, a, b};
  // One entry differs from the other three: an AND that is true there, or its inverse.
  const bool rare = f00 + f01 + f10 + f11 == 1;
  const bool at_b = f01 == rare || f11 == rare;
  const bool at_a = f10 == rare || f11 == rare;
  return {Kind::kAnd, !rare, a ^ static_cast<Literal>(!at_a), b ^ static_cast<Literal>(!at_b)};
}

// The gate id that computes kind(a, b) ^ inverted when its operands are the positive wires behind a and b.
constexpr unsigned gate_of(const Term& term) {
  unsigned gate = 0;
  for (unsigned i = 0; i < 2; ++i)
    for (unsigned j = 0; j < 2; ++j) {
      const bool x = i ^ is_inverted(term.a), y = j ^ is_inverted(term.b);
      const bool value = term.kind == Kind::kXor ? x != y : term.kind == Kind::kAnd ? x && y : x;
      gate |= static_cast<unsigned>(value != term.inverted) << (3 - 2 * i - j);
    }
  return gate;
}

}  // namespace gatewise
