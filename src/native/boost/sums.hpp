// Exact sums of derivatives: both are rounded to integers, which one 64-bit addition adds.
//
// Integers can be added in any order, so results do not depend on the number of threads.
#pragma once

#include <cstddef>
#include <cstdint>

#include "boost/losses.hpp"

namespace gatewise::boost {

// The first derivative in the upper 32 bits, the second, which is never negative, in the lower ones.
using Sum = int64_t;

// How many units of the sums a derivative may have, so that n_rows of them fit 32 bits.
inline float most_units(size_t n_rows) {
  return static_cast<float>(std::min<size_t>((size_t{1} << 30) / std::max<size_t>(n_rows, 1), (1 << 15) - 1));
}

struct Scale {
  float first = 1.0f, second = 1.0f;  // units of the sums per unit of the derivatives

  Sum round(Derivative d) const {
    return static_cast<Sum>(std::lrint(d.first * first)) * (Sum{1} << 32) + std::lrint(d.second * second);
  }
  double first_of(Sum sum) const { return static_cast<double>((sum - static_cast<uint32_t>(sum)) >> 32) / first; }
  double second_of(Sum sum) const { return static_cast<uint32_t>(sum) / double{second}; }

  // How much a Newton step on these rows lowers twice the loss.
  double gain(Sum sum, double l2) const {
    const double slope = first_of(sum);
    return slope * slope / (second_of(sum) + l2);
  }
};

}  // namespace gatewise::boost
