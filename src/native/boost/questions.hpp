// The choice of a question: which bit splits the cells of a term best.
#pragma once

#include <vector>

#include "boost/codes.hpp"
#include "boost/sums.hpp"

namespace gatewise::boost {

// Rows that a term is grown on, each in one of `n_cells` cells; sums[i * n_scores + k] are the derivatives of row i.
struct Cells {
  const Codes& codes;
  size_t begin, end;    // rows
  const uint8_t* cell;  // of each row of the codes
  uint32_t n_cells;
  const Sum* sums;  // from row `begin` on
  size_t n_scores;
  Scale scale;
  double l2;
};

struct Question {
  uint32_t column = 0, bit = 0;  // the bit of the column
  double gain = -1.0;            // of all cells that it makes
};

// What a thread works with.
struct Scratch {
  Scratch(const std::vector<Column>& columns, uint32_t most_cells, size_t n_scores);

  std::vector<Sum> histogram;
  std::vector<double> gains;
};

// The best question of all columns; of equal ones the first. There is a scratch for each thread of the pool, and
// `found` has room for a question of each column.
Question choose_question(const std::vector<Column>& columns, const Cells& cells, Pool& pool,
                         std::vector<Scratch>& scratch, std::vector<Question>& found);

}  // namespace gatewise::boost
