#include "engine.hpp"

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstring>

#include "buffer.hpp"

namespace gatewise {
namespace {

static_assert(std::endian::native == std::endian::little, "bit-planes are read as little-endian words");

constexpr size_t kRowsPerWord = 64;

// Wide blocks spend less on decoding; but slots and the rows that fill them should share the second-level cache. One
// cache line a wire is the least that large circuits want.
uint32_t choose_width(size_t n_slots, size_t n_inputs) {
  constexpr size_t cache = size_t{512} << 10;
  const size_t widest = kWidths[kNumWidths - 1];
  const size_t bytes = widest * (n_slots * sizeof(uint64_t) + kRowsPerWord * n_inputs);
  return bytes <= cache ? kNumWidths - 1 : kNumWidths - 2;
}

// The rows this thread will likely pack next, as far as they are one piece of memory and leave room in the cache.
Upcoming rows_after(const Rows& rows, size_t first, size_t n_lanes) {
  constexpr size_t most = size_t{512} << 10;
  if (rows.layout == Layout::kPlanes || rows.row_stride <= 0 || first >= rows.n_rows) return {nullptr, 0};
  const size_t n_rows = std::min(n_lanes, rows.n_rows - first), stride = static_cast<size_t>(rows.row_stride);
  return {rows.data + first * stride, std::min(n_rows * stride, most)};
}

// Scratch for packing; the first term is for bytes, the second for bits in blocks of any width.
size_t octet_bytes(size_t n_inputs) {
  size_t most = octet_pitch(n_inputs) * words_per_pass(n_inputs);
  for (const size_t words : kWidths)
    most = std::max(most, octet_pitch(std::min(n_inputs, features_per_pass(words))) * words);
  return 8 * most;
}

uint32_t width_of(uint32_t words) {
  return static_cast<uint32_t>(std::find(kWidths, kWidths + kNumWidths, words) - kWidths);
}

}  // namespace

struct Engine::Scratch {
  Buffer<uint64_t> slots, planes;
  Buffer<uint64_t> inputs;        // bit-planes, for a program that loads them
  Buffer<uint8_t> octets;         // see Kernels::pack_bytes
  Buffer<uint8_t> empty_row;      // stands for the rows past the last
  std::vector<uint8_t> gathered;  // a block of rows, for inputs with strided columns

