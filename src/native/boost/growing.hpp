// Growing of several learners in step: those that say how many terms pay, and one whose terms are kept.
#pragma once

#include <functional>
#include <vector>

#include "boost/learner.hpp"

namespace gatewise::boost {

// Rows to learn from and rows to validate with, if there are.
struct Split {
  std::vector<uint32_t> training, validation;
};

// What is known of every row of a table.
struct Table {
  const std::vector<Column>& columns;
  const Codes& codes;
  const float* targets;  // target_size of them per row
  const float* weights;  // one per row, or null
};

struct Grown {
  Terms terms;                 // of the last split
  std::vector<double> losses;  // mean over the splits that are validated, without terms and after each one
  uint32_t n_enough = 0;       // the least number of terms with nearly all of the best gain of these losses
  std::vector<float> scores;   // after so many terms, of the validation rows of each split, one split after the other
};

// Grows terms on each split, at most `max_terms`, until the mean loss of the validation rows has not fallen for
// `patience` terms or is nearly 0, or no split has terms to add. `enough` is the share of the best gain that suffices.
// `goes_on` is asked now and then.
Grown grow_terms(const Table& table, const std::vector<Split>& splits, Loss loss, const std::vector<float>& base,
                 const Settings& settings, uint32_t max_terms, uint32_t patience, double enough, unsigned threads,
                 const std::function<bool()>& goes_on);

}  // namespace gatewise::boost
