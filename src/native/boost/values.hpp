// What a term adds: Newton steps of its cells, rounded to a few digits.
#pragma once

#include <array>
#include <vector>

#include "boost/rows/losses.hpp"
#include "boost/rows/sums.hpp"
#include "boost/settings.hpp"

namespace gatewise::boost {

// Of a term's questions: 1 or -1 where the score must not fall, or not rise, when the answer becomes yes.
using Directions = std::array<int, kMostQuestions>;

class Values {
 public:
  Values(Loss loss, size_t n_scores, const Settings& settings);

  // Sums of the derivatives of each cell and active score, to be filled in.
  std::vector<Sum>& sums() { return sums_; }

  // Finds the values; false if all are rounded to 0. Directions are for one score.
  bool find(const std::vector<uint32_t>& active, const Directions& directions, const Scale& scale);

  const std::vector<int32_t>& all() const { return all_; }    // for each cell and score
  const std::vector<float>& added() const { return added_; }  // the same in units of the scores

 private:
  void find_steps(const Scale& scale);
  void keep_directions(const Directions& directions, const Scale& scale);
  void leave_alone(const Scale& scale);
  bool round(int shift);
  void keep_means(const Scale& scale);

  const Loss loss_;
  const Settings settings_;
  const size_t n_scores_, n_active_;
  std::vector<Sum> sums_;
  std::vector<double> steps_, gains_;
  std::vector<int32_t> rounded_, all_;
  std::vector<float> added_;
};

}  // namespace gatewise::boost
