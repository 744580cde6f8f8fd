// The derivatives of the rows that a term is grown on, and their exact sums.
#pragma once

#include <vector>

#include "boost/rows/scored.hpp"
#include "boost/rows/sums.hpp"
#include "boost/rows/window.hpp"
#include "boost/settings.hpp"

namespace gatewise::boost {

class Derivatives {
 public:
  Derivatives(size_t n_rows, size_t n_scores, const Settings& settings, Pool& pool);

  // Differentiates the window's rows. The next term adds to the scores with the largest sums of squares; questions are
  // chosen by them, or, if they are many, by a few sums of all of them with random signs, which differ from term to
  // term: A sum's square is in the mean that of the scores (Iosipoi and Vakhrushev, "SketchBoost", 2022).
  void take(const Scored& rows, const Window& window, size_t term) noexcept;

  const std::vector<uint32_t>& active() const { return active_; }  // scores, in rising order
  const Scale& scale() const { return scale_; }                    // of the sums of cells

  size_t n_sums() const { return n_sums_; }
  const Sum* sums() const { return sums_.data(); }  // n_sums per row, by which questions are chosen
  float l2() const { return l2_; }                  // in their units

  // to[cell * n_active + k] for each active score.
  void sum_cells(const uint8_t* cells, const Window& window, std::vector<Sum>& to) noexcept;

 private:
  bool is_sketched() const { return n_sums_ < active_.size(); }
  void find_active(size_t n_rows);
  void sketch(size_t n_rows, size_t term);
  void round(size_t n_rows);

  const size_t n_scores_, n_sums_;
  const float wanted_l2_;
  Pool& pool_;
  std::vector<float> first_, second_;
  std::vector<Scored::Largest> largest_;  // of the chunks
  std::vector<double> squares_;           // of the chunks' first derivatives, by score
  std::vector<uint32_t> order_, active_;
  Scale scale_;
  float l2_ = 0.0f;
  std::vector<float> signs_, sketches_, curves_;
  std::vector<Sum> sums_, cell_sums_;  // cell_sums_ are those of the threads
};

}  // namespace gatewise::boost
