// The rows that a term is grown on: some of them in their order, from one of them on, and past the last one the first.
#pragma once

#include "boost/rows/chunks.hpp"

namespace gatewise::boost {

struct Window {
  size_t n_all, begin, n;

  size_t n_before_end() const { return std::min(n, n_all - begin); }

  // Calls work(row, at, count) for each part whose rows are one after the other, `at` counting from the window's first.
  template <typename Work>
  void for_parts(size_t from, size_t to, const Work& work) const {
    const size_t end = std::clamp(n_before_end(), from, to);
    if (from < end) work(begin + from, from, end - from);
    if (end < to) work(begin + end - n_all, end, to - end);
  }
};

}  // namespace gatewise::boost
