// The contract between the engine and its kernels, which are compiled once per target: see simd/targets.hpp.
//
// A *slot* holds one wire for a block of 64 * words lanes: `words` consecutive 64-bit words, lane i in bit i % 64 of
// word i / 64. A *plane* is the same thing holding one binary digit of a group's count.
#pragma once

#include <cstddef>
#include <cstdint>

#include "circuit/gates.hpp"
#include "simd/upcoming.hpp"

namespace gatewise {

// Block widths, in 64-bit words per wire, that every target implements.
constexpr uint32_t kWidths[] = {1, 4, 8, 16};
constexpr uint32_t kNumWidths = 4;

// Outputs are counted in chunks of 2^kChunkDigits, so a group has at least that many planes from any digit on. Plans
// pad the last chunk with the slot that holds zeros.
constexpr uint32_t kChunkDigits = 3;
constexpr uint32_t kCountChunk = 1 << kChunkDigits;

// One step of a program, executed over all lanes of a block; it takes its slot numbers from the code stream.
//   gate                     `count` times (to, a, b): to = gate(a, b)
//   kPair + kNumGates * inner + gate
//                            `count` times (to, a, b, c): to = gate(inner(a, b), c)
//   kCount                   `count` times (a): add a to the planes of `group`, times 2^digit
//   kCount + gate            `count` times (a, b): add gate(a, b) to the planes of `group`, times 2^digit
//   kLoad                    `count` times (to): to = the next of the program's inputs
// where `count` is a multiple of kCountChunk for the two that count. Which gates occur is listed in evaluate.inc.hpp.
struct Step {
  uint32_t kind;
  uint32_t count;
  uint32_t group;
  uint32_t digit;
};
constexpr uint32_t kCount = kNumGates;
constexpr uint32_t kLoad = 2 * kNumGates;
constexpr uint32_t kPair = kNumGates * kNumGates;

// Packing scratch, see pack.inc.hpp: octet rows this many bytes apart, for as many words of whole rows, or as many
// features of whole blocks, as stay in cache; the latter are a multiple of 64, so that each pass begins with a whole
// byte of packed rows. Static, so that each target has its own copy.
static constexpr size_t octet_pitch(size_t n_features) { return (n_features / 128 + 1) * 128; }
static constexpr size_t words_per_pass(size_t n_features) {
  const size_t n = (size_t{64} << 10) / (8 * octet_pitch(n_features) + 1);
  return n > 0 ? n : 1;
}
static constexpr size_t features_per_pass(size_t n_words) { return (size_t{128} << 10) / (8 * n_words) / 64 * 64; }

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

struct EngineKernels {
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
};

}  // namespace gatewise
