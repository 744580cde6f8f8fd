// Training lookup tables on bits without Python: every target against plain loops over samples, and thread counts
// against each other.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <vector>

#include "simd/targets.hpp"
#include "train/bits/table_stack.hpp"
#include "values.hpp"

namespace gw = gatewise;

namespace {

std::vector<float> random_between(size_t n, float low, float high) {
  std::uniform_real_distribution<float> uniform(low, high);
  std::vector<float> values(n);
  for (float& value : values) value = uniform(random_bits);
  return values;
}

// A layer with all it needs, and what it must give, computed sample by sample and corner by corner.
struct Case {
  static constexpr size_t kIn = 13, kOut = 30, kPerRow = 5;
  uint32_t k;
  size_t n_words;
  uint32_t n_candidates;
  size_t size = gw::table_size(k), row = 64 * n_words;
  std::vector<int32_t> wires = random_below<int32_t>(k * kOut, kIn);
  std::vector<float> entries = random_between(kOut * size, -1, 1);
  std::vector<float> grads = random_between(kOut / kPerRow * row, -2, 2);
  std::vector<uint64_t> x = std::vector<uint64_t>(kIn * n_words), truth = std::vector<uint64_t>(kOut);
  std::vector<float> slopes = std::vector<float>(kOut * k * size + gw::kSlopePadding);
  std::vector<int32_t> candidates = random_below<int32_t>(k * kOut * n_candidates, kIn);
  std::vector<float> logits = random_between(k * kOut * n_candidates, -2, 2);

  Case(uint32_t inputs, size_t words, uint32_t candidates_of_pin)
      : k(inputs), n_words(words), n_candidates(candidates_of_pin) {
    for (uint64_t& each : x) each = uint64_t{random_bits()} << 32 | random_bits();
  }

