// Training on bits without Python: every target against plain loops over samples, and thread counts against each other.
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "simd/targets.hpp"
#include "train/bits/step.hpp"
#include "values.hpp"

namespace gw = gatewise;

namespace {

// A layer with all it needs, and what it must give, computed sample by sample.
struct Case {
  static constexpr size_t kIn = 13, kOut = 50, kPerRow = 5;
  size_t n_words;
  uint32_t k;
  size_t row = 64 * n_words;
  std::vector<uint8_t> gates = random_below<uint8_t>(kOut, gw::kNumGates);
  std::vector<int32_t> a = random_below<int32_t>(kOut, kIn), b = random_below<int32_t>(kOut, kIn);
  std::vector<float> coefficients = random_normals(4 * kOut), grads = random_normals(kOut / kPerRow * row);
  std::vector<uint64_t> x = std::vector<uint64_t>(kIn * n_words);
  std::vector<int32_t> candidates = random_below<int32_t>(2 * kOut * k, kIn);
  std::vector<float> logits = random_normals(2 * kOut * k);

  explicit Case(size_t words, uint32_t n_candidates) : n_words(words), k(n_candidates) {
    for (uint64_t& each : x) each = uint64_t{random_bits()} << 32 | random_bits();
  }

  gw::BitLayer layer() const { return {gates.data(), a.data(), b.data(), coefficients.data(), 1, false}; }
  gw::GradRows grad_rows() const { return {grads.data(), kPerRow}; }
  double grad(size_t gate, size_t s) const { return grads[gate / kPerRow * row + s]; }
  bool operand(size_t pin, size_t gate, size_t s) const {
    return bit(x, static_cast<size_t>(pin ? b[gate] : a[gate]), s, n_words);
  }
  double grad_of_pin(size_t pin, size_t gate, size_t s) const {
    const float* c = coefficients.data() + 4 * gate;
    return grad(gate, s) * (c[1 + pin] + (operand(1 - pin, gate, s) ? c[3] : 0));
  }
};

void check_forward(const gw::BitKernels& kernels, const Case& c) {
  std::vector<uint64_t> y(Case::kOut * c.n_words);
  kernels.evaluate(c.layer(), c.n_words, 0, Case::kOut, c.x.data(), y.data());
  std::vector<float> counts(c.row), expected(c.row);
  kernels.count(y.data(), c.n_words, 3, Case::kOut, counts.data());
  for (size_t i = 0; i < Case::kOut; ++i)
    for (size_t s = 0; s < c.row; ++s) {
      const bool value = gw::truth(c.gates[i], c.operand(0, i, s), c.operand(1, i, s));
      require_close<int>({bit(y, i, s, c.n_words)}, {value}, 0, "y");
      expected[s] += i >= 3 && value;
    }
  require_close(counts, expected, 0, "counts");
}

void check_backward(const gw::BitKernels& kernels, const Case& c) {
  std::vector<float> of_coefficients(4 * Case::kOut), expected(4 * Case::kOut);
  std::vector<float> grad_x(Case::kIn * c.row), expected_x(Case::kIn * c.row);
  for (size_t i = 0; i < Case::kOut; ++i)
    for (size_t s = 0; s < c.row; ++s) {
      const bool a = c.operand(0, i, s), b = c.operand(1, i, s);
      const double basis[4] = {1, double(a), double(b), double(a && b)};
      for (size_t t = 0; t < 4; ++t) expected[4 * i + t] += static_cast<float>(c.grad(i, s) * basis[t]);
      expected_x[static_cast<size_t>(c.a[i]) * c.row + s] += static_cast<float>(c.grad_of_pin(0, i, s));
      expected_x[static_cast<size_t>(c.b[i]) * c.row + s] += static_cast<float>(c.grad_of_pin(1, i, s));
    }
  kernels.sum(c.layer(), c.n_words, 0, Case::kOut, c.x.data(), c.grad_rows(), of_coefficients.data());
  require_close(of_coefficients, expected, 1e-4, "grad_coefficients");
  gw::ReaderLists readers;
  readers.build(Case::kIn, c.a, c.b);
  kernels.pass_back(c.layer(), c.n_words, 0, Case::kIn, c.x.data(), c.grad_rows(), readers.view(), grad_x.data());
  require_close(grad_x, expected_x, 1e-4, "grad_x");
}

// The same sums, tile after tile.
void check_tiles(const gw::BitKernels& kernels, const Case& c) {
  std::vector<float> of_coefficients(4 * Case::kOut, 7), expected(4 * Case::kOut);
  std::vector<float> grad_x(Case::kIn * c.row), expected_x(Case::kIn * c.row);
  kernels.sum(c.layer(), c.n_words, 0, Case::kOut, c.x.data(), c.grad_rows(), expected.data());
  gw::ReaderLists readers;
  readers.build(Case::kIn, c.a, c.b);
  kernels.pass_back(c.layer(), c.n_words, 0, Case::kIn, c.x.data(), c.grad_rows(), readers.view(), expected_x.data());
  const size_t n_rows = c.grads.size() / c.row;
  for (size_t tile = 0; tile < 2 * c.n_words; ++tile) {
    std::vector<uint32_t> x(Case::kIn);
    std::vector<float> rows(n_rows * gw::kBitTile), of_tile(Case::kIn * gw::kBitTile);
    for (size_t wire = 0; wire < Case::kIn; ++wire) x[wire] = gw::tile_of(c.x.data() + wire * c.n_words, tile);
    for (size_t r = 0; r < n_rows; ++r)
      std::copy_n(c.grads.data() + r * c.row + tile * gw::kBitTile, gw::kBitTile, rows.data() + r * gw::kBitTile);
    kernels.backward_tile(c.layer(), Case::kOut, x.data(), {rows.data(), Case::kPerRow}, of_tile.data(),
                          of_coefficients.data(), tile == 0);
    for (size_t wire = 0; wire < Case::kIn; ++wire)
      std::copy_n(of_tile.data() + wire * gw::kBitTile, gw::kBitTile,
                  grad_x.data() + wire * c.row + tile * gw::kBitTile);
  }
  require_close(of_coefficients, expected, 1e-4, "grad_coefficients of tiles");
  require_close(grad_x, expected_x, 1e-4, "grad_x of tiles");
}

// What bfloat16 keeps of a number: the nearest of those with 16 zeros at the end, the even one on ties.
float round_to_half(float value) {
  uint32_t bits, below;
  std::memcpy(&bits, &value, sizeof bits);
  below = bits & 0xFFFF0000;
  const uint32_t rest = bits - below, half = 0x8000;
  if (rest > half || (rest == half && (below >> 16 & 1))) below += 0x10000;
  std::memcpy(&value, &below, sizeof value);
  return value;
}

// The same in 16 bits. Rounding is exact; sums but for the order of their terms, so that one may be rounded away from
// another.
void check_halves(const gw::BitKernels& kernels, const Case& c, size_t per_row, float factor) {
  const size_t n_rows = Case::kOut / per_row, n_values = n_rows * gw::kBitTile;
  std::vector<float> rounded = random_normals(n_values), expected_values(n_values);
  for (size_t at = 0; at < n_values; at += 7) rounded[at] = 1.0f + static_cast<float>(at) / 256;  // ties, and exact
  const std::vector<float> values = rounded;
  for (size_t at = 0; at < n_values; ++at) expected_values[at] = round_to_half(values[at] * 2.0f);
  std::vector<uint32_t> halves(n_rows * gw::kTileHalves), expected_halves(halves.size());
  kernels.to_halves(values.data(), n_rows, 2.0f, halves.data());
  kernels.round_halves(rounded.data(), n_values, 2.0f);
  for (size_t at = 0; at < n_values; ++at) {
    uint32_t bits;
    std::memcpy(&bits, &expected_values[at], sizeof bits);
    const size_t place = at % gw::kBitTile, shift = place / gw::kTileHalves * 16;
    expected_halves[at / gw::kBitTile * gw::kTileHalves + place % gw::kTileHalves] |= bits >> 16 << shift;
  }
  require_close(halves, expected_halves, 0, "halves");
  for (float& each : rounded) each *= 2;
  require_close(rounded, expected_values, 0, "rounded values");

  const auto grad = [&](size_t i, size_t s) { return expected_values[i / per_row * gw::kBitTile + s]; };
  std::vector<uint32_t> x(Case::kIn), to(Case::kIn * gw::kTileHalves), expected_halves_of_x(to.size());
  for (size_t wire = 0; wire < Case::kIn; ++wire) x[wire] = gw::tile_of(c.x.data() + wire * c.n_words, 1);
  const auto is_true = [&](int32_t wire, size_t s) { return x[static_cast<size_t>(wire)] >> s & 1; };
  std::vector<double> expected(4 * Case::kOut), expected_x(Case::kIn * gw::kBitTile);
  for (size_t i = 0; i < Case::kOut; ++i)
    for (size_t s = 0; s < gw::kBitTile; ++s) {
      const float *k = c.coefficients.data() + 4 * i, g = grad(i, s);
      const bool a = is_true(c.a[i], s), b = is_true(c.b[i], s), basis[4] = {true, a, b, a && b};
      for (size_t t = 0; t < 4; ++t) expected[4 * i + t] += basis[t] ? 2 * g : 0;  // of two calls
      expected_x[static_cast<size_t>(c.a[i]) * gw::kBitTile + s] += factor * g * (k[1] + (b ? k[3] : 0));
      expected_x[static_cast<size_t>(c.b[i]) * gw::kBitTile + s] += factor * g * (k[2] + (a ? k[3] : 0));
    }
  std::vector<float> of_coefficients(4 * Case::kOut, 7), floats(expected_x.size());
  for (const bool is_first : {true, false})
    kernels.sum_halves(c.layer(), Case::kOut, x.data(), {halves.data(), per_row}, of_coefficients.data(), is_first);
  require_close(of_coefficients, expected, 1e-4, "grad_coefficients of halves");
  gw::SortedReaderLists readers;
  readers.build(Case::kIn, c.a, c.b, per_row);
  const auto gather = [&](uint32_t* rows) {
    kernels.gather_halves(readers.view(), c.coefficients.data(), x.data(), halves.data(), factor, rows, floats.data());
  };
  gather(nullptr);
  gather(to.data());
  require_close(floats, expected_x, 1e-4, "grad_x of halves");
  kernels.to_halves(floats.data(), Case::kIn, 1.0f, expected_halves_of_x.data());
  require_close(to, expected_halves_of_x, 0, "halves of grad_x");
}

// With no momentum and a large epsilon, a step of Adam is the gradient but for a factor.
void check_pins(const gw::BitKernels& kernels, Case c) {
  const float temperature = 2, epsilon = 1e4f;
  std::vector<float> expected = c.logits, first(expected.size()), second(expected.size());
  for (size_t pin = 0; pin < 2; ++pin)
    for (size_t i = 0; i < Case::kOut; ++i) {
      const size_t at = (pin * Case::kOut + i) * c.k;
      std::vector<double> p(c.k), sums(c.k);
      double total = 0, mean = 0;
      for (uint32_t j = 0; j < c.k; ++j) total += p[j] = std::exp(c.logits[at + j] / temperature);
      for (uint32_t j = 0; j < c.k; ++j) {
        for (size_t s = 0; s < c.row; ++s)
          if (bit(c.x, static_cast<size_t>(c.candidates[at + j]), s, c.n_words)) sums[j] += c.grad_of_pin(pin, i, s);
        mean += p[j] / total * sums[j];
      }
      for (uint32_t j = 0; j < c.k; ++j)
        expected[at + j] -= static_cast<float>(p[j] / total * (sums[j] - mean) / temperature * 100 / epsilon);
    }
  const gw::Adam adam{100, 0, 0, epsilon, 1};
  const gw::Pins pins{c.candidates.data(), c.logits.data(), first.data(), second.data(), Case::kOut, c.k};
  std::vector<float> of_coefficients(4 * Case::kOut), scratch(gw::pin_scratch(c.n_words, c.k));
  kernels.update_pins(c.layer(), c.n_words, 0, Case::kOut, c.x.data(), c.grad_rows(), of_coefficients.data(), pins,
                      {adam, temperature, 1.0f}, scratch.data());
  require_close(c.logits, expected, 2e-4, "logits of pins");
}

void check_choice(const gw::BitKernels& kernels, const Case& c) {
  std::vector<int32_t> a(Case::kOut), b(Case::kOut);
  std::vector<float> logits = c.logits, unused(logits.size());
  const gw::Pins pins{c.candidates.data(), logits.data(), unused.data(), unused.data(), Case::kOut, c.k};
  kernels.choose_wires(pins, 0, Case::kOut, a.data(), b.data());
  for (size_t i = 0; i < Case::kOut; ++i) {
    const auto best = [&](size_t pin, int32_t taken) {
      const size_t at = (pin * Case::kOut + i) * c.k;
      size_t found = c.k;
      for (size_t j = 0; j < c.k; ++j)
        if (c.candidates[at + j] != taken && (found == c.k || logits[at + j] > logits[at + found])) found = j;
      return found == c.k ? taken : c.candidates[at + found];
    };
    const int32_t first = best(0, -1);
    require_close<int32_t>({a[i], b[i]}, {first, best(1, first)}, 0, "wires");
  }
}

// Two layers, the first learned or fixed, trained for some steps: weights and losses.
std::vector<float> train(unsigned threads, bool is_light, bool is_learned) {
  random_bits.seed(3);
  const size_t n_inputs = 20, width = 1500, n_samples = 130, n_rows = is_light ? 4 : 16;
  const uint32_t k = 6, n_groups = 3;
  std::vector<int32_t> candidates = random_below<int32_t>(2 * width * k, n_inputs);
  std::vector<float> pins = random_normals(2 * width * k), first(pins.size()), second(pins.size());
  std::vector<std::vector<float>> weights, means, squares;
  std::vector<gw::Mixture> mixtures;
  std::vector<gw::Moments> moments;
  for (int l = 0; l < 2; ++l) {
    weights.push_back(random_normals(n_rows * width));
    means.emplace_back(n_rows * width);
    squares.emplace_back(n_rows * width);
  }
  for (size_t l = 0; l < 2; ++l) {
    gw::Mixture mixture{weights[l].data(), width, {}, gw::kNumGates, 2.0f, false, is_light};
    for (uint8_t g = 0; g < gw::kNumGates; ++g) mixture.gates[g] = g;
    mixtures.push_back(mixture);
    moments.push_back({weights[l].data(), means[l].data(), squares[l].data()});
  }
  gw::BitStack::Wiring lower{random_below<int32_t>(width, n_inputs), random_below<int32_t>(width, n_inputs), {}};
  gw::BitStack::Wiring upper{random_below<int32_t>(width, width), random_below<int32_t>(width, width), {}};
  if (is_learned) lower.pins = {candidates.data(), pins.data(), first.data(), second.data(), width, k};
  lower.is_rounded = !is_learned;
  upper.is_rounded = true;
  gw::BitStack stack(n_inputs, {lower, upper}, n_groups);
  const std::vector<uint8_t> x = random_below<uint8_t>(n_samples * n_inputs, 2);
  const gw::Loss loss = gw::Loss::cross_entropy(random_below<int32_t>(n_samples, n_groups), 0.1f);
  const gw::Mixtures mixed(mixtures);
  gw::Pool pool(threads);
  std::vector<float> results;
  for (int step = 0; step < 20; ++step) {
    const double value = stack.run({x.data(), true, n_samples, static_cast<ptrdiff_t>(n_inputs), 1}, loss,
                                   {mixed, moments, {1.0f, 1.0f}, 2.0f}, {0.1f, 0.9f, 0.99f, 1e-8f, 1}, pool);
    results.push_back(static_cast<float>(value));
  }
  if (!(results.back() < 0.9f * results.front())) {
    std::printf("the loss must fall, got %g after %g\n", results.back(), results.front());
    std::exit(1);
  }
  for (const auto& each : {pins, weights[0], weights[1]}) results.insert(results.end(), each.begin(), each.end());
  return results;
}

}  // namespace

int main() {
  for (const gw::Target& target : gw::targets())
    for (const size_t n_words : {1, 2, 5})
      for (const uint32_t k : {1u, 3u, 16u, 33u}) {
        const Case c(n_words, k);
        check_forward(target.train.bits, c);
        check_backward(target.train.bits, c);
        check_tiles(target.train.bits, c);
        for (const size_t per_row : {size_t{1}, Case::kPerRow})
          for (const float factor : {1.0f, 0.75f}) check_halves(target.train.bits, c, per_row, factor);
        check_pins(target.train.bits, c);
        check_choice(target.train.bits, c);
      }
  for (const bool is_light : {false, true})
    for (const bool is_learned : {false, true}) {
      const std::vector<float> alone = train(1, is_light, is_learned);
      for (const unsigned threads : {2u, 5u}) {
        if (train(threads, is_light, is_learned) == alone) continue;
        std::printf("results must not depend on the number of threads\n");
        return 1;
      }
    }
  std::printf("training on bits agrees\n");
  return 0;
}
