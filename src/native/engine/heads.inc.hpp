// What leaves a block: counts per group, or the class with the highest count.
#pragma once

#include "engine/kernels.hpp"
#include "engine/pack.inc.hpp"
#include "simd/words.hpp"

namespace gatewise {
namespace {

// Binary digits in planes (`pitch` words apart) -> integers, 64 lanes at a time.
inline void gather_digits(const uint64_t* planes, size_t pitch, uint32_t n_planes, uint32_t* values) {
  for (size_t i = 0; i < 64; ++i) values[i] = 0;
  for (uint32_t p = n_planes; p-- > 0;) {
    const uint64_t digits = planes[p * pitch];
    const uint32_t half[2] = {static_cast<uint32_t>(digits), static_cast<uint32_t>(digits >> 32)};
    for (uint32_t h = 0; h < 2; ++h)
      for (uint32_t i = 0; i < 32; ++i) values[32 * h + i] = 2 * values[32 * h + i] + (half[h] >> i & 1);
  }
}

void write_counts(const uint64_t* planes, uint32_t n_groups, uint32_t n_planes, uint32_t words, size_t n_lanes,
                  int32_t* counts) {
  uint32_t values[64];
  for (size_t w = 0; 64 * w < n_lanes; ++w) {
    const size_t n = n_lanes - 64 * w < 64 ? n_lanes - 64 * w : 64;
    for (uint32_t g = 0; g < n_groups; ++g) {
      gather_digits(planes + size_t{g} * n_planes * words + w, words, n_planes, values);
      int32_t* out = counts + 64 * w * n_groups + g;
      for (size_t i = 0; i < n; ++i) out[i * n_groups] = static_cast<int32_t>(values[i]);
    }
  }
}

// A tournament in planes: `best` holds the digits of the highest count so far and `winner` those of its group.
void write_classes(const uint64_t* planes, uint32_t n_groups, uint32_t n_planes, uint32_t words, size_t n_lanes,
                   int32_t* classes) {
  uint64_t best[32 + kChunkDigits], winner[32] = {};
  uint32_t values[64];
  uint32_t n_digits = 0;
  while (n_digits < 32 && (n_groups - 1) >> n_digits) ++n_digits;
  for (size_t w = 0; 64 * w < n_lanes; ++w) {
    for (uint32_t p = 0; p < n_planes; ++p) best[p] = planes[p * words + w];
    for (uint32_t d = 0; d < n_digits; ++d) winner[d] = 0;
    for (uint32_t g = 1; g < n_groups; ++g) {
      const uint64_t* count = planes + size_t{g} * n_planes * words + w;
      uint64_t greater = 0, equal = ~uint64_t{0};
      for (uint32_t p = n_planes; p-- > 0;) {
        const uint64_t digit = count[p * words];
        greater |= equal & digit & ~best[p];
        equal &= ~(digit ^ best[p]);
      }
      for (uint32_t p = 0; p < n_planes; ++p) best[p] ^= greater & (best[p] ^ count[p * words]);
      for (uint32_t d = 0; d < n_digits; ++d) winner[d] = g >> d & 1 ? winner[d] | greater : winner[d] & ~greater;
    }
    gather_digits(winner, 1, n_digits, values);
    const size_t n = n_lanes - 64 * w < 64 ? n_lanes - 64 * w : 64;
    for (size_t i = 0; i < n; ++i) classes[64 * w + i] = static_cast<int32_t>(values[i]);
  }
}

// Eight bits -> eight bytes 0 or 1, lowest bit first.
inline uint64_t spread_bits(uint64_t bits) {
  const uint64_t at_own_bit = bits * 0x0101010101010101u & 0x8040201008040201u;
  return (at_own_bit + 0x00406070787C7E7Fu) >> 7 & 0x0101010101010101u;
}

void write_outputs(const uint64_t* slots, const uint32_t* output_slots, uint32_t n_outputs, uint32_t words,
                   size_t n_lanes, uint8_t* bytes) {
  for (size_t i = 0; i < n_outputs; i += 8) {
    const size_t n = n_outputs - i < 8 ? n_outputs - i : 8;
    const uint8_t* planes[8];
    for (size_t k = 0; k < n; ++k)
      planes[k] = reinterpret_cast<const uint8_t*>(slots + size_t{output_slots[i + k]} * words);
    for (size_t lane = 0; lane < n_lanes; lane += 8) {
      uint64_t square = 0;
      for (size_t k = 0; k < n; ++k) square |= uint64_t{planes[k][lane / 8]} << 8 * k;
      square = transpose_bits(square);
      for (size_t r = 0; r < 8 && lane + r < n_lanes; ++r) {
        const uint64_t eight = spread_bits(square >> 8 * r & 255);
        std::memcpy(bytes + (lane + r) * n_outputs + i, &eight, n);
      }
    }
  }
}

}  // namespace
}  // namespace gatewise
