// Netlist -> operations: the gates as the program executes them, alone or in pairs.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/netlist.hpp"

namespace gatewise {

constexpr uint32_t kNone = ~0u;

// One gate, or a pair of them, as a step kind and its operands.
struct Operation {
  uint32_t kind, n_operands;
  uint32_t operands[3];

  const uint32_t* begin() const { return operands; }
  const uint32_t* end() const { return operands + n_operands; }
};

// Each gate that feeds gates absorbs one operand that nobody else reads and that has not absorbed one itself: the two
// become one operation, and the wire between them takes no slot. Borrows the netlist.
class Operations {
 public:
  explicit Operations(const Netlist& net);

  bool is_inside(uint32_t node) const { return is_inside_[node]; }  // whether a gate is absorbed
  Operation at(uint32_t node) const;                                // of a gate that is not

 private:
  const Netlist::Gate& gate_at(uint32_t node) const { return net_.gates[node - net_.first_gate]; }

  const Netlist& net_;
  std::vector<uint32_t> absorbed_;
  std::vector<bool> is_inside_;
};

}  // namespace gatewise
