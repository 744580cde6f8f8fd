// How terms are grown.
#pragma once

#include <cstdint>

namespace gatewise::boost {

struct Settings {
  uint32_t n_questions, value_bits;
  float learning_rate, l2;
  float unit;           // what 1 in a value adds to a score
  float sparsity;       // a score whose gain is below this share of the largest is left alone
  uint32_t max_scores;  // that a term adds to: those with the largest derivatives
  float row_share;      // of the rows, on which a term is grown
  uint32_t max_rows;    // on which a term is grown
  float column_share;   // of the columns, that a term asks about
  uint32_t n_sketches;  // random sums of the scores' derivatives, by which questions are chosen if they are fewer
  uint32_t n_pairs;     // of questions, which the screen proposes
  float quantile;       // of the targets, that the loss of quantiles asks for
};

constexpr uint32_t kMostQuestions = 6, kMostValueBits = 8;
constexpr uint32_t kMostRows = 1u << 24;  // of a term, whose derivatives would be rounded too much otherwise

}  // namespace gatewise::boost
