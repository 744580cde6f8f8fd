// Circuit -> Netlist: only live gates, no constants or pass-throughs, and few kinds of gates.
#pragma once

#include <cstdint>
#include <vector>

#include "circuit/circuit.hpp"

namespace gatewise {

// Nodes are numbered like wires: 0 false, 1 true, the inputs, then the gates in topological order. A node may hold the
// inverse of the wire it came from, so gates that feed gates are AND, NOT_A_AND_B, XOR or OR only; a gate that is read
// once, by an output, holds exactly that output and may also be an inverted one of these, or a NOT.
struct Netlist {
  struct Gate {
    uint32_t kind;  // gate id
    uint32_t a, b;
  };
  uint32_t first_gate;
  std::vector<Gate> gates;
  std::vector<uint32_t> outputs;  // node of each output
  std::vector<uint32_t> n_reads;  // per node: operands and outputs that read it

  uint32_t n_nodes() const { return first_gate + static_cast<uint32_t>(gates.size()); }
};

Netlist lower(const CircuitView& circuit);

}  // namespace gatewise
