#include "circuit/circuit.hpp"

#include <limits>
#include <stdexcept>
#include <string>

#include "circuit/gates.hpp"

namespace gatewise {
namespace {

constexpr uint64_t kMaxWires = std::numeric_limits<int32_t>::max();

void require(bool ok, const std::string& rule) {
  if (!ok) throw std::invalid_argument(rule);
}

[[noreturn]] void refuse(const char* name, size_t at, const char* rule, int64_t value) {
  throw std::invalid_argument(std::string(name) + '[' + std::to_string(at) + "] must be " + rule + ", got " +
                              std::to_string(value));
}

bool is_wire(int32_t wire, uint64_t n_wires) { return wire >= 0 && static_cast<uint64_t>(wire) < n_wires; }

}  // namespace

void Circuit::check() const {
  require(gate.size() == a.size() && gate.size() == b.size(), "gate, a and b must have equal lengths");
  const uint64_t first_gate = uint64_t{kConstantWires} + n_inputs, n_wires = first_gate + gate.size();
  require(n_wires <= kMaxWires, "wires must number at most 2147483647, got " + std::to_string(n_wires));
  require(outputs.size() <= kMaxWires, "outputs must number at most 2147483647");
  for (size_t i = 0; i < gate.size(); ++i) {
    if (gate[i] >= kNumGates) refuse("gate", i, "below 16", gate[i]);
    if (!is_wire(a[i], first_gate + i)) refuse("a", i, "a wire below the gate's own", a[i]);
    if (!is_wire(b[i], first_gate + i)) refuse("b", i, "a wire below the gate's own", b[i]);
  }
  for (size_t i = 0; i < outputs.size(); ++i)
    if (!is_wire(outputs[i], n_wires)) refuse("outputs", i, "a wire", outputs[i]);
  bool rises = !group_ptr.empty() && group_ptr.front() == 0 && group_ptr.back() == static_cast<int64_t>(outputs.size());
  for (size_t k = 1; k < group_ptr.size(); ++k) rises &= group_ptr[k - 1] <= group_ptr[k];
  require(rises, "group_ptr must rise from 0 to the number of outputs");
}

CircuitView Circuit::view() const {
  return {n_inputs,        static_cast<uint32_t>(gate.size()),
          gate.data(),     a.data(),
          b.data(),        static_cast<uint32_t>(outputs.size()),
          outputs.data(),  static_cast<uint32_t>(group_ptr.size() - 1),
          group_ptr.data()};
}

}  // namespace gatewise
