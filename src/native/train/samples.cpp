#include "train/samples.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>

namespace gatewise {
namespace {

template <typename Value>
void load_values(const Value* data, const Samples& x, size_t tile, size_t n_features, float* rows) {
  const size_t n = tile_samples(tile, x.n_samples);
  const Value* first = data + static_cast<ptrdiff_t>(tile * kTile) * x.row_stride;
  if (n < kTile) std::memset(rows, 0, n_features * kTile * sizeof(float));
  if (x.row_stride == 1) {
    for (size_t f = 0; f < n_features; ++f)
      for (size_t s = 0; s < n; ++s)
        rows[f * kTile + s] = static_cast<float>(first[static_cast<ptrdiff_t>(f) * x.column_stride + s]);
    return;
  }
  constexpr size_t block = 64;  // features at a time, so that their rows stay in the first-level cache
  for (size_t f0 = 0; f0 < n_features; f0 += block)
    for (size_t s = 0; s < n; ++s)
      for (size_t f = f0; f < std::min(f0 + block, n_features); ++f)
        rows[f * kTile + s] = static_cast<float>(
            first[static_cast<ptrdiff_t>(s) * x.row_stride + static_cast<ptrdiff_t>(f) * x.column_stride]);
}

}  // namespace

void load_tile(const Samples& x, size_t tile, size_t n_features, float* rows) {
  if (x.is_bytes)
    load_values(static_cast<const uint8_t*>(x.data), x, tile, n_features, rows);
  else
    load_values(static_cast<const float*>(x.data), x, tile, n_features, rows);
}

void store_tile(const float* rows, size_t n_features, size_t tile, size_t n_samples, const SamplesOut& to) {
  const size_t n = tile_samples(tile, n_samples);
  float* first = to.data + static_cast<ptrdiff_t>(tile * kTile) * to.row_stride;
  for (size_t f = 0; f < n_features; ++f) {
    float* column = first + static_cast<ptrdiff_t>(f) * to.column_stride;
    if (to.row_stride == 1) {
      std::memcpy(column, rows + f * kTile, n * sizeof(float));
    } else {
      for (size_t s = 0; s < n; ++s) column[static_cast<ptrdiff_t>(s) * to.row_stride] = rows[f * kTile + s];
    }
  }
}

void sum_groups(const float* rows, size_t width, size_t n_groups, float* sums) {
  const size_t size = width / n_groups;
  for (size_t g = 0; g < n_groups; ++g) {
    float total[kTile] = {};
    for (size_t i = g * size; i < (g + 1) * size; ++i)
      for (size_t s = 0; s < kTile; ++s) total[s] += rows[i * kTile + s];
    std::memcpy(sums + g * kTile, total, sizeof total);
  }
}

void spread_groups(const float* sums, size_t width, size_t n_groups, float* rows) {
  const size_t size = width / n_groups;
  for (size_t i = 0; i < width; ++i) std::memcpy(rows + i * kTile, sums + i / size * kTile, kTile * sizeof(float));
}

}  // namespace gatewise
