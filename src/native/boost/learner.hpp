// Boosting: a sum of terms, each of which says a whole number for every answer to a few questions about a row.
//
// A term asks `n_questions` bits of a row, so it has 2^n_questions cells. Questions are chosen one after the other,
// each the best one for all cells at once, by the histograms of gradient boosting; a cell's value is a Newton step,
// rounded to `value_bits` digits of some binary weight. The next term is grown on what the rounded ones left, so that
// rounding is corrected as any other error.
#pragma once

#include <functional>
#include <vector>

#include "boost/codes.hpp"
#include "boost/losses.hpp"

namespace gatewise::boost {

struct Settings {
  uint32_t n_questions, value_bits, max_terms, patience;
  float learning_rate, l2;
  float unit;           // what 1 in a value adds to a score
  float sparsity;       // a score whose gain is below this share of the largest is left alone
  uint32_t max_scores;  // that a term adds to: those with the largest derivatives
};

constexpr uint32_t kMostQuestions = 6, kMostValueBits = 8;

struct Rows {
  const Codes& codes;
  std::vector<float> targets;  // target_size of them per row
  std::vector<float> weights;  // one per row, or none
};

struct Terms {
  std::vector<int32_t> bits;    // n_questions per term; the first one is the lowest digit of a cell's number
  std::vector<int32_t> values;  // per term, 2^n_questions cells of n_scores values
  std::vector<double> losses;   // mean over the validation rows, after each term; empty without such rows
};

// Grows terms from scores that are `base` for every row. Stops after max_terms, when the loss of the validation rows
// has not fallen for `patience` terms, when a term would add nothing, or when `goes_on` says so after a term.
Terms grow_terms(const std::vector<Column>& columns, const Rows& training, const Rows& validation, Loss loss,
                 const std::vector<float>& base, const Settings& settings, Pool& pool,
                 const std::function<bool()>& goes_on);

}  // namespace gatewise::boost
