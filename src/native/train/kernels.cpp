// The inner loops of training; compiled once per target, under the rule of simd/targets.hpp.
#include "train/kernels.hpp"

#include "train/gates.inc.hpp"
#include "train/mixture.inc.hpp"

namespace gatewise::GATEWISE_TARGET {

extern const TrainKernels kTrainKernels;
const TrainKernels kTrainKernels = {forward, backward, mix, mix_backward, update};

}  // namespace gatewise::GATEWISE_TARGET
