// Rows with their scores, and with the cells that a term puts them in.
#pragma once

#include <vector>

#include "boost/rows/codes.hpp"
#include "boost/rows/losses.hpp"

namespace gatewise::boost {

struct Rows {
  const Codes& codes;
  std::vector<float> targets;  // target_size of them per row
  std::vector<float> weights;  // one per row, or none
};

class Scored {
 public:
  Scored(const Rows& rows, Loss loss, const std::vector<float>& base, float quantile, Pool& pool);

  size_t n() const { return rows_.codes.n_rows(); }
  const Codes& codes() const { return rows_.codes; }
  const uint8_t* cells() const { return cells_.data(); }

  // Bit `bit` of column j becomes the digit `level` of each row's cell; the digits above are 0.
  void answer(const Column& column, size_t j, uint32_t bit, uint32_t level);

  // Adds, for each cell, a value to every score.
  void add(const std::vector<float>& values);

  // Writes the derivatives of `n` rows from `row` on, times their weights; returns the largest of each kind.
  struct Largest {
    float first, second;
  };
  Largest differentiate(size_t row, size_t n, float* first, float* second) const;

  // Scores are as without terms again.
  void forget();
  const std::vector<float>& scores() const { return scores_; }  // n_scores per row

  // Mean of the weighted rows; chunks are summed in their order, whatever the threads.
  double mean_loss();

 private:
  const Rows& rows_;
  const Loss loss_;
  const float quantile_;
  const size_t n_scores_, n_targets_;
  Pool& pool_;
  const std::vector<float> base_;
  std::vector<float> scores_;
  std::vector<uint8_t> cells_;
  std::vector<double> sums_;  // of losses and weights, by chunk
};

}  // namespace gatewise::boost
