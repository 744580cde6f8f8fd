#include "boost/values.hpp"

#include <algorithm>
#include <cmath>

namespace gatewise::boost {
namespace {

constexpr double kMostStep = 4.0;  // in logarithms of odds
constexpr int kMostShift = 20;     // of a term's values, against the unit

}  // namespace

Values::Values(Loss loss, size_t n_scores, const Settings& settings)
    : loss_(loss),
      settings_(settings),
      n_scores_(n_scores),
      n_active_(std::min<size_t>(n_scores, settings.max_scores)),
      sums_(n_active_ << settings.n_questions),
      steps_(sums_.size()),
      gains_(n_active_),
      rounded_(sums_.size()),
      all_(n_scores << settings.n_questions),
      added_(all_.size()) {}

bool Values::find(const std::vector<uint32_t>& active, const Directions& directions, const Scale& scale) {
  find_steps(scale);
  keep_directions(directions, scale);
  leave_alone(scale);
  int shift = 0;
  while (!round(shift) && shift < kMostShift) ++shift;
  const bool adds = std::any_of(rounded_.begin(), rounded_.end(), [](int32_t value) { return value != 0; });
  keep_means(scale);
  std::fill(all_.begin(), all_.end(), 0);
  for (size_t i = 0; i < rounded_.size(); ++i) all_[i / n_active_ * n_scores_ + active[i % n_active_]] = rounded_[i];
  for (size_t i = 0; i < all_.size(); ++i) added_[i] = settings_.unit * static_cast<float>(all_[i]);
  return adds;
}

// Where probabilities are nearly 0 or 1, curvature says nothing, and steps would have no limit.
void Values::find_steps(const Scale& scale) {
  for (size_t i = 0; i < sums_.size(); ++i) {
    const double curve = scale.curve(sums_[i]) + settings_.l2;
    const double step = curve > 0.0 ? -scale.slope(sums_[i]) / curve : 0.0;
    steps_[i] = settings_.learning_rate * (loss_ == Loss::kSquared ? step : std::clamp(step, -kMostStep, kMostStep));
  }
}

// Two cells that differ in one answer and have the wrong order share the mean step of their rows. That may spoil the
// order of other answers, so a second pass takes the larger of two steps, or the smaller: minima and maxima along one
// answer keep the order along all others, and rounding keeps it, too.
void Values::keep_directions(const Directions& directions, const Scale& scale) {
  const auto for_pairs = [&](auto mend) {
    for (uint32_t level = 0; level < settings_.n_questions; ++level)
      for (size_t no = 0; directions[level] != 0 && no < steps_.size(); ++no) {
        const size_t yes = no | (size_t{1} << level);
        if (yes != no && directions[level] * (steps_[yes] - steps_[no]) < 0.0) mend(no, yes);
      }
  };
  for_pairs([&](size_t no, size_t yes) {
    const double curves[] = {scale.curve(sums_[no]), scale.curve(sums_[yes])}, all = curves[0] + curves[1];
    const double share = all > 0.0 ? curves[0] / all : 0.5;
    steps_[no] = steps_[yes] = share * steps_[no] + (1.0 - share) * steps_[yes];
  });
  for_pairs([&](size_t no, size_t yes) { steps_[yes] = steps_[no]; });
}

void Values::leave_alone(const Scale& scale) {
  if (settings_.sparsity == 0.0f) return;
  std::fill(gains_.begin(), gains_.end(), 0.0);
  for (size_t i = 0; i < sums_.size(); ++i) gains_[i % n_active_] += scale.gain(sums_[i], settings_.l2);
  const double least = settings_.sparsity * *std::max_element(gains_.begin(), gains_.end());
  for (size_t i = 0; i < steps_.size(); ++i)
    if (gains_[i % n_active_] < least) steps_[i] = 0.0;
}

// Rounds to multiples of the unit times 2^shift; false if some score's values span more than the digits hold.
bool Values::round(int shift) {
  const double unit = std::ldexp(settings_.unit, shift);
  bool fits = true;
  for (size_t k = 0; k < n_active_; ++k) {
    double least = INFINITY, most = -INFINITY;
    for (size_t i = k; i < steps_.size(); i += n_active_) {
      const double rounded = std::nearbyint(steps_[i] / unit);
      rounded_[i] = static_cast<int32_t>(std::ldexp(rounded, shift));
      least = std::min(least, rounded), most = std::max(most, rounded);
    }
    fits = fits && most - least < 1u << settings_.value_bits;
  }
  return fits;
}

// Adds to all values of a score what rounding took from the mean step of the rows: often it keeps the long steps to one
// side and none of the short ones to the other. What all cells share is a constant, and costs no gate.
void Values::keep_means(const Scale& scale) {
  for (size_t k = 0; k < n_active_; ++k) {
    double lost = 0.0, curves = 0.0;
    for (size_t i = k; i < steps_.size(); i += n_active_) {
      const double curve = scale.curve(sums_[i]);
      lost += curve * (steps_[i] - settings_.unit * rounded_[i]);
      curves += curve;
    }
    if (curves <= 0.0) continue;
    const auto shared = static_cast<int32_t>(std::nearbyint(lost / curves / settings_.unit));
    for (size_t i = k; i < steps_.size(); i += n_active_) rounded_[i] += shared;
  }
}

}  // namespace gatewise::boost
