// Rows to bit-planes, 64 rows at a time, in two stages: eight rows become one byte a feature (an *octet* row), then
// eight octet rows become one 64-bit word a feature.
#pragma once

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

// Transpose an 8 x 8 bit matrix held one row a byte (Hacker's Delight, 7-3); works on vectors of words too.
template <typename V>
inline V transpose_bits(V x) {
  V t = (x ^ (x >> 7)) & 0x00AA00AA00AA00AAu;
  x ^= t ^ (t << 7);
  t = (x ^ (x >> 14)) & 0x0000CCCC0000CCCCu;
  x ^= t ^ (t << 14);
  t = (x ^ (x >> 28)) & 0x00000000F0F0F0F0u;
  return x ^ t ^ (t << 28);
}

// Octet rows (eight, `pitch` bytes apart, readable to a multiple of 16) -> one word a feature.
inline void spread_octets(const uint8_t* octets, size_t pitch, size_t n_features, unsigned reversed, uint64_t* slots,
                          size_t stride) {
  const uint8_t* rows[8];
  for (size_t r = 0; r < 8; ++r) rows[r] = octets + r * pitch;
  Words2 words[8];
  size_t f = 0;
  for (; f + 16 <= n_features; f += 16) {
    transpose_8x16(rows, f, words);
    uint64_t* to = slots + f * stride;
#pragma GCC unroll 8
    for (size_t i = 0; i < 8; ++i) {
      to[(2 * i ^ reversed) * stride] = words[i][0];
      to[((2 * i + 1) ^ reversed) * stride] = words[i][1];
    }
  }
  if (f == n_features) return;
  transpose_8x16(rows, f, words);
  for (size_t i = 0; i < 16; ++i)
    if (f + (i ^ reversed) < n_features) slots[(f + (i ^ reversed)) * stride] = words[i / 2][i % 2];
}

inline size_t octet_pitch(size_t n_features) { return (n_features + 63) / 64 * 64; }

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

uint8_t pack_bytes(const uint8_t* const* rows, size_t n_features, uint8_t* octets, uint64_t* slots, size_t stride) {
  const size_t pitch = octet_pitch(n_features);
  ByteVector seen = {};
  uint8_t seen_tail = 0;
  for (size_t o = 0; o < 8; ++o) {
    const uint8_t* const* eight = rows + 8 * o;
    uint8_t* octet = octets + o * pitch;
    size_t f = 0;
    for (; f + kByteLanes <= n_features; f += kByteLanes) {
      const ByteVector sum = merge_rows(eight, f, seen);
      std::memcpy(octet + f, &sum, sizeof sum);
    }
    if (f < n_features && n_features >= kByteLanes) {  // the rest overlaps what is done
      f = n_features - kByteLanes;
      const ByteVector sum = merge_rows(eight, f, seen);
      std::memcpy(octet + f, &sum, sizeof sum);
      f = n_features;
    }
    for (; f < n_features; ++f) {
      unsigned sum = 0;
      for (int r = 7; r >= 0; --r) {
        seen_tail |= eight[r][f];
        sum = 2 * sum + eight[r][f];
      }
      octet[f] = static_cast<uint8_t>(sum);
    }
  }
  spread_octets(octets, pitch, n_features, 0, slots, stride);
  for (size_t i = 0; i < kByteLanes; ++i) seen_tail |= seen[i];
  return seen_tail;
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

// Eight packed rows of fewer than 16 bytes.
inline void transpose_short(const uint8_t* const* rows, size_t n_bytes, Words2* words) {
  uint8_t padded[8][16];
  const uint8_t* short_rows[8];
  for (size_t r = 0; r < 8; ++r) {
    load_short(rows[r], n_bytes, padded[r]);
    short_rows[r] = padded[r];
  }
  transpose_8x16(short_rows, 0, words);
}

void pack_bits(const uint8_t* const* rows, size_t n_features, unsigned reversed, uint8_t* octets, uint64_t* slots,
               size_t stride) {
  using V = Vector<8>;
  const size_t pitch = octet_pitch(n_features);
  const size_t n_bytes = (n_features + 7) / 8;
  Words2 words[8];
  for (size_t o = 0; o < 8; ++o) {
    uint8_t* octet = octets + o * pitch;
    if (n_bytes < 16) {
      transpose_short(rows + 8 * o, n_bytes, words);
      std::memcpy(octet, words, pitch < sizeof words ? pitch : sizeof words);
      continue;
    }
    for (size_t at = 0; at < n_bytes; at += 16) {
      const size_t from = at + 16 <= n_bytes ? at : n_bytes - 16;  // the last one may overlap what is done
      transpose_8x16(rows + 8 * o, from, words);
      std::memcpy(octet + 8 * from, words, sizeof words);
    }
  }
  // A second pass, because reading back as wide vectors what was just stored as narrow ones would stall.
  for (size_t at = 0; at < 8 * pitch; at += sizeof(V)) {
    V squares;
    std::memcpy(&squares, octets + at, sizeof squares);
    squares = transpose_bits<V>(squares);
    std::memcpy(octets + at, &squares, sizeof squares);
  }
  spread_octets(octets, pitch, n_features, reversed, slots, stride);
}

}  // namespace
}  // namespace gatewise
