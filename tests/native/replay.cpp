// Replays recorded circuits on the native core without Python, so that sanitizers and emulators can watch it.
//
// In: a file of little-endian 32-bit integers and bytes, written by tests/test_native.py: circuits, rows and the output
// bits that the reference evaluator gives. Exit code 0 if every target, width, layout, band and thread count agrees.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>
#include <thread>
#include <vector>

#include "engine/engine.hpp"
#include "simd/targets.hpp"
#include "simplify/simplify.hpp"

namespace gw = gatewise;

namespace {

class Reader {
 public:
  explicit Reader(const char* path) {
    std::ifstream file(path, std::ios::binary);
    bytes_.assign(std::istreambuf_iterator<char>(file), {});
  }
  uint32_t number() { return numbers(1)[0]; }
  std::vector<int32_t> numbers(size_t n) {
    std::vector<int32_t> values(n);
    take(values.data(), 4 * n);
    return values;
  }
  std::vector<uint8_t> bytes(size_t n) {
    std::vector<uint8_t> values(n);
    take(values.data(), n);
    return values;
  }

 private:
  void take(void* to, size_t n) {
    if (at_ + n > bytes_.size()) std::abort();
    std::copy_n(bytes_.data() + at_, n, static_cast<char*>(to));
    at_ += n;
  }
  std::vector<char> bytes_;
  size_t at_ = 0;
};

struct Case {
  uint32_t n_inputs, n_gates, n_outputs, n_groups, n_rows;
  gw::Circuit circuit;
  std::vector<uint8_t> rows, expected;  // bytes 0 or 1, row-major

  explicit Case(Reader& in)
      : n_inputs(in.number()),
        n_gates(in.number()),
        n_outputs(in.number()),
        n_groups(in.number()),
        n_rows(in.number()) {
    circuit.n_inputs = n_inputs;
    circuit.gate = in.bytes(n_gates);
    circuit.a = in.numbers(n_gates);
    circuit.b = in.numbers(n_gates);
    circuit.outputs = in.numbers(n_outputs);
    circuit.group_ptr = in.numbers(n_groups + 1);
    circuit.check();
    rows = in.bytes(size_t{n_rows} * n_inputs);
    expected = in.bytes(size_t{n_rows} * n_outputs);
  }
};

// The rows in one layout, owned.
struct Packed {
  std::vector<uint8_t> data;
  gw::Rows rows;
};

Packed pack(const Case& c, gw::Layout layout) {
  const size_t row_bytes = layout == gw::Layout::kBytes ? c.n_inputs : (c.n_inputs + 7) / 8;
  const size_t plane_bytes = (c.n_rows + 63) / 64 * 8;
  const bool planes = layout == gw::Layout::kPlanes;
  Packed packed{std::vector<uint8_t>(planes ? plane_bytes * c.n_inputs : row_bytes * c.n_rows), {}};
  for (size_t r = 0; r < c.n_rows; ++r)
    for (size_t f = 0; f < c.n_inputs; ++f) {
      const uint8_t bit = c.rows[r * c.n_inputs + f];
      if (layout == gw::Layout::kBytes) packed.data[r * row_bytes + f] = bit;
      if (layout == gw::Layout::kBitsHigh) packed.data[r * row_bytes + f / 8] |= bit << (7 - f % 8);
      if (layout == gw::Layout::kBitsLow) packed.data[r * row_bytes + f / 8] |= bit << f % 8;
      if (planes) packed.data[f * plane_bytes + r / 8] |= bit << r % 8;
    }
  packed.rows = {layout, packed.data.data(), c.n_rows, static_cast<ptrdiff_t>(planes ? plane_bytes : row_bytes), 1};
  return packed;
}

void require(bool ok, const char* what, const gw::Target& target, uint32_t words) {
  if (ok) return;
  std::printf("%s differ from the reference at target %s, %u words\n", what, target.name, words);
  std::exit(1);
}

void check(const Case& c, const gw::CircuitView& view, gw::Layout layout, const gw::Target& target, uint32_t words,
           unsigned threads, uint32_t band) {
  std::vector<int32_t> counts(size_t{c.n_rows} * c.n_groups), classes(c.n_rows);
  for (size_t r = 0; r < c.n_rows; ++r)
    for (size_t g = 0; g < c.n_groups; ++g) {
      int32_t& count = counts[r * c.n_groups + g];
      for (int32_t i = c.circuit.group_ptr[g]; i < c.circuit.group_ptr[g + 1]; ++i)
        count += c.expected[r * c.n_outputs + i];
      if (count > counts[r * c.n_groups + classes[r]]) classes[r] = static_cast<int32_t>(g);
    }
  const Packed packed = pack(c, layout);
  gw::Pool pool(threads);
  const gw::Engine counting(view, gw::Outputs::kCounted, target.engine, words, band);
  const gw::Engine keeping(view, gw::Outputs::kKept, target.engine, words, band);
  const auto call = [&] {
    std::vector<int32_t> got_counts(counts.size()), got_classes(classes.size());
    std::vector<uint8_t> got_outputs(c.expected.size());
    require(counting.counts(packed.rows, got_counts.data(), pool) && got_counts == counts, "counts", target, words);
    if (c.n_groups > 0)
      require(counting.classify(packed.rows, got_classes.data(), pool) && got_classes == classes, "classes", target,
              words);
    require(keeping.outputs(packed.rows, got_outputs.data(), pool) && got_outputs == c.expected, "outputs", target,
            words);
  };
  std::vector<std::thread> callers;
  for (unsigned i = 1; i < threads; ++i) callers.emplace_back(call);
  call();
  for (std::thread& caller : callers) caller.join();
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  Reader in(argv[1]);
  const uint32_t n_cases = in.number();
  size_t n_checks = 0;
  for (uint32_t i = 0; i < n_cases; ++i) {
    const Case c(in);
    const gw::Circuit small = gw::simplify(c.circuit.view()).circuit;
    small.check();
    for (const gw::Target& target : gw::targets())
      for (const uint32_t words : gw::kWidths) {
        const auto layout = static_cast<gw::Layout>(n_checks++ % 4);
        check(c, c.circuit.view(), layout, target, words, 1, 0);
        check(c, c.circuit.view(), layout, target, words, 1, 3);
        check(c, small.view(), gw::Layout::kBytes, target, words, 3, 0);
      }
  }
  std::printf("%u circuits, targets:", n_cases);
  for (const gw::Target& target : gw::targets()) std::printf(" %s", target.name);
  std::printf("\n");
  return 0;
}
