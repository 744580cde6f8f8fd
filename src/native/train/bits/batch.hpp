// The two ends of a step on bits, whatever its layers are: a batch packed into words, and the loss of its counts.
#pragma once

#include <algorithm>
#include <memory>
#include <vector>

#include "support/buffer.hpp"
#include "support/pool.hpp"
#include "train/losses.hpp"
#include "train/samples.hpp"

namespace gatewise {

class BitBatch {
 public:
  // Outputs are summed over equal consecutive groups, at least one.
  BitBatch(uint32_t n_inputs, uint32_t n_groups) : n_inputs_(n_inputs), n_groups_(n_groups) {}

  uint32_t n_inputs() const { return n_inputs_; }
  uint32_t n_groups() const { return n_groups_; }
  size_t n_words() const { return n_words_; }

  // Memory for a batch of so many words of samples.
  void reserve(size_t n_words, size_t n_threads);

  // x: rows of 0/1 bytes, row_stride apart, at most 64 n_words. To bits: n_inputs rows of n_words.
  void pack(const Samples& x, uint64_t* bits) noexcept;

  // outputs: n rows of n_words. Returns the loss.
  double differentiate(const Loss& loss, const uint64_t* outputs, size_t n, Pool& pool);

  // Of the groups, n_groups rows of 64 n_words, as differentiate left them.
  float* grads() { return of_groups_->data() + n_groups_ * 64 * n_words_; }
  const float* grads() const { return of_groups_->data() + n_groups_ * 64 * n_words_; }

 private:
  const uint32_t n_inputs_, n_groups_;
  size_t n_words_ = 0;
  std::unique_ptr<Buffer<float>> of_groups_;  // counts, then gradients
  std::vector<std::vector<float>> sums_;      // of each thread
  std::vector<uint8_t> octets_, no_row_;      // see EngineKernels::pack_bytes
  std::vector<const uint8_t*> rows_;
};

// Calls work(thread, begin, end) for chunks of 0 .. n - 1.
template <typename Work>
void run_chunks(Pool& pool, size_t n, size_t chunk, const Work& work) {
  pool.run((n + chunk - 1) / chunk, [&](size_t thread, size_t index) noexcept {
    work(thread, index * chunk, std::min(n, (index + 1) * chunk));
  });
}

}  // namespace gatewise
