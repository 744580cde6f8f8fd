// A search for a point of a box where the least form of a sum is as great as possible, or reaches a goal.
//
// Boxes are halved, each by the column whose halves have the least bounds, and dropped when their bound is no better
// than what a point has reached: when no box waits, that is proved. Towards a goal the search goes into depth, with the
// better half first; for a greatest value the box with the greatest bound is next, until the boxes that wait take
// kMaxBytes.
#pragma once

#include <optional>
#include <random>
#include <vector>

#include "verify/table_sum.hpp"

namespace gatewise::verify {

class BoxSearch {
 public:
  static constexpr size_t kMaxBytes = size_t{1} << 28;
  static constexpr size_t kClimbers = 16;

  // The sum must outlive it.
  BoxSearch(const TableSum& sum, std::vector<uint32_t> low, std::vector<uint32_t> high, std::optional<int64_t> goal);

  // Searches until about so many boxes more were bounded; true if the question is decided.
  bool advance(uint64_t n_boxes);

  bool is_done() const { return waiting_.empty() || (goal_ && has_point_); }
  // No point of the box has a greater value.
  int64_t highest() const;
  // The best value that a point was found for, if one was; less than the goal otherwise.
  int64_t reached() const { return reached_; }
  bool has_point() const { return has_point_; }
  const std::vector<uint32_t>& point() const { return best_; }
  uint64_t n_boxes() const { return n_boxes_; }

 private:
  struct Waiting {
    int64_t bound;
    uint32_t slot;  // of its ranges
    bool operator<(const Waiting& other) const { return bound < other.bound; }
  };
  struct Half {
    size_t column;
    int64_t left, right;  // bounds
  };

  uint32_t* ranges(uint32_t slot) { return ranges_.data() + slot * 2 * sum_.n_columns(); }
  void add(int64_t bound, const uint32_t* low, const uint32_t* high);
  void divide(const Waiting& box);
  std::optional<Half> choose(const uint32_t* low, const uint32_t* high) const;
  int64_t value(const std::vector<uint32_t>& point);
  void try_point(const uint32_t* low, const uint32_t* high);
  void climb(const uint32_t* low, const uint32_t* high, std::vector<uint32_t> point);
  int64_t least_sum() const;

  const TableSum& sum_;
  const std::optional<int64_t> goal_;
  std::mt19937 random_{0};
  std::vector<Waiting> waiting_;  // a heap while `is_heap_`
  std::vector<uint32_t> ranges_, free_slots_;
  std::vector<uint32_t> best_, places_, root_;
  std::vector<int64_t> sums_;
  int64_t reached_;
  bool has_point_ = false, has_climbed_ = false, is_heap_;
  uint64_t n_boxes_ = 0;
};

}  // namespace gatewise::verify
