// The inner loops. Compiled once per SIMD level with GATEWISE_KERNELS naming the table it defines; includes no
// standard templates, so nothing compiled for a wide instruction set can be picked by the linker for a narrow one.
#include "kernels.hpp"

#include "encode.inc.hpp"
#include "evaluate.inc.hpp"
#include "heads.inc.hpp"
#include "pack.inc.hpp"

namespace gatewise {

extern const Kernels GATEWISE_KERNELS;

#define GATEWISE_STRING_(x) #x
#define GATEWISE_STRING(x) GATEWISE_STRING_(x)

const Kernels GATEWISE_KERNELS = {
    GATEWISE_STRING(GATEWISE_LEVEL),
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
    {encode<float>, encode<double>, encode<uint8_t>, encode<int32_t>, encode<int64_t>},
    kMinRanked,
};

}  // namespace gatewise
