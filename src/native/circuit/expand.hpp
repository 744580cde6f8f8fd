// Lookup tables of up to six inputs -> two-input gates that compute them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace gatewise {

constexpr uint32_t kMaxTableInputs = 6;

// Gates to be put after `n_wires` wires, and the wire of every table, which may be a constant or one of the wires read.
struct Expansion {
  std::vector<uint8_t> gate;
  std::vector<int32_t> a, b, outputs;
};

// Table i is true at bit t of tables[i] where t has, as its bit v, the value of wire wires[i * n_inputs + v]. What a
// table does not depend on is not read. Functions of at most four wires become shortest formulas; of more, the best of
// the splits at one wire. Equal gates of all tables are one gate.
Expansion expand_tables(uint32_t n_inputs, std::span<const uint64_t> tables, std::span<const int32_t> wires,
                        uint32_t n_wires);

}  // namespace gatewise
