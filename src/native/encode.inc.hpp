// A block of a table to bit-planes. Rows become columns first, a tile of one cache line a row at a time, because a
// column's values side by side are compared with all of its constants at the speed of vectors.
#pragma once

#include "kernels.hpp"
#include "rank.inc.hpp"
#include "vector.hpp"

namespace gatewise {
namespace {

constexpr size_t kTileBytes = 64;
constexpr size_t kWordRows = 64;

template <size_t Size>
struct Lanes16;
template <>
struct Lanes16<1> {
  typedef Bytes16 type;
};
template <>
struct Lanes16<4> {
  typedef Halves4 type;
};
template <>
struct Lanes16<8> {
  typedef Words2 type;
};

// Values in a vector of 16 bytes: the sides of a square that is transposed at once.
template <typename T>
constexpr size_t kSide = 16 / sizeof(T);

// A square at `from`, its rows `row_stride` bytes apart -> its columns, `to_stride` values apart. A perfect shuffle for
// each binary digit of its side.
template <typename T>
inline void transpose_square(const uint8_t* from, ptrdiff_t row_stride, T* to, size_t to_stride) {
  constexpr int side = static_cast<int>(kSide<T>);
  typename Lanes16<sizeof(T)>::type x[side], y[side];
#pragma GCC unroll 16
  for (int r = 0; r < side; ++r) std::memcpy(&x[r], from + r * row_stride, 16);
#pragma GCC unroll 4
  for (int round = 1; round < side; round *= 2) {
#pragma GCC unroll 8
    for (int r = 0; r < side / 2; ++r) {
      y[2 * r] = zip_low(x[r], x[r + side / 2]);
      y[2 * r + 1] = zip_high(x[r], x[r + side / 2]);
    }
#pragma GCC unroll 16
    for (int r = 0; r < side; ++r) x[r] = y[r];
  }
#pragma GCC unroll 16
  for (int r = 0; r < side; ++r) std::memcpy(to + r * to_stride, &x[r], 16);
}

// One column, value by value.
template <typename T>
inline void copy_column(const uint8_t* from, ptrdiff_t row_stride, size_t first, size_t n_rows, T* to) {
  for (size_t r = first; r < n_rows; ++r) std::memcpy(to + r, from + static_cast<ptrdiff_t>(r) * row_stride, sizeof(T));
}

// Columns c .. c + n of a block -> n columns of kEncodeRows values, zeros past the last row. For all that
// is read, as much of what comes next is fetched.
template <typename T>
inline void fill_tile(const TableBlock& block, size_t c, size_t n, T* tile, size_t& fetched) {
  constexpr size_t side = kSide<T>;
  const uint8_t* data = block.data + static_cast<ptrdiff_t>(c) * block.column_stride;
  const bool in_squares = block.column_stride == sizeof(T) && n >= side;
  const size_t n_squared = in_squares ? block.n_rows / side * side : 0;
  for (size_t j = 0; j < n && n_squared > 0; j += side) {
    if (j + side > n) j = n - side;  // the last square may overlap what is done
    if (block.test_ptr[c + j] == block.test_ptr[c + j + side]) continue;
    for (size_t r = 0; r < n_squared; r += side) {
      for (size_t line = 0; line < side * 16 && fetched < block.upcoming.n_bytes; line += 64, fetched += 64)
        __builtin_prefetch(block.upcoming.data + fetched);
      transpose_square<T>(data + static_cast<ptrdiff_t>(r) * block.row_stride + j * sizeof(T), block.row_stride,
                          tile + j * kEncodeRows + r, kEncodeRows);
    }
  }
  const size_t n_padded = (block.n_rows + kWordRows - 1) / kWordRows * kWordRows;
  for (size_t j = 0; j < n; ++j) {
    T* to = tile + j * kEncodeRows;
    copy_column(data + static_cast<ptrdiff_t>(j) * block.column_stride, block.row_stride, n_squared, block.n_rows, to);
    for (size_t r = block.n_rows; r < n_padded; ++r) to[r] = 0;
  }
}

#if defined(GATEWISE_AVX512)

inline __m512i broadcast(float value) { return _mm512_castps_si512(_mm512_set1_ps(value)); }
inline __m512i broadcast(double value) { return _mm512_castpd_si512(_mm512_set1_pd(value)); }
inline __m512i broadcast(uint8_t value) { return _mm512_set1_epi8(static_cast<char>(value)); }
inline __m512i broadcast(int32_t value) { return _mm512_set1_epi32(value); }
inline __m512i broadcast(int64_t value) { return _mm512_set1_epi64(value); }

// Bit i of the result is the answer for x[i].
template <Question Q, typename T>
inline uint64_t ask(const T* x, T value) {
  constexpr int lanes = 64 / sizeof(T);
  const __m512i constants = broadcast(value);
  uint64_t word = 0;
#pragma GCC unroll 8
  for (int i = 0; i < 64; i += lanes) word |= compare<Q>(_mm512_loadu_si512(x + i), constants, T{}) << i;
  return word;
}

#else

// The lowest bits of 64 bytes, which hold nothing else.
inline uint64_t collect_bits(const uint8_t* bytes) {
  uint64_t word = 0;
#if defined(GATEWISE_AVX2)
  for (int i = 0; i < 64; i += 32) {
    const __m256i v = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(bytes + i));
    word |= uint64_t{static_cast<uint32_t>(_mm256_movemask_epi8(_mm256_slli_epi16(v, 7)))} << i;
  }
#else
  for (int i = 0; i < 64; i += 8) {
    uint64_t octet;
    std::memcpy(&octet, bytes + i, 8);
    word |= (octet * 0x0102040810204080u >> 56) << i;  // bit 8 k of the octet goes to bit 56 + k, and nothing else does
  }
#endif
  return word;
}

// Bit i of the result is the answer for x[i]; compilers make vectors of the loop.
template <Question Q, typename T>
inline uint64_t ask(const T* x, T value) {
  uint8_t answers[64];
  for (int i = 0; i < 64; ++i)
    answers[i] = Q == Question::kGreater ? x[i] > value : Q == Question::kEqual ? x[i] == value : x[i] != x[i];
  return collect_bits(answers);
}

#endif

template <Question Q, typename T>
inline void ask_words(const T* x, size_t n_words, T value, uint64_t* words) {
  for (size_t w = 0; w < n_words; ++w) words[w] = ask<Q, T>(x + kWordRows * w, value);
}

// A test that asks for values.
template <typename T>
inline void ask_values(const T* x, size_t n_words, const Test<T>& test, uint64_t* words) {
  switch (test.question) {
    case Question::kGreater: ask_words<Question::kGreater>(x, n_words, test.value, words); break;
    case Question::kEqual: ask_words<Question::kEqual>(x, n_words, test.value, words); break;
    case Question::kMissing: ask_words<Question::kMissing>(x, n_words, test.value, words); break;
    default: std::memset(words, test.question == Question::kAlways ? 0xFF : 0, n_words * sizeof(uint64_t));
  }
}

// Tests that ask for ranks, each over as many words at once as a block of rows has.
template <Question Q, typename T>
inline void ask_ranks(const uint8_t* ranks, size_t n_words, const Test<T>* tests, size_t n_tests, uint64_t* words,
                      size_t pitch) {
  constexpr size_t n_at_once = kEncodeRows / kWordRows;
  size_t w = 0;
  for (; w + n_at_once <= n_words; w += n_at_once)
    for (size_t t = 0; t < n_tests; ++t) {
#pragma GCC unroll 4
      for (size_t i = 0; i < n_at_once; ++i)
        words[t * pitch + w + i] = ask<Q, uint8_t>(ranks + kWordRows * (w + i), tests[t].rank);
    }
  for (size_t t = 0; t < n_tests; ++t)
    ask_words<Q, uint8_t>(ranks + kWordRows * w, n_words - w, tests[t].rank, words + t * pitch + w);
}

// All tests of a column that has a ranking, in runs of one question.
template <typename T>
inline void test_ranked(const T* x, size_t n_words, const TableBlock& block, size_t c) {
  const Test<T>* tests = static_cast<const Test<T>*>(block.tests);
  alignas(64) uint8_t ranks[kEncodeRowsInPlace];
  rank_column(x, n_words, block.trees, block.rankings[c], ranks);
  for (size_t t = block.test_ptr[c], end; t < block.test_ptr[c + 1]; t = end) {
    const Question question = tests[t].question;
    for (end = t + 1; end < block.test_ptr[c + 1] && tests[end].question == question;) ++end;
    uint64_t* words = block.words + t * block.pitch;
    if (question == Question::kRankAbove)
      ask_ranks<Question::kGreater>(ranks, n_words, tests + t, end - t, words, block.pitch);
    else if (question == Question::kRankIs)
      ask_ranks<Question::kEqual>(ranks, n_words, tests + t, end - t, words, block.pitch);
    else
      for (; t < end; ++t, words += block.pitch) ask_values(x, n_words, tests[t], words);
  }
}

// All tests of one column.
template <typename T>
inline void test_column(const T* x, const TableBlock& block, size_t c) {
  const size_t n_words = (block.n_rows + kWordRows - 1) / kWordRows, n_last = block.n_rows % kWordRows;
  const size_t first = block.test_ptr[c], end = block.test_ptr[c + 1];
  if (kMinRanked > 0 && block.rankings[c].n_levels > 0)
    test_ranked(x, n_words, block, c);
  else
    for (size_t t = first; t < end; ++t)
      ask_values(x, n_words, static_cast<const Test<T>*>(block.tests)[t], block.words + t * block.pitch);
  for (size_t t = first; t < end && n_last > 0; ++t)
    block.words[t * block.pitch + n_words - 1] &= (uint64_t{1} << n_last) - 1;
}

template <typename T>
void encode(const TableBlock& block) {
  constexpr size_t width = kTileBytes / sizeof(T);
  alignas(64) T tile[width * kEncodeRows];
  // Whole words of a column that lies in one piece are read where they are.
  const bool in_place = block.row_stride == sizeof(T) && block.n_rows % kWordRows == 0;
  size_t fetched = 0;
  for (size_t c = 0; c < block.n_columns; c += width) {
    const size_t n = block.n_columns - c < width ? block.n_columns - c : width;
    if (block.test_ptr[c] == block.test_ptr[c + n]) continue;
    if (!in_place) fill_tile(block, c, n, tile, fetched);
    const uint8_t* column = block.data + static_cast<ptrdiff_t>(c) * block.column_stride;
    for (size_t j = 0; j < n; ++j, column += block.column_stride)
      test_column(in_place ? reinterpret_cast<const T*>(column) : tile + j * kEncodeRows, block, c + j);
  }
}

}  // namespace
}  // namespace gatewise
