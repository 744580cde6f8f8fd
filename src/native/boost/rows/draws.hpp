// Random numbers that depend on nothing but what they are drawn for.
#pragma once

#include <cstdint>

namespace gatewise::boost {

// From [0, 1), by the mixing function of splitmix64.
inline float draw(uint64_t term, uint64_t what) {
  uint64_t x = (term << 32) + what + 0x9e3779b97f4a7c15;
  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9;
  x = (x ^ x >> 27) * 0x94d049bb133111eb;
  return static_cast<float>((x ^ x >> 31) >> 40) * 0x1p-24f;
}

}  // namespace gatewise::boost
