// The Python side of bounds and searches of sums of tables.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <optional>
#include <tuple>

#include "bind/arrays.hpp"
#include "bind/module.hpp"
#include "verify/box_search.hpp"

namespace nb = nanobind;
namespace gv = gatewise::verify;
using namespace gatewise::binding;

namespace {

using Axes = std::vector<std::tuple<uint32_t, Array<uint32_t>>>;  // column, and run of each of its choices
using TableArrays = std::tuple<Axes, Array<int32_t>>;

constexpr size_t kMaxPlaces = size_t{1} << 26;  // of all tables and forms together: 256 MB
constexpr size_t kMaxChoices = size_t{1} << 26;

gv::Axis make_axis(uint32_t column, const Array<uint32_t>& runs, const std::vector<uint32_t>& sizes) {
  require(column < sizes.size(), "axes must be columns");
  std::vector<uint32_t> run_of = copy(runs);
  require(!run_of.empty() && run_of.size() == sizes[column] && run_of[0] == 0, "runs must be one per choice, from 0");
  for (size_t i = 1; i < run_of.size(); ++i)
    require(run_of[i] == run_of[i - 1] || run_of[i] == run_of[i - 1] + 1, "runs must be numbered in order");
  return {column, std::move(run_of)};
}

void make_sum(gv::TableSum* sum, Array<uint32_t> sizes, Array<int64_t> constants,
              const std::vector<TableArrays>& arrays) {
  const std::vector<uint32_t> n_choices = copy(sizes);
  const std::vector<int64_t> own = copy(constants);
  require(!own.empty(), "constants must be at least one");
  for (const int64_t constant : own)
    require(constant >= -(int64_t{1} << 60) && constant <= int64_t{1} << 60, "constants must be below 2**60");
  size_t n_steps = 0, n_places = 0;
  std::vector<gv::Table> tables;
  for (const auto& [axes, values] : arrays) {
    gv::Table table{{}, copy(values)};
    size_t n_cells = own.size(), n_wide = own.size();
    for (const auto& [column, runs] : axes) {
      table.axes.push_back(make_axis(column, runs, n_choices));
      const size_t n_runs = table.axes.back().run_of.back() + size_t{1};
      n_cells *= n_runs;
      n_wide *= n_runs * (n_runs + 1) / 2;
      n_steps += table.axes.back().run_of.size();
      require(n_wide <= kMaxPlaces && n_steps <= kMaxChoices, "tables must be smaller");
    }
    std::vector<uint32_t> columns;
    for (const gv::Axis& axis : table.axes) columns.push_back(axis.column);
    std::sort(columns.begin(), columns.end());
    require(std::adjacent_find(columns.begin(), columns.end()) == columns.end(), "axes of a table must differ");
    require(table.values.size() == n_cells, "values must be one per cell and form");
    n_places += n_wide;
    require(n_places <= kMaxPlaces, "tables must be smaller");
    tables.push_back(std::move(table));
  }
  require(std::all_of(n_choices.begin(), n_choices.end(), [](uint32_t n) { return n > 0; }), "sizes must be positive");
  new (sum) gv::TableSum(n_choices, own, tables);
}

void check_boxes(const gv::TableSum& sum, const uint32_t* low, const uint32_t* high) {
  for (size_t i = 0; i < sum.n_columns(); ++i)
    require(low[i] <= high[i] && high[i] < sum.sizes()[i], "boxes must be ranges of choices");
}

// (n_boxes, n_forms)
void highs(const gv::TableSum& sum, Matrix<const uint32_t> low, Matrix<const uint32_t> high, Matrix<int64_t> to) {
  const size_t n = low.shape(0), width = sum.n_columns();
  require(high.shape(0) == n && low.shape(1) == width && high.shape(1) == width, "low and high must be of all columns");
  require(to.shape(0) == n && to.shape(1) == sum.n_forms(), "to must be n_boxes x n_forms");
  const std::vector<uint32_t> lows(low.data(), low.data() + n * width), ends(high.data(), high.data() + n * width);
  for (size_t i = 0; i < n; ++i) check_boxes(sum, lows.data() + i * width, ends.data() + i * width);
  std::vector<uint32_t> places(sum.n_tables());
  int64_t* sums = to.data();
  nb::gil_scoped_release unlocked;
  for (size_t i = 0; i < n; ++i)
    sum.bound(lows.data() + i * width, ends.data() + i * width, places.data(), sums + i * sum.n_forms());
}

void make_search(gv::BoxSearch* search, const gv::TableSum& sum, Array<uint32_t> low, Array<uint32_t> high,
                 std::optional<int64_t> goal) {
  std::vector<uint32_t> lows = copy(low), ends = copy(high);
  require(lows.size() == sum.n_columns() && ends.size() == lows.size(), "low and high must be of all columns");
  require(!goal || *goal > INT64_MIN, "goal must be above the least number");
  check_boxes(sum, lows.data(), ends.data());
  new (search) gv::BoxSearch(sum, std::move(lows), std::move(ends), goal);
}

}  // namespace

void bind_verify(nb::module_& m) {
  nb::class_<gv::TableSum>(m, "TableSum")
      .def("__init__", &make_sum, nb::arg("sizes"), nb::arg("constants"), nb::arg("tables"))
      .def("highs", &highs);
  nb::class_<gv::BoxSearch>(m, "BoxSearch")
      .def("__init__", &make_search, nb::arg("sum"), nb::arg("low"), nb::arg("high"), nb::arg("goal").none(),
           nb::keep_alive<1, 2>())
      .def("advance", &gv::BoxSearch::advance)  // in short slices: it keeps the interpreter's lock
      .def_prop_ro("is_done", &gv::BoxSearch::is_done)
      .def_prop_ro("highest", &gv::BoxSearch::highest)
      .def_prop_ro("reached", &gv::BoxSearch::reached)
      .def_prop_ro("n_boxes", &gv::BoxSearch::n_boxes)
      .def_prop_ro("point", [](const gv::BoxSearch& search) -> std::optional<std::vector<uint32_t>> {
        if (!search.has_point()) return std::nullopt;
        return search.point();
      });
}
