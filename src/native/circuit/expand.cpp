#include "circuit/expand.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <memory>
#include <unordered_map>

#include "circuit/gates.hpp"

namespace gatewise {
namespace {

using Table = uint64_t;  // of n variables: bit t is the value where variable v is bit v of t; higher bits are zeros
using SmallTable = uint16_t;  // of four variables

constexpr unsigned kSmall = 4;
constexpr Table kVariable[kMaxTableInputs] = {0xAAAAAAAAAAAAAAAA, 0xCCCCCCCCCCCCCCCC, 0xF0F0F0F0F0F0F0F0,
                                              0xFF00FF00FF00FF00, 0xFFFF0000FFFF0000, 0xFFFFFFFF00000000};

constexpr Table mask_of(unsigned n) { return n == 6 ? ~Table{0} : (Table{1} << (1u << n)) - 1; }

constexpr SmallTable apply(unsigned gate, SmallTable a, SmallTable b) {
  unsigned result = 0;
  for (const bool i : {false, true})
    for (const bool j : {false, true})
      if (truth(gate, i, j)) result |= (i ? a : ~a) & (j ? b : ~b);
  return static_cast<SmallTable>(result);
}

// The shortest formula of every function of four variables, found by increasing length. Functions are normal: false
// where all variables are; the others are their inverses, which cost nothing.
class Formulas {
 public:
  struct Entry {
    uint8_t length = 255, gate = 0;
    SmallTable a = 0, b = 0;
  };

  Formulas() : entries_(size_t{1} << 16) {
    entries_[0].length = 0;
    std::vector<std::vector<SmallTable>> found(1);
    for (unsigned v = 0; v < kSmall; ++v) add(found[0], static_cast<SmallTable>(kVariable[v]), {0, 0, 0, 0});
    for (uint8_t length = 1; n_found_ < kNormal; ++length) {
      std::vector<SmallTable> fresh;
      for (size_t i = 0; 2 * i < length; ++i)
        for (const SmallTable a : found[i])
          for (const SmallTable b : found[length - 1 - i]) combine(fresh, length, a, b);
      found.push_back(std::move(fresh));
    }
  }

  // Of a normal function.
  const Entry& operator[](SmallTable f) const { return entries_[f]; }

 private:
  void combine(std::vector<SmallTable>& fresh, uint8_t length, SmallTable a, SmallTable b) {
    for (const uint8_t gate : {gates::kAnd, gates::kAAndNotB, gates::kNotAAndB, gates::kXor, gates::kOr})
      add(fresh, apply(gate, a, b), {length, gate, a, b});
  }

  void add(std::vector<SmallTable>& fresh, SmallTable f, const Entry& entry) {
    if (entries_[f].length <= entry.length) return;
    entries_[f] = entry;
    ++n_found_;
    fresh.push_back(f);
  }

  static constexpr size_t kNormal = size_t{1} << 15;

