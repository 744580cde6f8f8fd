// Lookup tables on bits: layers of nodes with k inputs, whose truth tables are learned entry by entry.
//
// An entry is a number from -1 to 1, and the table is true where it is positive. Input p of a node is the digit
// k - 1 - p of the number of the entry that is read. Rows and wires are those of bits/kernels.hpp.
#pragma once

#include <cstddef>
#include <cstdint>

#include "train/bits/kernels.hpp"

namespace gatewise {

struct Adam;
struct Moments;

constexpr uint32_t kMinNodeInputs = 3, kMaxNodeInputs = 6;

constexpr size_t table_size(uint32_t k) { return size_t{1} << k; }

// Nodes of one layer. `truth` has the bit of each entry; `slopes`, k x 2^k for each node, are the derivatives by each
// input at each entry, and have some floats that mean nothing behind them.
struct TableLayer {
  uint32_t k;
  size_t n;
  const int32_t* wires;  // k x n
  const uint64_t* truth;
  const float* slopes;
};

// Floats behind the slopes, which are read a vector at a time.
constexpr size_t kSlopePadding = 16;

// The wires that every pin chooses from, and the logits of the choice: arrays of k x n x n_candidates.
struct TablePins {
  const int32_t* candidates;
  float* logits;
  float* first;  // moments of Adam
  float* second;
  uint32_t n_candidates;
};

// How entries, and the logits of pins if there are any, follow from their gradients.
struct TableStep {
  const Adam& adam;
  const Moments& entries;
  const TablePins* pins;
  float temperature;  // of the pins' softmax
  float scale;        // of the gradients
};

// Floats of scratch that update_tables needs: the gradients of all pins, the numbers of the entries, the gradients of a
// pin in 16 bits, and their sums.
constexpr size_t table_scratch(size_t n_words, uint32_t n_candidates) {
  return (kMaxNodeInputs + 2) * 64 * n_words + 2 * (size_t{n_candidates} + 64);
}

// Each works on nodes, or tiles, begin .. end - 1; x are the wires of the layer before.
struct TableKernels {
  // Truth tables, and slopes if they are not null, of nodes with these entries, n x 2^k.
  void (*choose_tables)(uint32_t k, const float* entries, size_t begin, size_t end, uint64_t* truth, float* slopes);
  // The candidate of each pin with the largest logit, the first on ties, but for the wires of the pins before it,
  // unless there is no other.
  void (*choose_inputs)(const TablePins& pins, uint32_t k, size_t n, size_t begin, size_t end, int32_t* wires);
  void (*look_up)(const TableLayer& layer, size_t n_words, size_t begin, size_t end, const uint64_t* x, uint64_t* y);
  // A step of Adam for the entries, which stay between -1 and 1, and for the pins. Node i has row i / per_row of grads.
  void (*update_tables)(const TableLayer& layer, size_t n_words, size_t begin, size_t end, const uint64_t* x,
                        const GradRows& grads, const TableStep& step, float* scratch);
  // Gradients of all n_in wires in some tiles, overwritten.
  void (*pass_tiles_back)(const TableLayer& layer, size_t n_words, size_t begin, size_t end, const uint64_t* x,
                          const GradRows& grads, size_t n_in, float* grad_x);
};

}  // namespace gatewise
