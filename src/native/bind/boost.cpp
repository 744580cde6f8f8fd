// The Python side of boosting.
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cmath>
#include <tuple>

#include "bind/arrays.hpp"
#include "bind/module.hpp"
#include "boost/growing.hpp"

namespace nb = nanobind;
namespace gw = gatewise;
namespace boost = gatewise::boost;
using namespace gatewise::binding;

namespace {

std::vector<boost::Column> make_columns(Array<uint32_t> n_ordered, Array<uint32_t> n_single, Array<int8_t> directions,
                                        size_t n_bits) {
  require(n_ordered.size() == n_single.size() && n_ordered.size() == directions.size(),
          "n_ordered, n_single and directions must have one number per column");
  std::vector<boost::Column> columns;
  size_t bit = 0;
  for (size_t j = 0; j < n_ordered.size(); ++j) {
    const uint32_t ordered = n_ordered.data()[j], single = n_single.data()[j];
    require(ordered <= boost::kMostBits && single <= boost::kMostBits - ordered, "columns must have at most 255 bits");
    const int8_t direction = directions.data()[j];
    require(direction >= -1 && direction <= 1, "directions must be -1, 0 or 1");
    if (ordered + single > 0) columns.push_back({static_cast<uint32_t>(bit), ordered, single, direction});
    bit += ordered + single;
  }
  require(bit == n_bits && !columns.empty(), "columns must have as many bits as there are planes, at least one");
  return columns;
}

using RowLists = std::vector<Array<uint32_t>>;

std::vector<boost::Split> make_splits(const RowLists& training, const RowLists& validation, size_t n_rows) {
  require(!training.empty() && training.size() == validation.size(), "training and validation must be as many lists");
  std::vector<boost::Split> splits;
  for (size_t i = 0; i < training.size(); ++i) {
    splits.push_back({copy(training[i]), copy(validation[i])});
    require(training[i].size() > 0, "training must name a row");
    for (const auto* rows : {&splits[i].training, &splits[i].validation})
      for (const uint32_t row : *rows) require(row < n_rows, "training and validation must be rows");
  }
  return splits;
}

boost::Settings make_settings(const nb::dict& given) {
  const auto number = [&](const char* name) { return nb::cast<float>(given[name]); };
  const auto count = [&](const char* name) { return nb::cast<uint32_t>(given[name]); };
  const boost::Settings settings{
      count("n_questions"), count("value_bits"), number("learning_rate"), number("l2"),      number("unit"),
      number("sparsity"),   count("max_scores"), number("row_share"),     count("max_rows"), number("column_share"),
      count("n_sketches"),  count("n_pairs"),    number("quantile")};
  require(settings.n_questions >= 1 && settings.n_questions <= boost::kMostQuestions, "n_questions must be in 1..6");
  require(settings.value_bits >= 1 && settings.value_bits <= boost::kMostValueBits, "value_bits must be in 1..8");
  require(settings.learning_rate > 0 && settings.l2 >= 0 && settings.unit > 0 && settings.sparsity >= 0,
          "settings must be positive");
  for (const float share : {settings.row_share, settings.column_share})
    require(share > 0 && share <= 1, "row_share and column_share must be in (0, 1]");
  require(settings.quantile > 0 && settings.quantile < 1, "quantile must be in (0, 1)");
  require(settings.max_scores > 0 && settings.max_rows > 0 && settings.max_rows <= boost::kMostRows,
          "max_scores must be positive, and max_rows in 1..2**24");
  return settings;
}

void check_targets(Matrix<const float> targets, boost::Loss loss, size_t n_scores) {
  require(n_scores > 0 && (loss != boost::Loss::kLogistic || n_scores == 1), "base must fit the loss");
  require(targets.shape(1) == boost::target_size(loss, n_scores),
          "targets must have as many columns as the loss needs");
  const bool are_labels = loss == boost::Loss::kSoftmax;
  for (size_t i = 0; i < targets.size(); ++i) {
    const float target = targets.data()[i];
    require(std::isfinite(target), "targets must be finite");
    require(loss != boost::Loss::kPoisson || target >= 0.0f, "targets must not be negative");
    require(!are_labels || (target >= 0.0f && target < static_cast<float>(n_scores)), "targets must be below n_scores");
  }
}

auto grow_terms(Matrix<const uint64_t> planes, size_t n_rows, Array<uint32_t> n_ordered, Array<uint32_t> n_single,
                Array<int8_t> directions, Matrix<const float> targets, Array<float> weights, const RowLists& training,
                const RowLists& validation, uint8_t loss, Array<float> base, const nb::dict& settings,
                uint32_t max_terms, uint32_t patience, double enough, unsigned threads) {
  require(planes.shape(1) == (n_rows + 63) / 64, "planes must have ceil(n_rows / 64) words");
  require(targets.shape(0) == n_rows, "targets must have a row for each row of the planes");
  require(weights.size() == 0 || weights.size() == n_rows, "weights must be as many as the rows, or none");
  require(loss <= static_cast<uint8_t>(boost::Loss::kPoisson), "loss must be below 5");
  require(patience > 0 && threads > 0, "patience and threads must be positive");
  require(enough >= 0 && enough <= 1, "enough must be in [0, 1]");
  const auto kind = static_cast<boost::Loss>(loss);
  check_targets(targets, kind, base.size());
  const boost::Settings checked = make_settings(settings);
  const std::vector<boost::Column> columns = make_columns(n_ordered, n_single, directions, planes.shape(0));
  const bool has_directions =
      std::any_of(columns.begin(), columns.end(), [](const auto& each) { return each.direction != 0; });
  require(!has_directions || base.size() == 1, "directions must be 0 if there are several scores");
  const std::vector<boost::Split> splits = make_splits(training, validation, n_rows);
  boost::Grown grown;
  bool is_interrupted = false;
  {
    nb::gil_scoped_release unlocked;
    gw::Pool pool(threads);
    const boost::Codes codes(columns, {planes.data(), planes.shape(1)}, n_rows, pool);
    const boost::Table table{columns, codes, targets.data(), weights.size() > 0 ? weights.data() : nullptr};
    const auto goes_on = [&] {
      nb::gil_scoped_acquire locked;
      return !(is_interrupted = PyErr_CheckSignals() != 0);
    };
    grown = boost::grow_terms(table, splits, kind, copy(base), checked, max_terms, patience, enough, threads, goes_on);
  }
  if (is_interrupted) throw nb::python_error();
  return std::make_tuple(to_numpy(std::move(grown.terms.bits)), to_numpy(std::move(grown.terms.values)),
                         to_numpy(std::move(grown.losses)), grown.n_enough, to_numpy(std::move(grown.scores)));
}

}  // namespace

void bind_boost(nb::module_& m) {
  m.def("grow_terms", &grow_terms, nb::kw_only(), nb::arg("planes"), nb::arg("n_rows"), nb::arg("n_ordered"),
        nb::arg("n_single"), nb::arg("directions"), nb::arg("targets"), nb::arg("weights"), nb::arg("training"),
        nb::arg("validation"), nb::arg("loss"), nb::arg("base"), nb::arg("settings"), nb::arg("max_terms"),
        nb::arg("patience"), nb::arg("enough"), nb::arg("threads"));
}
