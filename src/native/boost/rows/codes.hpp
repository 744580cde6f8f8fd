// A table as codes: one byte per row and column, from the bits that an encoder made of it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "support/pool.hpp"

namespace gatewise::boost {

// Bits that ask about one column of a table, one after the other. `n_ordered` of them are thresholds: a row has the
// first so many and not the others. Of the `n_single` bits that follow, a row has one at most, and then no threshold.
struct Column {
  uint32_t first_bit;
  uint32_t n_ordered;
  uint32_t n_single;
  int8_t direction = 0;  // 1 if the score must not fall where a threshold holds, -1 if it must not rise

  uint32_t n_bits() const { return n_ordered + n_single; }
  uint32_t n_codes() const { return n_bits() + 1; }

  // A code is how many thresholds a row has, or n_ordered + 1 + s for the single bit s. The bit `k` of the column is
  // true for the codes in (least, most].
  uint32_t least(uint32_t k) const { return k; }
  uint32_t most(uint32_t k) const { return k < n_ordered ? n_ordered : k + 1; }

  int direction_of(uint32_t k) const { return k < n_ordered ? direction : 0; }
};

constexpr uint32_t kMostBits = 255;  // per column: codes are bytes

// Bit-planes, `n_words` words each, row i in bit i % 64 of word i / 64.
struct PlanesView {
  const uint64_t* words;
  size_t n_words;
};

// Codes of rows of a table, column after column.
class Codes {
 public:
  // Of all rows.
  Codes(const std::vector<Column>& columns, PlanesView planes, size_t n_rows, Pool& pool);
  // Of some rows.
  Codes(const Codes& all, const std::vector<uint32_t>& rows, Pool& pool);

  size_t n_rows() const { return n_rows_; }
  size_t n_columns() const { return n_columns_; }
  const uint8_t* column(size_t j) const { return bytes_.data() + j * n_rows_; }

 private:
  size_t n_rows_, n_columns_;
  std::vector<uint8_t> bytes_;
};

}  // namespace gatewise::boost
