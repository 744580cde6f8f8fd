// Exact sums of derivatives: both are rounded to integers, which one 64-bit addition adds.
//
// Integers can be added in any order, so results do not depend on the number of threads.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>

namespace gatewise::boost {

// The first derivative in the upper 32 bits, the second, which is never negative, in the lower ones.
using Sum = int64_t;

inline int32_t first_of(Sum sum) { return static_cast<int32_t>(sum >> 32); }
inline int32_t second_of(Sum sum) { return static_cast<int32_t>(sum); }

// The nearest integer, for |x| below 2^22: where 1.5 * 2^23 is added, a float's last binary digit has the weight 1.
inline int32_t nearest(float x) {
  return std::bit_cast<int32_t>(x + 12582912.0f) - std::bit_cast<int32_t>(12582912.0f);
}

// How many units of the sums a derivative may have, so that n_rows of them fit 31 bits and a sign.
inline float most_units(size_t n_rows) {
  return static_cast<float>(std::min<size_t>((size_t{1} << 30) / std::max<size_t>(n_rows, 1), (1 << 15) - 1));
}

struct Scale {
  float first = 1.0f, second = 1.0f;  // units of the sums per unit of the derivatives

  Scale() = default;
  // For n_rows derivatives of at most these sizes.
  Scale(float most_first, float most_second, size_t n_rows)
      : first(most_first > 0.0f ? most_units(n_rows) / most_first : 1.0f),
        second(most_second > 0.0f ? most_units(n_rows) / most_second : 1.0f) {}

  Sum round(float d_first, float d_second) const {
    return static_cast<Sum>(nearest(d_first * first)) * (Sum{1} << 32) + nearest(d_second * second);
  }
  // What is added to second derivatives, in units of the sums; at least 1, as both parts of a sum may be rounded to 0.
  float units_of(float l2) const { return std::max(l2 * second, 1.0f); }

  double slope(Sum sum) const { return first_of(sum) / double{first}; }
  double curve(Sum sum) const { return second_of(sum) / double{second}; }

  // How much a Newton step on these rows lowers twice the loss.
  double gain(Sum sum, double l2) const { return slope(sum) * slope(sum) / (curve(sum) + l2); }
};

// The gain of a sum, up to a factor that all sums of one scale share; `l2` is in units of the sums.
inline float gain_of(int32_t first, int32_t second, float l2) {
  const auto slope = static_cast<float>(first);
  return slope * slope / (static_cast<float>(second) + l2);
}

}  // namespace gatewise::boost
