// The gates of all layers of a stack, mixed side by side: chunks of gates that threads share.
#pragma once

#include <vector>

#include "support/pool.hpp"
#include "train/kernels.hpp"

namespace gatewise {

class Mixtures {
 public:
  explicit Mixtures(std::vector<Mixture> layers);

  // coefficients: n_gates x 4, layer after layer. Returns the mean over all gates of the largest probability, which is
  // how sure the network is of its gates.
  double mix(float* coefficients, Pool& pool) const;

  // The most probable operator of every gate, layer after layer, and the coefficients that gradients see.
  void choose(float* coefficients, uint8_t* gates, Pool& pool) const;

  // grad_logits: one array per layer.
  void backward(const Shares& grads, const std::vector<float*>& grad_logits, Pool& pool) const;

  // One step of Adam for all layers that have weights to change; `scales` multiply the gradients of each.
  void update(const Shares& grads, const Adam& adam, const std::vector<Moments>& moments,
              const std::vector<float>& scales, Pool& pool) const;

  // The same after `choose`.
  void step(const Shares& grads, const Adam& adam, const std::vector<Moments>& moments,
            const std::vector<float>& scales, Pool& pool) const;

  size_t n_gates() const { return n_gates_; }

 private:
  struct Chunk {
    size_t layer, begin, end;
  };
  template <typename Kernel>
  void run_update(const Kernel& kernel, const Shares& grads, const Adam& adam, const std::vector<Moments>& moments,
                  const std::vector<float>& scales, Pool& pool) const;
  Shares of_layer(const Shares& grads, size_t layer, float scale) const;

  std::vector<Mixture> layers_;
  std::vector<size_t> first_;  // position of each layer's first gate among all gates
  std::vector<Chunk> chunks_;
  size_t n_gates_ = 0;
};

}  // namespace gatewise
