// The contract between the encoder and its kernels, which are compiled once per target: see simd/targets.hpp.
#pragma once

#include <cstddef>
#include <cstdint>

#include "simd/upcoming.hpp"

namespace gatewise {

// A bit of an encoded row: what is asked of a column's value. A missing value is NaN; it is not greater than, and not
// equal to, anything.
enum class Question : uint8_t { kGreater, kEqual, kMissing, kNever, kAlways };
template <typename Value>
struct Test {
  Value value;
  Question question;
  uint8_t rank;  // of the value, if the column's Ranking answers the test
};

// Types that a table's values can have, in the order of EncodeKernels::encode.
enum class ValueType { kFloat32, kFloat64, kUint8, kInt32, kInt64 };
constexpr size_t kNumValueTypes = 5;
constexpr ptrdiff_t kValueBytes[kNumValueTypes] = {4, 8, 1, 4, 8};

// The first n_tests tests of a column, all kGreater or all kEqual, by binary search: a value is searched once, and each
// test compares a byte. At trees + tree, node i, from 1 on, has the children 2 i and 2 i + 1, and values greater than
// its constant go right. `depth` steps further down a value is at its *rank*: 2^depth and the number of constants below
// it. There stand the constants in order; for kEqual, a value that is not at its equal has rank 0. Narrow constants are
// float for double, and int32 for int64.
struct Ranking {
  uint32_t n_tests;
  uint32_t tree;
  Question question;
  uint8_t depth;
  bool narrow;
};
// Nodes side by side that can be looked up, and bytes of the smallest tree: of a vector.
constexpr size_t kMaxEntries = 64;
constexpr size_t kTreeBytes = 64;

template <typename Value>
struct NarrowType;
template <>
struct NarrowType<double> {
  typedef float type;
};
template <>
struct NarrowType<int64_t> {
  typedef int32_t type;
};

// A block of rows of a table, and where its bits go: word w of test t to words[t * pitch + w]. The tests of column c
// are tests[test_ptr[c]] and following, of type Test<Value>. Strides are in bytes. There are at most kEncodeRows rows,
// or kEncodeRowsInPlace, whole words, of columns that lie in one piece.
constexpr size_t kEncodeRows = 256;
constexpr size_t kEncodeRowsInPlace = 8 * kEncodeRows;
struct TableBlock {
  const uint8_t* data;
  ptrdiff_t row_stride, column_stride;
  size_t n_rows, n_columns;
  const void* tests;
  const uint32_t* test_ptr;
  const Ranking* rankings;
  const uint8_t* trees;
  uint64_t* words;
  size_t pitch;
  Upcoming upcoming;
};

struct EncodeKernels {
  // A block of a table -> bits; the bits past its last row are 0. Indexed by ValueType.
  void (*encode[kNumValueTypes])(const TableBlock& block);

  // Distinct constants of a column that are worth a Ranking, half as many if they are narrow; 0 if none ever are, and
  // `encode` takes no Ranking.
  size_t min_ranked;
};

}  // namespace gatewise
