// How far the outputs of a batch are from what they should be: the mean loss, and its gradient tile by tile.
#pragma once

#include <cstddef>
#include <cstdint>

#include "relaxed.hpp"

namespace gatewise {

// Predictions are sums * scale + shift, with the sums of a network's groups.
struct Loss {
  enum class Kind {
    kCrossEntropy,  // of the softmax over the groups; `classes` holds one class a sample
    kBinary,        // cross entropy of each group's sigmoid; `targets` holds n_samples x n_groups values in [0, 1]
    kSquared,       // squared error; `targets` likewise
  };

  Kind kind;
  size_t n_samples, n_groups;
  float scale, shift;
  float smoothing;         // share of the target that is spread over all classes
  const int64_t* classes;  // or null
  const float* targets;    // or null
  const float* weights;    // factors of the samples' losses, or null

  // Sums -> their gradients, one row of kTile samples a group; returns the tile's share of the mean loss.
  double differentiate(size_t tile, const float* sums, float* grads) const;
};

}  // namespace gatewise
