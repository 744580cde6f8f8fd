// Gates and counting: program steps over the slots of one block.
#pragma once

#include "kernels.hpp"
#include "vector.hpp"

namespace gatewise {
namespace {

constexpr size_t kLineBytes = 64;

template <unsigned Gate, uint32_t Words, typename Index>
const Index* run_gates(const Index* code, uint32_t count, uint64_t* slots) {
  using V = Vector<Words>;
  for (uint32_t i = 0; i < count; ++i, code += 3) {
    uint64_t* to = slots + size_t{code[0]} * Words;
    const uint64_t* a = slots + size_t{code[1]} * Words;
    const uint64_t* b = slots + size_t{code[2]} * Words;
#pragma GCC unroll 16
    for (size_t k = 0; k < Words; k += kStride<V>)
      store<V>(to + k, apply_gate<Gate, V>(load<V>(a + k), load<V>(b + k)));
  }
  return code;
}

template <unsigned Inner, unsigned Gate, uint32_t Words, typename Index>
const Index* run_pairs(const Index* code, uint32_t count, uint64_t* slots) {
  using V = Vector<Words>;
  for (uint32_t i = 0; i < count; ++i, code += 4) {
    uint64_t* to = slots + size_t{code[0]} * Words;
    const uint64_t* a = slots + size_t{code[1]} * Words;
    const uint64_t* b = slots + size_t{code[2]} * Words;
    const uint64_t* c = slots + size_t{code[3]} * Words;
#pragma GCC unroll 16
    for (size_t k = 0; k < Words; k += kStride<V>)
      store<V>(to + k, apply_pair<Inner, Gate, V>(load<V>(a + k), load<V>(b + k), load<V>(c + k)));
  }
  return code;
}

// Adds 2^Level bits to the digits of weight 1 .. 2^(Level - 1); the carry, of weight 2^Level, is returned.
template <uint32_t Level, typename V, typename Bit>
inline V add_bits(V* digits, const Bit& bit, size_t i) {
  V carry;
  if constexpr (Level == 1) {
    digits[0] = full_add<V>(digits[0], bit(i), bit(i + 1), carry);
  } else {
    const V x = add_bits<Level - 1>(digits, bit, i);
    const V y = add_bits<Level - 1>(digits, bit, i + (size_t{1} << (Level - 1)));
    digits[Level - 1] = full_add<V>(digits[Level - 1], x, y, carry);
  }
  return carry;
}

// Carry-save adders on one vector of lanes: the low digits of the count stay in registers, and one carry in eight bits
// ripples on into the planes in memory. Gate 0 stands for plain slots.
template <unsigned Gate, uint32_t Words, typename Index>
void count_vector(const Index* code, uint32_t count, const uint64_t* slots, uint64_t* planes, uint32_t n_planes) {
  using V = Vector<Words>;
  const auto slot = [&](size_t j) { return load<V>(slots + size_t{code[j]} * Words); };
  const auto bit = [&](size_t j) {
    if constexpr (Gate == 0) {
      return slot(j);
    } else {
      return apply_gate<Gate, V>(slot(2 * j), slot(2 * j + 1));
    }
  };
  V digits[kChunkDigits];
  for (uint32_t p = 0; p < kChunkDigits; ++p) digits[p] = load<V>(planes + p * Words);
  for (uint32_t i = 0; i < count; i += kCountChunk, code += kCountChunk * (Gate ? 2 : 1)) {
    V carry = add_bits<kChunkDigits>(digits, bit, 0);
    for (uint32_t p = kChunkDigits; p < n_planes; ++p) {
      const V digit = load<V>(planes + p * Words);
      store<V>(planes + p * Words, digit ^ carry);
      carry &= digit;
    }
  }
  for (uint32_t p = 0; p < kChunkDigits; ++p) store<V>(planes + p * Words, digits[p]);
}

template <unsigned Gate, uint32_t Words, typename Index>
const Index* run_count(const Index* code, uint32_t count, const uint64_t* slots, uint64_t* planes, uint32_t n_planes) {
  for (uint32_t at = 0; at < Words; at += kStride<Vector<Words>>)
    count_vector<Gate, Words>(code, count, slots + at, planes + at, n_planes);
  return code + count * (Gate ? 2 : 1);
}

template <uint32_t Words, typename Index>
struct Runner {
  const Index* code;
  BlockView block;
  ProgramView program;
  size_t loaded = 0;  // of program.inputs

