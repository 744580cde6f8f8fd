#include "boost/learner.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "boost/questions.hpp"

namespace gatewise::boost {
namespace {

constexpr size_t kRowsPerChunk = 4096;          // of work that is shared by threads
constexpr size_t kLeastRows = size_t{1} << 15;  // a term is grown on so many rows, if there are,
constexpr size_t kMostSums = size_t{1} << 18;   // or on more of them, while their sums stay below this
constexpr double kMostStep = 4.0;               // in logarithms of odds
constexpr uint32_t kMostShift = 20;             // of a term's values, against the unit

// The scores of some rows, and the cells of the term that is grown.
struct Scored {
  Scored(const Rows& rows, Loss loss, const std::vector<float>& base)
      : rows(rows), n_targets(target_size(loss, base.size())), cell(rows.codes.n_rows()) {
    scores.reserve(n() * base.size());
    for (size_t i = 0; i < n(); ++i) scores.insert(scores.end(), base.begin(), base.end());
  }
  size_t n() const { return rows.codes.n_rows(); }
  const float* target(size_t i) const { return rows.targets.data() + i * n_targets; }
  float weight(size_t i) const { return rows.weights.empty() ? 1.0f : rows.weights[i]; }

  const Rows& rows;
  size_t n_targets;
  std::vector<float> scores;
  std::vector<uint8_t> cell;
};

class Learner {
 public:
  Learner(const std::vector<Column>& columns, const Rows& training, const Rows& validation, Loss loss,
          const std::vector<float>& base, const Settings& settings, Pool& pool)
      : columns_(columns),
        loss_(loss),
        n_scores_(base.size()),
        settings_(settings),
        pool_(pool),
        training_(training, loss, base),
        validation_(validation, loss, base),
        n_cells_(1u << settings.n_questions),
        n_grown_(std::min(training_.n(), std::max(kLeastRows, kMostSums / n_scores_))),
        derivatives_(n_grown_ * n_scores_),
        active_(std::min<size_t>(n_scores_, settings.max_scores)),
        sums_(n_grown_ * active_.size()),
        found_(columns.size()),
        scratch_(pool.threads(), Scratch(columns, n_cells_ / 2, active_.size())) {}

  Terms run(const std::function<bool()>& goes_on) {
    double least = std::numeric_limits<double>::infinity();
    uint32_t n_best = 0;
    for (uint32_t t = 0; t < settings_.max_terms; ++t) {
      find_rows(t);
      differentiate();
      choose_scores();
      round_sums();
      choose_questions();
      if (!add_values()) break;
      for (Scored* each : {&training_, &validation_}) add_term(*each);
      if (validation_.n() > 0) {
        terms_.losses.push_back(find_loss());
        if (terms_.losses.back() < least) {
          least = terms_.losses.back();
          n_best = t + 1;
        }
        if (t + 1 - n_best >= settings_.patience) break;
      }
      if (!goes_on()) break;
    }
    return std::move(terms_);
  }

 private:
  template <typename Work>
  void for_chunks(size_t n, const Work& work) {
    pool_.run((n + kRowsPerChunk - 1) / kRowsPerChunk, [&](size_t, size_t chunk) noexcept {
      work(chunk, chunk * kRowsPerChunk, std::min(n, (chunk + 1) * kRowsPerChunk));
    });
  }

  // Rows come in random order, so any window of them is a sample.
  void find_rows(uint32_t t) {
    begin_ = t * n_grown_ % training_.n();
    begin_ = std::min(begin_, training_.n() - n_grown_);
  }

  void differentiate() {
    std::vector<float> most((n_grown_ + kRowsPerChunk - 1) / kRowsPerChunk * 2);
    for_chunks(n_grown_, [&](size_t chunk, size_t from, size_t to) noexcept {
      for (size_t i = from; i < to; ++i) {
        const size_t row = begin_ + i;
        Derivative* d = derivatives_.data() + i * n_scores_;
        boost::differentiate(loss_, training_.scores.data() + row * n_scores_, training_.target(row), n_scores_, d);
        const float weight = training_.weight(row);
        for (size_t k = 0; k < n_scores_; ++k) {
          d[k] = {d[k].first * weight, d[k].second * weight};
          most[2 * chunk] = std::max(most[2 * chunk], std::abs(d[k].first));
          most[2 * chunk + 1] = std::max(most[2 * chunk + 1], d[k].second);
        }
      }
    });
    float first = 0.0f, second = 0.0f;
    for (size_t i = 0; i < most.size(); i += 2)
      first = std::max(first, most[i]), second = std::max(second, most[i + 1]);
    const float units = most_units(n_grown_);
    scale_ = {first > 0.0f ? units / first : 1.0f, second > 0.0f ? units / second : 1.0f};
  }

