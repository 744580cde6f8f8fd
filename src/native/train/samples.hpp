// Samples <-> tiles: kTile samples side by side, one row per feature.
#pragma once

#include <cstddef>

#include "train/kernels.hpp"

namespace gatewise {

// Borrowed samples: float or byte 0/1 values, strides in elements.
struct Samples {
  const void* data;
  bool is_bytes;
  size_t n_samples;
  ptrdiff_t row_stride, column_stride;
};

inline size_t count_tiles(size_t n_samples) { return (n_samples + kTile - 1) / kTile; }

// Samples in that tile; only the last one may have fewer than kTile.
inline size_t tile_samples(size_t tile, size_t n_samples) {
  const size_t rest = n_samples - tile * kTile;
  return rest < kTile ? rest : kTile;
}

// Samples past the last are zero.
void load_tile(const Samples& x, size_t tile, size_t n_features, float* rows);

// Where the values of samples go, strides in elements.
struct SamplesOut {
  float* data;
  ptrdiff_t row_stride, column_stride;
};

// The samples of a tile -> n_features values each.
void store_tile(const float* rows, size_t n_features, size_t tile, size_t n_samples, const SamplesOut& to);

// Sums over equal consecutive groups of rows.
void sum_groups(const float* rows, size_t width, size_t n_groups, float* sums);

// The gradient of a group's sum is that of each of its members.
void spread_groups(const float* sums, size_t width, size_t n_groups, float* rows);

}  // namespace gatewise
