// The choice of a question: which bit splits the cells of a term best.
#pragma once

#include <vector>

#include "boost/rows/codes.hpp"
#include "boost/rows/sums.hpp"
#include "boost/rows/window.hpp"

namespace gatewise::boost {

// Rows that a term is grown on, each in one of `n_cells` cells; sums[at * n_sums + k] are those of the window's row
// `at`.
struct Cells {
  const Codes& codes;
  Window window;
  const uint8_t* cell;  // of each row of the codes; not read if there is one cell only
  uint32_t n_cells;
  const Sum* sums;
  size_t n_sums;
  float l2;  // in units of the sums
};

struct Question {
  uint32_t column = 0, bit = 0;  // the bit of the column
  float gain = -1.0f;            // of all cells that it makes, in units that all questions about the same sums share
};

// What a thread works with.
struct Scratch {
  Scratch(const std::vector<Column>& columns, uint32_t most_cells, size_t n_sums);

  std::vector<Sum> histogram;
  std::vector<int32_t> first, second;
  std::vector<float> gains;
};

// The best question about column j; of equal ones the first.
Question choose_of_column(const std::vector<Column>& columns, size_t j, const Cells& cells, Scratch& scratch);

// The best question about some columns. There is a scratch for each thread of the pool, and `found` has room for a
// question about each.
Question choose_question(const std::vector<Column>& columns, const std::vector<uint32_t>& asked, const Cells& cells,
                         Pool& pool, std::vector<Scratch>& scratch, std::vector<Question>& found);

}  // namespace gatewise::boost
