// The contract between the engine and the SIMD levels. kernels.cpp is compiled once per level; everything here is plain
// data and function pointers, so that no code compiled for one instruction set can leak into another.
//
// A *slot* holds one wire for a block of 64 * words lanes: `words` consecutive 64-bit words, lane i in bit i % 64 of
// word i / 64. A *plane* is the same thing holding one binary digit of a group's count.
#pragma once

#include <cstddef>
#include <cstdint>

namespace gatewise {

// Block widths, in 64-bit words per wire, that every level implements.
constexpr uint32_t kWidths[] = {1, 4, 8, 16};
constexpr uint32_t kNumWidths = 4;

// Outputs are counted in chunks of 2^kChunkDigits, so a group has at least that many planes. Plans pad the last chunk
// with the slot that holds zeros.
constexpr uint32_t kChunkDigits = 3;
constexpr uint32_t kCountChunk = 1 << kChunkDigits;

// One step of a program, executed over all lanes of a block; it takes its slot numbers from the code stream.
//   gate                     `count` times (to, a, b): to = gate(a, b)
//   kPair + 16 inner + gate  `count` times (to, a, b, c): to = gate(inner(a, b), c)
//   kCount                   `count` times (a): add a to the planes of `group`
//   kCount + gate            `count` times (a, b): add gate(a, b) to the planes of `group`
//   kLoad                    `count` times (to): to = the next of the program's inputs
// where `count` is a multiple of kCountChunk for the two that count. Which gates occur is listed in evaluate.inc.hpp.
struct Step {
  uint32_t kind;
  uint32_t count;
  uint32_t group;
};
constexpr uint32_t kCount = 16;
constexpr uint32_t kLoad = 32;
constexpr uint32_t kPair = 256;

// Packing scratch, see pack.inc.hpp: octet rows this many bytes apart, for as many words of whole rows, or as many
// features of whole blocks, as stay in cache. Static, so that each level has its own copy.
static constexpr size_t octet_pitch(size_t n_features) { return (n_features / 128 + 1) * 128; }
static constexpr size_t words_per_pass(size_t n_features) {
  const size_t n = (size_t{64} << 10) / (8 * octet_pitch(n_features) + 1);
  return n > 0 ? n : 1;
}
static constexpr size_t features_per_pass(size_t n_words) { return (size_t{128} << 10) / (8 * n_words); }

// What `evaluate` executes. `code` holds 16- or 32-bit slot numbers.
struct ProgramView {
  const Step* steps;
  size_t n_steps;
  const void* code;
  const uint32_t* inputs;  // features that load steps load, in their order
  size_t n_inputs;
  uint32_t n_planes;  // per group
};

// Memory of one block. Feature f is at inputs + f * input_stride bytes, if the program loads it.
struct BlockView {
  uint64_t* slots;
  uint64_t* planes;
  const uint8_t* inputs;
  ptrdiff_t input_stride;
};

// Memory that will be read next: it is fetched while gates or tests keep the core, not the memory, busy.
struct Upcoming {
  const uint8_t* data;
  size_t n_bytes;
};

// A bit of an encoded row: what is asked of a column's value. A missing value is NaN; it is not greater than, and not
// equal to, anything.
enum class Question : uint8_t { kGreater, kEqual, kMissing, kNever, kAlways };
template <typename T>
struct Test {
  T value;
  Question question;
  uint8_t rank;  // of the value, if the column's Ranking answers the test
};

// Types that a table's values can have, in the order of Kernels::encode.
enum class ValueType { kFloat32, kFloat64, kUint8, kInt32, kInt64 };
constexpr size_t kNumValueTypes = 5;
constexpr ptrdiff_t kValueBytes[kNumValueTypes] = {4, 8, 1, 4, 8};

// The first n_tests tests of a column, all kGreater or all kEqual, by binary search: a value is searched once, and each
// test compares a byte. At trees + tree, node i, from 1 on, has the children 2 i and 2 i + 1, and values greater than
// its constant go right. n_levels further down a value is at its *rank*: 2^n_levels and the number of constants below
// it. There stand the constants in order; for kEqual, a value that is not at its equal has rank 0. Narrow constants are
// float for double, and int32 for int64.
struct Ranking {
  uint32_t n_tests;
  uint32_t tree;
  Question question;
  uint8_t n_levels;
  bool narrow;
};
// Entries of the largest level that is looked up, and bytes of the smallest tree: of a vector.
constexpr size_t kMaxEntries = 64;
constexpr size_t kTreeBytes = 64;

template <typename T>
struct NarrowType;
template <>
struct NarrowType<double> {
  typedef float type;
};
template <>
struct NarrowType<int64_t> {
  typedef int32_t type;
};

// A block of rows of a table, and where its bits go: word w of test t to words[t * pitch + w]. The tests of column c
// are tests[test_ptr[c]] and following, of type Test<T>. Strides are in bytes. There are at most kEncodeRows rows, or
// kEncodeRowsInPlace, whole words, of columns that lie in one piece.
constexpr size_t kEncodeRows = 256;
constexpr size_t kEncodeRowsInPlace = 8 * kEncodeRows;
struct TableBlock {
  const uint8_t* data;
  ptrdiff_t row_stride, column_stride;
  size_t n_rows, n_columns;
  const void* tests;
  const uint32_t* test_ptr;
  const Ranking* rankings;
  const uint8_t* trees;
  uint64_t* words;
  size_t pitch;
  Upcoming upcoming;
};

struct Kernels {
  const char* name;

