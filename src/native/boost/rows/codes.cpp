#include "boost/rows/codes.hpp"

#include <algorithm>

namespace gatewise::boost {
namespace {

constexpr size_t kDigits = 8, kLanes = 64;

// The codes of 64 rows as binary digits: bit i of digits[d] is the digit d of row i.
struct Digits {
  uint64_t digits[kDigits] = {};

  void count(uint64_t rows) {
    for (size_t d = 0; rows != 0 && d < kDigits; ++d) {
      const uint64_t carry = digits[d] & rows;
      digits[d] ^= rows;
      rows = carry;
    }
  }
  void set(uint64_t rows, uint32_t code) {
    for (size_t d = 0; d < kDigits; ++d)
      if (code >> d & 1) digits[d] |= rows;
  }
  // Of eight rows, whose digits are moved from bit i of a byte to byte i of a word.
  uint64_t bytes(size_t eighth) const {
    constexpr uint64_t kDiagonal = 0x8040201008040201, kSevens = 0x7f7f7f7f7f7f7f7f, kOnes = 0x0101010101010101;
    uint64_t found = 0;
    for (size_t d = 0; d < kDigits; ++d) {
      const uint64_t spread = (digits[d] >> 8 * eighth & 0xff) * kOnes & kDiagonal;
      found |= ((spread + kSevens) >> 7 & kOnes) << d;
    }
    return found;
  }
};

}  // namespace

Codes::Codes(const std::vector<Column>& columns, PlanesView planes, size_t n_rows, Pool& pool)
    : n_rows_(n_rows), n_columns_(columns.size()), bytes_(columns.size() * n_rows) {
  pool.run(columns.size(), [&](size_t, size_t j) noexcept {
    const Column& column = columns[j];
    const uint64_t* plane = planes.words + column.first_bit * planes.n_words;
    for (size_t word = 0; word * kLanes < n_rows_; ++word) {
      Digits digits;
      for (uint32_t k = 0; k < column.n_ordered; ++k) digits.count(plane[k * planes.n_words + word]);
      for (uint32_t k = column.n_ordered; k < column.n_bits(); ++k) digits.set(plane[k * planes.n_words + word], k + 1);
      const size_t first = word * kLanes, n = std::min(kLanes, n_rows_ - first);
      uint8_t* codes = bytes_.data() + j * n_rows_ + first;
      for (size_t i = 0; i < n; ++i) codes[i] = static_cast<uint8_t>(digits.bytes(i / 8) >> i % 8 * 8);
    }
  });
}

Codes::Codes(const Codes& all, const std::vector<uint32_t>& rows, Pool& pool)
    : n_rows_(rows.size()), n_columns_(all.n_columns()), bytes_(all.n_columns() * rows.size()) {
  pool.run(n_columns_, [&](size_t, size_t j) noexcept {
    const uint8_t* from = all.column(j);
    uint8_t* to = bytes_.data() + j * n_rows_;
    for (size_t i = 0; i < n_rows_; ++i) to[i] = from[rows[i]];
  });
}

}  // namespace gatewise::boost
