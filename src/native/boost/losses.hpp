// Losses of scores, and their first two derivatives by the scores of one row.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>

namespace gatewise::boost {

enum class Loss : uint8_t {
  kLogistic,  // one score: the logarithm of the odds of target 1 against target 0
  kSoftmax,   // a score per class, of which the target is the index
  kSquared,   // a score per value, of which the target has as many
};

struct Derivative {
  float first, second;
};

constexpr float kLeastSecond = 1e-6f;  // probabilities that are rounded to 0 or 1 would have none

// How many numbers a row's target has.
constexpr size_t target_size(Loss loss, size_t n_scores) { return loss == Loss::kSquared ? n_scores : 1; }

inline float logistic(float score) { return 1.0f / (1.0f + std::exp(-score)); }

inline Derivative of_probability(float probability, float target) {
  return {probability - target, std::max(probability * (1.0f - probability), kLeastSecond)};
}

// Writes n_scores derivatives.
inline void differentiate(Loss loss, const float* scores, const float* target, size_t n_scores, Derivative* to) {
  switch (loss) {
    case Loss::kLogistic: to[0] = of_probability(logistic(scores[0]), target[0]); return;
    case Loss::kSquared:
      for (size_t k = 0; k < n_scores; ++k) to[k] = {scores[k] - target[k], 1.0f};
      return;
    case Loss::kSoftmax: break;
  }
  const float highest = *std::max_element(scores, scores + n_scores);
  float sum = 0.0f;
  for (size_t k = 0; k < n_scores; ++k) sum += to[k].first = std::exp(scores[k] - highest);
  const auto label = static_cast<size_t>(target[0]);
  for (size_t k = 0; k < n_scores; ++k) to[k] = of_probability(to[k].first / sum, k == label ? 1.0f : 0.0f);
}

inline double loss_of(Loss loss, const float* scores, const float* target, size_t n_scores) {
  double sum = 0.0;
  switch (loss) {
    case Loss::kLogistic: {
      const double margin = target[0] > 0.5f ? scores[0] : -scores[0];
      return std::max(-margin, 0.0) + std::log1p(std::exp(-std::abs(margin)));
    }
    case Loss::kSquared:
      for (size_t k = 0; k < n_scores; ++k) sum += std::pow(double{scores[k]} - target[k], 2);
      return sum;
    case Loss::kSoftmax: break;
  }
  const double highest = *std::max_element(scores, scores + n_scores);
  for (size_t k = 0; k < n_scores; ++k) sum += std::exp(scores[k] - highest);
  return std::log(sum) + highest - scores[static_cast<size_t>(target[0])];
}

}  // namespace gatewise::boost
