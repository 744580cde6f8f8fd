// A whole step of training: mix the gates, run all tiles forward and backward, update the logits with Adam.
#pragma once

#include <vector>

#include "train/losses.hpp"
#include "train/mixtures.hpp"
#include "train/stack.hpp"

namespace gatewise {

struct StepReport {
  double loss;        // before the step
  double confidence;  // see Mixtures::mix
};

struct TrainStep {
  const RelaxedStack& stack;
  const Mixtures& mixtures;
  const std::vector<Moments>& moments;
  const std::vector<float>& scales;  // multiply the gradients of each layer
  float* coefficients;               // scratch, n_gates x 4

  StepReport run(const Samples& x, const Loss& loss, const Adam& adam, Pool& pool) const;
};

}  // namespace gatewise
