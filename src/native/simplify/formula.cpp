#include "simplify/formula.hpp"

#include <algorithm>
#include <atomic>
#include <memory>
#include <tuple>
#include <vector>

#include "circuit/literal.hpp"

namespace gatewise {

namespace {

// The gates that depend on both operands and are false where both are. They suffice: a value that is true where all
// leaves are false is one of the others inverted, and inverters are free.
constexpr uint8_t kStepGates[] = {gates::kAnd, gates::kAAndNotB, gates::kNotAAndB, gates::kXor, gates::kOr};

constexpr size_t kTruths = 1 << ((1 << kMaxLeaves) - 1);  // functions that are false where all leaves are

constexpr Truth apply(unsigned gate, Truth a, Truth b) {
  unsigned result = 0;
  for (const bool i : {false, true})
    for (const bool j : {false, true})
      if (truth(gate, i, j)) result |= (i ? a : ~a) & (j ? b : ~b);
  return static_cast<Truth>(result);
}

bool precedes(const FormulaStep& x, const FormulaStep& y) {
  return std::tie(x.gate, x.a, x.b) < std::tie(y.gate, y.a, y.b);
}

class Table {
 public:
  Table() : n_steps_(kTruths, kUnknown), ptr_(kTruths + 1, 0) {
    Truth values[kMaxValues] = {0};
    std::copy(std::begin(kLeafTruth), std::end(kLeafTruth), values + kFirstLeaf);
    for (uint8_t value = 0; value < kFirstStep; ++value) record(values[value], {0, value, {}});
    for (uint8_t n_steps = 1; n_steps <= kMaxSteps; ++n_steps) {
      Formula formula{n_steps, static_cast<uint8_t>(kFirstStep + n_steps - 1), {}};
      search(formula, 0, values);
    }
    index();
  }

  std::span<const Formula> find(Truth truth) const {
    return {formulas_.data() + ptr_[truth >> 1], formulas_.data() + ptr_[(truth >> 1) + 1]};
  }

 private:
  static constexpr uint8_t kUnknown = 255;

  struct Entry {
    Truth truth;
    Formula formula;
  };

  // Tries every step k and all that follow. Lengths ascend, so what is not shortest was recorded before.
  void search(Formula& formula, unsigned k, Truth* values) {
    if (k == formula.n_steps || k == kMaxSteps) return record(values[formula.result], formula);
    const auto last = static_cast<uint8_t>(kFirstStep + k - 1);
    for (uint8_t b = kFirstLeaf + 1; b <= last; ++b)
      for (uint8_t a = kFirstLeaf; a < b; ++a)
        for (const uint8_t gate : kStepGates) {
          formula.steps[k] = {gate, a, b};
          // Of two steps in a row that could be exchanged, one order is enough.
          if (k > 0 && b != last && precedes(formula.steps[k], formula.steps[k - 1])) continue;
          values[last + 1] = apply(gate, values[a], values[b]);
          search(formula, k + 1, values);
        }
  }

  void record(Truth truth, const Formula& formula) {
    uint8_t& n_steps = n_steps_[truth >> 1];
    if (n_steps == kUnknown) n_steps = formula.n_steps;
    if (n_steps == formula.n_steps) entries_.push_back({truth, formula});
  }

  // Sorts the formulas by function; function f has formulas_[ptr_[f]..ptr_[f + 1]).
  void index() {
    for (const Entry& entry : entries_) ++ptr_[(entry.truth >> 1) + 1];
    for (size_t f = 0; f < kTruths; ++f) ptr_[f + 1] += ptr_[f];
    formulas_.resize(entries_.size());
    std::vector<uint32_t> next(ptr_);
    for (const Entry& entry : entries_) formulas_[next[entry.truth >> 1]++] = entry.formula;
    entries_ = {};
  }

  std::vector<uint8_t> n_steps_;  // by function, the least number of steps
  std::vector<Entry> entries_;
  std::vector<Formula> formulas_;
  std::vector<uint32_t> ptr_;
};

}  // namespace

std::span<const Formula> shortest_formulas(Truth truth) {
  // No local static: a child that was forked while another thread made the table would wait for it for ever. Nor is it
  // ever destroyed, because a thread may still be in here when the process ends.
  static std::atomic<const Table*> shared{nullptr};
  const Table* table = shared.load(std::memory_order_acquire);
  if (!table) {
    auto fresh = std::make_unique<const Table>();
    if (shared.compare_exchange_strong(table, fresh.get())) table = fresh.release();
  }
  return table->find(truth);
}

}  // namespace gatewise
