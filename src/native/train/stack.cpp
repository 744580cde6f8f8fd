#include "train/stack.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "simd/targets.hpp"

namespace gatewise {
namespace {

// Gradients of coefficients are summed in this many fixed shares of the tiles, then share after share.
constexpr size_t kShares = 4;
constexpr size_t kReduceChunk = 4096;

}  // namespace

RelaxedStack::RelaxedStack(uint32_t n_inputs, std::vector<Wiring> wirings, uint32_t n_groups)
    : n_inputs_(n_inputs), n_groups_(n_groups), wirings_(std::move(wirings)), n_rows_(n_inputs + 1) {
  max_width_ = std::max<size_t>(n_inputs + 1, n_groups);
  for (const Wiring& wiring : wirings_) {
    n_gates_ += wiring.n_gates;
    n_rows_ += wiring.a.size() + 1;
    max_width_ = std::max(max_width_, wiring.a.size() + 1);
  }
}

std::vector<RelaxedLayer> RelaxedStack::layers(const float* coefficients) const {
  std::vector<RelaxedLayer> layers;
  uint32_t width = n_inputs_;
  for (const Wiring& wiring : wirings_) {
    const uint32_t n_out = static_cast<uint32_t>(wiring.a.size());
    const size_t n_positions = wiring.n_gates ? n_out / wiring.n_gates : n_out;
    layers.push_back(
        {width, n_out, wiring.a.data(), wiring.b.data(), wiring.n_gates ? coefficients : nullptr, n_positions});
    coefficients += 4 * wiring.n_gates;
    width = n_out;
  }
  return layers;
}

// The content is whatever the last call left there.
std::unique_ptr<Buffer<float>> RelaxedStack::take_scratch(size_t size) const {
  std::unique_ptr<Buffer<float>> scratch = scratch_.take();
  if (scratch && scratch->size() >= size) return scratch;
  scratch.reset();
  return std::make_unique<Buffer<float>>(size);
}

void RelaxedStack::forward(const Samples& x, const float* coefficients, const SamplesOut& y, Pool& pool) const {
  const TrainKernels& kernels = best_target().train;
  const std::vector<RelaxedLayer> stack = layers(coefficients);
  const size_t n_tiles = count_tiles(x.n_samples), n_threads = std::min<size_t>(pool.threads(), n_tiles);
  const size_t size = max_width_ * kTile;
  std::unique_ptr<Buffer<float>> scratch = take_scratch(2 * size * n_threads);
  pool.run(n_tiles, [&](size_t thread, size_t tile) noexcept {
    float* from = scratch->data() + 2 * size * thread;
    float* to = from + size;
    load_tile(x, tile, n_inputs_, from);
    for (const RelaxedLayer& layer : stack) {
      std::fill_n(from + layer.n_in * kTile, kTile, 0.0f);
      kernels.forward(layer, from, to);
      std::swap(from, to);
    }
    if (n_groups_) {
      sum_groups(from, last_width(), n_groups_, to);
      std::swap(from, to);
    }
    store_tile(from, n_outputs(), tile, x.n_samples, y);
  });
  scratch_.give(std::move(scratch));
}

void RelaxedStack::backward(const Samples& x, const float* coefficients, const GradOfTile& grad_of_tile,
                            const SamplesOut* grad_x, const std::function<void(const Shares&)>& use, Pool& pool) const {
  const std::vector<RelaxedLayer> stack = layers(coefficients);
  const size_t n_tiles = count_tiles(x.n_samples), n_shares = std::min(kShares, n_tiles);
  const size_t n_threads = std::min<size_t>(pool.threads(), n_shares);
  const size_t activations_size = n_rows_ * kTile, grads_size = 2 * max_width_ * kTile;
  const size_t n_values = 4 * n_gates_;
  std::unique_ptr<Buffer<float>> scratch =
      take_scratch(n_values * n_shares + (activations_size + grads_size) * n_threads);
  float* shares = scratch->data();
  pool.run(n_shares, [&](size_t thread, size_t share) noexcept {
    float* own = shares + n_values * n_shares + (activations_size + grads_size) * thread;
    float* sums = shares + n_values * share;
    const size_t first = n_tiles * share / n_shares;
    for (size_t tile = first; tile < n_tiles * (share + 1) / n_shares; ++tile)
      backward_tile(x, tile, stack, grad_of_tile, own, own + activations_size, sums, tile == first, grad_x);
  });
  use({shares, n_shares, n_values, 1.0f});
  scratch_.give(std::move(scratch));
}

void RelaxedStack::backward(const Samples& x, const float* coefficients, const Samples& grad_y,
                            float* grad_coefficients, const SamplesOut* grad_x, Pool& pool) const {
  const auto load_grads = [&](size_t tile, const float*, float* grads) noexcept {
    load_tile(grad_y, tile, n_outputs(), grads);
  };
  const auto add_up = [&](const Shares& shares) {
    pool.run((shares.stride + kReduceChunk - 1) / kReduceChunk, [&](size_t, size_t chunk) noexcept {
      const size_t begin = chunk * kReduceChunk, end = std::min(begin + kReduceChunk, shares.stride);
      for (size_t i = begin; i < end; ++i) {
        float total = 0;
        for (size_t share = 0; share < shares.n; ++share) total += shares.values[share * shares.stride + i];
        grad_coefficients[i] = total;
      }
    });
  };
  backward(x, coefficients, load_grads, grad_x, add_up, pool);
}

void RelaxedStack::backward_tile(const Samples& x, size_t tile, const std::vector<RelaxedLayer>& stack,
                                 const GradOfTile& grad_of_tile, float* activations, float* grads,
                                 float* grad_coefficients, bool is_first, const SamplesOut* grad_x) const {
  const TrainKernels& kernels = best_target().train;
  load_tile(x, tile, n_inputs_, activations);
  float* layer_input = activations;
  for (const RelaxedLayer& layer : stack) {
    float* layer_output = layer_input + (layer.n_in + 1) * kTile;
    std::fill_n(layer_output - kTile, kTile, 0.0f);
    kernels.forward(layer, layer_input, layer_output);
    layer_input = layer_output;
  }
  float* grad_out = grads;
  float* grad_in = grads + max_width_ * kTile;
  if (n_groups_) {
    sum_groups(layer_input, last_width(), n_groups_, grad_out);
    grad_of_tile(tile, grad_out, grad_in);
    spread_groups(grad_in, last_width(), n_groups_, grad_out);
  } else {
    grad_of_tile(tile, layer_input, grad_out);
  }
  float* of_layer = grad_coefficients + 4 * n_gates_;
  for (size_t l = stack.size(); l-- > 0;) {
    const RelaxedLayer& layer = stack[l];
    of_layer -= 4 * wirings_[l].n_gates;
    layer_input -= (layer.n_in + 1) * kTile;
    const bool needs_input = l > 0 || grad_x;
    if (needs_input) std::memset(grad_in, 0, (layer.n_in + 1) * kTile * sizeof(float));
    kernels.backward(layer, layer_input, grad_out, needs_input ? grad_in : nullptr, of_layer, is_first);
    std::swap(grad_in, grad_out);
  }
  if (grad_x) store_tile(grad_out, n_inputs_, tile, x.n_samples, *grad_x);
}

}  // namespace gatewise
