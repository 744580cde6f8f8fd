// Runs a planned circuit over any number of rows: blocks of lanes, spread over threads.
#pragma once

#include <memory>
#include <vector>

#include "circuit/circuit.hpp"
#include "engine/kernels.hpp"
#include "engine/program.hpp"
#include "support/idle.hpp"
#include "support/pool.hpp"

namespace gatewise {

enum class Layout {
  kBytes,     // one byte 0 or 1 per feature
  kBitsHigh,  // eight features to a byte, the first in the highest bit (numpy's default)
  kBitsLow,   // eight features to a byte, the first in the lowest bit
  kPlanes,    // one row of 64-bit words per feature, lane i in bit i % 64 of word i / 64
};

// Borrowed input. Strides are in bytes; for planes, row_stride is the distance between features.
struct Rows {
  Layout layout;
  const uint8_t* data;
  size_t n_rows;
  ptrdiff_t row_stride;
  ptrdiff_t column_stride;  // kBytes only
};

// Plans for counts and classes, or for all outputs; safe to call from several threads.
class Engine {
 public:
  // `words` is the widest block, one of kWidths, or 0 to choose it from the circuit's size; `band` is that of plan().
  Engine(const CircuitView& circuit, Outputs mode, const EngineKernels& kernels, uint32_t words, uint32_t band);
  ~Engine();

  // Each returns false, with unspecified results, if some byte of kBytes rows is neither 0 nor 1.
  // counts: n_rows x n_groups, needs kCounted; classify: n_rows, needs kCounted and a group; outputs: n_rows x
  // n_outputs, needs kKept.
  [[nodiscard]] bool counts(const Rows& rows, int32_t* out, Pool& pool) const;
  [[nodiscard]] bool classify(const Rows& rows, int32_t* out, Pool& pool) const;
  [[nodiscard]] bool outputs(const Rows& rows, uint8_t* out, Pool& pool) const;

  uint32_t n_inputs() const { return n_inputs_; }
  uint32_t n_groups() const { return n_groups_; }
  uint32_t n_outputs() const { return n_outputs_; }
  bool keeps_outputs() const { return keeps_outputs_; }
  uint32_t words() const { return kWidths[max_width_]; }
  const Program& program() const { return program_; }

 private:
  struct Scratch;                                           // of one thread
  using Scratches = std::vector<std::unique_ptr<Scratch>>;  // of one call
  struct Block {
    size_t first, n_lanes;
    uint32_t width;  // index into kWidths
    uint32_t words() const { return kWidths[width]; }
  };

  // Runs all blocks; finish(block, scratch) takes the results out.
  template <typename Finish>
  bool run(const Rows& rows, Finish finish, Pool& pool) const;
  Block block_at(size_t first, size_t n_rows) const;
  bool load(const Rows& rows, const Block& block, Scratch& scratch, BlockView& view) const;
  bool pack(const Rows& rows, const Block& block, size_t n_words, uint64_t* slots, Scratch& scratch) const;
  void clear_planes(uint32_t words, Scratch& scratch) const;
  std::unique_ptr<Scratches> take_scratches(size_t n, const Rows& rows) const;

  const uint32_t n_inputs_, n_groups_, n_outputs_;
  const bool keeps_outputs_;
  const EngineKernels& kernels_;
  const Program program_;
  const uint32_t max_width_;
  mutable Idle<Scratches> scratches_;
};

}  // namespace gatewise
