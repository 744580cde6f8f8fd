// Gates and counting: program steps over the slots of one block.
#pragma once

namespace gatewise {
namespace {

template <unsigned Gate, uint32_t Words, typename Index>
const Index* run_gates(const Index* code, uint32_t count, uint64_t* slots) {
  using V = Vector<Words>;
  constexpr size_t step = sizeof(V) / 8;
  for (uint32_t i = 0; i < count; ++i, code += 3) {
    uint64_t* to = slots + size_t{code[0]} * Words;
    const uint64_t* a = slots + size_t{code[1]} * Words;
    const uint64_t* b = slots + size_t{code[2]} * Words;
#pragma GCC unroll 16
    for (size_t k = 0; k < Words; k += step) store<V>(to + k, apply_gate<Gate, V>(load<V>(a + k), load<V>(b + k)));
  }
  return code;
}

// Carry-save adders: eight slots become one digit each of weight 1, 2, 4 (kept in registers) and a carry of weight 8
// that ripples into the higher planes.
template <uint32_t Words, typename Index>
const Index* run_count(const Index* code, uint32_t count, const uint64_t* slots, uint64_t* planes, uint32_t n_planes) {
  using V = Vector<Words>;
  constexpr size_t step = sizeof(V) / 8;
  for (size_t k = 0; k < Words; k += step) {
    const auto slot = [&](size_t i) { return load<V>(slots + size_t{code[i]} * Words + k); };
    const auto plane = [&](size_t p) { return planes + p * Words + k; };
    V ones = load<V>(plane(0)), twos = load<V>(plane(1)), fours = load<V>(plane(2));
    for (size_t i = 0; i < count; i += kCountChunk) {
      V two_a, two_b, four_a, four_b, carry;
      ones = full_add<V>(ones, slot(i), slot(i + 1), two_a);
      ones = full_add<V>(ones, slot(i + 2), slot(i + 3), two_b);
      twos = full_add<V>(twos, two_a, two_b, four_a);
      ones = full_add<V>(ones, slot(i + 4), slot(i + 5), two_a);
      ones = full_add<V>(ones, slot(i + 6), slot(i + 7), two_b);
      twos = full_add<V>(twos, two_a, two_b, four_b);
      fours = full_add<V>(fours, four_a, four_b, carry);
      for (uint32_t p = 3; p < n_planes; ++p) {
        const V digit = load<V>(plane(p));
        store<V>(plane(p), digit ^ carry);
        carry &= digit;
      }
    }
    store<V>(plane(0), ones);
    store<V>(plane(1), twos);
    store<V>(plane(2), fours);
  }
  return code + count;
}

template <uint32_t Words, typename Index>
void evaluate(const ProgramView& program, uint64_t* slots, uint64_t* planes) {
  const Index* code = static_cast<const Index*>(program.code);
  for (size_t i = 0; i < program.n_steps; ++i) {
    const Step& step = program.steps[i];
    switch (step.kind) {
      case 1: code = run_gates<1, Words>(code, step.count, slots); break;
      case 4: code = run_gates<4, Words>(code, step.count, slots); break;
      case 6: code = run_gates<6, Words>(code, step.count, slots); break;
      case 7: code = run_gates<7, Words>(code, step.count, slots); break;
      case 8: code = run_gates<8, Words>(code, step.count, slots); break;
      case 9: code = run_gates<9, Words>(code, step.count, slots); break;
      case 12: code = run_gates<12, Words>(code, step.count, slots); break;
      case 13: code = run_gates<13, Words>(code, step.count, slots); break;
      case 14: code = run_gates<14, Words>(code, step.count, slots); break;
      case kCount: {
        uint64_t* group = planes + size_t{step.group} * program.n_planes * Words;
        code = run_count<Words>(code, step.count, slots, group, program.n_planes);
        break;
      }
    }
  }
}

}  // namespace
}  // namespace gatewise
