// Which SIMD levels this machine can run.
#include "kernels.hpp"

namespace gatewise {

extern const Kernels kPortableKernels;
#if defined(__x86_64__)
extern const Kernels kAvx2Kernels, kAvx512Kernels;
#elif defined(__aarch64__)
extern const Kernels kNeonKernels;
#endif

const Kernels* const* available_kernels() {
  static const Kernels* found[4] = {};
  static const bool filled = [] {
    const Kernels** next = found;
#if defined(__x86_64__)
    __builtin_cpu_init();
    const bool avx2 = __builtin_cpu_supports("avx2");
    if (avx2 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
        __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl"))
      *next++ = &kAvx512Kernels;
    if (avx2) *next++ = &kAvx2Kernels;
#elif defined(__aarch64__)
    *next++ = &kNeonKernels;
#endif
    *next = &kPortableKernels;
    return true;
  }();
  (void)filled;
  return found;
}

}  // namespace gatewise
