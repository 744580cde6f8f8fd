// Training on bits: every activation is one bit, so that a layer runs 64 samples to a word; gradients are floats.
//
// A wire holds `n_words` words, sample s in bit s % 64 of word s / 64, and its gradient is a *row* of 64 * n_words
// floats in the same order. Samples past the last have gradient 0, so it does not matter what their bits are.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace gatewise {

struct Mixture;
struct Adam;
struct Moments;
struct Shares;

// A *tile* is as many samples: the bits of a wire that are spread over the lanes of vectors together.
constexpr size_t kBitTile = 32;

// The bits of a wire in one of its tiles; machines are little-endian.
inline uint32_t tile_of(const uint64_t* words, size_t tile) {
  uint32_t bits;
  std::memcpy(&bits, reinterpret_cast<const char*>(words) + 4 * tile, sizeof bits);
  return bits;
}

// Output i reads wires a[i] and b[i] of the layer before by gate g = i / n_positions, which is the operator gates[g].
// Gradients see it relaxed: c0 + c1 a + c2 b + c3 ab, with coefficients[4 g .. 4 g + 3]; or, if these are null, as the
// larger of a and b.
struct BitLayer {
  const uint8_t* gates;
  const int32_t* a;
  const int32_t* b;
  const float* coefficients;
  size_t n_positions;
  bool reads_once;  // whether every wire of the layer before is one operand of one output
};

// Gradients of a layer's outputs. Neighbors share a row where only their sum is read: output i has row i / per_row.
struct GradRows {
  const float* values;
  size_t per_row;
};

// The same on one tile in 16 bits, bfloat16: a row is kTileHalves words, sample i in the lower half of word i, and
// sample 16 + i in its upper half.
constexpr size_t kTileHalves = kBitTile / 2;
struct HalfRows {
  const uint32_t* values;
  size_t per_row;
};

// A gate that reads a wire: where its row of gradients begins, where among all coefficients of the layer that of this
// operand is, and which wire is the other operand.
struct Reader {
  uint32_t row, coefficient, other;
};

// The readers of all wires. Wires that have equally many of them follow each other, so that loops over readers take
// turns that the core foresees: a run is such wires.
struct ReaderRun {
  size_t n_wires, n_readers;  // of each wire
};
constexpr size_t kReadersAhead = 24;  // rows lie anywhere in a layer and are fetched as many readers ahead
struct SortedReaders {
  const ReaderRun* runs;
  size_t n_runs;
  const uint32_t* wires;
  const Reader* readers;  // and kReadersAhead behind them that mean nothing
};

// The wires that both pins of every gate choose from, and the logits of the choice: arrays of 2 x n_gates x k, pin a of
// all gates before pin b.
struct Pins {
  const int32_t* candidates;
  float* logits;
  float* first;  // moments of Adam
  float* second;
  size_t n_gates;
  uint32_t k;
};

// The wires of pins that positions share, which choose among the values of a window: value v is wires[v * n_positions +
// p] at position p.
struct Window {
  const int32_t* wires;
  size_t n_positions;
};

// How the logits of pins follow from their gradients.
struct PinStep {
  const Adam& adam;
  float temperature;  // of the softmax that gradients see
  float scale;        // of the gradients
};

// Who reads each wire: edges begin[w] .. begin[w + 1] - 1, each 2 * gate + pin.
struct Readers {
  const uint32_t* begin;
  const uint32_t* edges;
};

// A sum over samples is at most 2^15 times as large as its largest term, so that sums of 16-bit terms fit into 32 bits.
constexpr size_t kMaxBitSamples = size_t{1} << 15;

// Floats of scratch that update_pins needs: the gradients of two pins, the same in 16 bits, and their sums.
constexpr size_t pin_scratch(size_t n_words, uint32_t k) { return 3 * 64 * n_words + 2 * (size_t{k} + 64); }

// Positions whose gradients are summed in integers together, and the floats of scratch that add_taps needs for them.
constexpr size_t kTapPositions = 128;
constexpr size_t kTapScratch = 3 * kTapPositions * kBitTile;

