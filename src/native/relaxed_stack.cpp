#include "relaxed_stack.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

namespace gatewise {
namespace {

// Gradients of coefficients are summed in this many fixed shares of the tiles, then share after share.
constexpr size_t kShares = 4;
constexpr size_t kReduceChunk = 4096;

size_t count_tiles(size_t n_samples) { return (n_samples + kTile - 1) / kTile; }
size_t tile_samples(size_t tile, size_t n_samples) { return std::min(kTile, n_samples - tile * kTile); }

template <typename T>
void load_values(const T* data, const Samples& x, size_t tile, size_t n_features, float* rows) {
  const size_t n = tile_samples(tile, x.n_samples);
  const T* first = data + static_cast<ptrdiff_t>(tile * kTile) * x.row_stride;
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

// Rows of kTile samples, one a feature; samples past the last are zero.
void load_tile(const Samples& x, size_t tile, size_t n_features, float* rows) {
  if (x.is_bytes)
    load_values(static_cast<const uint8_t*>(x.data), x, tile, n_features, rows);
  else
    load_values(static_cast<const float*>(x.data), x, tile, n_features, rows);
}

// The first n samples of a tile -> n_features values each.
void store_tile(const float* rows, size_t n_features, size_t n, float* samples) {
  for (size_t f = 0; f < n_features; ++f)
    for (size_t s = 0; s < n; ++s) samples[s * n_features + f] = rows[f * kTile + s];
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

// The gradient of a group's sum is that of each of its members.
void spread_groups(const float* sums, size_t width, size_t n_groups, float* rows) {
  const size_t size = width / n_groups;
  for (size_t i = 0; i < width; ++i) std::memcpy(rows + i * kTile, sums + i / size * kTile, kTile * sizeof(float));
}

}  // namespace

RelaxedStack::RelaxedStack(uint32_t n_inputs, std::vector<Wiring> wirings, uint32_t n_groups)
    : n_inputs_(n_inputs), n_groups_(n_groups), wirings_(std::move(wirings)), max_width_(std::max(n_inputs, n_groups)) {
  for (const Wiring& wiring : wirings_) {
    n_gates_ += wiring.a.size();
    max_width_ = std::max(max_width_, wiring.a.size());
  }
}

std::vector<RelaxedLayer> RelaxedStack::layers(const float* coefficients) const {
  std::vector<RelaxedLayer> layers;
  uint32_t width = n_inputs_;
  for (const Wiring& wiring : wirings_) {
    const uint32_t n_out = static_cast<uint32_t>(wiring.a.size());
    layers.push_back({width, n_out, wiring.a.data(), wiring.b.data(), coefficients});
    coefficients += 4 * size_t{n_out};
    width = n_out;
  }
  return layers;
}

void RelaxedStack::forward(const Samples& x, const float* coefficients, float* y, Pool& pool) const {
  const RelaxedKernels& kernels = relaxed_kernels();
  const std::vector<RelaxedLayer> stack = layers(coefficients);
  const size_t n_tiles = count_tiles(x.n_samples), n_threads = std::min<size_t>(pool.threads(), n_tiles);
  const size_t size = max_width_ * kTile;
  std::unique_ptr<Buffer<float>> scratch = scratch_.take(2 * size * n_threads);
  pool.run(n_tiles, [&](size_t thread, size_t tile) {
    float* from = scratch->data() + 2 * size * thread;
    float* to = from + size;
    load_tile(x, tile, n_inputs_, from);
    for (const RelaxedLayer& layer : stack) {
      kernels.forward(layer, from, to);
      std::swap(from, to);
    }
    if (n_groups_) {
      sum_groups(from, last_width(), n_groups_, to);
      std::swap(from, to);
    }
    store_tile(from, n_outputs(), tile_samples(tile, x.n_samples), y + tile * kTile * n_outputs());
  });
  scratch_.give(std::move(scratch));
}

void RelaxedStack::backward(const Samples& x, const float* coefficients, const float* grad_y, float* grad_coefficients,
                            float* grad_x, Pool& pool) const {
  const std::vector<RelaxedLayer> stack = layers(coefficients);
  const size_t n_tiles = count_tiles(x.n_samples), n_shares = std::min(kShares, n_tiles);
  const size_t n_threads = std::min<size_t>(pool.threads(), n_shares);
  const size_t activations_size = (n_inputs_ + n_gates_) * kTile, grads_size = 2 * max_width_ * kTile;
  const size_t sums_size = 4 * n_gates_ * n_shares;
  std::unique_ptr<Buffer<float>> scratch = scratch_.take(sums_size + (activations_size + grads_size) * n_threads);
  float* shares = scratch->data();
  pool.run(n_shares, [&](size_t thread, size_t share) {
    float* own = shares + sums_size + (activations_size + grads_size) * thread;
    float* sums = shares + 4 * n_gates_ * share;
    std::memset(sums, 0, 4 * n_gates_ * sizeof(float));
    for (size_t tile = n_tiles * share / n_shares; tile < n_tiles * (share + 1) / n_shares; ++tile)
      backward_tile(x, tile, stack, grad_y, own, own + activations_size, sums, grad_x);
  });
  const size_t n_values = 4 * n_gates_;
  pool.run((n_values + kReduceChunk - 1) / kReduceChunk, [&](size_t, size_t chunk) {
    const size_t begin = chunk * kReduceChunk, end = std::min(begin + kReduceChunk, n_values);
    for (size_t i = begin; i < end; ++i) {
      float total = 0;
      for (size_t share = 0; share < n_shares; ++share) total += shares[share * n_values + i];
      grad_coefficients[i] = total;
    }
  });
  scratch_.give(std::move(scratch));
}

void RelaxedStack::backward_tile(const Samples& x, size_t tile, const std::vector<RelaxedLayer>& stack,
                                 const float* grad_y, float* activations, float* grads, float* grad_coefficients,
                                 float* grad_x) const {
  const RelaxedKernels& kernels = relaxed_kernels();
  const size_t n = tile_samples(tile, x.n_samples);
  load_tile(x, tile, n_inputs_, activations);
  float* layer_input = activations;
  for (const RelaxedLayer& layer : stack) {
    kernels.forward(layer, layer_input, layer_input + layer.n_in * kTile);
    layer_input += layer.n_in * kTile;
  }
  float* grad_out = grads;
  float* grad_in = grads + max_width_ * kTile;
  const Samples given{grad_y, false, x.n_samples, static_cast<ptrdiff_t>(n_outputs()), 1};
  load_tile(given, tile, n_outputs(), n_groups_ ? grad_in : grad_out);
  if (n_groups_) spread_groups(grad_in, last_width(), n_groups_, grad_out);
  float* of_layer = grad_coefficients + 4 * n_gates_;
  for (size_t l = stack.size(); l-- > 0;) {
    const RelaxedLayer& layer = stack[l];
    of_layer -= 4 * size_t{layer.n_out};
    layer_input -= layer.n_in * kTile;
    const bool needs_input = l > 0 || grad_x;
    if (needs_input) std::memset(grad_in, 0, layer.n_in * kTile * sizeof(float));
    kernels.backward(layer, layer_input, grad_out, needs_input ? grad_in : nullptr, of_layer);
    std::swap(grad_in, grad_out);
  }
  if (grad_x) store_tile(grad_out, n_inputs_, n, grad_x + tile * kTile * n_inputs_);
}

}  // namespace gatewise
