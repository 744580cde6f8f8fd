#include "train/bits/batch.hpp"

#include "simd/targets.hpp"

namespace gatewise {

void BitBatch::reserve(size_t n_words, size_t n_threads) {
  const size_t row = 64 * n_words;
  if (n_words != n_words_) {
    n_words_ = n_words;
    of_groups_ = std::make_unique<Buffer<float>>(2 * n_groups_ * row);
    octets_.resize(8 * words_per_pass(n_inputs_) * octet_pitch(n_inputs_));
    no_row_.resize(n_inputs_);
    rows_.resize(row);
  }
  while (sums_.size() < n_threads) sums_.emplace_back(2 * n_groups_ * kTile);
}

void BitBatch::pack(const Samples& x, uint64_t* bits) noexcept {
  for (size_t s = 0; s < rows_.size(); ++s)
    rows_[s] = s < x.n_samples ? static_cast<const uint8_t*>(x.data) + static_cast<ptrdiff_t>(s) * x.row_stride
                               : no_row_.data();
  best_target().engine.pack_bytes(rows_.data(), n_words_, n_inputs_, octets_.data(), bits, n_words_);
}

double BitBatch::differentiate(const Loss& loss, const uint64_t* outputs, size_t n, Pool& pool) {
  const size_t row = 64 * n_words_, size = n / n_groups_;
  float* counts = of_groups_->data();
  float* grads = counts + n_groups_ * row;
  pool.run(n_groups_, [&](size_t, size_t group) noexcept {
    best_target().train.bits.count(outputs, n_words_, group * size, (group + 1) * size, counts + group * row);
    std::fill(grads + group * row, grads + (group + 1) * row, 0.0f);
  });
  std::vector<double> losses(count_tiles(loss.n_samples()));
  pool.run(losses.size(), [&](size_t thread, size_t tile) noexcept {
    float* sums = sums_[thread].data();
    float* of_sums = sums + n_groups_ * kTile;
    for (size_t g = 0; g < n_groups_; ++g) std::copy_n(counts + g * row + tile * kTile, kTile, sums + g * kTile);
    losses[tile] = loss.differentiate(tile, n_groups_, sums, of_sums);
    for (size_t g = 0; g < n_groups_; ++g) std::copy_n(of_sums + g * kTile, kTile, grads + g * row + tile * kTile);
  });
  double total = 0;
  for (const double each : losses) total += each;
  return total;
}

}  // namespace gatewise