  gw::TableLayer layer() const { return {k, kOut, wires.data(), truth.data(), slopes.data()}; }
  gw::GradRows grad_rows() const { return {grads.data(), kPerRow}; }
  double grad(size_t node, size_t s) const { return grads[node / kPerRow * row + s]; }
  bool bit(size_t wire, size_t s) const { return x[wire * n_words + s / 64] >> (s % 64) & 1; }
  size_t entry(size_t node, size_t s) const {
    size_t found = 0;
    for (uint32_t pin = 0; pin < k; ++pin) found = 2 * found + bit(static_cast<size_t>(wires[pin * kOut + node]), s);
    return found;
  }
  // The derivative of the interpolation at 0.25 + 0.5 bits: corners weigh 3/4 for each other input that agrees, else
  // 1/4.
  double slope(uint32_t pin, size_t node, size_t at) const {
    const size_t own = size_t{1} << (k - 1 - pin);
    double total = 0;
    for (size_t corner = 0; corner < size; ++corner) {
      double weight = corner & own ? 0.5 : -0.5;
      for (size_t other = 1; other < size; other *= 2)
        if (other != own) weight *= (corner ^ at) & other ? 0.25 : 0.75;
      total += weight * static_cast<double>(entries[node * size + corner]);
    }
    return total;
  }
  double grad_of_pin(uint32_t pin, size_t node, size_t s) const {
    return grad(node, s) * static_cast<double>(slopes[(node * k + pin) * size + entry(node, s)]);
  }
};

void check_choice(const gw::TableKernels& kernels, Case& c) {
  kernels.choose_tables(c.k, c.entries.data(), 0, Case::kOut, c.truth.data(), c.slopes.data());
  std::vector<float> expected(Case::kOut * c.k * c.size);
  for (size_t i = 0; i < Case::kOut; ++i)
    for (size_t at = 0; at < c.size; ++at) {
      require_close<int>({(c.truth[i] >> at & 1) != 0}, {c.entries[i * c.size + at] > 0}, 0, "truth");
      for (uint32_t pin = 0; pin < c.k; ++pin)
        expected[(i * c.k + pin) * c.size + at] = static_cast<float>(c.slope(pin, i, at));
    }
  require_close(c.slopes, expected, 1e-5, "slopes");
  std::vector<int32_t> wires(c.k * Case::kOut);
  std::vector<float> unused(c.logits.size());
  const gw::TablePins pins{c.candidates.data(), c.logits.data(), unused.data(), unused.data(), c.n_candidates};
  kernels.choose_inputs(pins, c.k, Case::kOut, 0, Case::kOut, wires.data());
  for (size_t i = 0; i < Case::kOut; ++i)
    for (uint32_t pin = 0; pin < c.k; ++pin) {
      const size_t first = (pin * Case::kOut + i) * c.n_candidates;
      const auto better = [&](size_t j, size_t best) { return c.logits[first + j] > c.logits[first + best]; };
      size_t best = c.n_candidates, any = 0;
      for (size_t j = 0; j < c.n_candidates; ++j) {
        bool taken = false;
        for (uint32_t before = 0; before < pin; ++before)
          taken |= wires[before * Case::kOut + i] == c.candidates[first + j];
        if (better(j, any)) any = j;
        if (!taken && (best == c.n_candidates || better(j, best))) best = j;
      }
      require_close<int32_t>({wires[pin * Case::kOut + i]},
                             {c.candidates[first + (best < c.n_candidates ? best : any)]}, 0, "wires");
    }
}

void check_forward(const gw::TableKernels& kernels, const Case& c) {
  std::vector<uint64_t> y(Case::kOut * c.n_words);
  kernels.look_up(c.layer(), c.n_words, 0, Case::kOut, c.x.data(), y.data());
  for (size_t i = 0; i < Case::kOut; ++i)
    for (size_t s = 0; s < c.row; ++s)
      require_close<int>({(y[i * c.n_words + s / 64] >> (s % 64) & 1) != 0},
                         {c.entries[i * c.size + c.entry(i, s)] > 0}, 0, "y");
}

void check_backward(const gw::TableKernels& kernels, const Case& c) {
  std::vector<float> grad_x(Case::kIn * c.row, 7), expected(Case::kIn * c.row);
  for (size_t i = 0; i < Case::kOut; ++i)
    for (size_t s = 0; s < c.row; ++s)
      for (uint32_t pin = 0; pin < c.k; ++pin)
        expected[static_cast<size_t>(c.wires[pin * Case::kOut + i]) * c.row + s] +=
            static_cast<float>(c.grad_of_pin(pin, i, s));
  kernels.pass_tiles_back(c.layer(), c.n_words, 0, 2 * c.n_words, c.x.data(), c.grad_rows(), Case::kIn, grad_x.data());
  require_close(grad_x, expected, 1e-4, "grad_x");
}

// With no momentum and a large epsilon, a step of Adam is the gradient but for a factor.
void check_update(const gw::TableKernels& kernels, Case c) {
  const float temperature = 2, epsilon = 1e6f, factor = 1e4f / epsilon;
  std::vector<float> entries = c.entries, logits = c.logits;
  for (size_t i = 0; i < Case::kOut; ++i) {
    std::vector<double> sums(c.size);
    for (size_t s = 0; s < c.row; ++s) sums[c.entry(i, s)] += c.grad(i, s);
    for (size_t at = 0; at < c.size; ++at) {
      float& entry = entries[i * c.size + at];
      entry = std::clamp(entry - static_cast<float>(sums[at] * factor), -1.0f, 1.0f);
    }
    for (uint32_t pin = 0; pin < c.k; ++pin) {
      const size_t at = (pin * Case::kOut + i) * c.n_candidates;
      std::vector<double> p(c.n_candidates), of_candidates(c.n_candidates);
      double total = 0, mean = 0;
      for (uint32_t j = 0; j < c.n_candidates; ++j) total += p[j] = std::exp(c.logits[at + j] / temperature);
      for (uint32_t j = 0; j < c.n_candidates; ++j) {
        for (size_t s = 0; s < c.row; ++s)
          if (c.bit(static_cast<size_t>(c.candidates[at + j]), s)) of_candidates[j] += c.grad_of_pin(pin, i, s);
        mean += p[j] / total * of_candidates[j];
      }
      for (uint32_t j = 0; j < c.n_candidates; ++j)
        logits[at + j] -= static_cast<float>(p[j] / total * (of_candidates[j] - mean) / temperature * factor);
    }
  }
  std::vector<float> first(entries.size()), second(entries.size()), pin_first(logits.size()), pin_second(logits.size());
  const gw::Adam adam{1e4f, 0, 0, epsilon, 1};
  const gw::Moments moments{c.entries.data(), first.data(), second.data()};
  const gw::TablePins pins{c.candidates.data(), c.logits.data(), pin_first.data(), pin_second.data(), c.n_candidates};
  std::vector<float> scratch(gw::table_scratch(c.n_words, c.n_candidates));
  kernels.update_tables(c.layer(), c.n_words, 0, Case::kOut, c.x.data(), c.grad_rows(),
                        {adam, moments, &pins, temperature, 1.0f}, scratch.data());
  require_close(c.entries, entries, 2e-4, "entries");
  require_close(c.logits, logits, 2e-4, "logits of pins");
}

// Two layers, the first learned or fixed, trained for some steps: weights and losses.
std::vector<float> train(unsigned threads, uint32_t k, bool is_learned) {
  random_bits.seed(3);
  const size_t n_inputs = 20, width = 600, n_samples = 130, size = gw::table_size(k);
  const uint32_t n_candidates = 6, n_groups = 3;
  std::vector<int32_t> candidates = random_below<int32_t>(k * width * n_candidates, n_inputs);
  std::vector<float> pins = random_between(candidates.size(), -1, 1), first(pins.size()), second(pins.size());
  std::vector<std::vector<float>> entries, means(2, std::vector<float>(width * size)), squares = means;
  std::vector<gw::Moments> moments;
  for (size_t l = 0; l < 2; ++l) entries.push_back(random_between(width * size, -1, 1));
  for (size_t l = 0; l < 2; ++l) moments.push_back({entries[l].data(), means[l].data(), squares[l].data()});
  gw::TableStack::Layer lower{k, random_below<int32_t>(k * width, n_inputs), {}, entries[0].data()};
  const gw::TableStack::Layer upper{k, random_below<int32_t>(k * width, width), {}, entries[1].data()};
  if (is_learned) lower.pins = {candidates.data(), pins.data(), first.data(), second.data(), n_candidates};
  gw::TableStack stack(n_inputs, {lower, upper}, n_groups);
  const std::vector<uint8_t> x = random_below<uint8_t>(n_samples * n_inputs, 2);
  gw::Loss loss = gw::Loss::cross_entropy(random_below<int32_t>(n_samples, n_groups), 0.1f);
  loss.head = {0.1f, 0};
  const std::vector<float> scales = {1.0f, 1.0f};
  gw::Pool pool(threads);
  std::vector<float> results;
  for (int step = 0; step < 20; ++step) {
    const double value = stack.run({x.data(), true, n_samples, static_cast<ptrdiff_t>(n_inputs), 1}, loss,
                                   {moments, scales, 2.0f}, {0.1f, 0.9f, 0.99f, 1e-8f, 1}, pool);
    results.push_back(static_cast<float>(value));
  }
  if (!(results.back() < 0.9f * results.front())) {
    std::printf("the loss must fall, got %g after %g\n", static_cast<double>(results.back()),
                static_cast<double>(results.front()));
    std::exit(1);
  }
  for (const auto& each : {pins, entries[0], entries[1]}) results.insert(results.end(), each.begin(), each.end());
  return results;
}

}  // namespace

int main() {
  for (const gw::Target& target : gw::targets())
    for (uint32_t k = gw::kMinNodeInputs; k <= gw::kMaxNodeInputs; ++k)
      for (const size_t n_words : {1, 2, 5})
        for (const uint32_t n_candidates : {1u, 3u, 16u, 33u}) {
          Case c(k, n_words, n_candidates);
          check_choice(target.train.tables, c);
          check_forward(target.train.tables, c);
          check_backward(target.train.tables, c);
          check_update(target.train.tables, c);
        }
  for (const uint32_t k : {3u, 6u})
    for (const bool is_learned : {false, true}) {
      const std::vector<float> alone = train(1, k, is_learned);
      for (const unsigned threads : {2u, 5u}) {
        if (train(threads, k, is_learned) == alone) continue;
        std::printf("results must not depend on the number of threads\n");
        return 1;
      }
    }
  std::printf("training tables on bits agrees\n");
  return 0;
}
