// Boosting without Python: every loss with several columns, weights and thread counts; the terms must be the same.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <numeric>
#include <random>

#include "boost/growing.hpp"

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
  if (loss == boost::Loss::kSquared || loss == boost::Loss::kQuantile)
    return static_cast<float>(sum) - 0.5f * table.bit(37, row);
  return static_cast<float>((sum + table.bit(38, row)) % std::max<size_t>(n_scores, 2));
}

struct Known {
  std::vector<float> targets, weights;

  Known(const Table& table, boost::Loss loss, size_t n_scores) {
    for (size_t row = 0; row < table.n_rows; ++row) {
      for (size_t k = 0; k < boost::target_size(loss, n_scores); ++k)
        targets.push_back(target_of(table, loss, row, n_scores));
      weights.push_back(static_cast<float>(row % 4));
    }
  }
};

// The rows in three parts: two of them are validated, the last split learns from all.
std::vector<boost::Split> make_splits(size_t n_rows) {
  std::vector<boost::Split> splits(3);
  for (uint32_t row = 0; row < n_rows; ++row)
    for (uint32_t k = 0; k < 3; ++k) (k < 2 && row % 3 == k ? splits[k].validation : splits[k].training).push_back(row);
  return splits;
}

void check(const Table& table, boost::Loss loss, size_t n_scores, bool is_weighted, boost::Settings settings) {
  const Known known(table, loss, n_scores);
  const std::vector<float> base(n_scores, 0.0f);
  std::vector<boost::Grown> found;
  for (const unsigned threads : {1, 2, 7}) {
    gw::Pool pool(threads);
    const boost::Codes codes(table.columns, {table.words.data(), table.n_words}, table.n_rows, pool);
    const float* weights = is_weighted ? known.weights.data() : nullptr;
    const boost::Table rows{table.columns, codes, known.targets.data(), weights};
    found.push_back(boost::grow_terms(rows, make_splits(table.n_rows), loss, base, settings, 13, 5, 1.0, threads,
                                      [] { return true; }));
  }
  for (const boost::Grown& each : found) {
    const boost::Terms &terms = each.terms, &first = found[0].terms;
    const bool is_same = terms.bits == first.bits && terms.values == first.values && each.losses == found[0].losses;
    const bool is_whole = terms.bits.size() * 8 * n_scores == terms.values.size() * 3 && !each.losses.empty();
    const double best = *std::min_element(each.losses.begin(), each.losses.end());
    if (is_same && is_whole && (table.n_rows < 100 || best < each.losses.front())) continue;
    std::printf("terms differ or do not learn: loss %d, %zu scores, %zu rows\n", static_cast<int>(loss), n_scores,
                table.n_rows);
    std::exit(1);
  }
}

void check_codes(const Table& table) {
  gw::Pool pool(2);
  const boost::Codes codes(table.columns, {table.words.data(), table.n_words}, table.n_rows, pool);
  for (size_t j = 0; j < table.columns.size(); ++j)
    for (size_t row = 0; row < table.n_rows; ++row)
      for (uint32_t k = 0; k < table.columns[j].n_bits(); ++k) {
        const boost::Column& column = table.columns[j];
        const uint32_t code = codes.column(j)[row];
        if ((code > column.least(k) && code <= column.most(k)) == table.bit(column.first_bit + k, row)) continue;
        std::printf("code differs: column %zu, row %zu\n", j, row);
        std::exit(1);
      }
}

}  // namespace

int main() {
  const boost::Settings plain{3, 2, 0.3f, 1.0f, 0.01f, 0.0f, 8, 1.0f, 1 << 24, 1.0f, 0, 1, 0.5f};
  const boost::Settings all{3, 2, 0.3f, 1.0f, 0.01f, 0.1f, 3, 0.7f, 5000, 0.6f, 2, 3, 0.7f};
  for (const size_t n_rows : {8, 63, 65, 1000, 9000}) {
    const Table table(n_rows);
    check_codes(table);
    for (const boost::Settings& settings : {plain, all})
      for (const bool is_weighted : {false, true}) {
        check(table, boost::Loss::kLogistic, 1, is_weighted, settings);
        check(table, boost::Loss::kSoftmax, 3, is_weighted, settings);
        check(table, boost::Loss::kSoftmax, 9, is_weighted, settings);
        check(table, boost::Loss::kSquared, 1, is_weighted, settings);
        check(table, boost::Loss::kSquared, 2, is_weighted, settings);
        check(table, boost::Loss::kQuantile, 2, is_weighted, settings);
        check(table, boost::Loss::kPoisson, 1, is_weighted, settings);
      }
  }
  std::puts("boosting agrees");
}
