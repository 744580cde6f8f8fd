// The inner loops of lookup tables; what depends on the number of inputs is compiled for each.
#pragma once

#include "train/bits/pins.inc.hpp"
#include "train/bits/tables.hpp"

namespace gatewise {
namespace {

// Calls use(inputs) with the number of inputs as a constant.
template <uint32_t K>
struct Inputs {
  static constexpr uint32_t k = K;
  static constexpr size_t size = table_size(K);
};

template <typename Use>
inline void with_inputs(uint32_t k, const Use& use) {
  if (k == 3) return use(Inputs<3>());
  if (k == 4) return use(Inputs<4>());
  if (k == 5) return use(Inputs<5>());
  use(Inputs<6>());
}

// What a false input counts as in the derivatives; a true one counts as 1 - kSoft.
constexpr float kSoft = 0.25f;

// Replaces the two values along an axis by their difference, or blurs them.
template <size_t kSize, bool kDifference>
inline void fold_axis(float* cube, size_t stride) {
  for (size_t base = 0; base < kSize; base += 2 * stride)
    for (size_t i = base; i < base + stride; ++i) {
      const float off = cube[i], on = cube[i + stride];
      const float slope = (1 - 2 * kSoft) * (on - off);
      cube[i] = kDifference ? slope : (1 - kSoft) * off + kSoft * on;
      cube[i + stride] = kDifference ? slope : kSoft * off + (1 - kSoft) * on;
    }
}

// The derivative by an input is the difference along its axis, blurred along all others: those before it are blurred in
// `cube` already.
template <uint32_t K>
inline void differentiate(const float* entries, float* slopes) {
  constexpr size_t size = table_size(K);
  float cube[size];
  std::memcpy(cube, entries, sizeof cube);
#pragma GCC unroll 6
  for (uint32_t by = 0; by < K; ++by) {
    float* to = slopes + by * size;
    std::memcpy(to, cube, sizeof cube);
    fold_axis<size, true>(to, size >> (by + 1));
#pragma GCC unroll 6
    for (uint32_t axis = by + 1; axis < K; ++axis) fold_axis<size, false>(to, size >> (axis + 1));
    fold_axis<size, false>(cube, size >> (by + 1));
  }
}

void choose_tables(uint32_t k, const float* entries, size_t begin, size_t end, uint64_t* truth, float* slopes) {
  with_inputs(k, [&](auto inputs) {
    constexpr uint32_t n_inputs = decltype(inputs)::k;
    constexpr size_t size = decltype(inputs)::size;
    for (size_t i = begin; i < end; ++i) {
      uint64_t bits = 0;
      for (size_t entry = 0; entry < size; ++entry) bits |= uint64_t{entries[i * size + entry] > 0} << entry;
      truth[i] = bits;
      if (slopes) differentiate<n_inputs>(entries + i * size, slopes + i * n_inputs * size);
    }
  });
}

void choose_inputs(const TablePins& pins, uint32_t k, size_t n, size_t begin, size_t end, int32_t* wires) {
  const uint32_t n_candidates = pins.n_candidates;
  for (uint32_t pin = 0; pin < k; ++pin)
    for (size_t i = begin; i < end; ++i) {
      const auto is_taken = [&](int32_t wire) {
        bool taken = false;
        for (uint32_t before = 0; before < pin; ++before) taken |= wires[before * n + i] == wire;
        return taken;
      };
      const float* logits = pins.logits + (pin * n + i) * n_candidates;
      const int32_t* candidates = pins.candidates + (pin * n + i) * n_candidates;
      uint32_t best = pick_largest(logits, n_candidates);
      if (is_taken(candidates[best])) {
        uint32_t other = n_candidates;
        for (uint32_t j = 0; j < n_candidates; ++j)
          if (!is_taken(candidates[j]) && (other == n_candidates || logits[j] > logits[other])) other = j;
        best = other < n_candidates ? other : best;
      }
      wires[pin * n + i] = candidates[best];
    }
}

// The value of the table at one word of each input: selected by one input after the other, the last one first.
template <uint32_t K>
inline uint64_t select(uint64_t truth, const uint64_t* inputs) {
  uint64_t values[table_size(K) / 2];
  for (size_t i = 0; i < table_size(K) / 2; ++i) {
    const uint64_t off = 0 - (truth >> 2 * i & 1), on = 0 - (truth >> (2 * i + 1) & 1);
    values[i] = off ^ (inputs[K - 1] & (off ^ on));
  }
  for (uint32_t level = 1; level < K; ++level)
    for (size_t i = 0; i < table_size(K) >> (level + 1); ++i)
      values[i] = values[2 * i] ^ (inputs[K - 1 - level] & (values[2 * i] ^ values[2 * i + 1]));
  return values[0];
}

void look_up(const TableLayer& layer, size_t n_words, size_t begin, size_t end, const uint64_t* x, uint64_t* y) {
  with_inputs(layer.k, [&](auto inputs) {
    constexpr uint32_t k = decltype(inputs)::k;
    for (size_t i = begin; i < end; ++i)
      for (size_t w = 0; w < n_words; ++w) {
        uint64_t words[k];
        for (uint32_t pin = 0; pin < k; ++pin) words[pin] = x[size_t(layer.wires[pin * layer.n + i]) * n_words + w];
        y[i * n_words + w] = select<k>(layer.truth[i], words);
      }
  });
}

// The bits that a node reads in a tile, ready to be spread.
template <uint32_t K>
struct TileInputs {
  Ints bits[K];
  TileInputs(const TableLayer& layer, size_t i, const uint64_t* x, size_t n_words, size_t tile) {
    for (uint32_t pin = 0; pin < K; ++pin)
      bits[pin] = splat_bits(tile_of(x + size_t(layer.wires[pin * layer.n + i]) * n_words, tile));
  }
  // The numbers of the entries that the samples of a vector read.
  Ints entries(const LaneBits& lanes, size_t v) const {
    Ints found = {};
#pragma GCC unroll 6
    for (uint32_t pin = 0; pin < K; ++pin) found |= lanes.mask(bits[pin], v) & (1 << (K - 1 - pin));
    return found;
  }
};

// values[at] in each lane. Where registers can be shuffled, memory is read in whole vectors.
template <size_t kSize>
inline Floats take(const float* values, Ints at) {
#if defined(GATEWISE_AVX512) || defined(GATEWISE_AVX2)
  if constexpr (kSize > 2 * kLanes) {
    const Ints is_high = (at & static_cast<int>(kSize / 2)) != 0;
    return is_high ? take<kSize / 2>(values + kSize / 2, at) : take<kSize / 2>(values, at);
  } else {
    const Floats low = load(values);
    return shuffle(low, kSize > kLanes ? load(values + kLanes) : low, at & static_cast<int>(2 * kLanes - 1));
  }
#else
  Floats found;
  for (size_t i = 0; i < kLanes; ++i) found[i] = values[at[i]];
  return found;
#endif
}

inline Floats magnitude_of(Floats x) { return (Floats)((Ints)x & 0x7FFFFFFF); }

// Sums of a row over the samples that read each entry. Four sums take turns, so that one need not wait for another.
template <size_t kSize>
inline void sum_entries(const float* row, const int32_t* entries, size_t n_samples, float* sums) {
  float parts[4][kSize] = {};
  for (size_t s = 0; s < n_samples; s += 4)
    for (size_t part = 0; part < 4; ++part) parts[part][entries[s + part]] += row[s + part];
  for (size_t entry = 0; entry < kSize; ++entry)
    sums[entry] = (parts[0][entry] + parts[1][entry]) + (parts[2][entry] + parts[3][entry]);
}

// A step of Adam for the entries of a node, which stay between -1 and 1.
template <size_t kSize>
inline void step_entries(const TableStep& step, size_t node, const float* grads) {
  constexpr size_t count = kSize < kLanes ? kSize : kLanes;
  for (size_t at = 0; at < kSize; at += count) {
    step_adam(step.adam, step.entries, node * kSize + at, count, load_first(grads + at, count) * step.scale);
    float* weights = step.entries.weights + node * kSize + at;
    Floats entry = load_first(weights, count);
    entry = entry > 1.0f ? splat(1.0f) : entry;
    entry = entry < -1.0f ? splat(-1.0f) : entry;
    store_first(weights, entry, count);
  }
}

// A step of the logits of one pin, given its gradients.
inline void update_pin(const TablePins& pins, size_t pin, const float* grads, Floats magnitudes, size_t n_words,
                       const uint64_t* x, const TableStep& step, float* scratch) {
  const PairBits lanes;
  const uint32_t n_candidates = pins.n_candidates;
  int32_t* pairs = reinterpret_cast<int32_t*>(scratch);
  float* sums = scratch + 64 * n_words;
  const float unit = quantize(grads, magnitudes, 2 * n_words, pairs);
  const Pins of_pin{pins.candidates, pins.logits, pins.first, pins.second, 0, n_candidates};
  sum_candidates(lanes, of_pin, pin * n_candidates, x, n_words, pairs, unit, sums);
  step_pin(of_pin, pin * n_candidates, sums, {step.adam, step.temperature, step.scale}, sums + n_candidates + 64);
}

// Gradients of the pins of a node for every sample, and the entries that the samples read.
template <uint32_t K>
inline void differentiate_node(const TableLayer& layer, size_t i, const uint64_t* x, size_t n_words, const float* row,
                               bool has_pins, int32_t* entries, float* of_pins, Floats* magnitudes) {
  const LaneBits lanes;
  const float* slopes = layer.slopes + i * K * table_size(K);
  for (size_t tile = 0; tile < 2 * n_words; ++tile) {
    const TileInputs<K> inputs(layer, i, x, n_words, tile);
    for (size_t v = 0; v < kTileVectors; ++v) {
      const size_t at = tile * kBitTile + v * kLanes;
      const Ints entry = inputs.entries(lanes, v);
      std::memcpy(entries + at, &entry, sizeof entry);
      if (!has_pins) continue;
      const Floats g = load(row + at);
#pragma GCC unroll 6
      for (uint32_t pin = 0; pin < K; ++pin) {
        const Floats of_pin = g * take<table_size(K)>(slopes + pin * table_size(K), entry);
        const Floats magnitude = magnitude_of(of_pin);
        store(of_pins + pin * 64 * n_words + at, of_pin);
        magnitudes[pin] = magnitude > magnitudes[pin] ? magnitude : magnitudes[pin];
      }
    }
  }
}

void update_tables(const TableLayer& layer, size_t n_words, size_t begin, size_t end, const uint64_t* x,
                   const GradRows& grads, const TableStep& step, float* scratch) {
  const size_t n_samples = 64 * n_words;
  int32_t* entries = reinterpret_cast<int32_t*>(scratch);
  float* of_pins = scratch + n_samples;
  float* rest = of_pins + kMaxNodeInputs * n_samples;
  with_inputs(layer.k, [&](auto inputs) {
    constexpr uint32_t k = decltype(inputs)::k;
    constexpr size_t size = decltype(inputs)::size;
    for (size_t i = begin; i < end; ++i) {
      const float* row = row_of(grads, i, n_words);
      Floats magnitudes[k] = {};
      differentiate_node<k>(layer, i, x, n_words, row, step.pins != nullptr, entries, of_pins, magnitudes);
      float sums[size];
      sum_entries<size>(row, entries, n_samples, sums);
      step_entries<size>(step, i, sums);
      if (!step.pins) continue;
      for (uint32_t pin = 0; pin < k; ++pin)
        update_pin(*step.pins, pin * layer.n + i, of_pins + pin * n_samples, magnitudes[pin], n_words, x, step, rest);
    }
  });
}

void pass_tiles_back(const TableLayer& layer, size_t n_words, size_t begin, size_t end, const uint64_t* x,
                     const GradRows& grads, size_t n_in, float* grad_x) {
  const LaneBits lanes;
  const size_t row = 64 * n_words;
  with_inputs(layer.k, [&](auto inputs) {
    constexpr uint32_t k = decltype(inputs)::k;
    constexpr size_t size = decltype(inputs)::size;
    for (size_t tile = begin; tile < end; ++tile) {
      float* to = grad_x + tile * kBitTile;
      for (size_t wire = 0; wire < n_in; ++wire)
        for (size_t v = 0; v < kTileVectors; ++v) store(to + wire * row + v * kLanes, Floats{});
      for (size_t i = 0; i < layer.n; ++i) {
        const TileInputs<k> read(layer, i, x, n_words, tile);
        const float* g = row_of(grads, i, n_words) + tile * kBitTile;
        const float* slopes = layer.slopes + i * k * size;
        for (size_t v = 0; v < kTileVectors; ++v) {
          const Ints entry = read.entries(lanes, v);
          const Floats grad = load(g + v * kLanes);
#pragma GCC unroll 6
          for (uint32_t pin = 0; pin < k; ++pin) {
            float* at = to + size_t(layer.wires[pin * layer.n + i]) * row + v * kLanes;
            store(at, load(at) + grad * take<size>(slopes + pin * size, entry));
          }
        }
      }
    }
  });
}

}  // namespace
}  // namespace gatewise
