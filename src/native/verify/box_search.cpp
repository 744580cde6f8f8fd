#include "verify/box_search.hpp"

#include <algorithm>
#include <utility>

namespace gatewise::verify {

BoxSearch::BoxSearch(const TableSum& sum, std::vector<uint32_t> low, std::vector<uint32_t> high,
                     std::optional<int64_t> goal)
    : sum_(sum),
      goal_(goal),
      places_(sum.n_tables()),
      root_(std::move(low)),
      sums_(sum.n_forms()),
      reached_(goal ? *goal - 1 : INT64_MIN),
      is_heap_(!goal) {
  root_.insert(root_.end(), high.begin(), high.end());
  const uint32_t *lows = root_.data(), *highs = lows + sum.n_columns();
  sum_.bound(lows, highs, places_.data(), sums_.data());
  ++n_boxes_;
  if (least_sum() > reached_) add(least_sum(), lows, highs);
}

bool BoxSearch::advance(uint64_t n_boxes) {
  const uint64_t end = n_boxes_ + n_boxes;
  if (!has_climbed_ && !is_done()) {
    has_climbed_ = true;
    for (size_t i = 0; i < kClimbers && !is_done(); ++i) climb(root_.data(), root_.data() + sum_.n_columns(), {});
  }
  while (!is_done() && n_boxes_ < end) {
    if (is_heap_) std::pop_heap(waiting_.begin(), waiting_.end());
    const Waiting box = waiting_.back();
    waiting_.pop_back();
    if (box.bound > reached_) divide(box);
    free_slots_.push_back(box.slot);
    const size_t bytes = waiting_.size() * (sizeof(Waiting) + 2 * sum_.n_columns() * sizeof(uint32_t));
    is_heap_ = is_heap_ && bytes < kMaxBytes;
  }
  return is_done();
}

int64_t BoxSearch::highest() const {
  int64_t highest = reached_;
  for (const Waiting& box : waiting_) highest = std::max(highest, box.bound);
  return highest;
}

int64_t BoxSearch::least_sum() const { return *std::min_element(sums_.begin(), sums_.end()); }

void BoxSearch::add(int64_t bound, const uint32_t* low, const uint32_t* high) {
  const size_t n = sum_.n_columns();
  if (free_slots_.empty()) {
    free_slots_.push_back(static_cast<uint32_t>(ranges_.size() / (2 * n)));
    ranges_.resize(ranges_.size() + 2 * n);
  }
  const uint32_t slot = free_slots_.back();
  free_slots_.pop_back();
  std::copy_n(low, n, ranges(slot));
  std::copy_n(high, n, ranges(slot) + n);
  waiting_.push_back({bound, slot});
  if (is_heap_) std::push_heap(waiting_.begin(), waiting_.end());
}

// Puts both halves of a box in its place, but those that hold nothing better than what was reached.
void BoxSearch::divide(const Waiting& box) {
  const size_t n = sum_.n_columns();
  const uint32_t* own = ranges(box.slot);
  std::vector<uint32_t> low(own, own + n), high(own + n, own + 2 * n);
  sum_.bound(low.data(), high.data(), places_.data(), sums_.data());
  const std::optional<Half> half = choose(low.data(), high.data());
  if (!half) {  // no table tells its points apart
    reached_ = box.bound;
    best_ = low;
    has_point_ = true;
    return;
  }
  n_boxes_ += 2;
  const uint32_t first = low[half->column], last = high[half->column], middle = first + (last - first) / 2;
  const auto add_half = [&](bool is_left) {
    low[half->column] = is_left ? first : middle + 1;
    high[half->column] = is_left ? middle : last;
    const int64_t bound = is_left ? half->left : half->right;
    if (bound > reached_) add(bound, low.data(), high.data());
  };
  const bool left_is_better = half->left > half->right;
  add_half(!left_is_better);
  add_half(left_is_better);  // on top of the stack
  try_point(low.data(), high.data());
}

// The column whose halves have the least bounds, of those whose halves differ at all.
std::optional<BoxSearch::Half> BoxSearch::choose(const uint32_t* low, const uint32_t* high) const {
  std::optional<Half> best;
  double least = 0;
  for (size_t i = 0; i < sum_.n_columns(); ++i) {
    if (low[i] == high[i] || !sum_.is_divided(i, low[i], high[i])) continue;
    const uint32_t middle = low[i] + (high[i] - low[i]) / 2;
    const int64_t left = sum_.narrowed(i, low[i], high[i], low[i], middle, places_.data(), sums_.data());
    const int64_t right = sum_.narrowed(i, low[i], high[i], middle + 1, high[i], places_.data(), sums_.data());
    // What is dropped is as good as can be.
    const double both = static_cast<double>(std::max(left, reached_)) + static_cast<double>(std::max(right, reached_));
    if (!best || both < least) best = Half{i, left, right}, least = both;
  }
  return best;
}

int64_t BoxSearch::value(const std::vector<uint32_t>& point) {
  sum_.bound(point.data(), point.data(), places_.data(), sums_.data());
  return least_sum();
}

// Looks at a random point of a box, and climbs from it if it is the best one so far.
void BoxSearch::try_point(const uint32_t* low, const uint32_t* high) {
  std::vector<uint32_t> point(sum_.n_columns());
  for (size_t i = 0; i < point.size(); ++i) point[i] = low[i] + random_() % (high[i] - low[i] + 1);
  if (value(point) > reached_) climb(root_.data(), root_.data() + sum_.n_columns(), std::move(point));
}

// Changes one column after the other to its best choice in a box, until none gains; from a random point if none is
// given.
void BoxSearch::climb(const uint32_t* low, const uint32_t* high, std::vector<uint32_t> point) {
  if (point.empty())
    for (size_t i = 0; i < sum_.n_columns(); ++i) point.push_back(low[i] + random_() % (high[i] - low[i] + 1));
  int64_t now = value(point);
  for (bool gained = true; gained;) {
    gained = false;
    for (size_t i = 0; i < sum_.n_columns(); ++i) {
      if (!sum_.is_divided(i, low[i], high[i])) continue;
      uint32_t chosen = point[i];
      for (uint32_t choice = low[i]; choice <= high[i]; ++choice) {
        const int64_t there = sum_.narrowed(i, point[i], point[i], choice, choice, places_.data(), sums_.data());
        if (there > now) now = there, chosen = choice;
      }
      if (chosen == point[i]) continue;
      point[i] = chosen;
      gained = true;
      value(point);
    }
  }
  if (now > reached_) {
    reached_ = now;
    best_ = std::move(point);
    has_point_ = true;
  }
}

}  // namespace gatewise::verify
