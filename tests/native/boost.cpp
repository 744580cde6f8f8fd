// Boosting without Python: every loss with several columns, weights and thread counts; the terms must be the same.
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <numeric>
#include <random>

#include "boost/learner.hpp"

namespace gw = gatewise;
namespace boost = gatewise::boost;

namespace {

std::mt19937 random_bits(5);

struct Table {
  std::vector<boost::Column> columns;
  size_t n_rows, n_words;
  std::vector<uint64_t> words;

  explicit Table(size_t n) : n_rows(n), n_words((n + 63) / 64) {
    const uint32_t shapes[][2] = {{1, 0}, {5, 0}, {31, 1}, {0, 4}, {0, 1}, {254, 1}, {0, 255}};
    uint32_t bit = 0;
    for (const auto [n_ordered, n_single] : shapes) {
      columns.push_back({bit, n_ordered, n_single});
      bit += n_ordered + n_single;
    }
    words.resize(bit * n_words);
    for (const boost::Column& column : columns)
      for (size_t row = 0; row < n; ++row) answer(column, random_bits() % column.n_codes(), row);
  }

  void answer(const boost::Column& column, uint32_t code, size_t row) {
    for (uint32_t k = 0; k < column.n_bits(); ++k)
      if (code > column.least(k) && code <= column.most(k))
        words[(column.first_bit + k) * n_words + row / 64] |= uint64_t{1} << row % 64;
  }
  bool bit(size_t at, size_t row) const { return words[at * n_words + row / 64] >> row % 64 & 1; }
};

float target_of(const Table& table, boost::Loss loss, size_t row, size_t n_scores) {
  const int sum = table.bit(3, row) ^ table.bit(20, row);
  if (loss == boost::Loss::kSquared) return static_cast<float>(sum) - 0.5f * table.bit(37, row);
  return static_cast<float>((sum + table.bit(38, row)) % std::max<size_t>(n_scores, 2));
}

boost::Rows make_rows(const Table& table, const boost::Codes& codes, const std::vector<uint32_t>& rows,
                      boost::Loss loss, size_t n_scores, bool is_weighted) {
  boost::Rows made{codes, {}, {}};
  for (const uint32_t row : rows) {
    for (size_t k = 0; k < boost::target_size(loss, n_scores); ++k)
      made.targets.push_back(target_of(table, loss, row, n_scores));
    if (is_weighted) made.weights.push_back(static_cast<float>(row % 3));
  }
  return made;
}

void check(const Table& table, boost::Loss loss, size_t n_scores, bool is_weighted) {
  std::vector<uint32_t> rows[2];
  for (uint32_t row = 0; row < table.n_rows; ++row) rows[row % 4 == 1].push_back(row);
  const boost::Settings settings{3, 2, 12, 5, 0.3f, 1.0f, 0.01f, 0.1f, 2};
  std::vector<boost::Terms> found;
  for (const unsigned threads : {1, 2, 5}) {
    gw::Pool pool(threads);
    const boost::PlanesView planes{table.words.data(), table.n_words};
    const boost::Codes codes[2] = {{table.columns, planes, rows[0], pool}, {table.columns, planes, rows[1], pool}};
    const boost::Rows training = make_rows(table, codes[0], rows[0], loss, n_scores, is_weighted);
    const boost::Rows validation = make_rows(table, codes[1], rows[1], loss, n_scores, is_weighted);
    const std::vector<float> base(n_scores, 0.0f);
    found.push_back(
        boost::grow_terms(table.columns, training, validation, loss, base, settings, pool, [] { return true; }));
  }
  for (const boost::Terms& terms : found) {
    const bool is_same =
        terms.bits == found[0].bits && terms.values == found[0].values && terms.losses == found[0].losses;
    const bool is_whole = terms.bits.size() * 8 * n_scores == terms.values.size() * 3;
    if (is_same && is_whole && (table.n_rows < 100 || terms.losses.back() < terms.losses.front())) continue;
    std::printf("terms differ or do not learn: loss %d, %zu scores, %zu rows\n", static_cast<int>(loss), n_scores,
                table.n_rows);
    std::exit(1);
  }
}

}  // namespace

int main() {
  for (const size_t n_rows : {8, 63, 65, 1000, 9000}) {
    const Table table(n_rows);
    for (const bool is_weighted : {false, true}) {
      check(table, boost::Loss::kLogistic, 1, is_weighted);
      check(table, boost::Loss::kSoftmax, 3, is_weighted);
      check(table, boost::Loss::kSquared, 1, is_weighted);
      check(table, boost::Loss::kSquared, 2, is_weighted);
    }
  }
  std::puts("boosting agrees");
}
