// A stack of relaxed layers, run tile by tile: a tile of samples goes through all layers before the next one starts, so
// that activations stay near the core. The backward pass computes them again instead of storing them.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "support/buffer.hpp"
#include "support/idle.hpp"
#include "support/nothrow_ref.hpp"
#include "support/pool.hpp"
#include "train/kernels.hpp"
#include "train/samples.hpp"

namespace gatewise {

class RelaxedStack {
 public:
  // Operands of each output, in 0 .. (previous width); the last of these is the constant 0. A gate is shared by as many
  // consecutive outputs, its positions; without gates, an output is the larger of a and b.
  struct Wiring {
    std::vector<int32_t> a, b;
    size_t n_gates = a.size();
  };

  // Outputs are the last layer, or, with n_groups > 0, its sums over equal consecutive groups.
  RelaxedStack(uint32_t n_inputs, std::vector<Wiring> wirings, uint32_t n_groups);

  // coefficients: n_gates x 4, layer after layer. y: n_samples x n_outputs.
  void forward(const Samples& x, const float* coefficients, const SamplesOut& y, Pool& pool) const;

  // The gradient of a tile's outputs, given the outputs; one row of kTile samples per output. Called by all threads.
  using GradOfTile = NothrowRef<void(size_t tile, const float* outputs, float* grads)>;

  // Forward and backward through one tile after the other; `use` sees the gradients of the coefficients. grad_x:
  // n_samples x n_inputs, overwritten, or null. The order of all sums depends on the number of samples alone, not on
  // the number of threads.
  void backward(const Samples& x, const float* coefficients, const GradOfTile& grad_of_tile, const SamplesOut* grad_x,
                const std::function<void(const Shares&)>& use, Pool& pool) const;

  // The same for known gradients of the outputs. grad_coefficients: n_gates x 4, overwritten.
  void backward(const Samples& x, const float* coefficients, const Samples& grad_y, float* grad_coefficients,
                const SamplesOut* grad_x, Pool& pool) const;

  uint32_t n_inputs() const { return n_inputs_; }
  size_t n_gates() const { return n_gates_; }
  size_t n_rows() const { return n_rows_; }
  uint32_t n_outputs() const { return n_groups_ ? n_groups_ : last_width(); }

 private:
  uint32_t last_width() const { return wirings_.empty() ? n_inputs_ : static_cast<uint32_t>(wirings_.back().a.size()); }
  std::vector<RelaxedLayer> layers(const float* coefficients) const;
  std::unique_ptr<Buffer<float>> take_scratch(size_t size) const;
  void backward_tile(const Samples& x, size_t tile, const std::vector<RelaxedLayer>& layers,
                     const GradOfTile& grad_of_tile, float* activations, float* grads, float* grad_coefficients,
                     bool is_first, const SamplesOut* grad_x) const;

  uint32_t n_inputs_, n_groups_;
  std::vector<Wiring> wirings_;
  size_t n_gates_ = 0, n_rows_ = 0;  // the latter of all layers' inputs and of the last outputs, with constants
  size_t max_width_;                 // with the constant
  mutable Idle<Buffer<float>> scratch_;
};

}  // namespace gatewise
