#include "boost/questions.hpp"

#include <algorithm>

namespace gatewise::boost {
namespace {

// sums[(cell * n_codes + code) * n_scores + k] of one column.
void fill_histogram(const Column& column, size_t j, const Cells& cells, Sum* histogram) {
  const size_t n_codes = column.n_codes(), n_scores = cells.n_scores;
  std::fill_n(histogram, cells.n_cells * n_codes * n_scores, 0);
  const uint8_t* codes = cells.codes.column(j);
  const Sum* sums = cells.sums;
  if (n_scores == 1) {
    for (size_t i = cells.begin; i < cells.end; ++i) histogram[cells.cell[i] * n_codes + codes[i]] += *sums++;
    return;
  }
  for (size_t i = cells.begin; i < cells.end; ++i, sums += n_scores) {
    Sum* to = histogram + (cells.cell[i] * n_codes + codes[i]) * n_scores;
    for (size_t k = 0; k < n_scores; ++k) to[k] += sums[k];
  }
}

// Adds what each bit of the column gains for one cell and one score, whose sums are `stride` apart.
void add_gains(const Column& column, const Sum* sums, size_t stride, const Cells& cells, double* gains) {
  Sum all = 0;
  for (uint32_t code = 0; code < column.n_codes(); ++code) all += sums[code * stride];
  const auto add = [&](uint32_t bit, Sum sum) {
    gains[bit] += cells.scale.gain(sum, cells.l2) + cells.scale.gain(all - sum, cells.l2);
  };
  Sum above = 0;
  for (uint32_t bit = column.n_ordered; bit-- > 0;) add(bit, above += sums[(bit + 1) * stride]);
  for (uint32_t bit = column.n_ordered; bit < column.n_bits(); ++bit) add(bit, sums[(bit + 1) * stride]);
}

Question choose_of_column(const Column& column, size_t j, const Cells& cells, Scratch& scratch) {
  fill_histogram(column, j, cells, scratch.histogram.data());
  std::fill_n(scratch.gains.begin(), column.n_bits(), 0.0);
  const size_t stride = cells.n_scores;
  for (size_t cell = 0; cell < cells.n_cells; ++cell)
    for (size_t k = 0; k < stride; ++k)
      add_gains(column, scratch.histogram.data() + cell * column.n_codes() * stride + k, stride, cells,
                scratch.gains.data());
  Question best{static_cast<uint32_t>(j), 0, -1.0};
  for (uint32_t bit = 0; bit < column.n_bits(); ++bit)
    if (scratch.gains[bit] > best.gain) best.bit = bit, best.gain = scratch.gains[bit];
  return best;
}

}  // namespace

Scratch::Scratch(const std::vector<Column>& columns, uint32_t most_cells, size_t n_scores) {
  uint32_t most_bits = 0;
  for (const Column& column : columns) most_bits = std::max(most_bits, column.n_bits());
  gains.resize(most_bits);
  histogram.resize(most_cells * (size_t{most_bits} + 1) * n_scores);
}

Question choose_question(const std::vector<Column>& columns, const Cells& cells, Pool& pool,
                         std::vector<Scratch>& scratch, std::vector<Question>& found) {
  pool.run(columns.size(), [&](size_t thread, size_t j) noexcept {
    found[j] = choose_of_column(columns[j], j, cells, scratch[thread]);
  });
  Question best;
  for (const Question& question : found)
    if (question.gain > best.gain) best = question;
  return best;
}

}  // namespace gatewise::boost