  size_t n_found_ = 1;  // the constant
  std::vector<Entry> entries_;
};

const Formulas& formulas() {
  // Shared in the same way, for the same reasons, as the table of shortest_formulas.
  static std::atomic<const Formulas*> shared{nullptr};
  const Formulas* table = shared.load(std::memory_order_acquire);
  if (!table) {
    auto fresh = std::make_unique<const Formulas>();
    if (shared.compare_exchange_strong(table, fresh.get())) table = fresh.release();
  }
  return *table;
}

// A function of few variables as one of four, normal, and whether that inverted it.
struct Normal {
  SmallTable table;
  bool inverted;
};

constexpr Normal normal_of(Table f, unsigned n) {
  for (; n < kSmall; ++n) f |= f << (1u << n);
  const bool inverted = f & 1;
  return {static_cast<SmallTable>(inverted ? ~f : f), inverted};
}

// What a function is where variable v is false, and where it is true, of the other variables in their order.
struct Cofactors {
  Table off, on;
};

constexpr Cofactors cofactors(Table f, unsigned n, unsigned v) {
  for (; v + 1 < n; ++v) {  // exchanges variables v and v + 1
    const Table moving = kVariable[v] & ~kVariable[v + 1];
    const unsigned shift = 1u << v;
    f = (f & ~(moving | moving << shift)) | (f & moving) << shift | (f >> shift & moving);
  }
  return {f & mask_of(n - 1), f >> (1u << (n - 1)) & mask_of(n - 1)};
}

// A function by its cofactors at a variable v: v ? on : off, or off ^ (v & both), or on ^ (!v & both), where `both` is
// off ^ on.
enum class Form { kSelect, kFromOff, kFromOn };

struct Split {
  unsigned length = ~0u, variable = 0;
  Form form = Form::kSelect;
};

Split best_split(Table f, unsigned n);

unsigned length_of(Table f, unsigned n) {
  return n <= kSmall ? formulas()[normal_of(f, n).table].length : best_split(f, n).length;
}

// For more than four variables. One that does not matter makes `both` false, and then the split costs nothing.
Split best_split(Table f, unsigned n) {
  Split best;
  for (unsigned v = 0; v < n; ++v) {
    const auto [off, on] = cofactors(f, n, v);
    const Table both = off ^ on, all = mask_of(n - 1);
    const unsigned n_off = length_of(off, n - 1);
    if (!both) return {n_off, v, Form::kFromOff};
    const unsigned n_on = length_of(on, n - 1), n_both = length_of(both, n - 1) + (both != all);
    const Split splits[] = {{n_off + n_both + (off && off != all), v, Form::kFromOff},
                            {n_on + n_both + (on && on != all), v, Form::kFromOn},
                            {n_off + n_on + 3, v, Form::kSelect}};
    for (const Split& each : splits)
      if (each.length < best.length) best = each;
  }
  return best;
}

using Leaves = std::array<int32_t, kMaxTableInputs>;

// A wire, inverted or not. Wire 0 is the only constant.
struct Signal {
  int32_t wire;
  bool inverted;
};

Signal signal_of(int32_t wire) { return wire == 1 ? Signal{0, true} : Signal{wire, false}; }

class Expander {
 public:
  explicit Expander(uint32_t n_wires) : n_wires_(n_wires) {}

  // The leaves are the variables of f.
  Signal build(Table f, unsigned n, Leaves leaves) {
    if (n <= kSmall) {
      const Normal normal = normal_of(f, n);
      const Signal positive = build_formula(normal.table, leaves);
      return {positive.wire, positive.inverted != normal.inverted};
    }
    const Split split = best_split(f, n);
    const auto [off, on] = cofactors(f, n, split.variable);
    Signal v = signal_of(leaves[split.variable]);
    v.inverted ^= split.form == Form::kFromOn;
    std::copy(leaves.begin() + split.variable + 1, leaves.end(), leaves.begin() + split.variable);
    if (split.form == Form::kSelect) {
      const Signal high = combine(gates::kAnd, v, build(on, n - 1, leaves));
      return combine(gates::kOr, high, combine(gates::kNotAAndB, v, build(off, n - 1, leaves)));
    }
    const Signal base = build(split.form == Form::kFromOff ? off : on, n - 1, leaves);
    return combine(gates::kXor, base, combine(gates::kAnd, v, build(off ^ on, n - 1, leaves)));
  }

  // The wires of signals. One that is inverted inverts its gate if nobody else reads it, and else gets a gate.
  void finish(const std::vector<Signal>& signals) {
    std::vector<uint8_t> is_read(made_.gate.size());
    const auto note = [&](int32_t wire) {
      if (is_gate(wire)) is_read[place_of(wire)] = true;
    };
    std::for_each(made_.a.begin(), made_.a.end(), note);
    std::for_each(made_.b.begin(), made_.b.end(), note);
    for (const Signal& each : signals)
      if (!each.inverted) note(each.wire);
    for (size_t place = 0; place < is_read.size(); ++place)
      if (!is_read[place]) made_.gate[place] = static_cast<uint8_t>(negate(made_.gate[place]));
    for (const Signal& each : signals) made_.outputs.push_back(output_of(each, is_read));
  }

