// The Python side of boosting.
#include <nanobind/stl/tuple.h>

#include <algorithm>
#include <cmath>
#include <tuple>

#include "bind/arrays.hpp"
#include "bind/module.hpp"
#include "boost/learner.hpp"

namespace nb = nanobind;
namespace gw = gatewise;
namespace boost = gatewise::boost;
using namespace gatewise::binding;

namespace {

std::vector<boost::Column> make_columns(Array<uint32_t> n_ordered, Array<uint32_t> n_single, size_t n_bits) {
  require(n_ordered.size() == n_single.size(), "n_ordered and n_single must have one number per column");
  std::vector<boost::Column> columns;
  size_t bit = 0;
  for (size_t j = 0; j < n_ordered.size(); ++j) {
    const uint32_t ordered = n_ordered.data()[j], single = n_single.data()[j];
    require(ordered <= boost::kMostBits && single <= boost::kMostBits - ordered, "columns must have at most 255 bits");
    if (ordered + single > 0) columns.push_back({static_cast<uint32_t>(bit), ordered, single});
    bit += ordered + single;
  }
  require(bit == n_bits && !columns.empty(), "columns must have as many bits as there are planes, at least one");
  return columns;
}

boost::Rows take_rows(const boost::Codes& codes, const std::vector<uint32_t>& rows, Matrix<const float> targets,
                      Array<float> weights) {
  boost::Rows taken{codes, {}, {}};
  for (const uint32_t row : rows) {
    const float* target = targets.data() + row * targets.shape(1);
    taken.targets.insert(taken.targets.end(), target, target + targets.shape(1));
    if (weights.size() > 0) taken.weights.push_back(weights.data()[row]);
  }
  return taken;
}

void check_targets(Matrix<const float> targets, boost::Loss loss, size_t n_scores) {
  require(n_scores > 0 && (loss != boost::Loss::kLogistic || n_scores == 1), "base must fit the loss");
  require(targets.shape(1) == boost::target_size(loss, n_scores),
          "targets must have as many columns as the loss needs");
  const bool are_labels = loss == boost::Loss::kSoftmax;
  for (size_t i = 0; i < targets.size(); ++i) {
    const float target = targets.data()[i];
    require(std::isfinite(target), "targets must be finite");
    require(!are_labels || (target >= 0.0f && target < static_cast<float>(n_scores)), "targets must be below n_scores");
  }
}

auto grow_terms(Matrix<const uint64_t> planes, size_t n_rows, Array<uint32_t> n_ordered, Array<uint32_t> n_single,
                Matrix<const float> targets, Array<float> weights, Array<uint32_t> training, Array<uint32_t> validation,
                uint8_t loss, Array<float> base, uint32_t n_questions, uint32_t value_bits, uint32_t max_terms,
                uint32_t patience, float learning_rate, float l2, float unit, float sparsity, uint32_t max_scores,
                gw::Pool& pool) {
  require(planes.shape(1) == (n_rows + 63) / 64, "planes must have ceil(n_rows / 64) words");
  require(targets.shape(0) == n_rows, "targets must have a row for each row of the planes");
  require(weights.size() == 0 || weights.size() == n_rows, "weights must be as many as the rows, or none");
  require(loss <= static_cast<uint8_t>(boost::Loss::kSquared), "loss must be below 3");
  require(n_questions >= 1 && n_questions <= boost::kMostQuestions, "n_questions must be in 1..6");
  require(value_bits >= 1 && value_bits <= boost::kMostValueBits, "value_bits must be in 1..8");
  require(learning_rate > 0 && l2 >= 0 && unit > 0 && sparsity >= 0 && max_scores > 0, "settings must be positive");
  const auto kind = static_cast<boost::Loss>(loss);
  check_targets(targets, kind, base.size());
  const std::vector<boost::Column> columns = make_columns(n_ordered, n_single, planes.shape(0));
  const std::vector<uint32_t> rows[2] = {copy(training), copy(validation)};
  require(!rows[0].empty(), "training must name a row");
  for (const auto& each : rows)
    for (const uint32_t row : each) require(row < n_rows, "training and validation must be rows");
  const boost::PlanesView view{planes.data(), planes.shape(1)};
  const boost::Settings settings{n_questions, value_bits, max_terms, patience,  learning_rate,
                                 l2,          unit,       sparsity,  max_scores};
  boost::Terms terms;
  bool is_interrupted = false;
  {
    nb::gil_scoped_release unlocked;
    const boost::Codes codes[2] = {{columns, view, rows[0], pool}, {columns, view, rows[1], pool}};
    const boost::Rows taken[2] = {take_rows(codes[0], rows[0], targets, weights),
                                  take_rows(codes[1], rows[1], targets, weights)};
    const auto goes_on = [&] {
      nb::gil_scoped_acquire locked;
      return !(is_interrupted = PyErr_CheckSignals() != 0);
    };
    terms = boost::grow_terms(columns, taken[0], taken[1], kind, copy(base), settings, pool, goes_on);
  }
  if (is_interrupted) throw nb::python_error();
  return std::make_tuple(to_numpy(std::move(terms.bits)), to_numpy(std::move(terms.values)),
                         to_numpy(std::move(terms.losses)));
}

}  // namespace

void bind_boost(nb::module_& m) {
  m.def("grow_terms", &grow_terms, nb::kw_only(), nb::arg("planes"), nb::arg("n_rows"), nb::arg("n_ordered"),
        nb::arg("n_single"), nb::arg("targets"), nb::arg("weights"), nb::arg("training"), nb::arg("validation"),
        nb::arg("loss"), nb::arg("base"), nb::arg("n_questions"), nb::arg("value_bits"), nb::arg("max_terms"),
        nb::arg("patience"), nb::arg("learning_rate"), nb::arg("l2"), nb::arg("unit"), nb::arg("sparsity"),
        nb::arg("max_scores"), nb::arg("pool"));
}
