// The questions of a term: each the best one after those before it, or the first two together.
#pragma once

#include <vector>

#include "boost/questions/pairs.hpp"
#include "boost/questions/questions.hpp"
#include "boost/rows/derivatives.hpp"
#include "boost/rows/scored.hpp"
#include "boost/settings.hpp"

namespace gatewise::boost {

class Chooser {
 public:
  Chooser(const std::vector<Column>& columns, const Codes& codes, size_t n_sums, const Settings& settings, Pool& pool);

  // Chooses by the window's rows, and puts all rows into the cells of their answers.
  const std::vector<Question>& choose(Scored& rows, const Window& window, const Derivatives& derivatives) noexcept;

 private:
  void ask_all_columns();
  void draw_columns();
  void answer(Scored& rows, uint32_t level);
  void screen(const Codes& codes, const Window& window, const Derivatives& derivatives);
  void try_pairs(const Cells& cells);
  void refine(size_t i, size_t thread, const Cells& cells);

  const std::vector<Column>& columns_;
  const Settings settings_;
  Pool& pool_;
  std::vector<Question> questions_;
  std::vector<uint32_t> asked_;  // columns
  std::vector<Question> found_;  // the best about each of them
  std::vector<Scratch> scratch_;

  // Pairs are looked for now and then, and more rarely when none was chosen; those found are tried for some terms.
  PairScreen screen_;
  struct Tried {
    Question first, second;
    std::vector<uint8_t> cells;
  };
  std::vector<Pair> pairs_;
  std::vector<Tried> tried_;
  size_t term_ = 0, next_screen_ = 0, pause_, tried_until_ = 0, n_screens_ = 0;
};

}  // namespace gatewise::boost
