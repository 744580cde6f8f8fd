#include "boost/rows/scored.hpp"

#include "boost/rows/chunks.hpp"

namespace gatewise::boost {

Scored::Scored(const Rows& rows, Loss loss, const std::vector<float>& base, float quantile, Pool& pool)
    : rows_(rows),
      loss_(loss),
      quantile_(quantile),
      n_scores_(base.size()),
      n_targets_(target_size(loss, base.size())),
      pool_(pool),
      base_(base),
      scores_(rows.codes.n_rows() * base.size()),
      cells_(rows.codes.n_rows()),
      sums_(2 * count_chunks(rows.codes.n_rows())) {
  forget();
}

void Scored::forget() {
  for (size_t i = 0; i < scores_.size(); ++i) scores_[i] = base_[i % n_scores_];
}

void Scored::answer(const Column& column, size_t j, uint32_t bit, uint32_t level) {
  const uint8_t* codes = rows_.codes.column(j);
  const auto least = static_cast<uint8_t>(column.least(bit)), most = static_cast<uint8_t>(column.most(bit));
  for_chunks(pool_, n(), [&](size_t, size_t, size_t from, size_t to) noexcept {
    const auto below = static_cast<uint8_t>((1u << level) - 1);
    for (size_t i = from; i < to; ++i)
      cells_[i] = static_cast<uint8_t>((cells_[i] & below) | ((codes[i] > least && codes[i] <= most) << level));
  });
}

void Scored::add(const std::vector<float>& values) {
  for_chunks(pool_, n(), [&](size_t, size_t, size_t from, size_t to) noexcept {
    if (n_scores_ == 1) {
      for (size_t i = from; i < to; ++i) scores_[i] += values[cells_[i]];
      return;
    }
    for (size_t i = from; i < to; ++i) {
      const float* value = values.data() + cells_[i] * n_scores_;
      float* scores = scores_.data() + i * n_scores_;
      for (size_t k = 0; k < n_scores_; ++k) scores[k] += value[k];
    }
  });
}

Scored::Largest Scored::differentiate(size_t row, size_t n, float* first, float* second) const {
  boost::differentiate(loss_, quantile_, scores_.data() + row * n_scores_, rows_.targets.data() + row * n_targets_, n,
                       n_scores_, first, second);
  if (!rows_.weights.empty())
    for (size_t i = 0; i < n * n_scores_; ++i) {
      const float weight = rows_.weights[row + i / n_scores_];
      first[i] *= weight, second[i] *= weight;
    }
  int32_t largest_first = 0, largest_second = 0;  // floats of one sign are ordered as their bits, which loops compare
  for (size_t i = 0; i < n * n_scores_; ++i) {
    largest_first = std::max(largest_first, std::bit_cast<int32_t>(first[i]) & INT32_MAX);
    largest_second = std::max(largest_second, std::bit_cast<int32_t>(second[i]));
  }
  return {std::bit_cast<float>(largest_first), std::bit_cast<float>(largest_second)};
}

double Scored::mean_loss() {
  for_chunks(pool_, n(), [&](size_t, size_t chunk, size_t from, size_t to) noexcept {
    double loss = 0.0, weights = 0.0;
    for (size_t i = from; i < to; ++i) {
      const double weight = rows_.weights.empty() ? 1.0 : rows_.weights[i];
      weights += weight;
      loss += weight * loss_of(loss_, quantile_, scores_.data() + i * n_scores_, rows_.targets.data() + i * n_targets_,
                               n_scores_);
    }
    sums_[2 * chunk] = loss, sums_[2 * chunk + 1] = weights;
  });
  double loss = 0.0, weights = 0.0;
  for (size_t i = 0; i < sums_.size(); i += 2) loss += sums_[i], weights += sums_[i + 1];
  return loss / weights;
}

}  // namespace gatewise::boost
