// Losses of scores, and their first two derivatives by the scores.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>

#include "boost/rows/sums.hpp"

namespace gatewise::boost {

enum class Loss : uint8_t {
  kLogistic,  // one score: the logarithm of the odds of target 1 against target 0
  kSoftmax,   // a score per class, of which the target is the index
  kSquared,   // a score per value, of which the target has as many
  kQuantile,  // the same, but a score is to be above its value in a given share of the rows
  kPoisson,   // a score per value, which is the logarithm of the mean of a target that is never negative
};

constexpr float kLeastSecond = 1e-6f;  // probabilities that are rounded to 0 or 1 would have none

constexpr bool is_of_values(Loss loss) { return loss >= Loss::kSquared; }

// How many numbers a row's target has.
constexpr size_t target_size(Loss loss, size_t n_scores) { return is_of_values(loss) ? n_scores : 1; }

// The loss of quantiles has no curvature. A Newton step wants the density of values at the score, which is counted by a
// logistic kernel of this width, in units of the scores; where there are few values, steps stay limited.
constexpr float kKernelWidth = 0.1f, kLeastDensity = 0.1f;

// e^x to 1e-7 of its value, without a call or a branch, so that compilers turn loops of it into vectors:
// 2^n e^r, n being x / ln 2 rounded, and e^r a polynomial for the small r that is left.
inline float exponential(float x) {
  x = std::min(std::max(x, -87.0f), 88.0f);
  const int32_t n = nearest(x * 1.44269504f);
  const float whole = static_cast<float>(n), r = (x - whole * 0.693359375f) + whole * 2.12194440e-4f;
  float sum = 1.0f / 720;
  sum = sum * r + 1.0f / 120;
  sum = sum * r + 1.0f / 24;
  sum = sum * r + 1.0f / 6;
  sum = sum * r + 0.5f;
  sum = sum * r + 1.0f;
  sum = sum * r + 1.0f;
  return sum * std::bit_cast<float>((n + 127) << 23);
}

// Of n values: a target each has.
inline void differentiate_values(Loss loss, float quantile, const float* scores, const float* targets, size_t n,
                                 float* first, float* second) {
  if (loss == Loss::kSquared) {
    for (size_t i = 0; i < n; ++i) first[i] = scores[i] - targets[i], second[i] = 1.0f;
  } else if (loss == Loss::kPoisson) {
    for (size_t i = 0; i < n; ++i) {
      second[i] = exponential(scores[i]);
      first[i] = second[i] - targets[i];
    }
  } else {
    for (size_t i = 0; i < n; ++i) {
      const float distance = (scores[i] - targets[i]) / kKernelWidth;
      const float share = 1.0f / (1.0f + exponential(-distance));
      first[i] = (distance > 0.0f ? 1.0f : 0.0f) - quantile;
      second[i] = std::max(share * (1.0f - share) / kKernelWidth, kLeastDensity);
    }
  }
}

// Writes the n_scores derivatives of each row.
inline void differentiate(Loss loss, float quantile, const float* scores, const float* targets, size_t n_rows,
                          size_t n_scores, float* first, float* second) {
  if (is_of_values(loss)) {
    differentiate_values(loss, quantile, scores, targets, n_rows * n_scores, first, second);
    return;
  }
  if (loss == Loss::kLogistic) {
    for (size_t i = 0; i < n_rows; ++i) {
      const float share = 1.0f / (1.0f + exponential(-scores[i]));
      first[i] = share - targets[i];
      second[i] = std::max(share * (1.0f - share), kLeastSecond);
    }
    return;
  }
  for (size_t i = 0; i < n_rows; ++i, scores += n_scores, first += n_scores, second += n_scores) {
    const float highest = *std::max_element(scores, scores + n_scores);
    for (size_t k = 0; k < n_scores; ++k) first[k] = exponential(scores[k] - highest);
    float sum = 0.0f;
    for (size_t k = 0; k < n_scores; ++k) sum += first[k];
    const float inverse = 1.0f / sum;
    for (size_t k = 0; k < n_scores; ++k) {
      first[k] *= inverse;
      second[k] = std::max(first[k] * (1.0f - first[k]), kLeastSecond);
    }
    first[static_cast<size_t>(targets[i])] -= 1.0f;
  }
}

// Half the deviance of Poisson's distribution is 0 where the mean is the target, and never negative.
inline double loss_of_value(Loss loss, float quantile, double score, double target) {
  if (loss == Loss::kSquared) return (score - target) * (score - target);
  if (loss == Loss::kQuantile) return (score > target ? 1.0 - quantile : -double{quantile}) * (score - target);
  return std::exp(score) - target + (target > 0.0 ? target * (std::log(target) - score) : 0.0);
}

inline double loss_of(Loss loss, float quantile, const float* scores, const float* target, size_t n_scores) {
  double sum = 0.0;
  switch (loss) {
    case Loss::kLogistic: {
      const double margin = target[0] > 0.5f ? scores[0] : -scores[0];
      return std::max(-margin, 0.0) + std::log1p(std::exp(-std::abs(margin)));
    }
    case Loss::kSquared:
    case Loss::kQuantile:
    case Loss::kPoisson:
      for (size_t k = 0; k < n_scores; ++k) sum += loss_of_value(loss, quantile, scores[k], target[k]);
      return sum;
    case Loss::kSoftmax: break;
  }
  const float highest = *std::max_element(scores, scores + n_scores);
  for (size_t k = 0; k < n_scores; ++k) sum += exponential(scores[k] - highest);
  return std::log(sum) + highest - scores[static_cast<size_t>(target[0])];
}

}  // namespace gatewise::boost
