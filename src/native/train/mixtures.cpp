#include "train/mixtures.hpp"

#include <algorithm>
#include <utility>

#include "simd/targets.hpp"

namespace gatewise {
namespace {

constexpr size_t kChunk = 1024;

}  // namespace

Mixtures::Mixtures(std::vector<Mixture> layers) : layers_(std::move(layers)) {
  for (size_t layer = 0; layer < layers_.size(); ++layer) {
    const size_t n = layers_[layer].n_gates;
    for (size_t begin = 0; begin < n; begin += kChunk) chunks_.push_back({layer, begin, std::min(begin + kChunk, n)});
    first_.push_back(n_gates_);
    n_gates_ += n;
  }
}

double Mixtures::mix(float* coefficients, Pool& pool) const {
  std::vector<double> confidence(chunks_.size());
  pool.run(chunks_.size(), [&](size_t, size_t i) noexcept {
    const auto& [layer, begin, end] = chunks_[i];
    confidence[i] = best_target().train.mix(layers_[layer], begin, end, coefficients + 4 * first_[layer]);
  });
  double total = 0;
  for (const double each : confidence) total += each;
  return total / static_cast<double>(n_gates_);
}

void Mixtures::choose(float* coefficients, uint8_t* gates, Pool& pool) const {
  pool.run(chunks_.size(), [&](size_t, size_t i) noexcept {
    const auto& [layer, begin, end] = chunks_[i];
    best_target().train.bits.choose_gates(layers_[layer], begin, end, coefficients + 4 * first_[layer],
                                          gates + first_[layer]);
  });
}

void Mixtures::backward(const Shares& grads, const std::vector<float*>& grad_logits, Pool& pool) const {
  pool.run(chunks_.size(), [&](size_t, size_t i) noexcept {
    const auto& [layer, begin, end] = chunks_[i];
    const Shares own = of_layer(grads, layer, 1.0f);
    best_target().train.mix_backward(layers_[layer], begin, end, own, grad_logits[layer]);
  });
}

void Mixtures::update(const Shares& grads, const Adam& adam, const std::vector<Moments>& moments,
                      const std::vector<float>& scales, Pool& pool) const {
  run_update(best_target().train.update, grads, adam, moments, scales, pool);
}

void Mixtures::step(const Shares& grads, const Adam& adam, const std::vector<Moments>& moments,
                    const std::vector<float>& scales, Pool& pool) const {
  run_update(best_target().train.bits.step_gates, grads, adam, moments, scales, pool);
}

template <typename Kernel>
void Mixtures::run_update(const Kernel& kernel, const Shares& grads, const Adam& adam,
                          const std::vector<Moments>& moments, const std::vector<float>& scales, Pool& pool) const {
  pool.run(chunks_.size(), [&](size_t, size_t i) noexcept {
    const auto& [layer, begin, end] = chunks_[i];
    if (!moments[layer].weights) return;
    kernel(layers_[layer], begin, end, of_layer(grads, layer, scales[layer]), adam, moments[layer]);
  });
}

Shares Mixtures::of_layer(const Shares& grads, size_t layer, float scale) const {
  return {grads.values + 4 * first_[layer], grads.n, grads.stride, grads.scale * scale};
}

}  // namespace gatewise
