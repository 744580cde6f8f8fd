// The inner loops of training; compiled once per target, under the rule of simd/targets.hpp.
#include "train/kernels.hpp"

#include "train/bits/pins.inc.hpp"
#include "train/gates.inc.hpp"
#include "train/light.inc.hpp"
#include "train/mixture.inc.hpp"

namespace gatewise {
namespace {

double mix(const Mixture& m, size_t begin, size_t end, float* coefficients) {
  return (m.is_light ? mix_light : mix_softmax)(m, begin, end, coefficients);
}

void update(const Mixture& m, size_t begin, size_t end, const Shares& grads, const Adam& adam, const Moments& moments) {
  (m.is_light ? update_light : update_softmax)(m, begin, end, grads, adam, moments);
}

void pick_gates(const Mixture& m, size_t begin, size_t end, uint8_t* gates) {
  (m.is_light ? pick_light : pick_softmax)(m, begin, end, gates);
}

}  // namespace
}  // namespace gatewise

namespace gatewise::GATEWISE_TARGET {

extern const TrainKernels kTrainKernels;
const TrainKernels kTrainKernels = {forward, backward,
                                    mix,     mix_backward,
                                    update,  {pick_gates, pick_wires, evaluate, count, sum, update_pins, pass_back}};

}  // namespace gatewise::GATEWISE_TARGET
