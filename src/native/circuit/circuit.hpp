// A circuit as plain arrays: the native twin of gatewise.circuit.Circuit.
// Wires: 0 false, 1 true, then the inputs, then the gates; operands lie below their gate.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace gatewise {

constexpr uint32_t kConstantWires = 2;

// Borrowed, and well formed: see Circuit::check.
struct CircuitView {
  uint32_t n_inputs;
  uint32_t n_gates;
  const uint8_t* gate;
  const int32_t* a;
  const int32_t* b;
  uint32_t n_outputs;
  const int32_t* outputs;
  uint32_t n_groups;
  const int32_t* group_ptr;  // n_groups + 1 offsets into outputs

  uint32_t first_gate() const { return kConstantWires + n_inputs; }
};

struct Circuit {
  uint32_t n_inputs = 0;
  std::vector<uint8_t> gate;
  std::vector<int32_t> a, b, outputs, group_ptr;

  // Throws std::invalid_argument, naming the first offender, unless gates are ids, operands are wires below their
  // gate's own, outputs are wires, and group_ptr rises from 0 to the number of outputs. Everything that reads a circuit
  // takes its arrays for indices, so what comes from outside is checked first.
  void check() const;

  CircuitView view() const;
};

}  // namespace gatewise
