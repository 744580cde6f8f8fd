#include "train/losses.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>

#include "train/samples.hpp"

namespace gatewise {
namespace {

// One sample: predictions `z` -> gradients in their place, kTile apart; returns the loss.
double differentiate_cross_entropy(float* z, size_t n_groups, int32_t target, double smoothing) {
  double largest = z[0], total = 0, mean = 0;
  for (size_t g = 1; g < n_groups; ++g) largest = std::max<double>(largest, z[g * kTile]);
  for (size_t g = 0; g < n_groups; ++g) total += std::exp(z[g * kTile] - largest);
  for (size_t g = 0; g < n_groups; ++g) mean += z[g * kTile] / static_cast<double>(n_groups);
  const double log_total = largest + std::log(total);
  const double aim = (1 - smoothing) * z[static_cast<size_t>(target) * kTile] + smoothing * mean;
  for (size_t g = 0; g < n_groups; ++g) {
    const double hot = static_cast<int32_t>(g) == target ? 1 - smoothing : 0;
    z[g * kTile] =
        static_cast<float>(std::exp(z[g * kTile] - log_total) - hot - smoothing / static_cast<double>(n_groups));
  }
  return log_total - aim;
}

double differentiate_binary(float* z, size_t n_groups, const float* targets) {
  double loss = 0;
  for (size_t g = 0; g < n_groups; ++g) {
    const double value = z[g * kTile], small = std::exp(-std::fabs(value));
    loss += std::max(value, 0.0) - value * targets[g] + std::log1p(small);
    const double sigmoid = value >= 0 ? 1 / (1 + small) : small / (1 + small);
    z[g * kTile] = static_cast<float>((sigmoid - targets[g]) / static_cast<double>(n_groups));
  }
  return loss / static_cast<double>(n_groups);
}

double differentiate_squared(float* z, size_t n_groups, const float* targets) {
  double loss = 0;
  for (size_t g = 0; g < n_groups; ++g) {
    const double error = static_cast<double>(z[g * kTile]) - targets[g];
    loss += error * error;
    z[g * kTile] = static_cast<float>(2 * error / static_cast<double>(n_groups));
  }
  return loss / static_cast<double>(n_groups);
}

}  // namespace

Loss Loss::cross_entropy(std::vector<int32_t> classes, float smoothing) {
  Loss loss(Kind::kCrossEntropy, classes.size());
  loss.classes_ = std::move(classes);
  loss.smoothing_ = smoothing;
  return loss;
}

Loss Loss::binary(std::vector<float> targets, size_t n_samples) {
  Loss loss(Kind::kBinary, n_samples);
  loss.targets_ = std::move(targets);
  return loss;
}

Loss Loss::squared(std::vector<float> targets, size_t n_samples) {
  Loss loss(Kind::kSquared, n_samples);
  loss.targets_ = std::move(targets);
  return loss;
}

bool Loss::fits(size_t n_groups) const {
  if (kind_ != Kind::kCrossEntropy) return targets_.size() == n_samples_ * n_groups;
  return std::all_of(classes_.begin(), classes_.end(),
                     [&](int32_t each) { return each >= 0 && static_cast<size_t>(each) < n_groups; });
}

double Loss::differentiate(size_t tile, size_t n_groups, const float* sums, float* grads) const noexcept {
  const size_t n = tile_samples(tile, n_samples_);
  std::memset(grads, 0, n_groups * kTile * sizeof(float));
  double loss = 0;
  for (size_t lane = 0; lane < n; ++lane) {
    const size_t sample = tile * kTile + lane;
    float* z = grads + lane;
    for (size_t g = 0; g < n_groups; ++g) z[g * kTile] = sums[g * kTile + lane] * head.scale + head.shift;
    const double weight = (weights.empty() ? 1.0 : weights[sample]) / static_cast<double>(n_samples_);
    const float* targets = targets_.data() + (targets_.empty() ? 0 : sample * n_groups);
    switch (kind_) {
      case Kind::kCrossEntropy:
        loss += weight * differentiate_cross_entropy(z, n_groups, classes_[sample], smoothing_);
        break;
      case Kind::kBinary: loss += weight * differentiate_binary(z, n_groups, targets); break;
      case Kind::kSquared: loss += weight * differentiate_squared(z, n_groups, targets); break;
    }
    for (size_t g = 0; g < n_groups; ++g) z[g * kTile] *= static_cast<float>(weight) * head.scale;
  }
  return loss;
}

}  // namespace gatewise
