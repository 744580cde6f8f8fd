#include "verify/table_sum.hpp"

#include <algorithm>
#include <utility>

namespace gatewise::verify {
namespace {

size_t n_ranges(size_t n_runs) { return n_runs * (n_runs + 1) / 2; }

// Maxima over all ranges of one axis: outer x n_runs x inner values become outer x n_ranges x inner.
std::vector<int32_t> widen(const std::vector<int32_t>& values, size_t n_runs, size_t inner) {
  const size_t outer = values.size() / (n_runs * inner);
  std::vector<int32_t> widened(outer * n_ranges(n_runs) * inner);
  for (size_t i = 0; i < outer; ++i) {
    const int32_t* from = values.data() + i * n_runs * inner;
    int32_t* to = widened.data() + i * n_ranges(n_runs) * inner;
    for (size_t high = 0; high < n_runs; ++high) {
      int32_t* own = to + n_ranges(high) * inner;
      std::copy_n(from + high * inner, inner, own + high * inner);
      for (size_t low = high; low-- > 0;)
        for (size_t k = 0; k < inner; ++k)
          own[low * inner + k] = std::max(own[(low + 1) * inner + k], from[low * inner + k]);
    }
  }
  return widened;
}

}  // namespace

TableSum::TableSum(std::vector<uint32_t> sizes, std::vector<int64_t> constants, const std::vector<Table>& tables)
    : sizes_(std::move(sizes)), constants_(std::move(constants)), uses_(sizes_.size()) {
  for (const Table& table : tables)
    for (const Axis& axis : table.axes)
      uses_[axis.column].tables.push_back(static_cast<uint32_t>(&table - tables.data()));
  for (size_t i = 0; i < sizes_.size(); ++i) {
    uses_[i].low_steps.resize(sizes_[i] * uses_[i].tables.size());
    uses_[i].high_steps.resize(sizes_[i] * uses_[i].tables.size());
  }
  std::vector<size_t> n_seen(sizes_.size(), 0);
  for (const Table& table : tables) {
    std::vector<int32_t> values = table.values;
    size_t stride = 1;
    for (size_t k = table.axes.size(); k-- > 0;) {
      const Axis& axis = table.axes[k];
      Uses& uses = uses_[axis.column];
      const size_t n_runs = axis.run_of.back() + size_t{1}, own = n_seen[axis.column]++, n_uses = uses.tables.size();
      values = widen(values, n_runs, stride * n_forms());
      for (size_t choice = 0; choice < axis.run_of.size(); ++choice) {
        const size_t run = axis.run_of[choice];
        uses.low_steps[choice * n_uses + own] = static_cast<uint32_t>(run * stride);
        uses.high_steps[choice * n_uses + own] = static_cast<uint32_t>(n_ranges(run) * stride);
      }
      stride *= n_ranges(n_runs);
    }
    first_.push_back(maxima_.size());
    maxima_.insert(maxima_.end(), values.begin(), values.end());
  }
}

void TableSum::bound(const uint32_t* low, const uint32_t* high, uint32_t* places, int64_t* sums) const noexcept {
  std::fill_n(places, n_tables(), 0);
  for (size_t i = 0; i < n_columns(); ++i) {
    const Uses& uses = uses_[i];
    const size_t n = uses.tables.size();
    const uint32_t *low_steps = uses.low_steps.data() + low[i] * n, *high_steps = uses.high_steps.data() + high[i] * n;
    for (size_t k = 0; k < n; ++k) places[uses.tables[k]] += low_steps[k] + high_steps[k];
  }
  std::copy(constants_.begin(), constants_.end(), sums);
  for (size_t t = 0; t < n_tables(); ++t) {
    const int32_t* own = maxima_.data() + first_[t] + places[t] * n_forms();
    for (size_t form = 0; form < n_forms(); ++form) sums[form] += own[form];
  }
}

int64_t TableSum::narrowed(size_t column, uint32_t low, uint32_t high, uint32_t new_low, uint32_t new_high,
                           const uint32_t* places, const int64_t* sums) const noexcept {
  const Uses& uses = uses_[column];
  const size_t n = uses.tables.size();
  const uint32_t *old_lows = uses.low_steps.data() + low * n, *lows = uses.low_steps.data() + new_low * n;
  const uint32_t *old_highs = uses.high_steps.data() + high * n, *highs = uses.high_steps.data() + new_high * n;
  int64_t least = INT64_MAX;
  for (size_t form = 0; form < n_forms(); ++form) {
    int64_t sum = sums[form];
    for (size_t k = 0; k < n; ++k) {
      const size_t t = uses.tables[k], place = places[t];
      const size_t moved = place + lows[k] + highs[k] - old_lows[k] - old_highs[k];
      const int32_t* own = maxima_.data() + first_[t] + form;
      sum += own[moved * n_forms()] - own[place * n_forms()];
    }
    least = std::min(least, sum);
  }
  return least;
}

bool TableSum::is_divided(size_t column, uint32_t low, uint32_t high) const noexcept {
  const Uses& uses = uses_[column];
  const size_t n = uses.tables.size();
  const uint32_t* steps = uses.low_steps.data();
  return !std::equal(steps + low * n, steps + (low + 1) * n, steps + high * n);
}

}  // namespace gatewise::verify
