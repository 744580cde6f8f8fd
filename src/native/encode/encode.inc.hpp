// A block of a table to bit-planes. Rows become columns first, those of one cache line at a time, because a column's
// values side by side are compared with all of its constants at the speed of vectors.
#pragma once

#include "encode/kernels.hpp"
#include "encode/search_tree.inc.hpp"
#include "simd/words.hpp"

namespace gatewise {
namespace {

constexpr size_t kLineBytes = 64;
constexpr size_t kWordRows = 64;

// A row of the square of values that is transposed at once.
template <size_t Size>
struct SquareRow;
template <>
struct SquareRow<1> {
  typedef Bytes16 type;
};
template <>
struct SquareRow<4> {
  typedef Halves4 type;
};
template <>
struct SquareRow<8> {
#if defined(GATEWISE_AVX512)
  typedef Words8 type;
#else
  typedef Words2 type;
#endif
};

// Values in such a row, and the fewest for which it may be loaded.
template <typename Value>
constexpr size_t kSide = sizeof(typename SquareRow<sizeof(Value)>::type) / sizeof(Value);
template <typename Value>
constexpr size_t kFewest = 16 / sizeof(Value);

// The first n values of a row; n is kSide unless that is a whole cache line.
template <typename Row>
inline Row load_row(const uint8_t* from, size_t) {
  Row row;
  std::memcpy(&row, from, sizeof row);
  return row;
}
#if defined(GATEWISE_AVX512)
template <>
inline Words8 load_row(const uint8_t* from, size_t n) {
  return (Words8)_mm512_maskz_loadu_epi64(static_cast<__mmask8>((1u << n) - 1), from);
}
#endif

// A square at `from`, its rows `row_stride` bytes apart and n of its columns there -> its columns, `to_stride` values
// apart. A perfect shuffle for each binary digit of its side.
template <typename Value>
inline void transpose_square(const uint8_t* from, ptrdiff_t row_stride, size_t n, Value* to, size_t to_stride) {
  constexpr int side = static_cast<int>(kSide<Value>);
  typedef typename SquareRow<sizeof(Value)>::type Row;
  Row x[side], y[side];
#pragma GCC unroll 16
  for (int r = 0; r < side; ++r) x[r] = load_row<Row>(from + r * row_stride, n);
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
  for (int r = 0; r < side; ++r) std::memcpy(to + r * to_stride, &x[r], sizeof(Row));
}

// One column, value by value.
template <typename Value>
inline void copy_column(const uint8_t* from, ptrdiff_t row_stride, size_t first, size_t n_rows, Value* to) {
  for (size_t r = first; r < n_rows; ++r)
    std::memcpy(to + r, from + static_cast<ptrdiff_t>(r) * row_stride, sizeof(Value));
}

// Columns c .. c + n of a block -> n columns of kEncodeRows values, zeros past the last row. For all that is read, as
// much of what comes next is fetched.
template <typename Value>
inline void gather_columns(const TableBlock& block, size_t c, size_t n, Value* columns, size_t& fetched) {
  constexpr size_t side = kSide<Value>;
  const uint8_t* data = block.data + static_cast<ptrdiff_t>(c) * block.column_stride;
  const bool in_squares = block.column_stride == sizeof(Value) && n >= kFewest<Value>;
  const size_t n_squared = in_squares ? block.n_rows / side * side : 0;
  for (size_t j = 0; j < n && n_squared > 0; j += side) {
    if (j > 0 && j + side > n) j = n - side;  // the last square may overlap what is done
    const size_t n_there = n < side ? n : side;
    if (block.test_ptr[c + j] == block.test_ptr[c + j + n_there]) continue;
    for (size_t r = 0; r < n_squared; r += side) {
      for (size_t line = 0; line < side * n_there * sizeof(Value) && fetched < block.upcoming.n_bytes;
           line += kLineBytes, fetched += kLineBytes)
        __builtin_prefetch(block.upcoming.data + fetched);
      transpose_square<Value>(data + static_cast<ptrdiff_t>(r) * block.row_stride + j * sizeof(Value), block.row_stride,
                              n_there, columns + j * kEncodeRows + r, kEncodeRows);
    }
  }
  const size_t n_padded = (block.n_rows + kWordRows - 1) / kWordRows * kWordRows;
  for (size_t j = 0; j < n; ++j) {
    Value* to = columns + j * kEncodeRows;
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
template <Question Asked, typename Value>
inline uint64_t ask(const Value* x, Value value) {
  constexpr int lanes = 64 / sizeof(Value);
  const __m512i constants = broadcast(value);
  uint64_t word = 0;
#pragma GCC unroll 8
  for (int i = 0; i < 64; i += lanes) word |= compare<Asked>(_mm512_loadu_si512(x + i), constants, Value{}) << i;
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
template <Question Asked, typename Value>
inline uint64_t ask(const Value* x, Value value) {
  uint8_t answers[64];
  for (int i = 0; i < 64; ++i)
    answers[i] = Asked == Question::kGreater ? x[i] > value : Asked == Question::kEqual ? x[i] == value : x[i] != x[i];
  return collect_bits(answers);
}

#endif

template <Question Asked, typename Value>
inline void ask_words(const Value* x, size_t n_words, Value value, uint64_t* words) {
  for (size_t w = 0; w < n_words; ++w) words[w] = ask<Asked, Value>(x + kWordRows * w, value);
}

// Tests that ranks answer, each over as many words at once as a block of rows has.
template <Question Asked, typename Value>
inline void ask_ranks(const uint8_t* ranks, size_t n_words, const Test<Value>* tests, size_t n_tests, uint64_t* words,
                      size_t pitch) {
  constexpr size_t n_at_once = kEncodeRows / kWordRows;
  size_t w = 0;
  for (; w + n_at_once <= n_words; w += n_at_once)
    for (size_t t = 0; t < n_tests; ++t) {
#pragma GCC unroll 4
      for (size_t i = w; i < w + n_at_once; ++i)
        words[t * pitch + i] = ask<Asked, uint8_t>(ranks + kWordRows * i, tests[t].rank);
    }
  for (size_t t = 0; t < n_tests; ++t)
    ask_words<Asked>(ranks + kWordRows * w, n_words - w, tests[t].rank, words + t * pitch + w);
}

// All tests of one column.
template <typename Value>
inline void test_column(const Value* x, const TableBlock& block, size_t c) {
  const size_t n_words = (block.n_rows + kWordRows - 1) / kWordRows, n_last = block.n_rows % kWordRows;
  const Test<Value>* tests = static_cast<const Test<Value>*>(block.tests);
  const size_t first = block.test_ptr[c], end = block.test_ptr[c + 1];
  const Ranking& ranking = block.rankings[c];
  if (kMinRanked > 0 && ranking.n_tests > 0) {
    alignas(64) uint8_t ranks[kEncodeRowsInPlace];
    rank_column(x, n_words, block.trees, ranking, ranks);
    const auto answer = ranking.question == Question::kGreater ? ask_ranks<Question::kGreater, Value>
                                                               : ask_ranks<Question::kEqual, Value>;
    answer(ranks, n_words, tests + first, ranking.n_tests, block.words + first * block.pitch, block.pitch);
  }
  for (size_t t = first + ranking.n_tests; t < end; ++t) {
    uint64_t* words = block.words + t * block.pitch;
    switch (tests[t].question) {
      case Question::kGreater: ask_words<Question::kGreater>(x, n_words, tests[t].value, words); break;
      case Question::kEqual: ask_words<Question::kEqual>(x, n_words, tests[t].value, words); break;
      case Question::kMissing: ask_words<Question::kMissing>(x, n_words, tests[t].value, words); break;
      default: std::memset(words, tests[t].question == Question::kAlways ? 0xFF : 0, n_words * sizeof(uint64_t));
    }
  }
  for (size_t t = first; t < end && n_last > 0; ++t)
    block.words[t * block.pitch + n_words - 1] &= (uint64_t{1} << n_last) - 1;
}

template <typename Value>
void encode(const TableBlock& block) {
  constexpr size_t width = kLineBytes / sizeof(Value);
  alignas(64) Value columns[width * kEncodeRows];
  // Whole words of a column that lies in one piece are read where they are.
  const bool in_place = block.row_stride == sizeof(Value) && block.n_rows % kWordRows == 0;
  size_t fetched = 0;
  for (size_t c = 0; c < block.n_columns; c += width) {
    const size_t n = block.n_columns - c < width ? block.n_columns - c : width;
    if (block.test_ptr[c] == block.test_ptr[c + n]) continue;
    if (!in_place) gather_columns(block, c, n, columns, fetched);
    const uint8_t* column = block.data + static_cast<ptrdiff_t>(c) * block.column_stride;
    for (size_t j = 0; j < n; ++j, column += block.column_stride)
      test_column(in_place ? reinterpret_cast<const Value*>(column) : columns + j * kEncodeRows, block, c + j);
  }
}

}  // namespace
}  // namespace gatewise
