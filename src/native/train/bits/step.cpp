#include "train/bits/step.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "simd/targets.hpp"

namespace gatewise {
namespace {

// Gates, or wires, that a thread takes at a time; fewer where each of them sums over many candidates.
constexpr size_t kChunk = 256, kPinChunk = 32;
// Outputs times words below which waking threads takes longer than the work.
constexpr size_t kSmallWork = 8'000;
// Gradients of coefficients are summed in this many fixed shares of the tiles, then share after share.
constexpr size_t kShares = 4;
// The operator of a maximum.
constexpr uint8_t kMaximum = gates::kOr;

const BitKernels& kernels() { return best_target().train.bits; }

bool reads_once(size_t n_wires, const BitStack::Wiring& wiring) {
  std::vector<uint8_t> n_readers(n_wires + 1);
  for (const auto* operands : {&wiring.a, &wiring.b})
    for (const int32_t wire : *operands)
      if (n_readers[static_cast<size_t>(wire)]++ && static_cast<size_t>(wire) < n_wires) return false;
  return std::all_of(n_readers.begin(), n_readers.end() - 1, [](uint8_t n) { return n == 1; });
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

void SortedReaderLists::build(size_t n_wires, const std::vector<int32_t>& a, const std::vector<int32_t>& b,
                              size_t per_row) {
  ReaderLists lists;
  lists.build(n_wires + 1, a, b);
  const Readers of = lists.view();
  const auto count = [&](uint32_t wire) { return of.begin[wire + 1] - of.begin[wire]; };
  wires_.resize(n_wires);
  std::iota(wires_.begin(), wires_.end(), 0u);
  std::stable_sort(wires_.begin(), wires_.end(), [&](uint32_t i, uint32_t j) { return count(i) < count(j); });
  for (const uint32_t wire : wires_) {
    if (runs_.empty() || runs_.back().n_readers != count(wire)) runs_.push_back({0, count(wire)});
    ++runs_.back().n_wires;
    for (uint32_t e = of.begin[wire]; e < of.begin[wire + 1]; ++e) {
      const uint32_t gate = of.edges[e] / 2, pin = of.edges[e] % 2;
      readers_.push_back({static_cast<uint32_t>(gate / per_row * kTileHalves), 4 * gate + 1 + pin,
                          static_cast<uint32_t>(pin ? a[gate] : b[gate])});
    }
  }
  readers_.resize(readers_.size() + kReadersAhead);  // fetched ahead, but never read
}

BitStack::BitStack(uint32_t n_inputs, std::vector<Wiring> wirings, uint32_t n_groups)
    : batch_(n_inputs, n_groups),
      wirings_(std::move(wirings)),
      readers_(wirings_.size()),
      sorted_readers_(wirings_.size()),
      taps_(wirings_.size()),
      grad_taps_(wirings_.size()) {
  const size_t n_layers = wirings_.size();
  lowest_pins_ = 0;
  while (lowest_pins_ < n_layers && (!wirings_[lowest_pins_].pins || has_taps(lowest_pins_))) ++lowest_pins_;
  tile_width_ = n_groups;
  size_t width = n_inputs;
  for (size_t l = 0; l < n_layers; ++l) {
    const Wiring& wiring = wirings_[l];
    places_.push_back({width, wiring.a.size(), n_gates_, n_wires_, reads_once(width, wiring)});
    if (wiring.pins) max_candidates_ = std::max(max_candidates_, wiring.pins->k);
    if (has_taps(l)) {
      taps_[l].resize(2 * wiring.n_gates);
      grad_taps_[l].resize(kShares * 2 * wiring.n_gates * wiring.pins->k);
    }
    if (l > lowest_pins_ && !wiring.pins) readers_[l].build(width + 1, wiring.a, wiring.b);
    if (l > 0 && has_halves(l))
      sorted_readers_[l].build(width, wiring.a, wiring.b, l + 1 < n_layers ? 1 : wiring.a.size() / n_groups);
    if (l > 0 && l >= lowest_pins_) row_width_ = std::max(row_width_, width);
    if (l > 0 && l <= lowest_pins_) tile_width_ = std::max(tile_width_, width + 1);
    n_wires_ += width + 1;
    n_gates_ += wiring.n_gates;
    width = wiring.a.size();
  }
  n_wires_ += width;
  gates_.resize(n_gates_);
  coefficients_.resize(4 * n_gates_);
  grad_coefficients_.resize((lowest_pins_ ? kShares : 1) * 4 * n_gates_);
}

double BitStack::run(const Samples& x, const Loss& loss, const Update& update, const Adam& adam, Pool& pool) {
  const size_t n_words = (x.n_samples + 63) / 64;
  Pool alone(1);
  const bool is_small = n_words * n_wires_ * std::max<size_t>(1, max_candidates_ / 4) < kSmallWork;
  Pool& workers = is_small ? alone : pool;
  reserve(n_words, workers.threads());
  choose(update, workers);
  batch_.pack(x, bits_->data());
  forward(workers);
  const uint64_t* outputs = bits_->data() + places_.back().first_output() * n_words_;
  const double total = batch_.differentiate(loss, outputs, n_outputs(), workers);
  const Shares grads = backward(x.n_samples, update, adam, workers);
  std::vector<float> scales = update.scales;
  for (size_t l = 0; l < wirings_.size(); ++l)
    if (has_halves(l)) scales[l] = 1;  // in their sums already
  update.mixtures.step(grads, adam, update.moments, scales, workers);
  return total;
}

void BitStack::reserve(size_t n_words, size_t n_threads) {
  const size_t row = 64 * n_words;
  batch_.reserve(n_words, n_threads);
  if (n_words != n_words_) {
    n_words_ = n_words;
    bits_ = std::make_unique<Buffer<uint64_t>>(n_wires_ * n_words);
    if (lowest_pins_ < wirings_.size())
      for (auto& each : grads_) each = std::make_unique<Buffer<float>>(row_width_ * row);
    if (lowest_pins_) tiles_ = std::make_unique<Buffer<uint32_t>>(n_wires_ * 2 * n_words);
    scratch_.clear();
  }
  while (scratch_.size() < n_threads) scratch_.emplace_back(pin_scratch(n_words, max_candidates_));
  while (lowest_pins_ && tile_grads_.size() < n_threads)
    tile_grads_.push_back(std::make_unique<Buffer<float>>(2 * tile_width_ * kBitTile + kTapScratch));
}

void BitStack::choose(const Update& update, Pool& pool) {
  update.mixtures.choose(coefficients_.data(), gates_.data(), pool);
  for (size_t l = 0; l < wirings_.size(); ++l) {
    Wiring& wiring = wirings_[l];
    if (!wiring.pins) continue;
    if (has_taps(l)) {
      choose_taps(l, pool);
      continue;
    }
    run_chunks(pool, wiring.a.size(), kChunk, [&](size_t, size_t begin, size_t end) noexcept {
      kernels().choose_wires(*wiring.pins, begin, end, wiring.a.data(), wiring.b.data());
    });
    if (l > 0) readers_[l].build(places_[l].n_in + 1, wiring.a, wiring.b);
  }
}

void BitStack::choose_taps(size_t l, Pool& pool) {
  Wiring& wiring = wirings_[l];
  const size_t n_gates = wiring.n_gates, n_positions = wiring.a.size() / n_gates;
  int32_t* taps[2] = {taps_[l].data(), taps_[l].data() + n_gates};
  run_chunks(pool, n_gates, kPinChunk, [&](size_t, size_t begin, size_t end) noexcept {
    kernels().choose_wires(*wiring.pins, begin, end, taps[0], taps[1]);
    for (size_t gate = begin; gate < end; ++gate)
      for (size_t pin = 0; pin < 2; ++pin)
        std::copy_n(wiring.window.data() + static_cast<size_t>(taps[pin][gate]) * n_positions, n_positions,
                    (pin ? wiring.b : wiring.a).data() + gate * n_positions);
  });
}

void BitStack::forward(Pool& pool) {
  for (size_t l = 0; l < places_.size(); ++l) {
    uint64_t* y = bits_->data() + places_[l].first_output() * n_words_;
    run_chunks(pool, places_[l].n_out, kChunk, [&](size_t, size_t begin, size_t end) noexcept {
      kernels().evaluate(view(l), n_words_, begin, end, wires_of(l), y);
    });
  }
}

Shares BitStack::backward(size_t n_samples, const Update& update, const Adam& adam, Pool& pool) {
  size_t lowest = 0, l = places_.size();  // lowest: layer that learns
  while (lowest < l && !update.moments[lowest].weights) ++lowest;
  float* of_outputs = batch_.grads();
  GradRows grads{of_outputs, n_outputs() / n_groups()};
  while (l > std::max(lowest, lowest_pins_)) {
    float* grad_x = grads_[--l % 2]->data();
    if (wirings_[l].is_rounded) round(places_[l].n_out / grads.per_row, update.scales[l], of_outputs, pool);
    if (l > lowest) pass_back(l, grads, grad_x, pool);
    if (update.moments[l].weights) sum(l, grads, update, adam, pool);
    grads = {of_outputs = grad_x, 1};
  }
  const size_t n_shares = l > lowest ? backward_tiles(n_samples, {lowest, l}, grads, update, pool) : 1;
  step_taps({lowest, l}, n_shares, update, adam, pool);
  return {grad_coefficients_.data(), n_shares, 4 * n_gates_, 1.0f};
}

// Without pins no sum needs a whole row of gradients: a tile goes back through all layers at once, near the core.
// Returns the number of shares; those after the first stay 0 for the layers above.
size_t BitStack::backward_tiles(size_t n_samples, Range layers, const GradRows& grads, const Update& update,
                                Pool& pool) {
  const size_t n_tiles = (n_samples + kBitTile - 1) / kBitTile, n_shares = std::min(kShares, n_tiles);
  run_chunks(pool, places_[layers.end - 1].first_output(), kChunk, [&](size_t, size_t begin, size_t end) noexcept {
    for (size_t wire = begin; wire < end; ++wire)
      for (size_t tile = 0; tile < n_tiles; ++tile)
        tiles_->data()[tile * n_wires_ + wire] = tile_of(bits_->data() + wire * n_words_, tile);
  });
  pool.run(n_shares, [&](size_t thread, size_t share) noexcept {
    const size_t first = n_tiles * share / n_shares;
    for (size_t tile = first; tile < n_tiles * (share + 1) / n_shares; ++tile)
      backward_tile({tile, share, tile == first}, layers, grads, update, tile_grads_[thread]->data());
  });
  return n_shares;
}

void BitStack::backward_tile(TileOf of, Range layers, const GradRows& grads, const Update& update, float* scratch) {
  float* buffers[2] = {scratch, scratch + tile_width_ * kBitTile};
  float* rows = buffers[layers.end % 2];
  const size_t n_rows = places_[layers.end - 1].n_out / grads.per_row;
  for (size_t r = 0; r < n_rows; ++r)
    std::copy_n(grads.values + r * 64 * n_words_ + of.tile * kBitTile, kBitTile, rows + r * kBitTile);
  size_t per_row = grads.per_row;
  for (size_t l = layers.end; l-- > layers.lowest;) {
    float* grad_x = l > layers.lowest ? buffers[l % 2] : nullptr;
    if (has_halves(l)) {
      uint32_t* halves = reinterpret_cast<uint32_t*>(rows);
      if (l + 1 == layers.end || !has_halves(l + 1))
        kernels().to_halves(rows, places_[l].n_out / per_row, update.scales[l], halves);
      backward_halves(l, of, {halves, per_row}, update, grad_x);
    } else {
      backward_floats(l, of, {rows, per_row}, update, grad_x, scratch + 2 * tile_width_ * kBitTile);
    }
    rows = grad_x;
    per_row = 1;
  }
}

void BitStack::backward_floats(size_t l, TileOf of, const GradRows& grads, const Update& update, float* grad_x,
                               float* tap_scratch) {
  const Place& place = places_[l];
  const uint32_t* x = tiles_->data() + of.tile * n_wires_ + place.first_wire;
  if (has_taps(l) && update.moments[l].weights)
    kernels().add_taps(view(l), *wirings_[l].pins, window(l), x, grads,
                       grad_taps_[l].data() + grad_taps_[l].size() / kShares * of.share, of.is_first, tap_scratch);
  if (grad_x && !place.reads_once) std::fill_n(grad_x, place.n_in * kBitTile, 0.0f);
  kernels().backward_tile(view(l), place.n_out, x, grads, grad_x, grad_coefficients(l, of.share), of.is_first);
}

// Rows in 16 bits hold gradients times the layer's scale; those of floats do not.
void BitStack::backward_halves(size_t l, TileOf of, const HalfRows& grads, const Update& update, float* grad_x) {
  const Place& place = places_[l];
  const uint32_t* x = tiles_->data() + of.tile * n_wires_ + place.first_wire;
  if (update.moments[l].weights)
    kernels().sum_halves(view(l), place.n_out, x, grads, grad_coefficients(l, of.share), of.is_first);
  if (!grad_x) return;
  const bool is_rounded = has_halves(l - 1);
  const float factor = (is_rounded ? update.scales[l - 1] : 1.0f) / update.scales[l];
  uint32_t* halves = is_rounded ? reinterpret_cast<uint32_t*>(grad_x) : nullptr;
  kernels().gather_halves(sorted_readers_[l].view(), view(l).coefficients, x, grads.values, factor, halves, grad_x);
}

void BitStack::round(size_t n_rows, float scale, float* values, Pool& pool) {
  const size_t row = 64 * n_words_;
  run_chunks(pool, n_rows, kChunk, [&](size_t, size_t begin, size_t end) noexcept {
    kernels().round_halves(values + begin * row, (end - begin) * row, scale);
  });
}

void BitStack::step_taps(Range layers, size_t n_shares, const Update& update, const Adam& adam, Pool& pool) {
  for (size_t l = layers.lowest; l < layers.end; ++l) {
    if (!has_taps(l) || !update.moments[l].weights) continue;
    const Pins& pins = *wirings_[l].pins;
    const Shares sums{grad_taps_[l].data(), n_shares, grad_taps_[l].size() / kShares, 1.0f};
    const PinStep step{adam, update.temperature, update.scales[l]};
    run_chunks(pool, 2 * pins.n_gates, kPinChunk, [&](size_t thread, size_t begin, size_t end) noexcept {
      kernels().step_taps(pins, begin, end, sums, step, scratch_[thread].data());
    });
  }
}

Window BitStack::window(size_t l) const {
  return {wirings_[l].window.data(), wirings_[l].a.size() / wirings_[l].n_gates};
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
  const Wiring& wiring = wirings_[l];
  const Place& place = places_[l];
  if (!wiring.n_gates) return {&kMaximum, wiring.a.data(), wiring.b.data(), nullptr, place.n_out, place.reads_once};
  return {
      gates_.data() + place.first_gate, wiring.a.data(), wiring.b.data(), coefficients_.data() + 4 * place.first_gate,
      place.n_out / wiring.n_gates,     place.reads_once};
}

}  // namespace gatewise
