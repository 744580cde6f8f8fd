// A whole step of training lookup tables on bits: choose tables and wires, run the batch forward as packed words,
// differentiate the loss, go back through the layers with float gradients, and update entries and pins with Adam.
//
// Every sum is taken by one thread in a fixed order, so that the weights do not depend on the number of threads.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "support/buffer.hpp"
#include "support/pool.hpp"
#include "train/bits/batch.hpp"
#include "train/bits/tables.hpp"
#include "train/losses.hpp"
#include "train/samples.hpp"

namespace gatewise {

class TableStack {
 public:
  // The inputs of a layer's nodes, k x n, fixed, or as the pins choose them at every step; and their entries, n x 2^k.
  struct Layer {
    uint32_t k;
    std::vector<int32_t> wires;
    std::optional<TablePins> pins;
    const float* entries;

    size_t size() const { return wires.size() / k; }
  };

  // Outputs are sums over equal consecutive groups of the last layer, at least one.
  TableStack(uint32_t n_inputs, std::vector<Layer> layers, uint32_t n_groups);

  uint32_t n_inputs() const { return batch_.n_inputs(); }
  uint32_t n_groups() const { return batch_.n_groups(); }

  struct Update {
    const std::vector<Moments>& moments;  // of the entries; a layer without weights there is frozen
    const std::vector<float>& scales;     // multiply the gradients of each layer
    float temperature;                    // of the pins' softmax
  };

  // x: rows of 0/1 bytes, row_stride apart, at most kMaxBitSamples.
  // Returns the loss before the step.
  double run(const Samples& x, const Loss& loss, const Update& update, const Adam& adam, Pool& pool);

 private:
  struct Place {
    size_t n_in, n, first_wire;  // wires that the layer reads, its nodes, and the first wire it reads
    std::vector<uint64_t> truth;
    std::vector<float> slopes;
  };

  void reserve(size_t n_words, size_t n_threads);
  void choose(size_t lowest, Pool& pool);
  void forward(Pool& pool);
  void backward(size_t lowest, const Update& update, const Adam& adam, Pool& pool);
  TableLayer view(size_t layer) const;
  const uint64_t* wires_of(size_t layer) const { return bits_->data() + places_[layer].first_wire * n_words_; }
  const uint64_t* outputs() const { return bits_->data() + (n_wires_ - places_.back().n) * n_words_; }

  BitBatch batch_;
  std::vector<Layer> layers_;
  std::vector<Place> places_;
  size_t n_wires_ = 0, max_hidden_ = 0;  // inputs and nodes; nodes of the widest layer but the last
  uint32_t max_candidates_ = 0;

  size_t n_words_ = 0;                       // of a batch
  std::unique_ptr<Buffer<uint64_t>> bits_;   // all wires
  std::unique_ptr<Buffer<float>> grads_[2];  // of the wires between two layers
  std::vector<std::vector<float>> scratch_;  // of each thread
};

}  // namespace gatewise