  explicit Scratch(const Engine& engine)
      : slots(size_t{engine.program_.n_slots} * engine.words()),
        planes(size_t{engine.n_groups_} * engine.program_.n_planes * engine.words()),
        inputs(engine.program_.loads_inputs ? size_t{engine.n_inputs_} * engine.words() : 0),
        octets(octet_bytes(engine.n_inputs_)),
        empty_row(engine.n_inputs_) {}
};

Engine::Engine(const CircuitView& circuit, Outputs mode, unsigned threads, const Kernels& kernels, uint32_t words,
               uint32_t tile)
    : n_inputs_(circuit.n_inputs),
      n_groups_(circuit.n_groups),
      n_outputs_(circuit.n_outputs),
      kernels_(kernels),
      program_(plan(circuit, mode, tile)),
      max_width_(words == 0 ? choose_width(program_.n_slots, n_inputs_) : width_of(words)),
      threads_(threads),
      pool_(threads) {}

Engine::~Engine() = default;

bool Engine::counts(const Rows& rows, int32_t* out) {
  return run(rows, [&](const Block& block, const Scratch& scratch) {
    kernels_.write_counts(scratch.planes.data(), n_groups_, program_.n_planes, block.words(), block.n_lanes,
                          out + block.first * n_groups_);
  });
}

bool Engine::classify(const Rows& rows, int32_t* out) {
  return run(rows, [&](const Block& block, const Scratch& scratch) {
    kernels_.write_classes(scratch.planes.data(), n_groups_, program_.n_planes, block.words(), block.n_lanes,
                           out + block.first);
  });
}

bool Engine::outputs(const Rows& rows, uint8_t* out) {
  return run(rows, [&](const Block& block, const Scratch& scratch) {
    kernels_.write_outputs(scratch.slots.data(), program_.output_slots.data(), n_outputs_, block.words(), block.n_lanes,
                           out + block.first * n_outputs_);
  });
}

template <typename Finish>
bool Engine::run(const Rows& rows, Finish finish) {
  const size_t lanes = size_t{kRowsPerWord} * words();
  const size_t n_blocks = (rows.n_rows + lanes - 1) / lanes;
  const ProgramView program = program_.view();
  std::vector<std::unique_ptr<Scratch>> scratch = take_scratch(std::min<size_t>(threads_, n_blocks));
  if (rows.layout == Layout::kBytes && rows.column_stride != 1)
    for (std::unique_ptr<Scratch>& each : scratch) each->gathered.resize(std::min(lanes, rows.n_rows) * n_inputs_);
  std::atomic<bool> valid{true};
  pool_.run(n_blocks, [&](size_t thread, size_t index) {
    const Block block = block_at(index * lanes, rows.n_rows);
    Scratch& own = *scratch[thread];
    BlockView view{own.slots.data(), own.planes.data(), nullptr, 0};
    if (!load(rows, block, own, view)) valid.store(false, std::memory_order_relaxed);
    clear_planes(block.words(), own);
    const Upcoming upcoming = rows_after(rows, block.first + threads_ * lanes, lanes);
    kernels_.evaluate[block.width][program_.is_wide()](program, upcoming, view);
    finish(block, own);
  });
  give_scratch(std::move(scratch));
  return valid;
}

// The last block, or a small batch, takes the narrowest width that holds its rows.
Engine::Block Engine::block_at(size_t first, size_t n_rows) const {
  const size_t n_lanes = std::min(n_rows - first, kRowsPerWord * size_t{words()});
  uint32_t width = 0;
  while (kRowsPerWord * kWidths[width] < n_lanes) ++width;
  return {first, n_lanes, width};
}

// Brings the block's inputs to their slots, or to where the program loads them from.
bool Engine::load(const Rows& rows, const Block& block, Scratch& scratch, BlockView& view) const {
  const uint32_t words = block.words();
  std::memset(view.slots, 0, words * sizeof(uint64_t));
  std::memset(view.slots + words, 0xFF, words * sizeof(uint64_t));
  uint64_t* inputs = view.slots + size_t{kConstantWires} * words;
  if (program_.loads_inputs) {
    inputs = scratch.inputs.data();
    view.inputs = reinterpret_cast<const uint8_t*>(inputs);
    view.input_stride = static_cast<ptrdiff_t>(words * sizeof(uint64_t));
  }
  const size_t n_words = (block.n_lanes + kRowsPerWord - 1) / kRowsPerWord;
  if (rows.layout != Layout::kPlanes) return pack(rows, block, n_words, inputs, scratch);
  const uint8_t* planes = rows.data + block.first / 8;
  if (program_.loads_inputs && n_words == words) {
    view.inputs = planes;
    view.input_stride = rows.row_stride;
    return true;
  }
  for (size_t f = 0; f < n_inputs_; ++f)
    std::memcpy(inputs + f * words, planes + static_cast<ptrdiff_t>(f) * rows.row_stride, n_words * sizeof(uint64_t));
  return true;
}

bool Engine::pack(const Rows& rows, const Block& block, size_t n_words, uint64_t* slots, Scratch& scratch) const {
  const uint8_t* row[kRowsPerWord * kWidths[kNumWidths - 1]];
  for (size_t r = 0; r < kRowsPerWord * n_words; ++r)
    row[r] = r < block.n_lanes ? rows.data + static_cast<ptrdiff_t>(block.first + r) * rows.row_stride
                               : scratch.empty_row.data();
  if (rows.layout != Layout::kBytes) {
    const unsigned reversed = rows.layout == Layout::kBitsHigh ? 7 : 0;
    kernels_.pack_bits(row, n_words, n_inputs_, reversed, scratch.octets.data(), slots, block.words());
    return true;
  }
  for (size_t r = 0; r < block.n_lanes && rows.column_stride != 1; ++r) {
    uint8_t* to = scratch.gathered.data() + r * n_inputs_;
    for (size_t f = 0; f < n_inputs_; ++f) to[f] = row[r][static_cast<ptrdiff_t>(f) * rows.column_stride];
    row[r] = to;
  }
  return kernels_.pack_bytes(row, n_words, n_inputs_, scratch.octets.data(), slots, block.words()) <= 1;
}

// Counts start at the number of outputs that are constant true.
void Engine::clear_planes(uint32_t words, Scratch& scratch) const {
  uint64_t* plane = scratch.planes.data();
  for (const uint32_t bias : program_.bias)
    for (uint32_t p = 0; p < program_.n_planes; ++p, plane += words)
      std::memset(plane, bias >> p & 1 ? 0xFF : 0, words * sizeof(uint64_t));
}

std::vector<std::unique_ptr<Engine::Scratch>> Engine::take_scratch(size_t n) {
  std::vector<std::unique_ptr<Scratch>> taken;
  {
    const std::lock_guard lock(mutex_);
    while (taken.size() < n && !idle_.empty()) {
      taken.push_back(std::move(idle_.back()));
      idle_.pop_back();
    }
  }
  while (taken.size() < n) taken.push_back(std::make_unique<Scratch>(*this));
  return taken;
}

void Engine::give_scratch(std::vector<std::unique_ptr<Scratch>> scratch) {
  const std::lock_guard lock(mutex_);
  for (std::unique_ptr<Scratch>& each : scratch) idle_.push_back(std::move(each));
}

}  // namespace gatewise
