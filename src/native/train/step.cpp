#include "train/step.hpp"

namespace gatewise {
namespace {

// Rows times samples below which waking threads takes longer than the work.
constexpr size_t kSmallWork = 200'000;

}  // namespace

StepReport TrainStep::run(const Samples& x, const Loss& loss, const Adam& adam, Pool& pool) const {
  Pool alone(1);
  Pool& workers = x.n_samples * stack.n_rows() < kSmallWork ? alone : pool;
  const double confidence = mixtures.mix(coefficients, workers);
  std::vector<double> losses(count_tiles(x.n_samples));
  const auto take_loss = [&](size_t tile, const float* sums, float* grads) noexcept {
    losses[tile] = loss.differentiate(tile, stack.n_outputs(), sums, grads);
  };
  const auto update = [&](const Shares& grads) { mixtures.update(grads, adam, moments, scales, workers); };
  stack.backward(x, coefficients, take_loss, nullptr, update, workers);
  double total = 0;
  for (const double each : losses) total += each;
  return {total, confidence};
}

}  // namespace gatewise