  // The scores that the next term adds to: those whose rows have the largest sum of squares left.
  void choose_scores() {
    std::vector<double> left((n_grown_ + kRowsPerChunk - 1) / kRowsPerChunk * n_scores_);
    for_chunks(n_grown_, [&](size_t chunk, size_t from, size_t to) noexcept {
      for (size_t i = from; i < to; ++i)
        for (size_t k = 0; k < n_scores_; ++k) {
          const Derivative d = derivatives_[i * n_scores_ + k];
          left[chunk * n_scores_ + k] += double{d.first} * d.first;
        }
    });
    for (size_t i = n_scores_; i < left.size(); ++i) left[i % n_scores_] += left[i];
    std::vector<size_t> order(n_scores_);
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(), [&](size_t i, size_t k) { return left[i] > left[k]; });
    order.resize(active_.size());
    std::sort(order.begin(), order.end());
    active_ = std::move(order);
  }

  void round_sums() {
    for_chunks(n_grown_, [&](size_t, size_t from, size_t to) noexcept {
      for (size_t i = from; i < to; ++i)
        for (size_t k = 0; k < active_.size(); ++k)
          sums_[i * active_.size() + k] = scale_.round(derivatives_[i * n_scores_ + active_[k]]);
    });
  }

  void choose_questions() {
    std::fill(training_.cell.begin(), training_.cell.end(), 0);
    std::fill(validation_.cell.begin(), validation_.cell.end(), 0);
    for (uint32_t level = 0; level < settings_.n_questions; ++level) {
      const Cells cells{training_.rows.codes,  begin_,      begin_ + n_grown_,
                        training_.cell.data(), 1u << level, sums_.data(),
                        active_.size(),        scale_,      settings_.l2};
      const Question question = choose_question(columns_, cells, pool_, scratch_, found_);
      for (Scored* each : {&training_, &validation_}) answer(*each, question, level);
      terms_.bits.push_back(static_cast<int32_t>(columns_[question.column].first_bit + question.bit));
    }
  }

  // The answer becomes a digit of each row's cell.
  void answer(Scored& scored, const Question& question, uint32_t level) {
    const Column& column = columns_[question.column];
    const uint8_t* codes = scored.rows.codes.column(question.column);
    const uint32_t least = column.least(question.bit), most = column.most(question.bit);
    for_chunks(scored.n(), [&](size_t, size_t from, size_t to) noexcept {
      for (size_t i = from; i < to; ++i)
        scored.cell[i] |= static_cast<uint8_t>((codes[i] > least && codes[i] <= most) << level);
    });
  }

  // Appends the values of the term whose questions were chosen; false if they all are 0, and then neither are kept.
  bool add_values() {
    const size_t n_active = active_.size();
    std::vector<Sum> sums(n_cells_ * n_active);
    for (size_t i = 0; i < n_grown_; ++i)
      for (size_t k = 0; k < n_active; ++k) sums[training_.cell[begin_ + i] * n_active + k] += sums_[i * n_active + k];
    std::vector<double> steps(sums.size());
    for (size_t i = 0; i < sums.size(); ++i) steps[i] = settings_.learning_rate * find_step(sums[i]);
    leave_alone(sums, steps);
    const std::vector<int32_t> values = round_values(steps);
    if (std::all_of(values.begin(), values.end(), [](int32_t value) { return value == 0; })) {
      terms_.bits.resize(terms_.bits.size() - settings_.n_questions);
      return false;
    }
    values_.assign(n_cells_ * n_scores_, 0);
    for (size_t i = 0; i < values.size(); ++i) values_[i / n_active * n_scores_ + active_[i % n_active]] = values[i];
    terms_.values.insert(terms_.values.end(), values_.begin(), values_.end());
    return true;
  }

