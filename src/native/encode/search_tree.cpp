#include "encode/search_tree.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

namespace gatewise {
namespace {

// Whether a comparison with the narrow constant stays exact when values are narrowed: doubles rounded to floats,
// upward for kGreater, and integers saturated.
bool is_narrow(double value, Question question) {
  if (!(std::abs(value) <= std::numeric_limits<float>::max())) return std::isinf(value);
  // Threads may be set to flush subnormal floats, which then meet 0.
  const bool normal = std::abs(value) >= std::numeric_limits<float>::min();
  return (normal || (value == 0 && question == Question::kEqual)) && static_cast<float>(value) == value;
}
bool is_narrow(int64_t value, Question) {
  return value > std::numeric_limits<int32_t>::min() && value < std::numeric_limits<int32_t>::max();
}

// The tree of sorted constants, see Ranking, appended to `trees`.
template <typename Constant, typename Value>
void add_tree(const std::vector<Value>& constants, unsigned depth, std::vector<uint8_t>& trees) {
  constexpr bool is_float = !std::numeric_limits<Constant>::is_integer;
  constexpr Constant highest =
      is_float ? std::numeric_limits<Constant>::infinity() : std::numeric_limits<Constant>::max();
  const size_t n_places = size_t{1} << depth;
  std::vector<Constant> tree(std::max<size_t>(2 * n_places, kTreeBytes / sizeof(Constant)), highest);
  for (unsigned row = 0; row < depth; ++row)
    for (size_t j = 0; j < size_t{1} << row; ++j) {
      const size_t i = ((2 * j + 1) << (depth - 1 - row)) - 1;
      if (i < constants.size()) tree[(size_t{1} << row) + j] = static_cast<Constant>(constants[i]);
    }
  for (size_t i = 0; i < constants.size() && i < n_places; ++i)
    tree[n_places + i] = static_cast<Constant>(constants[i]);
  const auto* bytes = reinterpret_cast<const uint8_t*>(tree.data());
  trees.insert(trees.end(), bytes, bytes + tree.size() * sizeof(Constant));
}

// The values of tests, sorted, each once; none if one of them has no order.
template <typename Value>
std::vector<Value> find_constants(const Test<Value>* tests, size_t n_tests) {
  std::vector<Value> constants;
  for (size_t t = 0; t < n_tests; ++t) constants.push_back(tests[t].value);
  if (std::any_of(constants.begin(), constants.end(), [](Value value) { return value != value; })) return {};
  std::sort(constants.begin(), constants.end());
  constants.erase(std::unique(constants.begin(), constants.end()), constants.end());
  return constants;
}

}  // namespace

template <typename Value>
Ranking rank_tests(Test<Value>* tests, size_t n_tests, const EncodeKernels& kernels, std::vector<uint8_t>& trees) {
  constexpr Ranking none{0, 0, Question::kNever, 0, false};
  if (sizeof(Value) == 1 || n_tests == 0) return none;  // bytes are their own ranks
  const Question question = tests[0].question;
  if (question != Question::kGreater && question != Question::kEqual) return none;
  const Test<Value>* other =
      std::find_if(tests, tests + n_tests, [&](const Test<Value>& test) { return test.question != question; });
  const auto n_ranked = static_cast<uint32_t>(other - tests);
  const std::vector<Value> constants = find_constants(tests, n_ranked);
  const size_t n = constants.size(), most = question == Question::kGreater ? 2 * kMaxEntries - 1 : kMaxEntries;
  bool narrow = false;
  if constexpr (sizeof(Value) == 8)
    narrow = std::all_of(constants.begin(), constants.end(), [&](Value c) { return is_narrow(c, question); });
  const size_t fewest = kernels.min_ranked / (narrow ? 2 : 1);
  if (fewest == 0 || n < fewest || n > most) return none;
  const auto depth = static_cast<uint8_t>(std::bit_width(question == Question::kGreater ? n : n - 1));
  const Ranking ranking{n_ranked, static_cast<uint32_t>(trees.size()), question, depth, narrow};
  if constexpr (sizeof(Value) == 8)
    if (narrow) add_tree<typename NarrowType<Value>::type>(constants, depth, trees);
  if (!narrow) add_tree<Value>(constants, depth, trees);
  for (size_t t = 0; t < n_ranked; ++t) {
    const auto i = std::lower_bound(constants.begin(), constants.end(), tests[t].value) - constants.begin();
    tests[t].rank = static_cast<uint8_t>((size_t{1} << depth) + static_cast<size_t>(i));
  }
  return ranking;
}

template Ranking rank_tests(Test<float>*, size_t, const EncodeKernels&, std::vector<uint8_t>&);
template Ranking rank_tests(Test<double>*, size_t, const EncodeKernels&, std::vector<uint8_t>&);
template Ranking rank_tests(Test<uint8_t>*, size_t, const EncodeKernels&, std::vector<uint8_t>&);
template Ranking rank_tests(Test<int32_t>*, size_t, const EncodeKernels&, std::vector<uint8_t>&);
template Ranking rank_tests(Test<int64_t>*, size_t, const EncodeKernels&, std::vector<uint8_t>&);

}  // namespace gatewise
