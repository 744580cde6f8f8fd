// Which SIMD levels this machine can run.
#include "kernels.hpp"
#include "relaxed.hpp"

namespace gatewise {

extern const Kernels kPortableKernels;
extern const RelaxedKernels kPortableRelaxed;
#if defined(__x86_64__)
extern const Kernels kAvx2Kernels, kAvx512Kernels;
extern const RelaxedKernels kAvx2Relaxed, kAvx512Relaxed;
#elif defined(__aarch64__)
extern const Kernels kNeonKernels;
extern const RelaxedKernels kNeonRelaxed;
#endif

namespace {

struct Levels {
  const Kernels* kernels[4] = {};
  const RelaxedKernels* relaxed[4] = {};
  int n = 0;

  void add(const Kernels& level, const RelaxedKernels& relaxed_level) {
    kernels[n] = &level;
    relaxed[n++] = &relaxed_level;
  }
};

const Levels& levels() {
  static const Levels found = [] {
    Levels levels;
#if defined(__x86_64__)
    __builtin_cpu_init();
    const bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
    if (avx2 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
        __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl"))
      levels.add(kAvx512Kernels, kAvx512Relaxed);
    if (avx2) levels.add(kAvx2Kernels, kAvx2Relaxed);
#elif defined(__aarch64__)
    levels.add(kNeonKernels, kNeonRelaxed);
#endif
    levels.add(kPortableKernels, kPortableRelaxed);
    return levels;
  }();
  return found;
}

}  // namespace

const Kernels* const* available_kernels() { return levels().kernels; }

const RelaxedKernels* const* available_relaxed() { return levels().relaxed; }

const RelaxedKernels& relaxed_kernels() { return *levels().relaxed[0]; }

}  // namespace gatewise
