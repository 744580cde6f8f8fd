#include "boost/learner.hpp"

#include <algorithm>
#include <cmath>

namespace gatewise::boost {
namespace {

Window first_window(size_t n_rows, const Settings& settings) {
  const auto share = static_cast<size_t>(std::ceil(settings.row_share * static_cast<double>(n_rows)));
  return {n_rows, 0, std::min<size_t>({n_rows, std::max<size_t>(share, 1), settings.max_rows})};
}

}  // namespace

Learner::Learner(const std::vector<Column>& columns, const Rows& training, const Rows& validation, Loss loss,
                 const std::vector<float>& base, const Settings& settings, Pool& pool)
    : columns_(columns),
      settings_(settings),
      training_(training, loss, base, settings.quantile, pool),
      validation_(validation, loss, base, settings.quantile, pool),
      window_(first_window(training_.n(), settings)),
      derivatives_(window_.n, base.size(), settings, pool),
      chooser_(columns, training.codes, derivatives_.n_sums(), settings, pool),
      values_(loss, base.size(), settings) {}

void Learner::reserve(size_t n_terms) {
  terms_.bits.reserve(terms_.bits.size() + n_terms * settings_.n_questions);
  terms_.values.reserve(terms_.values.size() + n_terms * values_.all().size());
}

bool Learner::grow() noexcept {
  derivatives_.take(training_, window_, n_terms());
  const std::vector<Question>& questions = chooser_.choose(training_, window_, derivatives_);
  derivatives_.sum_cells(training_.cells(), window_, values_.sums());
  move_window();
  Directions directions{};
  for (uint32_t level = 0; level < settings_.n_questions; ++level)
    directions[level] = columns_[questions[level].column].direction_of(questions[level].bit);
  if (!values_.find(derivatives_.active(), directions, derivatives_.scale())) return false;
  for (uint32_t level = 0; level < settings_.n_questions; ++level) {
    const auto [j, bit, gain] = questions[level];
    validation_.answer(columns_[j], j, bit, level);
    terms_.bits.push_back(static_cast<int32_t>(columns_[j].first_bit + bit));
  }
  terms_.values.insert(terms_.values.end(), values_.all().begin(), values_.all().end());
  training_.add(values_.added());
  validation_.add(values_.added());
  return true;
}

const std::vector<float>& Learner::validate_again(size_t most_terms) {
  validation_.forget();
  std::vector<float> added(values_.all().size());
  for (size_t t = 0; t < std::min(most_terms, n_terms()); ++t) {
    for (uint32_t level = 0; level < settings_.n_questions; ++level) {
      const auto bit = static_cast<uint32_t>(terms_.bits[t * settings_.n_questions + level]);
      const auto column =
          std::find_if(columns_.rbegin(), columns_.rend(), [&](const Column& each) { return each.first_bit <= bit; });
      validation_.answer(*column, static_cast<size_t>(columns_.rend() - column) - 1, bit - column->first_bit, level);
    }
    for (size_t i = 0; i < added.size(); ++i)
      added[i] = settings_.unit * static_cast<float>(terms_.values[t * added.size() + i]);
    validation_.add(added);
  }
  return validation_.scores();
}

// Rows come in random order, so any window of them is a sample.
void Learner::move_window() { window_.begin = (window_.begin + window_.n) % window_.n_all; }

}  // namespace gatewise::boost
