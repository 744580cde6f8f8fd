// The inner loops of training. Compiled once per SIMD level with GATEWISE_RELAXED naming the table it defines; as in
// kernels.cpp, nothing here may have external linkage but that table.
#include "mixture.inc.hpp"
#include "relaxed_gates.inc.hpp"

namespace gatewise {

extern const RelaxedKernels GATEWISE_RELAXED;
const RelaxedKernels GATEWISE_RELAXED = {forward, backward, mix, mix_backward, update};

}  // namespace gatewise
