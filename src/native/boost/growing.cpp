#include "boost/growing.hpp"

#include <algorithm>
#include <limits>
#include <memory>

namespace gatewise::boost {
namespace {

constexpr double kNothingLeft = 1e-3;   // of the loss without terms
constexpr uint32_t kTermsPerRound = 8;  // which a learner grows before the others are asked how far they are

Rows take_rows(const Table& table, const Codes& codes, const std::vector<uint32_t>& rows, size_t n_targets) {
  Rows taken{codes, {}, {}};
  taken.targets.reserve(rows.size() * n_targets);
  for (const uint32_t row : rows) {
    const float* target = table.targets + row * n_targets;
    taken.targets.insert(taken.targets.end(), target, target + n_targets);
  }
  if (table.weights == nullptr) return taken;
  taken.weights.reserve(rows.size());
  for (const uint32_t row : rows) taken.weights.push_back(table.weights[row]);
  return taken;
}

// A learner with its rows and its threads.
struct Member {
  Member(const Table& table, const Split& split, Loss loss, const std::vector<float>& base, const Settings& settings,
         unsigned threads)
      : pool(threads),
        codes{{table.codes, split.training, pool}, {table.codes, split.validation, pool}},
        rows{take_rows(table, codes[0], split.training, target_size(loss, base.size())),
             take_rows(table, codes[1], split.validation, target_size(loss, base.size()))},
        learner(table.columns, rows[0], rows[1], loss, base, settings, pool) {
    if (learner.validates()) losses.push_back(learner.validation_loss());
  }

  void reserve(uint32_t n_terms) {
    learner.reserve(n_terms);
    if (learner.validates()) losses.reserve(losses.size() + n_terms);
  }

  void grow(uint32_t n_terms) noexcept {
    for (uint32_t t = 0; t < n_terms && !is_done; ++t) {
      is_done = !learner.grow();
      if (!is_done && learner.validates()) losses.push_back(learner.validation_loss());
    }
  }

  Pool pool;
  Codes codes[2];
  Rows rows[2];
  Learner learner;
  std::vector<double> losses;  // of the validation rows
  bool is_done = false;        // it has no more terms to add
};

using Members = std::vector<std::unique_ptr<Member>>;

// Means of the losses after so many terms. A member that is done stays where it was.
std::vector<double> average(const Members& members) {
  std::vector<double> means;
  size_t n_validated = 0;
  for (const auto& member : members) {
    if (!member->learner.validates()) continue;
    ++n_validated;
    const std::vector<double>& losses = member->losses;
    if (means.size() < losses.size()) means.resize(losses.size());
  }
  for (const auto& member : members)
    for (size_t t = 0; t < means.size() && !member->losses.empty(); ++t)
      means[t] += member->losses[std::min(t, member->losses.size() - 1)] / static_cast<double>(n_validated);
  return means;
}

// Cuts the losses where they have not fallen for `patience` terms, or hardly anything is left; false if they still
// fall.
bool cut_where_they_end(std::vector<double>& losses, uint32_t patience) {
  size_t best = 0;
  for (size_t t = 1; t < losses.size(); ++t) {
    if (losses[t] < losses[best]) best = t;
    if (t - best < patience && losses[t] > kNothingLeft * losses[0]) continue;
    losses.resize(t + 1);
    return true;
  }
  return false;
}

uint32_t count_enough(const std::vector<double>& losses, double enough) {
  if (losses.empty()) return 0;
  const double best = losses[0] - *std::min_element(losses.begin(), losses.end());
  uint32_t n = 0;
  while (losses[0] - losses[n] < enough * best) ++n;
  return n;
}

}  // namespace

Grown grow_terms(const Table& table, const std::vector<Split>& splits, Loss loss, const std::vector<float>& base,
                 const Settings& settings, uint32_t max_terms, uint32_t patience, double enough, unsigned threads,
                 const std::function<bool()>& goes_on) {
  const auto n_members = static_cast<unsigned>(splits.size());
  Pool pool(std::min(threads, n_members));
  Members members;
  for (const Split& split : splits)
    members.push_back(std::make_unique<Member>(table, split, loss, base, settings, std::max(threads / n_members, 1u)));
  Grown grown;
  for (uint32_t n_terms = 0; n_terms < max_terms;) {
    const uint32_t n_more = std::min(kTermsPerRound, max_terms - n_terms);
    for (const auto& member : members) member->reserve(n_more);
    pool.run(n_members, [&](size_t, size_t i) noexcept { members[i]->grow(n_more); });
    n_terms += n_more;
    grown.losses = average(members);
    const bool are_done = std::all_of(members.begin(), members.end(), [](const auto& each) { return each->is_done; });
    if (are_done || cut_where_they_end(grown.losses, patience) || !goes_on()) break;
  }
  grown.n_enough = count_enough(grown.losses, enough);
  for (const auto& member : members) {
    if (!member->learner.validates()) continue;
    const std::vector<float>& scores = member->learner.validate_again(grown.n_enough);
    grown.scores.insert(grown.scores.end(), scores.begin(), scores.end());
  }
  grown.terms = members.back()->learner.take_terms();
  return grown;
}

}  // namespace gatewise::boost
