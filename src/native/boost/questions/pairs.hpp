// A screen for pairs of questions that say much together and little alone, as two bits whose XOR decides. Choosing one
// question after the other does not find them.
//
// The columns are made coarse: at most 8 bins each, so that a pair of columns is a table of 64 sums, of which every
// pair of coarse questions is read. How much more both gain than one and the other alone ranks them, as in Lou,
// Caruana, Gehrke and Hooker, "Accurate intelligible models with pairwise interactions" (2013).
#pragma once

#include <array>
#include <vector>

#include "boost/questions/questions.hpp"

namespace gatewise::boost {

// A question, and a column that one more should be about.
struct Pair {
  Question first;
  uint32_t second_column = 0;
  float excess = 0.0f;  // in units that pairs about the same sums share
};

class PairScreen {
 public:
  PairScreen(const std::vector<Column>& columns, const Codes& codes);

  // The best pairs by some rows of a window, best first; as many as `best` has, if there are. `turn` says which columns
  // are looked at where they are too many.
  void find(const Codes& codes, const Window& window, const Sum* sums, size_t n_sums, float l2, size_t turn, Pool& pool,
            std::vector<Pair>& best);

 private:
  static constexpr uint32_t kBins = 8, kMostColumns = 256;

  // Bit `bit` of the column is true in the bins from .. to.
  struct CoarseBit {
    uint8_t bit, from, to;
  };
  struct Coarse {
    std::array<uint8_t, 256> bin{};  // of a code
    std::array<CoarseBit, kBins - 1> bits{};
    uint32_t n_bits = 0;
  };

  static Coarse make_coarse(const Column& column, const std::array<uint32_t, 256>& counts);
  Pair find_for(size_t i) const;
  void look_at(size_t i, size_t k, Pair& best) const;

  std::vector<Coarse> coarse_;
  std::vector<uint32_t> asked_;  // columns that are looked at
  std::vector<uint8_t> bins_;    // of the rows that are looked at, column after column
  std::vector<Sum> sums_;        // of these rows
  std::vector<Pair> found_;
  size_t n_rows_ = 0, most_rows_;
  float l2_ = 0.0f;
};

}  // namespace gatewise::boost
