#include "boost/questions/chooser.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "boost/rows/draws.hpp"

namespace gatewise::boost {
namespace {

constexpr size_t kFirstPause = 16;     // terms between two screens
constexpr size_t kTrials = 4;          // terms without a pair, after which those found are not tried again
constexpr size_t kScreenedRows = 256;  // of fewer, pairs are found by chance

}  // namespace

Chooser::Chooser(const std::vector<Column>& columns, const Codes& codes, size_t n_sums, const Settings& settings,
                 Pool& pool)
    : columns_(columns),
      settings_(settings),
      pool_(pool),
      questions_(settings.n_questions),
      asked_(columns.size()),
      found_(columns.size()),
      scratch_(pool.threads(), Scratch(columns, 1u << (settings.n_questions - 1), n_sums)),
      screen_(columns, codes),
      pause_(kFirstPause) {
  const bool are_screened = settings.n_questions > 1 && columns.size() > 1 && codes.n_rows() >= kScreenedRows;
  pairs_.resize(are_screened ? std::min<size_t>(settings.n_pairs, columns.size()) : 0);
  tried_.resize(pairs_.size());
  for (Tried& each : tried_) each.cells.resize(codes.n_rows());
}

const std::vector<Question>& Chooser::choose(Scored& rows, const Window& window,
                                             const Derivatives& derivatives) noexcept {
  if (!pairs_.empty() && term_ >= next_screen_) screen(rows.codes(), window, derivatives);
  draw_columns();
  for (uint32_t level = 0; level < settings_.n_questions; ++level) {
    const Cells cells{rows.codes(),         window,          rows.cells(), 1u << level, derivatives.sums(),
                      derivatives.n_sums(), derivatives.l2()};
    questions_[level] = choose_question(columns_, asked_, cells, pool_, scratch_, found_);
    if (level == 1 && term_ < tried_until_) {
      try_pairs(cells);
      answer(rows, 0);
    }
    answer(rows, level);
  }
  ++term_;
  return questions_;
}

void Chooser::answer(Scored& rows, uint32_t level) {
  const Question& question = questions_[level];
  rows.answer(columns_[question.column], question.column, question.bit, level);
}

void Chooser::ask_all_columns() {
  asked_.resize(columns_.size());
  std::iota(asked_.begin(), asked_.end(), 0);
}

// As many of the columns as their share says, those with the smallest draws.
void Chooser::draw_columns() {
  ask_all_columns();
  const auto n_asked = static_cast<size_t>(std::ceil(settings_.column_share * static_cast<double>(asked_.size())));
  if (n_asked == asked_.size()) return;
  std::partial_sort(asked_.begin(), asked_.begin() + n_asked, asked_.end(), [&](uint32_t i, uint32_t k) {
    const float drawn[2] = {draw(term_, i), draw(term_, k)};
    return drawn[0] != drawn[1] ? drawn[0] < drawn[1] : i < k;
  });
  asked_.resize(n_asked);
  std::sort(asked_.begin(), asked_.end());
}

void Chooser::screen(const Codes& codes, const Window& window, const Derivatives& derivatives) {
  pause_ = tried_until_ > next_screen_ + kTrials ? kFirstPause : 2 * pause_;
  next_screen_ = term_ + pause_;
  tried_until_ = term_ + kTrials;
  screen_.find(codes, window, derivatives.sums(), derivatives.n_sums(), derivatives.l2(), n_screens_++, pool_, pairs_);
}

// Takes the best pair, if it is better than the two questions that were chosen one after the other.
void Chooser::try_pairs(const Cells& cells) {
  pool_.run(pairs_.size(), [&](size_t thread, size_t i) noexcept { refine(i, thread, cells); });
  bool is_better = false;
  for (const Tried& each : tried_) {
    if (each.first.gain <= questions_[1].gain) continue;
    questions_[0] = each.first, questions_[1] = each.second;
    questions_[1].gain = each.first.gain;
    is_better = true;
  }
  if (!is_better) return;
  tried_until_ = term_ + 1 + kTrials;
  ask_all_columns();  // the next question may be the rest of an interaction, for which few columns come into question
}

// From a coarse first question to the best second one, and from there to the best first one.
void Chooser::refine(size_t i, size_t thread, const Cells& cells) {
  Tried& tried = tried_[i];
  tried.first = pairs_[i].first, tried.second = {};
  tried.first.gain = -1.0f;
  if (pairs_[i].excess <= 0.0f) return;
  Cells two = cells;
  two.cell = tried.cells.data(), two.n_cells = 2;
  const auto answer = [&](const Question& question) {
    const Column& column = columns_[question.column];
    const uint8_t* codes = cells.codes.column(question.column);
    const uint32_t least = column.least(question.bit), most = column.most(question.bit);
    cells.window.for_parts(0, cells.window.n, [&](size_t row, size_t, size_t n) {
      for (size_t r = row; r < row + n; ++r) tried.cells[r] = codes[r] > least && codes[r] <= most;
    });
  };
  answer(tried.first);
  tried.second = choose_of_column(columns_, pairs_[i].second_column, two, scratch_[thread]);
  answer(tried.second);
  tried.first = choose_of_column(columns_, tried.first.column, two, scratch_[thread]);
}

}  // namespace gatewise::boost
