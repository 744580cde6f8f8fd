#include "train/bits/table_stack.hpp"

#include <algorithm>
#include <utility>

#include "simd/targets.hpp"

namespace gatewise {
namespace {

// Nodes that a thread takes at a time; fewer where each of them sums over many candidates.
constexpr size_t kChunk = 64, kPinChunk = 8;
// Nodes times words below which waking threads takes longer than the work.
constexpr size_t kSmallWork = 500;

const TableKernels& kernels() { return best_target().train.tables; }

}  // namespace

TableStack::TableStack(uint32_t n_inputs, std::vector<Layer> layers, uint32_t n_groups)
    : batch_(n_inputs, n_groups), layers_(std::move(layers)), n_wires_(n_inputs) {
  size_t width = n_inputs;
  for (size_t l = 0; l < layers_.size(); ++l) {
    const Layer& layer = layers_[l];
    const size_t n = layer.size();
    if (layer.pins) max_candidates_ = std::max(max_candidates_, layer.pins->n_candidates);
    if (l + 1 < layers_.size()) max_hidden_ = std::max(max_hidden_, n);
    places_.push_back({width, n, n_wires_ - width, std::vector<uint64_t>(n), {}});
    n_wires_ += n;
    width = n;
  }
}

double TableStack::run(const Samples& x, const Loss& loss, const Update& update, const Adam& adam, Pool& pool) {
  const size_t n_words = (x.n_samples + 63) / 64;
  Pool alone(1);
  const bool is_small = n_words * (n_wires_ - n_inputs()) * std::max<size_t>(1, max_candidates_ / 8) < kSmallWork;
  Pool& workers = is_small ? alone : pool;
  size_t lowest = 0;  // layer that learns
  while (lowest < layers_.size() && !update.moments[lowest].weights) ++lowest;
  reserve(n_words, workers.threads());
  choose(lowest, workers);
  batch_.pack(x, bits_->data());
  forward(workers);
  const double total = batch_.differentiate(loss, outputs(), places_.back().n, workers);
  backward(lowest, update, adam, workers);
  return total;
}

void TableStack::reserve(size_t n_words, size_t n_threads) {
  batch_.reserve(n_words, n_threads);
  if (n_words != n_words_) {
    n_words_ = n_words;
    bits_ = std::make_unique<Buffer<uint64_t>>(n_wires_ * n_words);
    for (auto& each : grads_) each = std::make_unique<Buffer<float>>(max_hidden_ * 64 * n_words);
    scratch_.clear();
  }
  while (scratch_.size() < n_threads) scratch_.emplace_back(table_scratch(n_words, max_candidates_));
}

void TableStack::choose(size_t lowest, Pool& pool) {
  for (size_t l = 0; l < layers_.size(); ++l) {
    Layer& layer = layers_[l];
    Place& place = places_[l];
    const bool is_read_back = layer.pins || l > lowest;
    if (is_read_back) place.slopes.resize(place.n * layer.k * table_size(layer.k) + kSlopePadding);
    float* slopes = is_read_back ? place.slopes.data() : nullptr;
    run_chunks(pool, place.n, kChunk, [&](size_t, size_t begin, size_t end) noexcept {
      kernels().choose_tables(layer.k, layer.entries, begin, end, place.truth.data(), slopes);
      if (layer.pins) kernels().choose_inputs(*layer.pins, layer.k, place.n, begin, end, layer.wires.data());
    });
  }
}

void TableStack::forward(Pool& pool) {
  for (size_t l = 0; l < places_.size(); ++l) {
    uint64_t* y = bits_->data() + (places_[l].first_wire + places_[l].n_in) * n_words_;
    run_chunks(pool, places_[l].n, kChunk, [&](size_t, size_t begin, size_t end) noexcept {
      kernels().look_up(view(l), n_words_, begin, end, wires_of(l), y);
    });
  }
}

void TableStack::backward(size_t lowest, const Update& update, const Adam& adam, Pool& pool) {
  GradRows grads{batch_.grads(), places_.back().n / n_groups()};
  for (size_t l = places_.size(); l-- > lowest;) {
    const Place& place = places_[l];
    float* grad_x = grads_[l % 2]->data();
    if (l > lowest)
      run_chunks(pool, 2 * n_words_, 1, [&](size_t, size_t begin, size_t end) noexcept {
        kernels().pass_tiles_back(view(l), n_words_, begin, end, wires_of(l), grads, place.n_in, grad_x);
      });
    const std::optional<TablePins>& pins = layers_[l].pins;
    const TableStep step{adam, update.moments[l], pins ? &*pins : nullptr, update.temperature, update.scales[l]};
    if (update.moments[l].weights)
      run_chunks(pool, place.n, pins ? kPinChunk : kChunk, [&](size_t thread, size_t begin, size_t end) noexcept {
        kernels().update_tables(view(l), n_words_, begin, end, wires_of(l), grads, step, scratch_[thread].data());
      });
    grads = {grad_x, 1};
  }
}

TableLayer TableStack::view(size_t l) const {
  const Place& place = places_[l];
  return {layers_[l].k, place.n, layers_[l].wires.data(), place.truth.data(), place.slopes.data()};
}

}  // namespace gatewise