  Expansion take() { return std::move(made_); }

 private:
  bool is_gate(int32_t wire) const { return static_cast<uint32_t>(wire) >= n_wires_; }
  size_t place_of(int32_t wire) const { return static_cast<uint32_t>(wire) - n_wires_; }

  Signal build_formula(SmallTable f, const Leaves& leaves) {
    if (f == 0) return {0, false};
    const Formulas::Entry& entry = formulas()[f];
    if (entry.length > 0) return combine(entry.gate, build_formula(entry.a, leaves), build_formula(entry.b, leaves));
    unsigned v = 0;
    while (static_cast<SmallTable>(kVariable[v]) != f) ++v;
    return signal_of(leaves[v]);
  }

  // The signal of a gate. All gates are false where both operands are; the signal tells where that inverts them.
  Signal combine(unsigned gate, Signal x, Signal y) {
    unsigned own = 0;
    for (const bool i : {false, true})
      for (const bool j : {false, true})
        own |= static_cast<unsigned>(truth(gate, i != x.inverted, j != y.inverted)) << (3 - 2 * i - j);
    if (x.wire > y.wire) {
      std::swap(x, y);
      own = exchange_operands(own);
    }
    const bool inverted = truth(own, 0, 0);
    if (x.wire == 0 || x.wire == y.wire) {  // a function of y alone
      const bool matters = truth(own, x.wire != 0, 1) != inverted;
      return {matters ? y.wire : 0, inverted};
    }
    return {share(static_cast<uint8_t>(inverted ? negate(own) : own), x.wire, y.wire), inverted};
  }

  int32_t share(uint8_t gate, int32_t a, int32_t b) {
    const auto fresh = static_cast<int32_t>(n_wires_ + made_.gate.size());
    const Key key{gate, a, b};
    const auto [at, is_new] = known_.try_emplace(key, fresh);
    if (is_new) append(gate, a, b);
    return at->second;
  }

  void append(uint8_t gate, int32_t a, int32_t b) {
    made_.gate.push_back(gate);
    made_.a.push_back(a);
    made_.b.push_back(b);
  }

  int32_t output_of(const Signal& signal, const std::vector<uint8_t>& is_read) {
    if (!signal.inverted) return signal.wire;
    if (signal.wire < 2) return 1 - signal.wire;
    if (!is_gate(signal.wire)) return share(gates::kNotA, signal.wire, signal.wire);
    const size_t place = place_of(signal.wire);
    if (!is_read[place]) return signal.wire;
    return share(static_cast<uint8_t>(negate(made_.gate[place])), made_.a[place], made_.b[place]);
  }

  struct Key {
    uint8_t gate;
    int32_t a, b;
    bool operator==(const Key&) const = default;
  };
  struct Hash {
    size_t operator()(const Key& key) const {
      return (static_cast<uint64_t>(key.a) << 32 ^ static_cast<uint64_t>(key.b) << 4 ^ key.gate) * 0x9E3779B97F4A7C15 >>
             16;
    }
  };

  const uint32_t n_wires_;
  Expansion made_;
  std::unordered_map<Key, int32_t, Hash> known_;
};

}  // namespace

Expansion expand_tables(uint32_t n_inputs, std::span<const uint64_t> tables, std::span<const int32_t> wires,
                        uint32_t n_wires) {
  Expander expander(n_wires);
  std::vector<Signal> signals;
  for (size_t i = 0; i < tables.size(); ++i) {
    Leaves leaves{};
    std::copy_n(wires.begin() + static_cast<ptrdiff_t>(i * n_inputs), n_inputs, leaves.begin());
    signals.push_back(expander.build(tables[i] & mask_of(n_inputs), n_inputs, leaves));
  }
  expander.finish(signals);
  return expander.take();
}

}  // namespace gatewise
