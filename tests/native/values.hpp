// What the tests of training on bits share: values to train with, and how near results must be.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <vector>

inline std::mt19937 random_bits(11);

template <typename Value>
std::vector<Value> random_below(size_t n, uint32_t limit) {
  std::vector<Value> values(n);
  for (Value& value : values) value = static_cast<Value>(random_bits() % limit);
  return values;
}

inline std::vector<float> random_normals(size_t n) {
  std::normal_distribution<float> normal;
  std::vector<float> values(n);
  for (float& value : values) value = normal(random_bits);
  return values;
}

inline bool bit(const std::vector<uint64_t>& wires, size_t wire, size_t sample, size_t n_words) {
  return wires[wire * n_words + sample / 64] >> (sample % 64) & 1;
}

// Ends the program unless both agree, relative to 1 and what is expected.
template <typename Value, typename Expected = Value>
void require_close(const std::vector<Value>& got, const std::vector<Expected>& expected, double tolerance,
                   const char* what) {
  for (size_t i = 0; i < expected.size(); ++i) {
    const double value = static_cast<double>(got[i]), right = static_cast<double>(expected[i]);
    if (std::fabs(value - right) <= tolerance * (1 + std::fabs(right))) continue;
    std::printf("%s[%zu] must be %g, got %g\n", what, i, right, value);
    std::exit(1);
  }
}