  // A Newton step. Where probabilities are nearly 0 or 1, curvature says nothing, and steps would have no limit.
  double find_step(Sum sum) const {
    const double step = -scale_.first_of(sum) / (scale_.second_of(sum) + settings_.l2);
    return loss_ == Loss::kSquared ? step : std::clamp(step, -kMostStep, kMostStep);
  }

  void leave_alone(const std::vector<Sum>& sums, std::vector<double>& steps) const {
    std::vector<double> gains(active_.size());
    for (size_t i = 0; i < sums.size(); ++i) gains[i % gains.size()] += scale_.gain(sums[i], settings_.l2);
    const double least = settings_.sparsity * *std::max_element(gains.begin(), gains.end());
    for (size_t i = 0; i < steps.size(); ++i)
      if (gains[i % gains.size()] < least) steps[i] = 0.0;
  }

  // Multiples of the unit times the least power of two for which no score's values span more than 2^value_bits.
  std::vector<int32_t> round_values(const std::vector<double>& steps) const {
    std::vector<int32_t> values(steps.size());
    for (uint32_t shift = 0; shift <= kMostShift; ++shift) {
      const double unit = std::ldexp(settings_.unit, static_cast<int>(shift));
      bool fits = true;
      for (size_t k = 0; k < active_.size(); ++k) {
        double least = INFINITY, most = -INFINITY;
        for (size_t i = k; i < steps.size(); i += active_.size()) {
          const double rounded = std::nearbyint(steps[i] / unit);
          values[i] = static_cast<int32_t>(std::ldexp(rounded, static_cast<int>(shift)));
          least = std::min(least, rounded), most = std::max(most, rounded);
        }
        fits = fits && most - least < 1u << settings_.value_bits;
      }
      if (fits) return values;
    }
    return std::vector<int32_t>(steps.size());
  }

  void add_term(Scored& scored) {
    for_chunks(scored.n(), [&](size_t, size_t from, size_t to) noexcept {
      for (size_t i = from; i < to; ++i)
        for (size_t k = 0; k < n_scores_; ++k)
          scored.scores[i * n_scores_ + k] += settings_.unit * values_[scored.cell[i] * n_scores_ + k];
    });
  }

  // Mean over the validation rows; chunks are summed in their order, whatever the threads.
  double find_loss() {
    std::vector<double> sums((validation_.n() + kRowsPerChunk - 1) / kRowsPerChunk * 2);
    for_chunks(validation_.n(), [&](size_t chunk, size_t from, size_t to) noexcept {
      for (size_t i = from; i < to; ++i) {
        const float* scores = validation_.scores.data() + i * n_scores_;
        sums[2 * chunk] += validation_.weight(i) * loss_of(loss_, scores, validation_.target(i), n_scores_);
        sums[2 * chunk + 1] += validation_.weight(i);
      }
    });
    double loss = 0.0, weight = 0.0;
    for (size_t i = 0; i < sums.size(); i += 2) loss += sums[i], weight += sums[i + 1];
    return loss / weight;
  }

  const std::vector<Column>& columns_;
  const Loss loss_;
  const size_t n_scores_;
  const Settings settings_;
  Pool& pool_;
  Scored training_, validation_;
  const uint32_t n_cells_;
  const size_t n_grown_;  // rows that a term is grown on, from begin_ on
  size_t begin_ = 0;
  std::vector<Derivative> derivatives_;
  std::vector<size_t> active_;  // scores that the term adds to
  std::vector<Sum> sums_;       // of these scores
  Scale scale_;
  std::vector<int32_t> values_;  // of the term that is grown
  std::vector<Question> found_;
  std::vector<Scratch> scratch_;
  Terms terms_;
};

}  // namespace

Terms grow_terms(const std::vector<Column>& columns, const Rows& training, const Rows& validation, Loss loss,
                 const std::vector<float>& base, const Settings& settings, Pool& pool,
                 const std::function<bool()>& goes_on) {
  return Learner(columns, training, validation, loss, base, settings, pool).run(goes_on);
}

}  // namespace gatewise::boost
