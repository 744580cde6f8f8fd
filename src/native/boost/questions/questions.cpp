#include "boost/questions/questions.hpp"

#include <algorithm>

namespace gatewise::boost {
namespace {

constexpr size_t kHistograms = 4;
constexpr size_t kRowsPerPlace = 8;  // of a histogram, from which on several histograms pay

// Adds `n` rows to sums[(cell * n_codes + code) * n_sums + k]; without cells, all are in the first one. kSums is
// n_sums, or 0 if it is another number than those that loops are made for. Rows take turns at `kTurns` histograms of
// `size` sums each: where neighbors have the same code, as in columns that are mostly 0, an addition would wait for the
// store of the one before.
template <bool kHasCells, size_t kSums, size_t kTurns>
void add_rows(const uint8_t* codes, const uint8_t* cell, const Sum* sums, size_t n, size_t n_codes, size_t n_sums,
              size_t size, Sum* histogram) {
  const size_t n_each = kSums > 0 ? kSums : n_sums;
  const auto add = [&](size_t i, Sum* to_histogram) {
    Sum* to = to_histogram + ((kHasCells ? cell[i] * n_codes : 0) + codes[i]) * n_each;
    for (size_t k = 0; k < n_each; ++k) to[k] += sums[i * n_each + k];
  };
  size_t i = 0;
  for (; i + kTurns <= n; i += kTurns)
    for (size_t turn = 0; turn < kTurns; ++turn) add(i + turn, histogram + turn * size);
  for (; i < n; ++i) add(i, histogram);
}

template <bool kHasCells, size_t kTurns>
auto choose_loop(size_t n_sums) {
  switch (n_sums) {
    case 1: return add_rows<kHasCells, 1, kTurns>;
    case 2: return add_rows<kHasCells, 2, kTurns>;
    case 3: return add_rows<kHasCells, 3, kTurns>;
    case 4: return add_rows<kHasCells, 4, kTurns>;
    default: return add_rows<kHasCells, 0, kTurns>;
  }
}

auto choose_loop(bool has_cells, bool takes_turns, size_t n_sums) {
  if (takes_turns) return has_cells ? choose_loop<true, kHistograms>(n_sums) : choose_loop<false, kHistograms>(n_sums);
  return has_cells ? choose_loop<true, 1>(n_sums) : choose_loop<false, 1>(n_sums);
}

void fill_histogram(const Column& column, size_t j, const Cells& cells, Sum* histogram) {
  const size_t n_codes = column.n_codes(), n_sums = cells.n_sums, size = cells.n_cells * n_codes * n_sums;
  const bool takes_turns = cells.window.n * n_sums >= kRowsPerPlace * size;
  const size_t n_histograms = takes_turns ? kHistograms : 1;
  std::fill_n(histogram, n_histograms * size, 0);
  const uint8_t* codes = cells.codes.column(j);
  const auto add = choose_loop(cells.n_cells > 1, takes_turns, n_sums);
  cells.window.for_parts(0, cells.window.n, [&](size_t row, size_t at, size_t n) {
    add(codes + row, cells.cell + row, cells.sums + at * n_sums, n, n_codes, n_sums, size, histogram);
  });
  for (size_t turn = 1; turn < n_histograms; ++turn)
    for (size_t i = 0; i < size; ++i) histogram[i] += histogram[turn * size + i];
}

// Takes back what thresholds gain that send the score of a cell the wrong way: it stays in one piece there.
void keep_direction(const Column& column, int32_t all_first, int32_t all_second, float l2, Scratch& scratch) {
  const float whole = gain_of(all_first, all_second, l2);
  for (uint32_t bit = 0; bit < column.n_ordered; ++bit) {
    const int32_t first = scratch.first[bit], second = scratch.second[bit];
    const auto true_slope = static_cast<double>(first), false_slope = static_cast<double>(all_first) - first;
    const double true_curve = second + double{l2}, false_curve = static_cast<double>(all_second) - second + double{l2};
    const double fall = true_slope * false_curve - false_slope * true_curve;  // a Newton step is -slope / curve
    if (column.direction * fall > 0.0)
      scratch.gains[bit] += whole - gain_of(first, second, l2) - gain_of(all_first - first, all_second - second, l2);
  }
}

// Adds what each bit of the column gains for one cell and one kind of sums, which are `stride` apart.
void add_gains(const Column& column, const Sum* sums, size_t stride, float l2, Scratch& scratch) {
  const uint32_t n_bits = column.n_bits();
  int32_t *first = scratch.first.data(), *second = scratch.second.data();
  Sum above = 0, single = 0;
  for (uint32_t bit = n_bits; bit-- > column.n_ordered;) {
    const Sum sum = sums[(bit + 1) * stride];
    first[bit] = first_of(sum), second[bit] = second_of(sum);
    single += sum;
  }
  for (uint32_t bit = column.n_ordered; bit-- > 0;) {
    above += sums[(bit + 1) * stride];
    first[bit] = first_of(above), second[bit] = second_of(above);
  }
  const Sum all = sums[0] + above + single;
  const int32_t all_first = first_of(all), all_second = second_of(all);
  if (all == 0) return;
  float* gains = scratch.gains.data();
  for (uint32_t bit = 0; bit < n_bits; ++bit)
    gains[bit] += gain_of(first[bit], second[bit], l2) + gain_of(all_first - first[bit], all_second - second[bit], l2);
  if (column.direction != 0) keep_direction(column, all_first, all_second, l2, scratch);
}

}  // namespace

Scratch::Scratch(const std::vector<Column>& columns, uint32_t most_cells, size_t n_sums) {
  uint32_t most_bits = 0;
  for (const Column& column : columns) most_bits = std::max(most_bits, column.n_bits());
  first.resize(most_bits), second.resize(most_bits), gains.resize(most_bits);
  histogram.resize(kHistograms * most_cells * (size_t{most_bits} + 1) * n_sums);
}

Question choose_of_column(const std::vector<Column>& columns, size_t j, const Cells& cells, Scratch& scratch) {
  const Column& column = columns[j];
  fill_histogram(column, j, cells, scratch.histogram.data());
  std::fill_n(scratch.gains.begin(), column.n_bits(), 0.0f);
  const size_t stride = cells.n_sums;
  for (size_t cell = 0; cell < cells.n_cells; ++cell)
    for (size_t k = 0; k < stride; ++k)
      add_gains(column, scratch.histogram.data() + cell * column.n_codes() * stride + k, stride, cells.l2, scratch);
  Question best{static_cast<uint32_t>(j), 0, -1.0f};
  for (uint32_t bit = 0; bit < column.n_bits(); ++bit)
    if (scratch.gains[bit] > best.gain) best.bit = bit, best.gain = scratch.gains[bit];
  return best;
}

Question choose_question(const std::vector<Column>& columns, const std::vector<uint32_t>& asked, const Cells& cells,
                         Pool& pool, std::vector<Scratch>& scratch, std::vector<Question>& found) {
  pool.run(asked.size(), [&](size_t thread, size_t i) noexcept {
    found[i] = choose_of_column(columns, asked[i], cells, scratch[thread]);
  });
  Question best;
  for (size_t i = 0; i < asked.size(); ++i)
    if (found[i].gain > best.gain) best = found[i];
  return best;
}

}  // namespace gatewise::boost
