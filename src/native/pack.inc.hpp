// Rows to bit-planes, 64 rows at a time, in two stages: eight rows become one byte a feature (an *octet* row), then
// eight octet rows become one 64-bit word a feature.
#pragma once

namespace gatewise {
namespace {

// Eight rows of 16 bytes -> 16 words: word i holds byte i of every row, row r in byte r. Three perfect shuffles.
inline void transpose_8x16(const uint8_t* const* rows, size_t at, uint64_t* words) {
  Bytes16 x[8], y[8];
  for (int r = 0; r < 8; ++r) std::memcpy(&x[r], rows[r] + at, 16);
  for (int round = 0; round < 3; ++round) {
    for (int r = 0; r < 4; ++r) {
      y[2 * r] = zip_low(x[r], x[r + 4]);
      y[2 * r + 1] = zip_high(x[r], x[r + 4]);
    }
    for (int r = 0; r < 8; ++r) x[r] = y[r];
  }
  std::memcpy(words, x, sizeof x);
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
  uint64_t words[16];
  size_t f = 0;
  for (; f + 16 <= n_features; f += 16) {
    transpose_8x16(rows, f, words);
    for (size_t i = 0; i < 16; ++i) slots[(f + i) * stride] = words[i ^ reversed];
  }
  if (f == n_features) return;
  transpose_8x16(rows, f, words);
  for (size_t i = 0; f + i < n_features; ++i) slots[(f + i) * stride] = words[i ^ reversed];
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

void pack_bits(const uint8_t* const* rows, size_t n_features, unsigned reversed, uint8_t* octets, uint64_t* slots,
               size_t stride) {
  using V = Vector<8>;
  const size_t pitch = octet_pitch(n_features);
  const size_t n_bytes = (n_features + 7) / 8;
  uint8_t tail[8][16] = {};
  const uint8_t* tail_rows[8];
  for (size_t o = 0; o < 8; ++o) {
    const uint8_t* const* eight = rows + 8 * o;
    uint8_t* octet = octets + o * pitch;
    for (size_t at = 0; at < n_bytes; at += 16) {
      uint64_t words[16];
      const size_t left = n_bytes - at < 16 ? n_bytes - at : 16;
      if (left == 16) {
        transpose_8x16(eight, at, words);
      } else {
        for (int r = 0; r < 8; ++r) {
          std::memcpy(tail[r], eight[r] + at, left);
          tail_rows[r] = tail[r];
        }
        transpose_8x16(tail_rows, 0, words);
      }
      for (size_t i = 0; i < 16; i += sizeof(V) / 8) store<V>(words + i, transpose_bits<V>(load<V>(words + i)));
      std::memcpy(octet + 8 * at, words, 8 * left);
    }
  }
  spread_octets(octets, pitch, n_features, reversed, slots, stride);
}

}  // namespace
}  // namespace gatewise
