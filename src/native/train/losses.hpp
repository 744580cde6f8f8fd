// How far the outputs of a batch are from what they should be: the mean loss, and its gradient tile by tile.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "train/kernels.hpp"

namespace gatewise {

// Predictions are sums * scale + shift, with the sums of a network's groups.
struct Head {
  float scale = 1, shift = 0;
};

class Loss {
 public:
  // Of the softmax over the groups; one class per sample, none negative. `smoothing` is the share of the target that is
  // spread over all classes.
  static Loss cross_entropy(std::vector<int32_t> classes, float smoothing);
  // Cross entropy of each group's sigmoid; targets: n_samples x n_groups values in [0, 1].
  static Loss binary(std::vector<float> targets, size_t n_samples);
  // Squared error; targets likewise.
  static Loss squared(std::vector<float> targets, size_t n_samples);

  Head head;
  std::vector<float> weights;  // factors of the samples' losses; none if they are empty

  size_t n_samples() const { return n_samples_; }
  // Whether the targets are those of so many groups.
  bool fits(size_t n_groups) const;

  // Sums -> their gradients, one row of kTile samples per group; returns the tile's share of the mean loss.
  double differentiate(size_t tile, size_t n_groups, const float* sums, float* grads) const noexcept;

 private:
  enum class Kind { kCrossEntropy, kBinary, kSquared };

  Loss(Kind kind, size_t n_samples) : kind_(kind), n_samples_(n_samples) {}

  Kind kind_;
  size_t n_samples_;
  float smoothing_ = 0;
  std::vector<int32_t> classes_;  // of kCrossEntropy
  std::vector<float> targets_;    // of the others
};

}  // namespace gatewise
