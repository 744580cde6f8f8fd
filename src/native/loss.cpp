#include "loss.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "tile.hpp"

namespace gatewise {
namespace {

// One sample: predictions `z` -> gradients in their place, kTile apart; returns the loss.
double cross_entropy(float* z, size_t n_groups, int64_t target, double smoothing) {
  double largest = z[0], total = 0, mean = 0;
  for (size_t g = 1; g < n_groups; ++g) largest = std::max<double>(largest, z[g * kTile]);
  for (size_t g = 0; g < n_groups; ++g) total += std::exp(z[g * kTile] - largest);
  for (size_t g = 0; g < n_groups; ++g) mean += z[g * kTile] / static_cast<double>(n_groups);
  const double log_total = largest + std::log(total);
  const double aim = (1 - smoothing) * z[static_cast<size_t>(target) * kTile] + smoothing * mean;
  for (size_t g = 0; g < n_groups; ++g) {
    const double hot = static_cast<int64_t>(g) == target ? 1 - smoothing : 0;
    z[g * kTile] =
        static_cast<float>(std::exp(z[g * kTile] - log_total) - hot - smoothing / static_cast<double>(n_groups));
  }
  return log_total - aim;
}

double binary(float* z, size_t n_groups, const float* targets) {
  double loss = 0;
  for (size_t g = 0; g < n_groups; ++g) {
    const double value = z[g * kTile], small = std::exp(-std::fabs(value));
    loss += std::max(value, 0.0) - value * targets[g] + std::log1p(small);
    const double sigmoid = value >= 0 ? 1 / (1 + small) : small / (1 + small);
    z[g * kTile] = static_cast<float>((sigmoid - targets[g]) / static_cast<double>(n_groups));
  }
  return loss / static_cast<double>(n_groups);
}

double squared(float* z, size_t n_groups, const float* targets) {
  double loss = 0;
  for (size_t g = 0; g < n_groups; ++g) {
    const double error = static_cast<double>(z[g * kTile]) - targets[g];
    loss += error * error;
    z[g * kTile] = static_cast<float>(2 * error / static_cast<double>(n_groups));
  }
  return loss / static_cast<double>(n_groups);
}

}  // namespace

double Loss::differentiate(size_t tile, const float* sums, float* grads) const {
  const size_t n = tile_samples(tile, n_samples);
  std::memset(grads, 0, n_groups * kTile * sizeof(float));
  double loss = 0;
  for (size_t lane = 0; lane < n; ++lane) {
    const size_t sample = tile * kTile + lane;
    float* z = grads + lane;
    for (size_t g = 0; g < n_groups; ++g) z[g * kTile] = sums[g * kTile + lane] * scale + shift;
    const double weight = (weights ? weights[sample] : 1.0) / static_cast<double>(n_samples);
    const float* target = targets + (targets ? sample * n_groups : 0);
    loss += weight * (kind == Kind::kCrossEntropy ? cross_entropy(z, n_groups, classes[sample], smoothing)
                      : kind == Kind::kBinary     ? binary(z, n_groups, target)
                                                  : squared(z, n_groups, target));
    for (size_t g = 0; g < n_groups; ++g) z[g * kTile] *= static_cast<float>(weight) * scale;
  }
  return loss;
}

}  // namespace gatewise
