#include "simd/targets.hpp"

// The tables of one target: see kernels.cpp of each folder.
#define GATEWISE_DECLARE(TARGET)             \
  namespace gatewise::TARGET {               \
  extern const EngineKernels kEngineKernels; \
  extern const EncodeKernels kEncodeKernels; \
  extern const TrainKernels kTrainKernels;   \
  }
#define GATEWISE_TARGET(TARGET) \
  Target { #TARGET, TARGET::kEngineKernels, TARGET::kEncodeKernels, TARGET::kTrainKernels }

GATEWISE_DECLARE(portable)
#if defined(__x86_64__)
GATEWISE_DECLARE(avx2)
GATEWISE_DECLARE(avx512)
#elif defined(__aarch64__)
GATEWISE_DECLARE(neon)
#endif

namespace gatewise {
namespace {

#if defined(__x86_64__)

const Target kBuilt[] = {GATEWISE_TARGET(avx512), GATEWISE_TARGET(avx2), GATEWISE_TARGET(portable)};

// Every machine that runs a target also runs those after it.
size_t count_unsupported() {
  __builtin_cpu_init();
  if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma")) return 2;
  const bool has_avx512 = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                          __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
  return has_avx512 ? 0 : 1;
}

#else

#if defined(__aarch64__)
const Target kBuilt[] = {GATEWISE_TARGET(neon), GATEWISE_TARGET(portable)};
#else
const Target kBuilt[] = {GATEWISE_TARGET(portable)};
#endif

size_t count_unsupported() { return 0; }

#endif

}  // namespace

std::span<const Target> targets() {
  static const std::span<const Target> runnable = std::span<const Target>(kBuilt).subspan(count_unsupported());
  return runnable;
}

const Target* find_target(std::string_view name) {
  for (const Target& target : targets())
    if (name == target.name) return &target;
  return nullptr;
}

}  // namespace gatewise
