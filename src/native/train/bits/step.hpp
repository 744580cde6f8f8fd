// A whole step of training on bits: choose gates and wires, run the batch forward as packed words, differentiate the
// loss, go back through the layers with float gradients, and update the logits of gates and pins with Adam.
//
// Layers from the lowest one whose outputs have pins of their own go back gate by gate, with rows of all samples; those
// below it, or all, tile by tile. Every sum is taken by one thread in a fixed order, or in fixed shares of the samples,
// so that the weights do not depend on the number of threads.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "support/buffer.hpp"
#include "support/pool.hpp"
#include "train/bits/batch.hpp"
#include "train/losses.hpp"
#include "train/mixtures.hpp"
#include "train/stack.hpp"

namespace gatewise {

// Who reads each wire, for a layer whose gates read a and b.
class ReaderLists {
 public:
  void build(size_t n_wires, const std::vector<int32_t>& a, const std::vector<int32_t>& b);
  Readers view() const { return {begin_.data(), edges_.data()}; }

 private:
  std::vector<uint32_t> begin_, edges_;
};

// The same for the way back in 16 bits; `per_row` outputs share a row.
class SortedReaderLists {
 public:
  void build(size_t n_wires, const std::vector<int32_t>& a, const std::vector<int32_t>& b, size_t per_row);
  SortedReaders view() const { return {runs_.data(), runs_.size(), wires_.data(), readers_.data()}; }

 private:
  std::vector<ReaderRun> runs_;
  std::vector<uint32_t> wires_;
  std::vector<Reader> readers_;
};

class BitStack {
 public:
  // The wires of a layer's outputs, fixed, or as the pins choose them at every step. A gate is shared by as many
  // consecutive outputs, its positions; without gates, an output is the larger of a and b. The wire after the last one
  // of the layer before is the constant 0. Layers after one with pins of its own for each output share nothing.
  struct Wiring {
    std::vector<int32_t> a, b;
    std::optional<Pins> pins;
    size_t n_gates = a.size();
    std::vector<int32_t> window = {};  // if positions share pins: see Window
    // Whether gradients of the outputs are rounded to 16 bits, after they were multiplied by the layer's scale. For
    // fixed wires and gates of one position.
    bool is_rounded = false;
  };

  // Outputs are sums over equal consecutive groups of the last layer, at least one.
  BitStack(uint32_t n_inputs, std::vector<Wiring> wirings, uint32_t n_groups);

  uint32_t n_inputs() const { return batch_.n_inputs(); }
  uint32_t n_groups() const { return batch_.n_groups(); }
  size_t n_gates() const { return n_gates_; }
  size_t n_outputs() const { return places_.back().n_out; }  // of the last layer

  struct Update {
    const Mixtures& mixtures;
    const std::vector<Moments>& moments;  // of the gates' logits; a layer without weights there is frozen
    const std::vector<float>& scales;     // multiply the gradients of each layer
    float temperature;                    // of the pins' softmax
  };

  // x: rows of 0/1 bytes, row_stride apart, at most kMaxBitSamples.
  // Returns the loss before the step.
  double run(const Samples& x, const Loss& loss, const Update& update, const Adam& adam, Pool& pool);

 private:
  struct Place {
    size_t n_in, n_out, first_gate, first_wire;  // of the layer's gates, and of the wires it reads, ...
    size_t first_output() const { return first_wire + n_in + 1; }  // ... after which comes the constant
    bool reads_once;
  };

  void reserve(size_t n_words, size_t n_threads);
  void choose(const Update& update, Pool& pool);
  void choose_taps(size_t layer, Pool& pool);
  void forward(Pool& pool);
  Shares backward(size_t n_samples, const Update& update, const Adam& adam, Pool& pool);
  // Layers lowest .. end - 1.
  struct Range {
    size_t lowest, end;
  };
  size_t backward_tiles(size_t n_samples, Range layers, const GradRows& grads, const Update& update, Pool& pool);
  // A tile, and the share of the sums that it is added to.
  struct TileOf {
    size_t tile, share;
    bool is_first;
  };
  void backward_tile(TileOf place, Range layers, const GradRows& grads, const Update& update, float* scratch);
  void backward_floats(size_t layer, TileOf place, const GradRows& grads, const Update& update, float* grad_x,
                       float* tap_scratch);
  void backward_halves(size_t layer, TileOf place, const HalfRows& grads, const Update& update, float* grad_x);
  void step_taps(Range layers, size_t n_shares, const Update& update, const Adam& adam, Pool& pool);
  bool has_taps(size_t layer) const { return !wirings_[layer].window.empty(); }
  bool has_halves(size_t layer) const { return wirings_[layer].is_rounded && layer < lowest_pins_; }
  float* grad_coefficients(size_t layer, size_t share) {
    return grad_coefficients_.data() + 4 * (n_gates_ * share + places_[layer].first_gate);
  }
  void round(size_t n_rows, float scale, float* values, Pool& pool);
  void pass_back(size_t layer, const GradRows& grads, float* grad_x, Pool& pool);
  void sum(size_t layer, const GradRows& grads, const Update& update, const Adam& adam, Pool& pool);
  BitLayer view(size_t layer) const;
  Window window(size_t layer) const;
  const uint64_t* wires_of(size_t layer) const { return bits_->data() + places_[layer].first_wire * n_words_; }

  BitBatch batch_;
  std::vector<Wiring> wirings_;
  std::vector<Place> places_;
  std::vector<ReaderLists> readers_;
  std::vector<SortedReaderLists> sorted_readers_;
  std::vector<std::vector<int32_t>> taps_;     // chosen values of a window, of pins a and then b
  std::vector<std::vector<float>> grad_taps_;  // of the candidates of shared pins, in shares
  size_t n_gates_ = 0, n_wires_ = 0;           // the latter with constants
  size_t lowest_pins_;                         // layer; as many as there are: all wires are fixed
  size_t row_width_ = 0, tile_width_ = 0;      // gradients between two layers, of all samples and of a tile
  uint32_t max_candidates_ = 0;
  std::vector<uint8_t> gates_;
  std::vector<float> coefficients_, grad_coefficients_;  // the latter in shares

  size_t n_words_ = 0;                                      // of a batch
  std::unique_ptr<Buffer<uint64_t>> bits_;                  // all wires
  std::unique_ptr<Buffer<uint32_t>> tiles_;                 // the same, tile after tile
  std::unique_ptr<Buffer<float>> grads_[2];                 // of the wires between two layers
  std::vector<std::unique_ptr<Buffer<float>>> tile_grads_;  // of each thread
  std::vector<std::vector<float>> scratch_;                 // of each thread
};

}  // namespace gatewise
