#include "encode/encoder.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "encode/search_tree.hpp"

namespace gatewise {
namespace {

constexpr size_t kRowsPerJob = kEncodeRowsInPlace;
constexpr size_t kRowsPerWord = 64;

// The tests below ask of a value of type Value what the test of a double asks of the same value, without rounding.

Test<double> convert(Question question, double value, double) { return {value, question, 0}; }

Test<float> convert(Question question, double value, float) {
  constexpr double most = std::numeric_limits<float>::max(), infinity = std::numeric_limits<double>::infinity();
  if (question == Question::kMissing) return {0, question, 0};
  // A double beyond the range of floats has no defined conversion.
  float nearest = std::abs(value) <= most ? static_cast<float>(value) : static_cast<float>(std::copysign(most, value));
  if (std::abs(value) == infinity) nearest = static_cast<float>(value);
  if (question == Question::kEqual) return {nearest, nearest == value ? question : Question::kNever, 0};
  if (nearest > value) nearest = std::nextafterf(nearest, -std::numeric_limits<float>::infinity());
  return {nearest, question, 0};
}

template <typename Value>
Test<Value> convert(Question question, double value, Value) {
  // Both bounds are powers of two, or 0, so doubles hold them exactly.
  const double lowest = static_cast<double>(std::numeric_limits<Value>::min());
  const double past = 2 * static_cast<double>(std::numeric_limits<Value>::max() / 2 + 1);
  const double whole = std::floor(value);
  const bool fits = whole >= lowest && whole < past;
  if (question == Question::kMissing) return {0, Question::kNever, 0};
  if (question == Question::kEqual && (whole != value || !fits)) return {0, Question::kNever, 0};
  if (!fits) return {0, value < lowest ? Question::kAlways : Question::kNever, 0};
  return {static_cast<Value>(whole), question, 0};
}

// Rows of the next block. Columns that lie in one piece are read where they are, so their blocks may be any number of
// whole words; long ones keep to one column for a while, as memory likes it.
size_t block_rows(const Table& table, size_t n_left) {
  const bool in_place = table.row_stride == kValueBytes[static_cast<size_t>(table.type)];
  if (in_place && n_left >= kRowsPerWord) return n_left / kRowsPerWord * kRowsPerWord;
  return std::min(kEncodeRows, n_left);
}

// The block of rows after row `end`, as far as it is one piece of memory: reading jumps from row to row, which
// processors do not foresee.
Upcoming rows_after(const Table& table, size_t end) {
  const auto row_bytes = static_cast<ptrdiff_t>(table.n_columns) * table.column_stride;
  if (end >= table.n_rows || table.column_stride <= 0 || table.row_stride < row_bytes) return {nullptr, 0};
  const auto stride = static_cast<size_t>(table.row_stride);
  return {table.data + end * stride, std::min(kEncodeRows, table.n_rows - end) * stride};
}

}  // namespace

Encoder::Encoder(std::vector<uint32_t> test_ptr, const uint8_t* questions, const double* values,
                 const EncodeKernels& kernels)
    : test_ptr_(std::move(test_ptr)), kernels_(kernels) {
  const auto fill = [&]<typename Value>(TypedTests<Value>& typed) {
    typed.tests.reserve(n_tests());
    for (size_t t = 0; t < n_tests(); ++t)
      typed.tests.push_back(convert(static_cast<Question>(questions[t]), values[t], Value{}));
    typed.rankings.reserve(n_columns());
    for (size_t c = 0; c < n_columns(); ++c)
      typed.rankings.push_back(
          rank_tests(typed.tests.data() + test_ptr_[c], test_ptr_[c + 1] - test_ptr_[c], kernels_, typed.trees));
  };
  std::apply([&](auto&... typed) { (fill(typed), ...); }, tests_);
}

void Encoder::encode(const Table& table, uint64_t* words, size_t pitch, Pool& pool) const {
  struct View {
    const void* tests;
    const Ranking* rankings;
    const uint8_t* trees;
  };
  const auto view = [](const auto& typed) {
    return View{typed.tests.data(), typed.rankings.data(), typed.trees.data()};
  };
  const std::array<View, kNumValueTypes> views =
      std::apply([&](const auto&... typed) { return std::array{view(typed)...}; }, tests_);
  const View& own = views[static_cast<size_t>(table.type)];
  const auto type = static_cast<size_t>(table.type);
  const size_t n_jobs = (table.n_rows + kRowsPerJob - 1) / kRowsPerJob;
  pool.run(n_jobs, [&](size_t, size_t job) noexcept {
    const size_t end = std::min(table.n_rows, (job + 1) * kRowsPerJob);
    for (size_t first = job * kRowsPerJob; first < end;) {
      const size_t n_rows = block_rows(table, end - first);
      const uint8_t* data = table.data + static_cast<ptrdiff_t>(first) * table.row_stride;
      kernels_.encode[type]({data, table.row_stride, table.column_stride, n_rows, table.n_columns, own.tests,
                             test_ptr_.data() + table.first_column, own.rankings + table.first_column, own.trees,
                             words + first / 64, pitch, rows_after(table, first + n_rows)});
      first += n_rows;
    }
  });
}

}  // namespace gatewise