  const uint8_t* next_input(size_t at) const {
    return block.inputs + static_cast<ptrdiff_t>(program.inputs[at]) * block.input_stride;
  }

  // Inputs come from all over memory, so each is asked for well before it is loaded.
  void load_inputs(const Step& step) {
    using V = Vector<Words>;
    constexpr size_t ahead = 32, slot_bytes = Words * sizeof(uint64_t);
    for (const size_t end = loaded + step.count; loaded < end; ++loaded) {
      const uint8_t* from = next_input(loaded);
      uint64_t* to = block.slots + size_t{*code++} * Words;
      for (size_t at = 0; loaded + ahead < program.n_inputs && at < slot_bytes; at += kLineBytes)
        __builtin_prefetch(next_input(loaded + ahead) + at);
#pragma GCC unroll 16
      for (size_t k = 0; k < Words; k += kStride<V>) {
        V v;
        std::memcpy(&v, from + k * sizeof(uint64_t), sizeof v);
        store<V>(to + k, v);
      }
    }
  }
  template <unsigned Gate>
  void gates(const Step& step) {
    code = run_gates<Gate, Words>(code, step.count, block.slots);
  }
  template <unsigned Inner, unsigned Gate>
  void pairs(const Step& step) {
    code = run_pairs<Inner, Gate, Words>(code, step.count, block.slots);
  }
  template <unsigned Gate>
  void count(const Step& step) {
    uint64_t* group = block.planes + size_t{step.group} * program.n_planes * Words;
    code = run_count<Gate, Words>(code, step.count, block.slots, group, program.n_planes);
  }
};

#define GATEWISE_GATES(GATE)                        \
  case GATE: run.template gates<GATE>(step); break; \
  case kCount + GATE: run.template count<GATE>(step); break;
#define GATEWISE_PAIR(INNER, GATE) \
  case kPair + 16 * INNER + GATE: run.template pairs<INNER, GATE>(step); break;
#define GATEWISE_PAIRS(INNER) \
  GATEWISE_PAIR(INNER, 1)     \
  GATEWISE_PAIR(INNER, 2) GATEWISE_PAIR(INNER, 4) GATEWISE_PAIR(INNER, 6) GATEWISE_PAIR(INNER, 7)

template <uint32_t Words, typename Index>
void evaluate(const ProgramView& program, const Upcoming& upcoming, const BlockView& block) {
  const size_t n_lines = upcoming.n_bytes / kLineBytes;
  const size_t lines_per_step = (n_lines + program.n_steps) / (program.n_steps + 1);
  size_t line = 0;
  Runner<Words, Index> run{static_cast<const Index*>(program.code), block, program};
  for (size_t i = 0; i < program.n_steps; ++i) {
    const Step& step = program.steps[i];
    for (const size_t end = line + lines_per_step; line < end && line < n_lines; ++line)
      __builtin_prefetch(upcoming.data + line * kLineBytes, 0, 2);
    switch (step.kind) {
      GATEWISE_GATES(1)
      GATEWISE_GATES(4)
      GATEWISE_GATES(6)
      GATEWISE_GATES(7)
      GATEWISE_GATES(8)
      GATEWISE_GATES(9)
      GATEWISE_GATES(12)
      GATEWISE_GATES(13)
      GATEWISE_GATES(14)
      GATEWISE_PAIRS(1)
      GATEWISE_PAIRS(4)
      GATEWISE_PAIRS(6)
      GATEWISE_PAIRS(7)
      case kCount: run.template count<0>(step); break;
      case kLoad: run.load_inputs(step); break;
    }
  }
}

#undef GATEWISE_GATES
#undef GATEWISE_PAIR
#undef GATEWISE_PAIRS

}  // namespace
}  // namespace gatewise
