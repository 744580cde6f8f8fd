#include "engine/pairs.hpp"

#include "circuit/gates.hpp"
#include "engine/kernels.hpp"

namespace gatewise {

Operations::Operations(const Netlist& net)
    : net_(net), absorbed_(net.n_nodes(), kNone), is_inside_(net.n_nodes(), false) {
  std::vector<bool> is_output(net.n_nodes());
  for (const uint32_t node : net.outputs) is_output[node] = true;
  const auto is_free = [&](uint32_t node) {
    return node >= net.first_gate && net.n_reads[node] == 1 && absorbed_[node] == kNone && !is_output[node];
  };
  for (uint32_t node = net.first_gate; node < net.n_nodes(); ++node) {
    const Netlist::Gate& gate = gate_at(node);
    if (is_output[node]) continue;
    const uint32_t operand = is_free(gate.a) ? gate.a : is_free(gate.b) ? gate.b : kNone;
    if (operand == kNone) continue;
    absorbed_[node] = operand;
    is_inside_[operand] = true;
  }
}

Operation Operations::at(uint32_t node) const {
  const Netlist::Gate& gate = gate_at(node);
  if (absorbed_[node] == kNone) return {gate.kind, 2, {gate.a, gate.b, 0}};
  const Netlist::Gate& inner = gate_at(absorbed_[node]);
  const bool is_first = gate.a == absorbed_[node];
  const uint32_t kind = is_first ? gate.kind : exchange_operands(gate.kind);
  return {kPair + kNumGates * inner.kind + kind, 3, {inner.a, inner.b, is_first ? gate.b : gate.a}};
}

}  // namespace gatewise
