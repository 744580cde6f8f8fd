// Vectors of 64-bit words for the target being compiled, and logic on them. Included by kernel files only; everything
// has internal linkage, because each target compiles its own copy.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "circuit/gates.hpp"

#if defined(GATEWISE_AVX512) || defined(GATEWISE_AVX2)
#include <immintrin.h>
#endif

namespace gatewise {
namespace {

#if defined(GATEWISE_AVX512)
constexpr uint32_t kVectorWords = 8;
#elif defined(GATEWISE_AVX2)
constexpr uint32_t kVectorWords = 4;
#elif defined(GATEWISE_NEON)
constexpr uint32_t kVectorWords = 2;
#else
constexpr uint32_t kVectorWords = 1;
#endif

template <uint32_t Words>
struct VectorType {
  typedef uint64_t type __attribute__((vector_size(8 * Words)));
};
template <>
struct VectorType<1> {
  typedef uint64_t type;
};

// The widest vector that divides a block of `Words` words.
template <uint32_t Words>
using Vector = typename VectorType<(Words < kVectorWords ? Words : kVectorWords)>::type;

// Words in a vector.
template <typename Bits>
constexpr size_t kStride = sizeof(Bits) / sizeof(uint64_t);

template <typename Bits>
inline Bits load(const uint64_t* p) {
  Bits v;
  std::memcpy(&v, p, sizeof v);
  return v;
}

template <typename Bits>
inline void store(uint64_t* p, Bits v) {
  std::memcpy(p, &v, sizeof v);
}

// How many of the four entries of a gate's truth table are true.
constexpr unsigned count_true(unsigned gate) {
  return truth(gate, 0, 0) + truth(gate, 0, 1) + truth(gate, 1, 0) + truth(gate, 1, 1);
}

// The gate on all bits at once. A gate that is true once is an AND of signed operands, one that is true three times
// the inverse of such an AND; the compiler picks and-not, or, ... from there.
template <unsigned Gate, typename Bits>
inline Bits apply_gate(Bits a, Bits b) {
#if defined(GATEWISE_AVX512)
  if constexpr (sizeof(Bits) == 64) {
    // vpternlog looks up bit 4a + 2b + c; with c = b only c == b occurs.
    constexpr int table = truth(Gate, 0, 0) | truth(Gate, 0, 1) << 3 | truth(Gate, 1, 0) << 4 | truth(Gate, 1, 1) << 7;
    return (Bits)_mm512_ternarylogic_epi64((__m512i)a, (__m512i)b, (__m512i)b, table);
  }
#endif
  if constexpr (Gate == gates::kXor) return a ^ b;
  if constexpr (Gate == gates::kXnor) return ~(a ^ b);
  if constexpr (Gate == gates::kNotA) return ~a;
  constexpr bool once = count_true(Gate) == 1;
  constexpr unsigned product = once ? Gate : negate(Gate);
  const Bits x = truth(product, 1, 0) || truth(product, 1, 1) ? a : ~a;
  const Bits y = truth(product, 0, 1) || truth(product, 1, 1) ? b : ~b;
  return once ? (x & y) : ~(x & y);
}

// Gate(Inner(a, b), c).
template <unsigned Inner, unsigned Gate, typename Bits>
inline Bits apply_pair(Bits a, Bits b, Bits c) {
#if defined(GATEWISE_AVX512)
  if constexpr (sizeof(Bits) == 64) {
    constexpr int table = [] {
      int bits = 0;
      for (unsigned i = 0; i < 8; ++i) bits |= truth(Gate, truth(Inner, i >> 2, i >> 1 & 1), i & 1) << i;
      return bits;
    }();
    return (Bits)_mm512_ternarylogic_epi64((__m512i)a, (__m512i)b, (__m512i)c, table);
  }
#endif
  return apply_gate<Gate, Bits>(apply_gate<Inner, Bits>(a, b), c);
}

// a + b + c = sum + 2 * carry, digit by digit.
template <typename Bits>
inline Bits full_add(Bits a, Bits b, Bits c, Bits& carry) {
#if defined(GATEWISE_AVX512)
  if constexpr (sizeof(Bits) == 64) {
    const __m512i x = (__m512i)a, y = (__m512i)b, z = (__m512i)c;
    carry = (Bits)_mm512_ternarylogic_epi64(x, y, z, 0xE8);
    return (Bits)_mm512_ternarylogic_epi64(x, y, z, 0x96);
  }
#endif
  const Bits half = a ^ b;
  carry = (a & b) | (half & c);
  return half ^ c;
}

typedef uint8_t Bytes16 __attribute__((vector_size(16)));
typedef uint32_t Halves4 __attribute__((vector_size(16)));
typedef uint64_t Words2 __attribute__((vector_size(16)));

// The lower, or the upper, halves of two vectors, element by element in turns.
#if defined(__has_builtin) && __has_builtin(__builtin_shufflevector)
inline Bytes16 zip_low(Bytes16 a, Bytes16 b) {
  return __builtin_shufflevector(a, b, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
}
inline Bytes16 zip_high(Bytes16 a, Bytes16 b) {
  return __builtin_shufflevector(a, b, 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31);
}
inline Halves4 zip_low(Halves4 a, Halves4 b) { return __builtin_shufflevector(a, b, 0, 4, 1, 5); }
inline Halves4 zip_high(Halves4 a, Halves4 b) { return __builtin_shufflevector(a, b, 2, 6, 3, 7); }
#else
inline Bytes16 zip_low(Bytes16 a, Bytes16 b) {
  return __builtin_shuffle(a, b, Bytes16{0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23});
}
inline Bytes16 zip_high(Bytes16 a, Bytes16 b) {
  return __builtin_shuffle(a, b, Bytes16{8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31});
}
inline Halves4 zip_low(Halves4 a, Halves4 b) { return __builtin_shuffle(a, b, Halves4{0, 4, 1, 5}); }
inline Halves4 zip_high(Halves4 a, Halves4 b) { return __builtin_shuffle(a, b, Halves4{2, 6, 3, 7}); }
#endif
inline Words2 zip_low(Words2 a, Words2 b) { return Words2{a[0], b[0]}; }
inline Words2 zip_high(Words2 a, Words2 b) { return Words2{a[1], b[1]}; }

#if defined(GATEWISE_AVX512)
typedef uint64_t Words8 __attribute__((vector_size(64)));
inline Words8 zip_low(Words8 a, Words8 b) {
  const Words8 from{0, 8, 1, 9, 2, 10, 3, 11};
  return (Words8)_mm512_permutex2var_epi64((__m512i)a, (__m512i)from, (__m512i)b);
}
inline Words8 zip_high(Words8 a, Words8 b) {
  const Words8 from{4, 12, 5, 13, 6, 14, 7, 15};
  return (Words8)_mm512_permutex2var_epi64((__m512i)a, (__m512i)from, (__m512i)b);
}
#endif

}  // namespace
}  // namespace gatewise
