#include "boost/codes.hpp"

namespace gatewise::boost {

Codes::Codes(const std::vector<Column>& columns, PlanesView planes, const std::vector<uint32_t>& rows, Pool& pool)
    : n_rows_(rows.size()), bytes_(columns.size() * rows.size()) {
  pool.run(columns.size(), [&](size_t, size_t j) noexcept {
    const Column& column = columns[j];
    uint8_t* codes = bytes_.data() + j * n_rows_;
    for (uint32_t k = 0; k < column.n_bits(); ++k) {
      const uint64_t* plane = planes.words + (column.first_bit + k) * planes.n_words;
      const auto step = static_cast<uint8_t>(k < column.n_ordered ? 1 : k + 1);
      for (size_t i = 0; i < n_rows_; ++i) codes[i] += (plane[rows[i] / 64] >> rows[i] % 64 & 1) * step;
    }
  });
}

}  // namespace gatewise::boost