// Each works on gates, outputs or wires begin .. end - 1 of a layer; x are the wires of the layer before. `sum`,
// `update_pins` and `pass_back` are for layers whose gates have one position each.
struct BitKernels {
  // The operator with the largest logit, the lowest on ties, and the coefficients that gradients see.
  void (*choose_gates)(const Mixture& mixture, size_t begin, size_t end, float* coefficients, uint8_t* gates);
  // A step of Adam for the weights of gates, given the gradients of their coefficients.
  void (*step_gates)(const Mixture& mixture, size_t begin, size_t end, const Shares& grads, const Adam& adam,
                     const Moments& moments);
  // The candidate with the largest logit, the first on ties; for pin b only wires that pin a does not read, if any.
  void (*choose_wires)(const Pins& pins, size_t begin, size_t end, int32_t* a, int32_t* b);
  void (*evaluate)(const BitLayer& layer, size_t n_words, size_t begin, size_t end, const uint64_t* x, uint64_t* y);
  // How many of the wires are true, for each sample.
  void (*count)(const uint64_t* x, size_t n_words, size_t begin, size_t end, float* counts);
  // Gradients of the coefficients, overwritten.
  void (*sum)(const BitLayer& layer, size_t n_words, size_t begin, size_t end, const uint64_t* x, const GradRows& grads,
              float* grad_coefficients);
  // The same, and a step of Adam for the pins: the gradient of a candidate's probability is the sum over samples of the
  // pin's gradient where the candidate is true. It is summed in integers of 16 bits, relative to the pin's largest.
  void (*update_pins)(const BitLayer& layer, size_t n_words, size_t begin, size_t end, const uint64_t* x,
                      const GradRows& grads, float* grad_coefficients, const Pins& pins, const PinStep& step,
                      float* scratch);
  // Gradients of the wires, from all gates that read them.
  void (*pass_back)(const BitLayer& layer, size_t n_words, size_t begin, size_t end, const uint64_t* x,
                    const GradRows& grads, const Readers& readers, float* grad_x);
  // All outputs of a layer on one tile: x has the bits of a wire in a word, and rows are kBitTile floats. Adds to
  // grad_x (if not null; overwritten if the layer reads once) and to grad_coefficients (overwritten if `is_first`).
  void (*backward_tile)(const BitLayer& layer, size_t n_out, const uint32_t* x, const GradRows& grads, float* grad_x,
                        float* grad_coefficients, bool is_first);
  // The two halves of backward_tile for gates with one position each and gradients in 16 bits. The gradients of the
  // coefficients:
  void (*sum_halves)(const BitLayer& layer, size_t n_out, const uint32_t* x, const HalfRows& grads,
                     float* grad_coefficients, bool is_first);
  // Gradients of all wires times a factor, summed in 32 bits: to rows of 16 bits, or of floats if `halves` is null.
  void (*gather_halves)(const SortedReaders& readers, const float* coefficients, const uint32_t* x,
                        const uint32_t* grads, float factor, uint32_t* halves, float* floats);
  // Rows of floats of a tile, times a factor -> rows of 16 bits, which may begin at the same place.
  void (*to_halves)(const float* values, size_t n_rows, float factor, uint32_t* halves);
  // n values, a multiple of 16, as they come out of 16 bits; rounded while they are multiplied by `factor`.
  void (*round_halves)(float* values, size_t n, float factor);
  // Gradients of the probabilities of candidates, on one tile, of pins that positions share: added to `sums`, of the
  // shape of the logits, or written there if `is_first`. Integers as in update_pins, relative to the largest of
  // kTapPositions positions.
  void (*add_taps)(const BitLayer& layer, const Pins& pins, const Window& window, const uint32_t* x,
                   const GradRows& grads, float* sums, bool is_first, float* scratch);
  // A step of Adam for pins begin .. end - 1 of the 2 * n_gates, given such sums in shares. p: scratch as
  // pin_scratch(0).
  void (*step_taps)(const Pins& pins, size_t begin, size_t end, const Shares& sums, const PinStep& step, float* p);
};

}  // namespace gatewise
