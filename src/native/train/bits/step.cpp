#include "train/bits/step.hpp"

#include <algorithm>
#include <utility>

#include "simd/targets.hpp"

namespace gatewise {
namespace {

// Gates, or wires, that a thread takes at a time; fewer where each of them sums over many candidates.
constexpr size_t kChunk = 256, kPinChunk = 32;
// Gates times words below which waking threads takes longer than the work.
constexpr size_t kSmallWork = 8'000;
// Gradients of coefficients are summed in this many fixed shares of the tiles, then share after share.
constexpr size_t kShares = 4;

const BitKernels& kernels() { return best_target().train.bits; }

// Calls work(thread, begin, end) for chunks of 0 .. n - 1.
template <typename Work>
void run_chunks(Pool& pool, size_t n, size_t chunk, const Work& work) {
  pool.run((n + chunk - 1) / chunk, [&](size_t thread, size_t index) noexcept {
    work(thread, index * chunk, std::min(n, (index + 1) * chunk));
  });
}

}  // namespace

void ReaderLists::build(size_t n_wires, const std::vector<int32_t>& a, const std::vector<int32_t>& b) {
  begin_.assign(n_wires + 1, 0);
  edges_.resize(2 * a.size());
  for (size_t i = 0; i < a.size(); ++i) {
    ++begin_[static_cast<size_t>(a[i])];
    ++begin_[static_cast<size_t>(b[i])];
  }
  uint32_t total = 0;
  for (uint32_t& each : begin_) each = total += each;  // where the readers of a wire end
  for (size_t i = a.size(); i-- > 0;) {
    edges_[--begin_[static_cast<size_t>(b[i])]] = static_cast<uint32_t>(2 * i + 1);
    edges_[--begin_[static_cast<size_t>(a[i])]] = static_cast<uint32_t>(2 * i);
  }
}

BitStack::BitStack(uint32_t n_inputs, std::vector<Wiring> wirings, uint32_t n_groups)
    : n_inputs_(n_inputs), n_groups_(n_groups), wirings_(std::move(wirings)), readers_(wirings_.size()) {
  size_t width = n_inputs, first_wire = 0, first_gate = 0;
  for (size_t l = 0; l < wirings_.size(); ++l) {
    const Wiring& wiring = wirings_[l];
    const size_t n_out = wiring.a.size();
    places_.push_back({width, n_out, first_gate, first_wire});
    if (!wiring.pins) readers_[l].build(width, wiring.a, wiring.b);
    if (wiring.pins) max_candidates_ = std::max(max_candidates_, wiring.pins->k);
    if (l + 1 < wirings_.size()) max_hidden_ = std::max(max_hidden_, n_out);
    first_wire += width;
    first_gate += n_out;
    width = n_out;
  }
  gates_.resize(first_gate);
  coefficients_.resize(4 * first_gate);
  grad_coefficients_.resize((max_candidates_ ? 1 : kShares) * 4 * first_gate);
}

double BitStack::run(const Samples& x, const Loss& loss, const Update& update, const Adam& adam, Pool& pool) {
  const size_t n_words = (x.n_samples + 63) / 64;
  Pool alone(1);
  const bool is_small = n_words * n_gates() * std::max<size_t>(1, max_candidates_ / 4) < kSmallWork;
  Pool& workers = is_small ? alone : pool;
  reserve(n_words, workers.threads());
  choose(update, workers);
  pack(x);
  forward(workers);
  const double total = differentiate(loss, workers);
  const Shares grads = backward(x.n_samples, update, adam, workers);
  update.mixtures.update(grads, adam, update.moments, update.scales, workers);
  return total;
}

void BitStack::reserve(size_t n_words, size_t n_threads) {
  const size_t row = 64 * n_words;
  if (n_words != n_words_) {
    n_words_ = n_words;
    bits_ = std::make_unique<Buffer<uint64_t>>((n_inputs_ + n_gates()) * n_words);
    if (max_candidates_)
      for (auto& each : grads_) each = std::make_unique<Buffer<float>>(max_hidden_ * row);
    else
      tiles_ = std::make_unique<Buffer<uint32_t>>((n_inputs_ + n_gates()) * 2 * n_words);
    of_groups_ = std::make_unique<Buffer<float>>(2 * n_groups_ * row);
    octets_.resize(8 * words_per_pass(n_inputs_) * octet_pitch(n_inputs_));
    no_row_.resize(n_inputs_);
    rows_.resize(row);
    scratch_.clear();
  }
  const size_t of_thread = std::max(pin_scratch(n_words, max_candidates_), 2 * n_groups_ * kTile);
  while (scratch_.size() < n_threads) scratch_.emplace_back(of_thread);
  const size_t of_tile = (2 * max_hidden_ + n_groups_) * kBitTile;
  while (!max_candidates_ && tile_grads_.size() < n_threads)
    tile_grads_.push_back(std::make_unique<Buffer<float>>(of_tile));
}

void BitStack::choose(const Update& update, Pool& pool) {
  update.mixtures.choose(coefficients_.data(), gates_.data(), pool);
  for (size_t l = 0; l < wirings_.size(); ++l) {
    Wiring& wiring = wirings_[l];
    if (!wiring.pins) continue;
    run_chunks(pool, wiring.a.size(), kChunk, [&](size_t, size_t begin, size_t end) noexcept {
      kernels().choose_wires(*wiring.pins, begin, end, wiring.a.data(), wiring.b.data());
    });
    if (l > 0) readers_[l].build(places_[l].n_in, wiring.a, wiring.b);
  }
}

void BitStack::pack(const Samples& x) noexcept {
  for (size_t s = 0; s < rows_.size(); ++s)
    rows_[s] = s < x.n_samples ? static_cast<const uint8_t*>(x.data) + static_cast<ptrdiff_t>(s) * x.row_stride
                               : no_row_.data();
  best_target().engine.pack_bytes(rows_.data(), n_words_, n_inputs_, octets_.data(), bits_->data(), n_words_);
}

void BitStack::forward(Pool& pool) {
  for (size_t l = 0; l < places_.size(); ++l) {
    uint64_t* y = bits_->data() + (n_inputs_ + places_[l].first_gate) * n_words_;
    run_chunks(pool, places_[l].n_out, kChunk, [&](size_t, size_t begin, size_t end) noexcept {
      kernels().evaluate(view(l), n_words_, begin, end, wires_of(l), y);
    });
  }
}

double BitStack::differentiate(const Loss& loss, Pool& pool) {
  const size_t row = 64 * n_words_, size = places_.back().n_out / n_groups_;
  float* counts = of_groups_->data();
  float* grads = counts + n_groups_ * row;
  const uint64_t* outputs = bits_->data() + (n_inputs_ + places_.back().first_gate) * n_words_;
  pool.run(n_groups_, [&](size_t, size_t group) noexcept {
    kernels().count(outputs, n_words_, group * size, (group + 1) * size, counts + group * row);
    std::fill(grads + group * row, grads + (group + 1) * row, 0.0f);
  });
  std::vector<double> losses(count_tiles(loss.n_samples()));
  pool.run(losses.size(), [&](size_t thread, size_t tile) noexcept {
    float* sums = scratch_[thread].data();
    float* of_sums = sums + n_groups_ * kTile;
    for (size_t g = 0; g < n_groups_; ++g) std::copy_n(counts + g * row + tile * kTile, kTile, sums + g * kTile);
    losses[tile] = loss.differentiate(tile, n_groups_, sums, of_sums);
    for (size_t g = 0; g < n_groups_; ++g) std::copy_n(of_sums + g * kTile, kTile, grads + g * row + tile * kTile);
  });
  double total = 0;
  for (const double each : losses) total += each;
  return total;
}

Shares BitStack::backward(size_t n_samples, const Update& update, const Adam& adam, Pool& pool) {
  size_t lowest = 0;  // layer that learns
  while (lowest < places_.size() && !update.moments[lowest].weights) ++lowest;
  if (!max_candidates_) return backward_tiles(n_samples, lowest, pool);
  GradRows grads{of_groups_->data() + n_groups_ * 64 * n_words_, places_.back().n_out / n_groups_};
  for (size_t l = places_.size(); l-- > lowest;) {
    float* grad_x = grads_[l % 2]->data();
    if (l > lowest) pass_back(l, grads, grad_x, pool);
    if (update.moments[l].weights) sum(l, grads, update, adam, pool);
    grads = {grad_x, 1};
  }
  return {grad_coefficients_.data(), 1, 0, 1.0f};
}

// Without pins no sum needs a whole row of gradients: a tile goes back through all layers at once, near the core.
Shares BitStack::backward_tiles(size_t n_samples, size_t lowest, Pool& pool) {
  const size_t n_wires = n_inputs_ + n_gates(), n_values = 4 * n_gates();
  const size_t n_tiles = (n_samples + kBitTile - 1) / kBitTile, n_shares = std::min(kShares, n_tiles);
  run_chunks(pool, n_wires, kChunk, [&](size_t, size_t begin, size_t end) noexcept {
    for (size_t wire = begin; wire < end; ++wire)
      for (size_t tile = 0; tile < n_tiles; ++tile)
        tiles_->data()[tile * n_wires + wire] = tile_of(bits_->data() + wire * n_words_, tile);
  });
  pool.run(n_shares, [&](size_t thread, size_t share) noexcept {
    const size_t first = n_tiles * share / n_shares;
    for (size_t tile = first; tile < n_tiles * (share + 1) / n_shares; ++tile)
      backward_tile(tile, lowest, tile_grads_[thread]->data(), grad_coefficients_.data() + n_values * share,
                    tile == first);
  });
  return {grad_coefficients_.data(), n_shares, n_values, 1.0f};
}

void BitStack::backward_tile(size_t tile, size_t lowest, float* scratch, float* grad_coefficients,
                             bool is_first) const {
  const float* of_groups = of_groups_->data() + n_groups_ * 64 * n_words_ + tile * kBitTile;
  float* buffers[2] = {scratch, scratch + max_hidden_ * kBitTile};
  float* rows = scratch + 2 * max_hidden_ * kBitTile;
  for (size_t g = 0; g < n_groups_; ++g) std::copy_n(of_groups + g * 64 * n_words_, kBitTile, rows + g * kBitTile);
  GradRows grads{rows, places_.back().n_out / n_groups_};
  const uint32_t* x = tiles_->data() + tile * (n_inputs_ + n_gates());
  for (size_t l = places_.size(); l-- > lowest;) {
    const Place& place = places_[l];
    float* grad_x = l > lowest ? buffers[l % 2] : nullptr;
    if (grad_x) std::fill_n(grad_x, place.n_in * kBitTile, 0.0f);
    kernels().backward_tile(view(l), place.n_out, x + place.first_wire, grads, grad_x,
                            grad_coefficients + 4 * place.first_gate, is_first);
    grads = {grad_x, 1};
  }
}

void BitStack::pass_back(size_t l, const GradRows& grads, float* grad_x, Pool& pool) {
  run_chunks(pool, places_[l].n_in, kChunk, [&](size_t, size_t begin, size_t end) noexcept {
    kernels().pass_back(view(l), n_words_, begin, end, wires_of(l), grads, readers_[l].view(), grad_x);
  });
}

void BitStack::sum(size_t l, const GradRows& grads, const Update& update, const Adam& adam, Pool& pool) {
  float* to = grad_coefficients_.data() + 4 * places_[l].first_gate;
  const std::optional<Pins>& pins = wirings_[l].pins;
  const PinStep step{adam, update.temperature, update.scales[l]};
  run_chunks(pool, places_[l].n_out, pins ? kPinChunk : kChunk, [&](size_t thread, size_t begin, size_t end) noexcept {
    if (pins)
      kernels().update_pins(view(l), n_words_, begin, end, wires_of(l), grads, to, *pins, step,
                            scratch_[thread].data());
    else
      kernels().sum(view(l), n_words_, begin, end, wires_of(l), grads, to);
  });
}

BitLayer BitStack::view(size_t l) const {
  const size_t first = places_[l].first_gate;
  return {gates_.data() + first, wirings_[l].a.data(), wirings_[l].b.data(), coefficients_.data() + 4 * first};
}

}  // namespace gatewise
