// What a gate means: the native twin of gatewise.gates. Static, because kernel files compile their own copy.
#pragma once

#include <cstdint>

namespace gatewise {

// A gate's id is its truth table, read 00, 01, 10, 11.
static constexpr bool truth(unsigned gate, unsigned a, unsigned b) { return gate >> (3 - 2 * a - b) & 1; }

constexpr unsigned kNumGates = 16;

namespace gates {

enum Id : uint8_t {
  kFalse,     // 0000
  kAnd,       // 0001
  kAAndNotB,  // 0010
  kA,         // 0011
  kNotAAndB,  // 0100
  kB,         // 0101
  kXor,       // 0110
  kOr,        // 0111
  kNor,       // 1000
  kXnor,      // 1001
  kNotB,      // 1010
  kAOrNotB,   // 1011
  kNotA,      // 1100
  kNotAOrB,   // 1101
  kNand,      // 1110
  kTrue,      // 1111
};

}  // namespace gates

// The gate that is true where this one is false.
static constexpr unsigned negate(unsigned gate) { return gate ^ gates::kTrue; }

// The same function with its operands exchanged.
static constexpr unsigned exchange_operands(unsigned gate) {
  return truth(gate, 0, 0) << 3 | truth(gate, 1, 0) << 2 | truth(gate, 0, 1) << 1 | truth(gate, 1, 1);
}

}  // namespace gatewise
