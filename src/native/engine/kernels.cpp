// The inner loops of the engine; compiled once per target, under the rule of simd/targets.hpp.
#include "engine/kernels.hpp"

#include "engine/evaluate.inc.hpp"
#include "engine/heads.inc.hpp"
#include "engine/pack.inc.hpp"

namespace gatewise::GATEWISE_TARGET {

extern const EngineKernels kEngineKernels;
const EngineKernels kEngineKernels = {
    {
        {evaluate<1, uint16_t>, evaluate<1, uint32_t>},
        {evaluate<4, uint16_t>, evaluate<4, uint32_t>},
        {evaluate<8, uint16_t>, evaluate<8, uint32_t>},
        {evaluate<16, uint16_t>, evaluate<16, uint32_t>},
    },
    pack_bytes,
    pack_bits,
    write_counts,
    write_classes,
    write_outputs,
};

}  // namespace gatewise::GATEWISE_TARGET
