#include "boost/questions/pairs.hpp"

#include <algorithm>

namespace gatewise::boost {
namespace {

constexpr size_t kMostWork = size_t{1} << 24;  // rows times pairs of columns
constexpr size_t kMostRows = 8192, kLeastRows = 1024;
constexpr size_t kCountedRows = 32768;  // of which bins are made

using Table = std::array<std::array<Sum, 9>, 9>;  // sums of the bins below

Sum sum_of(const Table& table, size_t from, size_t to, size_t other_from, size_t other_to) {
  return table[to + 1][other_to + 1] - table[from][other_to + 1] - table[to + 1][other_from] + table[from][other_from];
}

float gain(Sum sum, float l2) { return gain_of(first_of(sum), second_of(sum), l2); }

}  // namespace

PairScreen::PairScreen(const std::vector<Column>& columns, const Codes& codes) {
  for (size_t j = 0; j < columns.size(); ++j) {
    std::array<uint32_t, 256> counts{};
    const size_t n = std::min(codes.n_rows(), kCountedRows);
    for (size_t i = 0; i < n; ++i) ++counts[codes.column(j)[i]];
    coarse_.push_back(make_coarse(columns[j], counts));
  }
  const size_t n_asked = std::min<size_t>(columns.size(), kMostColumns);
  const size_t n_pairs = std::max<size_t>(n_asked * (n_asked - 1) / 2, 1);
  most_rows_ = std::min(codes.n_rows(), std::clamp(kMostWork / n_pairs, kLeastRows, kMostRows));
  asked_.resize(n_asked);
  bins_.resize(n_asked * most_rows_);
  sums_.resize(most_rows_);
  found_.resize(n_asked);
}

// Few codes are bins of their own. Else thresholds cut the rows into parts of about equal size, and of the single bits
// the most frequent ones are bins: one after thresholds, all bins without thresholds.
PairScreen::Coarse PairScreen::make_coarse(const Column& column, const std::array<uint32_t, 256>& counts) {
  Coarse made;
  const uint32_t n_singles =
      std::min(column.n_single, column.n_bits() < kBins || column.n_ordered == 0 ? kBins - 1 : 1);
  const uint32_t n_cuts = std::min(column.n_ordered, kBins - 1 - n_singles);
  uint64_t n_ordered_rows = 0, below = 0;
  for (uint32_t code = 0; code <= column.n_ordered; ++code) n_ordered_rows += counts[code];
  uint32_t bin = 0;
  for (uint32_t bit = 0; bit < column.n_ordered; ++bit) {
    below += counts[bit];
    const bool are_few = n_cuts == column.n_ordered;
    if (bin < n_cuts && (are_few || below * (n_cuts + 1) >= n_ordered_rows * (bin + 1))) {
      ++bin;
      made.bits[made.n_bits++] = {static_cast<uint8_t>(bit), static_cast<uint8_t>(bin), 0};
    }
    made.bin[bit + 1] = static_cast<uint8_t>(bin);
  }
  for (uint32_t k = 0; k < made.n_bits; ++k) made.bits[k].to = static_cast<uint8_t>(bin);
  std::array<uint32_t, 256> left = counts;
  for (uint32_t k = 0; k < n_singles; ++k) {
    const auto* from = left.begin() + column.n_ordered + 1;
    const auto code = static_cast<uint32_t>(std::max_element(from, from + column.n_single) - left.begin());
    left[code] = 0;
    if (made.bin[code] != 0) break;  // no others have rows
    made.bin[code] = static_cast<uint8_t>(++bin);
    made.bits[made.n_bits++] = {static_cast<uint8_t>(code - 1), made.bin[code], made.bin[code]};
  }
  return made;
}

void PairScreen::find(const Codes& codes, const Window& window, const Sum* sums, size_t n_sums, float l2, size_t turn,
                      Pool& pool, std::vector<Pair>& best) {
  n_rows_ = std::min(most_rows_, window.n), l2_ = l2;
  for (size_t i = 0; i < asked_.size(); ++i)
    asked_[i] = static_cast<uint32_t>((turn * asked_.size() + i) % coarse_.size());
  for (size_t i = 0; i < n_rows_; ++i) sums_[i] = sums[i * n_sums];
  pool.run(asked_.size(), [&](size_t, size_t i) noexcept {
    const auto& bin = coarse_[asked_[i]].bin;
    window.for_parts(0, n_rows_, [&](size_t row, size_t at, size_t n) {
      const uint8_t* from = codes.column(asked_[i]) + row;
      uint8_t* to = bins_.data() + i * most_rows_ + at;
      for (size_t r = 0; r < n; ++r) to[r] = bin[from[r]];
    });
  });
  pool.run(asked_.size(), [&](size_t, size_t i) noexcept { found_[i] = find_for(i); });
  const size_t n_best = std::min(best.size(), found_.size());
  std::partial_sort(found_.begin(), found_.begin() + n_best, found_.end(), [](const Pair& a, const Pair& b) {
    return a.excess != b.excess ? a.excess > b.excess : a.first.column < b.first.column;
  });
  std::copy_n(found_.begin(), n_best, best.begin());
}

Pair PairScreen::find_for(size_t i) const {
  Pair best;
  for (size_t k = i + 1; k < asked_.size(); ++k) look_at(i, k, best);
  return best;
}

void PairScreen::look_at(size_t i, size_t k, Pair& best) const {
  Sum histogram[2][kBins * kBins] = {};  // of every other row: additions to one place wait for each other
  const uint8_t *bins = bins_.data() + i * most_rows_, *others = bins_.data() + k * most_rows_;
  for (size_t row = 0; row + 1 < n_rows_; row += 2) {
    histogram[0][bins[row] * kBins + others[row]] += sums_[row];
    histogram[1][bins[row + 1] * kBins + others[row + 1]] += sums_[row + 1];
  }
  Table table{};
  for (size_t x = 0; x < kBins; ++x)
    for (size_t y = 0; y < kBins; ++y)
      table[x + 1][y + 1] =
          table[x][y + 1] + table[x + 1][y] - table[x][y] + histogram[0][x * kBins + y] + histogram[1][x * kBins + y];
  const Sum all = table[kBins][kBins];
  const Coarse &one = coarse_[asked_[i]], &other = coarse_[asked_[k]];
  for (uint32_t x = 0; x < one.n_bits; ++x) {
    const Sum a = sum_of(table, one.bits[x].from, one.bits[x].to, 0, kBins - 1);
    const float alone = gain(a, l2_) + gain(all - a, l2_) - gain(all, l2_);
    for (uint32_t y = 0; y < other.n_bits; ++y) {
      const Sum b = sum_of(table, 0, kBins - 1, other.bits[y].from, other.bits[y].to);
      const Sum both = sum_of(table, one.bits[x].from, one.bits[x].to, other.bits[y].from, other.bits[y].to);
      const float together =
          gain(both, l2_) + gain(a - both, l2_) + gain(b - both, l2_) + gain(all - a - b + both, l2_);
      const float excess = together - alone - gain(b, l2_) - gain(all - b, l2_);
      if (excess > best.excess) best = {{asked_[i], one.bits[x].bit, 0.0f}, asked_[k], excess};
    }
  }
}

}  // namespace gatewise::boost
