// Gates and counting: program steps over the slots of one block.
#pragma once

#include "engine/kernels.hpp"
#include "simd/words.hpp"

namespace gatewise {
namespace {

constexpr size_t kLineBytes = 64;

template <unsigned Gate, uint32_t Words, typename Index>
const Index* run_gates(const Index* code, uint32_t count, uint64_t* slots) {
  using Bits = Vector<Words>;
  for (uint32_t i = 0; i < count; ++i, code += 3) {
    uint64_t* to = slots + size_t{code[0]} * Words;
    const uint64_t* a = slots + size_t{code[1]} * Words;
    const uint64_t* b = slots + size_t{code[2]} * Words;
#pragma GCC unroll 16
    for (size_t k = 0; k < Words; k += kStride<Bits>)
      store<Bits>(to + k, apply_gate<Gate, Bits>(load<Bits>(a + k), load<Bits>(b + k)));
  }
  return code;
}

template <unsigned Inner, unsigned Gate, uint32_t Words, typename Index>
const Index* run_pairs(const Index* code, uint32_t count, uint64_t* slots) {
  using Bits = Vector<Words>;
  for (uint32_t i = 0; i < count; ++i, code += 4) {
    uint64_t* to = slots + size_t{code[0]} * Words;
    const uint64_t* a = slots + size_t{code[1]} * Words;
    const uint64_t* b = slots + size_t{code[2]} * Words;
    const uint64_t* c = slots + size_t{code[3]} * Words;
#pragma GCC unroll 16
    for (size_t k = 0; k < Words; k += kStride<Bits>)
      store<Bits>(to + k, apply_pair<Inner, Gate, Bits>(load<Bits>(a + k), load<Bits>(b + k), load<Bits>(c + k)));
  }
  return code;
}

// Slots that a counting step reads per bit.
template <unsigned Gate>
constexpr uint32_t kOperands = Gate == gates::kFalse ? 1 : 2;

// Adds 2^Digits bits to the digits of weight 1 .. 2^(Digits - 1); the carry, of weight 2^Digits, is returned.
template <uint32_t Digits, typename Bits, typename Bit>
inline Bits add_bits(Bits* digits, const Bit& bit, size_t i) {
  Bits carry;
  if constexpr (Digits == 1) {
    digits[0] = full_add<Bits>(digits[0], bit(i), bit(i + 1), carry);
  } else {
    const Bits x = add_bits<Digits - 1>(digits, bit, i);
    const Bits y = add_bits<Digits - 1>(digits, bit, i + (size_t{1} << (Digits - 1)));
    digits[Digits - 1] = full_add<Bits>(digits[Digits - 1], x, y, carry);
  }
  return carry;
}

// Carry-save adders on one vector of lanes: the low digits of the count stay in registers, and one carry in eight bits
// ripples on into the planes in memory. The gate kFalse, of which no output is left, stands for plain slots.
template <unsigned Gate, uint32_t Words, typename Index>
void count_vector(const Index* code, uint32_t count, const uint64_t* slots, uint64_t* planes, uint32_t n_planes) {
  using Bits = Vector<Words>;
  const auto slot = [&](size_t j) { return load<Bits>(slots + size_t{code[j]} * Words); };
  const auto bit = [&](size_t j) {
    if constexpr (Gate == gates::kFalse) {
      return slot(j);
    } else {
      return apply_gate<Gate, Bits>(slot(2 * j), slot(2 * j + 1));
    }
  };
  Bits digits[kChunkDigits];
  for (uint32_t p = 0; p < kChunkDigits; ++p) digits[p] = load<Bits>(planes + p * Words);
  for (uint32_t i = 0; i < count; i += kCountChunk, code += kCountChunk * kOperands<Gate>) {
    Bits carry = add_bits<kChunkDigits>(digits, bit, 0);
    for (uint32_t p = kChunkDigits; p < n_planes; ++p) {
      const Bits digit = load<Bits>(planes + p * Words);
      store<Bits>(planes + p * Words, digit ^ carry);
      carry &= digit;
    }
  }
  for (uint32_t p = 0; p < kChunkDigits; ++p) store<Bits>(planes + p * Words, digits[p]);
}

template <unsigned Gate, uint32_t Words, typename Index>
const Index* run_count(const Index* code, uint32_t count, const uint64_t* slots, uint64_t* planes, uint32_t n_planes) {
  for (uint32_t at = 0; at < Words; at += kStride<Vector<Words>>)
    count_vector<Gate, Words>(code, count, slots + at, planes + at, n_planes);
  return code + count * kOperands<Gate>;
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
    using Bits = Vector<Words>;
    constexpr size_t ahead = 32, slot_bytes = Words * sizeof(uint64_t);
    for (const size_t end = loaded + step.count; loaded < end; ++loaded) {
      const uint8_t* from = next_input(loaded);
      uint64_t* to = block.slots + size_t{*code++} * Words;
      for (size_t at = 0; loaded + ahead < program.n_inputs && at < slot_bytes; at += kLineBytes)
        __builtin_prefetch(next_input(loaded + ahead) + at);
#pragma GCC unroll 16
      for (size_t k = 0; k < Words; k += kStride<Bits>) {
        Bits v;
        std::memcpy(&v, from + k * sizeof(uint64_t), sizeof v);
        store<Bits>(to + k, v);
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
    uint64_t* planes = block.planes + (size_t{step.group} * program.n_planes + step.digit) * Words;
    code = run_count<Gate, Words>(code, step.count, block.slots, planes, program.n_planes - step.digit);
  }
};

// Which gates and pairs a program may hold: see Netlist.
#define GATEWISE_GATE(GATE)                                       \
  case gates::GATE: run.template gates<gates::GATE>(step); break; \
  case kCount + gates::GATE: run.template count<gates::GATE>(step); break;
#define GATEWISE_PAIR(INNER, GATE) \
  case kPair + kNumGates* gates::INNER + gates::GATE: run.template pairs<gates::INNER, gates::GATE>(step); break;
#define GATEWISE_PAIRS(INNER)     \
  GATEWISE_PAIR(INNER, kAnd)      \
  GATEWISE_PAIR(INNER, kAAndNotB) \
  GATEWISE_PAIR(INNER, kNotAAndB) \
  GATEWISE_PAIR(INNER, kXor)      \
  GATEWISE_PAIR(INNER, kOr)

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
      GATEWISE_GATE(kAnd)
      GATEWISE_GATE(kNotAAndB)
      GATEWISE_GATE(kXor)
      GATEWISE_GATE(kOr)
      GATEWISE_GATE(kNor)
      GATEWISE_GATE(kXnor)
      GATEWISE_GATE(kNotA)
      GATEWISE_GATE(kNotAOrB)
      GATEWISE_GATE(kNand)
      GATEWISE_PAIRS(kAnd)
      GATEWISE_PAIRS(kNotAAndB)
      GATEWISE_PAIRS(kXor)
      GATEWISE_PAIRS(kOr)
      case kCount: run.template count<gates::kFalse>(step); break;
      case kLoad: run.load_inputs(step); break;
    }
  }
}

#undef GATEWISE_GATE
#undef GATEWISE_PAIR
#undef GATEWISE_PAIRS

}  // namespace
}  // namespace gatewise
