// Boosting: a sum of terms, each of which says a whole number for every answer to a few questions about a row.
//
// A term asks `n_questions` bits of a row, so it has 2^n_questions cells. Questions are chosen one after the other,
// each the best one for all cells at once, by the histograms of gradient boosting, or the first two at once where a
// screen of pairs finds better ones; a cell's value is a Newton step, rounded to `value_bits` digits of some binary
// weight. The next term is grown on what the rounded ones left, so that rounding is corrected as any other error.
#pragma once

#include <vector>

#include "boost/questions/chooser.hpp"
#include "boost/rows/derivatives.hpp"
#include "boost/rows/scored.hpp"
#include "boost/values.hpp"

namespace gatewise::boost {

struct Terms {
  std::vector<int32_t> bits;    // n_questions per term; the first one is the lowest digit of a cell's number
  std::vector<int32_t> values;  // per term, 2^n_questions cells of n_scores values
};

// Grows terms from scores that are `base` for every row. What it is given must outlive it.
class Learner {
 public:
  Learner(const std::vector<Column>& columns, const Rows& training, const Rows& validation, Loss loss,
          const std::vector<float>& base, const Settings& settings, Pool& pool);

  // Makes room for so many more terms.
  void reserve(size_t n_terms);

  // Grows one term, in room that was made; false if it would add nothing, and then it is left out.
  bool grow() noexcept;

  size_t n_terms() const { return terms_.bits.size() / settings_.n_questions; }
  bool validates() const { return validation_.n() > 0; }
  double validation_loss() noexcept { return validation_.mean_loss(); }

  // Scores of the validation rows after the first terms, at most `n_terms`.
  const std::vector<float>& validate_again(size_t n_terms);

  Terms take_terms() { return std::move(terms_); }

 private:
  void move_window();

  const std::vector<Column>& columns_;
  const Settings settings_;
  Scored training_, validation_;
  Window window_;
  Derivatives derivatives_;
  Chooser chooser_;
  Values values_;
  Terms terms_;
};

}  // namespace gatewise::boost
