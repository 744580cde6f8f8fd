#include "engine/engine.hpp"

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstring>

#include "support/buffer.hpp"

namespace gatewise {
namespace {

static_assert(std::endian::native == std::endian::little, "bit-planes are read as little-endian words");

constexpr size_t kRowsPerWord = 64;

// Wide blocks spend less on decoding; but slots and the rows that fill them should share the second-level cache. One
// cache line per wire is the least that large circuits want.
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
  Buffer<uint8_t> octets;         // see EngineKernels::pack_bytes
  Buffer<uint8_t> empty_row;      // stands for the rows past the last
  std::vector<uint8_t> gathered;  // a block of rows, for inputs with strided columns

  explicit Scratch(const Engine& engine)
      : slots(size_t{engine.program_.n_slots} * engine.words()),
        planes(size_t{engine.n_groups_} * engine.program_.n_planes * engine.words()),
        inputs(engine.program_.loads_inputs ? size_t{engine.n_inputs_} * engine.words() : 0),
        octets(octet_bytes(engine.n_inputs_)),
        empty_row(engine.n_inputs_) {}
};

Engine::Engine(const CircuitView& circuit, Outputs mode, const EngineKernels& kernels, uint32_t words, uint32_t band)
    : n_inputs_(circuit.n_inputs),
      n_groups_(circuit.n_groups),
      n_outputs_(circuit.n_outputs),
      keeps_outputs_(mode == Outputs::kKept),
      kernels_(kernels),
      program_(plan(circuit, mode, band)),
      max_width_(words == 0 ? choose_width(program_.n_slots, n_inputs_) : width_of(words)) {}

Engine::~Engine() = default;

bool Engine::counts(const Rows& rows, int32_t* out, Pool& pool) const {
  const auto write = [&](const Block& block, const Scratch& scratch) noexcept {
    kernels_.write_counts(scratch.planes.data(), n_groups_, program_.n_planes, block.words(), block.n_lanes,
                          out + block.first * n_groups_);
  };
  return run(rows, write, pool);
}

bool Engine::classify(const Rows& rows, int32_t* out, Pool& pool) const {
  const auto write = [&](const Block& block, const Scratch& scratch) noexcept {
    kernels_.write_classes(scratch.planes.data(), n_groups_, program_.n_planes, block.words(), block.n_lanes,
                           out + block.first);
  };
  return run(rows, write, pool);
}

bool Engine::outputs(const Rows& rows, uint8_t* out, Pool& pool) const {
  const auto write = [&](const Block& block, const Scratch& scratch) noexcept {
    kernels_.write_outputs(scratch.slots.data(), program_.output_slots.data(), n_outputs_, block.words(), block.n_lanes,
                           out + block.first * n_outputs_);
  };
  return run(rows, write, pool);
}

template <typename Finish>
bool Engine::run(const Rows& rows, Finish finish, Pool& pool) const {
  const size_t lanes = size_t{kRowsPerWord} * words();
  const size_t n_blocks = (rows.n_rows + lanes - 1) / lanes;
  const ProgramView program = program_.view();
  const size_t n_threads = pool.threads();
  std::unique_ptr<Scratches> scratches = take_scratches(std::min(n_threads, n_blocks), rows);
  std::atomic<bool> valid{true};
  pool.run(n_blocks, [&](size_t thread, size_t index) noexcept {
    const Block block = block_at(index * lanes, rows.n_rows);
    Scratch& own = *(*scratches)[thread];
    BlockView view{own.slots.data(), own.planes.data(), nullptr, 0};
    if (!load(rows, block, own, view)) valid.store(false, std::memory_order_relaxed);
    clear_planes(block.words(), own);
    const Upcoming upcoming = rows_after(rows, block.first + n_threads * lanes, lanes);
    kernels_.evaluate[block.width][program_.is_wide()](program, upcoming, view);
    finish(block, own);
  });
  scratches_.give(std::move(scratches));
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

std::unique_ptr<Engine::Scratches> Engine::take_scratches(size_t n, const Rows& rows) const {
  std::unique_ptr<Scratches> taken = scratches_.take();
  if (!taken) taken = std::make_unique<Scratches>();
  while (taken->size() < n) taken->push_back(std::make_unique<Scratch>(*this));
  if (rows.layout == Layout::kBytes && rows.column_stride != 1) {
    const size_t n_gathered = std::min(kRowsPerWord * size_t{words()}, rows.n_rows) * n_inputs_;
    for (const std::unique_ptr<Scratch>& scratch : *taken) scratch->gathered.resize(n_gathered);
  }
  return taken;
}

}  // namespace gatewise
