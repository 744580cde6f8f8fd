// The inner loops of training; compiled once per target, under the rule of simd/targets.hpp.
#include "train/kernels.hpp"

#include "train/bits/halves.inc.hpp"
#include "train/bits/operators.inc.hpp"
#include "train/bits/tables.inc.hpp"
#include "train/bits/taps.inc.hpp"
#include "train/bits/tiles.inc.hpp"
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

void choose_gates(const Mixture& m, size_t begin, size_t end, float* coefficients, uint8_t* gates) {
  (m.is_light ? choose_light : choose_softmax)(m, begin, end, coefficients, gates);
}

void step_gates(const Mixture& m, size_t begin, size_t end, const Shares& grads, const Adam& adam,
                const Moments& moments) {
  (m.is_light ? update_light : step_softmax)(m, begin, end, grads, adam, moments);
}

}  // namespace
}  // namespace gatewise

namespace gatewise::GATEWISE_TARGET {

extern const TrainKernels kTrainKernels;
const TrainKernels kTrainKernels = {
    forward,
    backward,
    mix,
    mix_backward,
    update,
    {choose_gates, step_gates, choose_wires, evaluate, count, sum, update_pins, pass_back, backward_tile, sum_halves,
     gather_halves, to_halves, round_halves, add_taps, step_taps},
    {choose_tables, choose_inputs, look_up, update_tables, pass_tiles_back}};

}  // namespace gatewise::GATEWISE_TARGET
