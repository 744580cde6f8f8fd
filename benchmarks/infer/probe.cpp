// What one core can do: clock, vector loads and vector logic operations per cycle, printed as one JSON line.
// Every loop is kept alive by empty asm statements, so that the compiler neither removes nor merges the operations.
#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <vector>

#if defined(__x86_64__)
#define VECTOR_REGISTER "x"
#else
#define VECTOR_REGISTER "w"
#endif

namespace {

using Vector256 = std::uint64_t __attribute__((vector_size(32)));
using Vector512 = std::uint64_t __attribute__((vector_size(64)));
constexpr int kRuns = 100;  // short ones: the best falls between interruptions
constexpr int kUnroll = 8;

template <typename Body>
double best_ns(Body body) {
  double best = 1e30;
  for (int run = 0; run < kRuns; ++run) {
    const auto start = std::chrono::steady_clock::now();
    body();
    const std::chrono::duration<double, std::nano> spent = std::chrono::steady_clock::now() - start;
    best = std::min(best, spent.count());
  }
  return best;
}

// A dependent addition takes one cycle on every processor this runs on.
double cycles_per_ns() {
  constexpr std::size_t n_adds = 8'000'000;
  const double ns = best_ns([] {
    std::uint64_t sum = 0, step = 1;
    asm volatile("" : "+r"(step));
    for (std::size_t i = 0; i < n_adds; i += kUnroll)
#pragma GCC unroll 8
      for (int k = 0; k < kUnroll; ++k) {
        sum += step;
        asm volatile("" : "+r"(sum));
      }
  });
  return n_adds / ns;
}

template <typename Vector>
double loads_per_ns(std::size_t n_bytes) {
  const std::size_t n_vectors = n_bytes / sizeof(Vector), n_passes = (std::size_t{1} << 27) / n_bytes;
  const std::vector<Vector> memory(n_vectors);
  const double ns = best_ns([&] {
    for (std::size_t pass = 0; pass < n_passes; ++pass)
      for (std::size_t i = 0; i < n_vectors; i += kUnroll)
#pragma GCC unroll 8
        for (int k = 0; k < kUnroll; ++k) {
          const Vector loaded = memory[i + k];
          asm volatile("" : : VECTOR_REGISTER(loaded));
        }
  });
  return n_vectors * n_passes / ns;
}

template <typename Vector>
double operations_per_ns() {
  constexpr std::size_t n_rounds = 4'000'000;
  const double ns = best_ns([] {
    Vector v0{}, v1{}, v2{}, v3{}, v4{}, v5{}, v6{}, v7{}, mask{1};
    asm volatile("" : "+" VECTOR_REGISTER(mask));
    for (std::size_t i = 0; i < n_rounds; ++i) {
      v0 ^= mask, v1 ^= mask, v2 ^= mask, v3 ^= mask;
      v4 ^= mask, v5 ^= mask, v6 ^= mask, v7 ^= mask;
      asm volatile(""
                   : "+" VECTOR_REGISTER(v0), "+" VECTOR_REGISTER(v1), "+" VECTOR_REGISTER(v2), "+" VECTOR_REGISTER(v3),
                     "+" VECTOR_REGISTER(v4), "+" VECTOR_REGISTER(v5), "+" VECTOR_REGISTER(v6),
                     "+" VECTOR_REGISTER(v7));
    }
  });
  return n_rounds * kUnroll / ns;
}

template <typename Vector>
void print_width(int bits, double clock) {
  std::printf(", \"loads_l1_%d\": %.3f", bits, loads_per_ns<Vector>(16 << 10) / clock);
  std::printf(", \"loads_l2_%d\": %.3f", bits, loads_per_ns<Vector>(256 << 10) / clock);
  std::printf(", \"operations_%d\": %.3f", bits, operations_per_ns<Vector>() / clock);
}

}  // namespace

int main() {
  const double clock = cycles_per_ns();
  std::printf("{\"cycles_per_ns\": %.4f", clock);
#if defined(__AVX__)
  print_width<Vector256>(256, clock);
#endif
#if defined(__AVX512F__)
  print_width<Vector512>(512, clock);
#endif
  std::printf("}\n");
}
