// Tables of numbers to bit-planes: every bit asks one question about one column.
#pragma once

#include <tuple>
#include <vector>

#include "encode/kernels.hpp"
#include "support/pool.hpp"

namespace gatewise {

// Borrowed input: columns first_column and following of the encoder's. Strides are in bytes.
struct Table {
  ValueType type;
  const uint8_t* data;
  size_t n_rows, first_column, n_columns;
  ptrdiff_t row_stride, column_stride;
};

// Tests of all columns for values of one type; one ranking per column.
template <typename Value>
struct TypedTests {
  std::vector<Test<Value>> tests;
  std::vector<Ranking> rankings;
  std::vector<uint8_t> trees;
};

// Immutable, so safe to call from several threads.
class Encoder {
 public:
  // Test t of column c, for t in test_ptr[c] .. test_ptr[c + 1], asks questions[t] (greater, equal or missing) with
  // the constant values[t].
  Encoder(std::vector<uint32_t> test_ptr, const uint8_t* questions, const double* values, const EncodeKernels& kernels);

  size_t n_columns() const { return test_ptr_.size() - 1; }
  size_t n_tests() const { return test_ptr_.back(); }

  // Fills the planes of the table's columns: row i of test t is bit i % 64 of words[t * pitch + i / 64].
  void encode(const Table& table, uint64_t* words, size_t pitch, Pool& pool) const;

 private:
  const std::vector<uint32_t> test_ptr_;
  const EncodeKernels& kernels_;
  // The same tests in the types that values can have, in the order of ValueType.
  std::tuple<TypedTests<float>, TypedTests<double>, TypedTests<uint8_t>, TypedTests<int32_t>, TypedTests<int64_t>>
      tests_;
};

}  // namespace gatewise
