// The inner loops of the encoder; compiled once per target, under the rule of simd/targets.hpp.
#include "encode/kernels.hpp"

#include "encode/encode.inc.hpp"

namespace gatewise::GATEWISE_TARGET {

extern const EncodeKernels kEncodeKernels;
const EncodeKernels kEncodeKernels = {
    {encode<float>, encode<double>, encode<uint8_t>, encode<int32_t>, encode<int64_t>},
    kMinRanked,
};

}  // namespace gatewise::GATEWISE_TARGET
