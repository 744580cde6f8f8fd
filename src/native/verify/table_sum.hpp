// Sums of tables, and what they are at most where every column lies in a range of its choices.
//
// A table reads a few columns. Neighboring choices of a column that it does not tell apart are one run, so a range of
// choices is a range of runs [lo, hi], which has the number hi (hi + 1) / 2 + lo. For all ranges of all columns of a
// table its maximum is computed once; the bound of a box is then one look per table. A bound is exact for each table
// alone, and so it is the sum itself where every column has one choice left.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace gatewise::verify {

struct Axis {
  uint32_t column;
  std::vector<uint32_t> run_of;  // run of each choice: 0 for the first, and then the same or the next one
};

struct Table {
  std::vector<Axis> axes;
  std::vector<int32_t> values;  // one for each cell of runs, the last axis first, and in it one for each form
};

// A box is a range of choices for each column: `low` and `high`, both included.
class TableSum {
 public:
  // Columns have so many choices; forms begin with constants.
  TableSum(std::vector<uint32_t> sizes, std::vector<int64_t> constants, const std::vector<Table>& tables);

  size_t n_columns() const { return sizes_.size(); }
  size_t n_forms() const { return constants_.size(); }
  size_t n_tables() const { return first_.size(); }
  const std::vector<uint32_t>& sizes() const { return sizes_; }
  bool reads(size_t column) const { return !uses_[column].tables.empty(); }

  // Where each table is looked up, and what each form is at most.
  void bound(const uint32_t* low, const uint32_t* high, uint32_t* places, int64_t* sums) const noexcept;

  // The least of all forms' bounds after one column's range (low, high) became (new_low, new_high).
  int64_t narrowed(size_t column, uint32_t low, uint32_t high, uint32_t new_low, uint32_t new_high,
                   const uint32_t* places, const int64_t* sums) const noexcept;

  // Whether any table tells the first choice of a range from the last one.
  bool is_divided(size_t column, uint32_t low, uint32_t high) const noexcept;

 private:
  // Of a column: tables that read it, and how far each choice moves their places, as the low or the high end.
  struct Uses {
    std::vector<uint32_t> tables;
    std::vector<uint32_t> low_steps, high_steps;  // one for each choice, and in it one for each table
  };

  std::vector<uint32_t> sizes_;
  std::vector<int64_t> constants_;
  std::vector<size_t> first_;    // of each table among the maxima
  std::vector<int32_t> maxima_;  // one for each place, and in it one for each form
  std::vector<Uses> uses_;
};

}  // namespace gatewise::verify
