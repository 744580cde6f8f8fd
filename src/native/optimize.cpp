#include "optimize.hpp"

#include "literal.hpp"

namespace gatewise {

CircuitArrays simplify(const CircuitView& circuit) {
  return {{circuit.gate, circuit.gate + circuit.n_gates}, {circuit.a, circuit.a + circuit.n_gates}, {circuit.b, circuit.b + circuit.n_gates}, {circuit.outputs, circuit.outputs + circuit.n_outputs}};
}

}  // namespace gatewise