  // Run the steps on the slots; the planes accumulate counts. Indexed by [width][code is 32-bit].
  void (*evaluate[kNumWidths][2])(const ProgramView&, const Upcoming&, const BlockView&);

  // 64 * n_words rows of 0/1 bytes -> the first n_words words of each feature's slot, slots being `words` words apart.
  // `octets` is scratch of octet_bytes. Returns the OR of all bytes read: more than 1 means that some byte is not 0
  // or 1.
  uint8_t (*pack_bytes)(const uint8_t* const* rows, size_t n_words, size_t n_features, uint8_t* octets, uint64_t* slots,
                        size_t words);

  // The same from rows packed eight features to a byte; `reversed` is 7 if the first feature is the highest bit.
  void (*pack_bits)(const uint8_t* const* rows, size_t n_words, size_t n_features, unsigned reversed, uint8_t* octets,
                    uint64_t* slots, size_t words);

  // Planes of every group -> counts[lane * n_groups + group] for the first n_lanes lanes.
  void (*write_counts)(const uint64_t* planes, uint32_t n_groups, uint32_t n_planes, uint32_t words, size_t n_lanes,
                       int32_t* counts);

  // Planes of every group -> the group with the highest count, ties to the lowest, for the first n_lanes lanes.
  void (*write_classes)(const uint64_t* planes, uint32_t n_groups, uint32_t n_planes, uint32_t words, size_t n_lanes,
                        int32_t* classes);

  // Slots -> bytes[lane * n_outputs + i] = 0 or 1 from slot output_slots[i], for the first n_lanes lanes.
  void (*write_outputs)(const uint64_t* slots, const uint32_t* output_slots, uint32_t n_outputs, uint32_t words,
                        size_t n_lanes, uint8_t* bytes);

  // A block of a table -> bits; the bits past its last row are 0. Indexed by ValueType.
  void (*encode[kNumValueTypes])(const TableBlock& block);

  // Distinct constants of a column that are worth a Ranking, half as many if they are narrow; 0 if none ever are, and
  // `encode` takes no Ranking.
  size_t min_ranked;
};

// Levels this build holds and this machine can run, best first. Ends with nullptr.
const Kernels* const* available_kernels();

}  // namespace gatewise
