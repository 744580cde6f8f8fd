// Rows to bit-planes, in two stages: eight rows become one byte per feature (an *octet* row), then eight octet rows
// become one 64-bit word per feature. All words of a block go through both stages together, because words of one slot
// are best written at once, and as many features as have octets that stay in cache.
#pragma once

#include "engine/kernels.hpp"
#include "simd/words.hpp"

namespace gatewise {
namespace {

// Eight rows of 16 bytes -> 16 words, two in each of `words`: word i holds byte i of every row, row r in byte r.
// Three perfect shuffles.
inline void transpose_8x16(const uint8_t* const* rows, size_t at, Words2* words) {
  Bytes16 x[8], y[8];
#pragma GCC unroll 8
  for (int r = 0; r < 8; ++r) std::memcpy(&x[r], rows[r] + at, 16);
#pragma GCC unroll 3
  for (int round = 0; round < 3; ++round) {
#pragma GCC unroll 4
    for (int r = 0; r < 4; ++r) {
      y[2 * r] = zip_low(x[r], x[r + 4]);
      y[2 * r + 1] = zip_high(x[r], x[r + 4]);
    }
#pragma GCC unroll 8
    for (int r = 0; r < 8; ++r) x[r] = y[r];
  }
#pragma GCC unroll 8
  for (int r = 0; r < 8; ++r) words[r] = (Words2)x[r];
}

// Transpose an 8 x 8 bit matrix held one row per byte (Hacker's Delight, 7-3); works on vectors of words too.
template <typename Bits>
inline Bits transpose_bits(Bits x) {
  Bits t = (x ^ (x >> 7)) & 0x00AA00AA00AA00AAu;
  x ^= t ^ (t << 7);
  t = (x ^ (x >> 14)) & 0x0000CCCC0000CCCCu;
  x ^= t ^ (t << 14);
  t = (x ^ (x >> 28)) & 0x00000000F0F0F0F0u;
  return x ^ t ^ (t << 28);
}

// Octet rows, eight for each of n_words words -> the words of n_features slots.
inline void spread_octets(const uint8_t* octets, size_t pitch, size_t n_words, size_t n_features, unsigned reversed,
                          uint64_t* slots, size_t words) {
  Words2 pairs[8];
  for (size_t f = 0; f < n_features; f += 16) {
    const size_t left = n_features - f;
    for (size_t w = 0; w < n_words; ++w) {
      const uint8_t* rows[8];
      for (size_t r = 0; r < 8; ++r) rows[r] = octets + (8 * w + r) * pitch;
      transpose_8x16(rows, f, pairs);
      uint64_t* to = slots + f * words + w;
      if (left >= 16) {
#pragma GCC unroll 16
        for (size_t i = 0; i < 16; ++i) to[(i ^ reversed) * words] = pairs[i / 2][i % 2];
      } else {
        for (size_t i = 0; i < 16; ++i)
          if ((i ^ reversed) < left) to[(i ^ reversed) * words] = pairs[i / 2][i % 2];
      }
    }
  }
}

constexpr size_t kByteLanes = 8 * (kVectorWords < 2 ? 2 : kVectorWords);
typedef uint8_t ByteVector __attribute__((vector_size(kByteLanes)));

// byte = row 0 + 2 * row 1 + ... + 128 * row 7, by Horner's rule, kByteLanes features at a time.
inline ByteVector merge_rows(const uint8_t* const* rows, size_t at, ByteVector& seen) {
  ByteVector sum = {};
  for (int r = 7; r >= 0; --r) {
    ByteVector x;
    std::memcpy(&x, rows[r] + at, sizeof x);
    seen |= x;
    sum = sum + sum + x;
  }
  return sum;
}

// Eight rows of bytes -> one octet row. Returns the OR of all bytes.
inline uint8_t merge_bytes(const uint8_t* const* rows, size_t n_features, uint8_t* octet) {
  ByteVector seen = {};
  uint8_t seen_tail = 0;
  size_t f = 0;
  if (n_features >= kByteLanes)
    for (; f < n_features; f += kByteLanes) {
      if (f + kByteLanes > n_features) f = n_features - kByteLanes;  // the last one may overlap what is done
      const ByteVector sum = merge_rows(rows, f, seen);
      std::memcpy(octet + f, &sum, sizeof sum);
    }
  for (; f < n_features; ++f) {
    unsigned sum = 0;
    for (int r = 7; r >= 0; --r) {
      seen_tail |= rows[r][f];
      sum = 2 * sum + rows[r][f];
    }
    octet[f] = static_cast<uint8_t>(sum);
  }
  for (size_t i = 0; i < kByteLanes; ++i) seen_tail |= seen[i];
  return seen_tail;
}

uint8_t pack_bytes(const uint8_t* const* rows, size_t n_words, size_t n_features, uint8_t* octets, uint64_t* slots,
                   size_t words) {
  const size_t pitch = octet_pitch(n_features), pass = words_per_pass(n_features);
  uint8_t seen = 0;
  for (size_t w = 0; w < n_words; w += pass) {
    const size_t n = n_words - w < pass ? n_words - w : pass;
    for (size_t o = 0; o < 8 * n; ++o) seen |= merge_bytes(rows + 64 * w + 8 * o, n_features, octets + o * pitch);
    spread_octets(octets, pitch, n, n_features, 0, slots + w, words);
  }
  return seen;
}

// The first n < 16 bytes at p, zero-padded, without reading past them and without a call.
inline void load_short(const uint8_t* p, size_t n, uint8_t* padded) {
  uint64_t words[2] = {};
  if (n >= 8) {
    std::memcpy(&words[0], p, 8);
    std::memcpy(&words[1], p + n - 8, 8);
    words[1] = n == 8 ? 0 : words[1] >> 8 * (16 - n);
  } else {
    for (size_t i = 0; i < n; ++i) words[0] |= uint64_t{p[i]} << 8 * i;
  }
  std::memcpy(padded, words, 16);
}

// Fewer than 16 bytes of eight packed rows.
inline void transpose_short(const uint8_t* const* rows, size_t first, size_t n_bytes, Words2* words) {
  uint8_t padded[8][16];
  const uint8_t* short_rows[8];
  for (size_t r = 0; r < 8; ++r) {
    load_short(rows[r] + first, n_bytes, padded[r]);
    short_rows[r] = padded[r];
  }
  transpose_8x16(short_rows, 0, words);
}

// Bytes first .. first + n_bytes - 1 of eight packed rows -> one octet row, but for the transposition of each 8 x 8
// square of bits.
inline void gather_squares(const uint8_t* const* rows, size_t first, size_t n_bytes, uint8_t* octet) {
  Words2 words[8];
  if (n_bytes < 16) {
    transpose_short(rows, first, n_bytes, words);
    std::memcpy(octet, words, sizeof words);
    return;
  }
  for (size_t i = 0; i < n_bytes; i += 16) {
    const size_t from = i + 16 <= n_bytes ? i : n_bytes - 16;  // the last one may overlap what is done
    transpose_8x16(rows, first + from, words);
    std::memcpy(octet + 8 * from, words, sizeof words);
  }
}

void pack_bits(const uint8_t* const* rows, size_t n_words, size_t n_features, unsigned reversed, uint8_t* octets,
               uint64_t* slots, size_t words) {
  using Bits = Vector<8>;
  const size_t most = features_per_pass(n_words), pass = n_features < most ? n_features : most,
               pitch = octet_pitch(pass);
  for (size_t f = 0; f < n_features; f += pass) {
    const size_t n = n_features - f < pass ? n_features - f : pass, n_bytes = (n + 7) / 8;
    for (size_t o = 0; o < 8 * n_words; ++o) gather_squares(rows + 8 * o, f / 8, n_bytes, octets + o * pitch);
    // A pass of its own, because reading back as wide vectors what was just stored as narrow ones would stall.
    for (size_t o = 0; o < 8 * n_words; ++o)
      for (size_t i = 0; i < 8 * n_bytes; i += sizeof(Bits)) {
        Bits squares;
        std::memcpy(&squares, octets + o * pitch + i, sizeof squares);
        squares = transpose_bits<Bits>(squares);
        std::memcpy(octets + o * pitch + i, &squares, sizeof squares);
      }
    spread_octets(octets, pitch, n_words, n, reversed, slots + f * words, words);
  }
}

}  // namespace
}  // namespace gatewise
