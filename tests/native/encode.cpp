// Encoding without Python: every target, type, layout and thread count against comparisons of long doubles.
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <random>
#include <vector>

#include "encode/encoder.hpp"
#include "simd/targets.hpp"

namespace gw = gatewise;

namespace {

std::mt19937 random_bits(11);

template <typename Value>
Value random_value() {
  constexpr bool is_float = !std::numeric_limits<Value>::is_integer;
  const uint32_t choice = random_bits() % 16;
  if (choice == 0) return std::numeric_limits<Value>::max();
  if (choice == 1) return std::numeric_limits<Value>::lowest();
  if (is_float && choice == 2) return std::numeric_limits<Value>::quiet_NaN();
  if (is_float && choice == 3) return std::numeric_limits<Value>::infinity();
  if (is_float && choice == 4) return -std::numeric_limits<Value>::infinity();
  return static_cast<Value>(random_bits() % 64) / (is_float ? Value{4} : Value{1});
}

struct Tests {
  std::vector<uint32_t> ptr{0};
  std::vector<uint8_t> questions;
  std::vector<double> values;

  explicit Tests(size_t n_columns) {
    constexpr double most = std::numeric_limits<double>::max();
    const double special[] = {-std::numeric_limits<double>::infinity(),
                              -most,
                              most,
                              0.1,
                              9223372036854775807.0,
                              -0.5,
                              255,
                              256,
                              2147483647,
                              -2147483648.5};
    for (size_t c = 0; c < n_columns; ++c) {
      // Some columns ask one question often enough to be searched, and a last one; some of those, of quarters only.
      const bool many = random_bits() % 4 == 0, plain = many && random_bits() % 2;
      const uint32_t question = random_bits() % 2;
      for (size_t n = random_bits() % (many ? 140 : 5); n > 0; --n) {
        questions.push_back(static_cast<uint8_t>(many && n > 1 ? question : random_bits() % 3));
        const bool is_special = !plain && random_bits() % 2;
        values.push_back(is_special ? special[random_bits() % 10] : (random_bits() % (many ? 200 : 32)) / 4.0);
      }
      ptr.push_back(static_cast<uint32_t>(values.size()));
    }
  }

  template <typename Value>
  bool answer(size_t t, Value x) const {
    const long double value = values[t], own = static_cast<long double>(x);
    const auto question = static_cast<gw::Question>(questions[t]);
    if (question == gw::Question::kMissing) return std::isnan(own);
    return question == gw::Question::kGreater ? own > value : own == value;
  }
};

enum Layout { kRows, kColumns, kStrided, kNumLayouts };

template <typename Value>
void check(gw::ValueType type, size_t n_rows, size_t n_columns, int layout, unsigned threads) {
  const Tests tests(n_columns);
  const size_t n_words = (n_rows + 63) / 64, n_tests = tests.values.size();
  const size_t row = layout == kRows ? n_columns : layout == kColumns ? 1 : 2 * n_columns + 3;
  const size_t column = layout == kRows ? 1 : layout == kColumns ? n_rows : 2;
  std::vector<Value> data(n_rows == 0 || n_columns == 0 ? 0 : (n_rows - 1) * row + (n_columns - 1) * column + 1);
  for (Value& value : data) value = random_value<Value>();
  std::vector<uint64_t> expected(n_tests * n_words);
  for (size_t c = 0; c < n_columns; ++c)
    for (size_t t = tests.ptr[c]; t < tests.ptr[c + 1]; ++t)
      for (size_t r = 0; r < n_rows; ++r)
        expected[t * n_words + r / 64] |= uint64_t{tests.answer(t, data[r * row + c * column])} << r % 64;
  gw::Pool pool(threads);
  for (const gw::Target& target : gw::targets()) {
    const gw::Encoder encoder(tests.ptr, tests.questions.data(), tests.values.data(), target.encode);
    std::vector<uint64_t> words(expected.size(), ~uint64_t{0});
    const auto encode = [&](size_t first, size_t n) {  // some of the columns, as those of a mixed table come
      const auto* from = reinterpret_cast<const uint8_t*>(data.data() + (data.empty() ? 0 : first * column));
      const auto row_stride = static_cast<ptrdiff_t>(row * sizeof(Value));
      const auto column_stride = static_cast<ptrdiff_t>(column * sizeof(Value));
      encoder.encode({type, from, n_rows, first, n, row_stride, column_stride}, words.data(), n_words, pool);
    };
    const size_t split = n_columns % 2 == 0 ? n_columns / 2 : 0;
    if (split > 0) encode(0, split);
    encode(split, n_columns - split);
    if (words == expected) continue;
    std::printf("bits differ at target %s, type %d, %zu x %zu, layout %d\n", target.name, static_cast<int>(type),
                n_rows, n_columns, layout);
    std::exit(1);
  }
}

template <typename Value>
void check_type(gw::ValueType type) {
  for (const size_t n_rows : {0, 1, 63, 64, 65, 255, 256, 257, 1000})
    for (const size_t n_columns : {0, 1, 2, 3, 5, 14, 17, 37, 70})
      for (int layout = 0; layout < kNumLayouts; ++layout) check<Value>(type, n_rows, n_columns, layout, 1);
  check<Value>(type, 5000, 20, kRows, 3);
}

}  // namespace

int main() {
  check_type<float>(gw::ValueType::kFloat32);
  check_type<double>(gw::ValueType::kFloat64);
  check_type<uint8_t>(gw::ValueType::kUint8);
  check_type<int32_t>(gw::ValueType::kInt32);
  check_type<int64_t>(gw::ValueType::kInt64);
  return 0;
}
