// Gates that positions share, and the maximum: every target against plain loops over samples, and a whole network of
// them with different numbers of threads.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "simd/targets.hpp"
#include "train/bits/step.hpp"
#include "values.hpp"

namespace gw = gatewise;

namespace {

// A layer with runs of neighboring wires and with the constant among them; or one that reads every wire once.
struct Case {
  static constexpr size_t kIn = 90;
  size_t n_words, n_positions, n_out;
  bool is_maximum, reads_once;
  std::vector<int32_t> a, b;
  std::vector<uint8_t> gates;
  std::vector<float> coefficients;
  std::vector<uint64_t> x;

  Case(size_t words, size_t positions, bool maximum, bool once)
      : n_words(words),
        n_positions(positions),
        n_out(once ? kIn / 2 : 4 * positions),
        is_maximum(maximum),
        reads_once(once),
        x((kIn + 1) * words) {
    for (size_t i = 0; i < n_out; ++i) {
      const size_t position = i % positions;
      const bool is_outside = !once && position % 8 == 7;
      a.push_back(static_cast<int32_t>(once ? (7 * i) % kIn : is_outside ? kIn : 5 + position));
      b.push_back(static_cast<int32_t>(once ? (7 * (i + n_out)) % kIn : i % 3 ? 40 + position : random_bits() % kIn));
    }
    const size_t n_gates = maximum ? 1 : n_out / positions;
    gates = maximum ? std::vector<uint8_t>{gw::gates::kOr} : random_below<uint8_t>(n_gates, gw::kNumGates);
    coefficients = random_normals(4 * n_gates);
    for (size_t i = 0; i < kIn * words; ++i) x[i] = uint64_t{random_bits()} << 32 | random_bits();
  }

  size_t gate(size_t i) const { return is_maximum ? 0 : i / n_positions; }
  bool bit(int32_t wire, size_t s) const { return x[static_cast<size_t>(wire) * n_words + s / 64] >> (s % 64) & 1; }
  gw::BitLayer layer() const {
    return {
        gates.data(), a.data(), b.data(), is_maximum ? nullptr : coefficients.data(), is_maximum ? n_out : n_positions,
        reads_once};
  }
};

void check_forward(const gw::BitKernels& kernels, const Case& c) {
  std::vector<uint64_t> y(c.n_out * c.n_words), in_parts(y.size());
  kernels.evaluate(c.layer(), c.n_words, 0, c.n_out, c.x.data(), y.data());
  for (size_t i = 0; i < c.n_out; i += 7)
    kernels.evaluate(c.layer(), c.n_words, i, std::min(i + 7, c.n_out), c.x.data(), in_parts.data());
  for (size_t i = 0; i < c.n_out; ++i)
    for (size_t s = 0; s < 64 * c.n_words; ++s) {
      const bool expected = gw::truth(c.gates[c.gate(i)], c.bit(c.a[i], s), c.bit(c.b[i], s));
      if ((y[i * c.n_words + s / 64] >> (s % 64) & 1) != expected || y != in_parts) {
        std::printf("output %zu must be %d in sample %zu\n", i, expected, s);
        std::exit(1);
      }
    }
}

void check_backward(const gw::BitKernels& kernels, const Case& c, size_t per_row) {
  const size_t n_rows = c.n_out / per_row;
  std::vector<float> of_coefficients(c.coefficients.size(), 7);
  std::vector<double> expected(c.coefficients.size());
  for (size_t tile = 0; tile < 2 * c.n_words; ++tile) {
    std::vector<uint32_t> x(Case::kIn + 1);
    for (size_t wire = 0; wire <= Case::kIn; ++wire) x[wire] = gw::tile_of(c.x.data() + wire * c.n_words, tile);
    const std::vector<float> rows = random_normals(n_rows * gw::kBitTile);
    std::vector<float> grad_x((Case::kIn + 1) * gw::kBitTile);
    std::vector<double> expected_x(grad_x.size());
    for (size_t i = 0; i < c.n_out; ++i)
      for (size_t s = 0; s < gw::kBitTile; ++s) {
        const float g = rows[i / per_row * gw::kBitTile + s], *k = c.coefficients.data() + 4 * c.gate(i);
        const bool a = c.bit(c.a[i], tile * gw::kBitTile + s), b = c.bit(c.b[i], tile * gw::kBitTile + s);
        const double by_a = c.is_maximum ? a || !b : k[1] + (b ? k[3] : 0);
        const double by_b = c.is_maximum ? b && !a : k[2] + (a ? k[3] : 0);
        expected_x[static_cast<size_t>(c.a[i]) * gw::kBitTile + s] += g * by_a;
        expected_x[static_cast<size_t>(c.b[i]) * gw::kBitTile + s] += g * by_b;
        const bool basis[4] = {true, a, b, a && b};
        for (size_t t = 0; t < 4; ++t) expected[4 * c.gate(i) + t] += basis[t] ? g : 0;
      }
    if (c.reads_once) std::fill(grad_x.begin(), grad_x.end(), 3.0f);  // what was there before must not matter
    const gw::GradRows grads{rows.data(), per_row};
    kernels.backward_tile(c.layer(), c.n_out, x.data(), grads, tile % 2 ? nullptr : grad_x.data(),
                          of_coefficients.data(), tile == 0);
    grad_x.resize(Case::kIn * gw::kBitTile);  // but for the constant
    expected_x.resize(grad_x.size());
    if (tile % 2 == 0) require_close(grad_x, expected_x, 1e-4, "grad_x");
  }
  if (!c.is_maximum) require_close(of_coefficients, expected, 1e-4, "grad_coefficients");
}

// Pins of shared gates that choose among the values of a window: sums over two tiles.
void check_taps(const gw::BitKernels& kernels, size_t n_positions, uint32_t k) {
  const size_t n_gates = 3, n_values = 9, n_wires = 40, n_out = n_gates * n_positions;
  const std::vector<int32_t> wires = random_below<int32_t>(n_values * n_positions, n_wires + 1);
  const std::vector<int32_t> candidates = random_below<int32_t>(2 * n_gates * k, n_values);
  const std::vector<int32_t> a = random_below<int32_t>(n_out, n_wires), b = random_below<int32_t>(n_out, n_wires);
  const std::vector<float> coefficients = random_normals(4 * n_gates);
  const gw::BitLayer layer{nullptr, a.data(), b.data(), coefficients.data(), n_positions, false};
  const gw::Pins pins{candidates.data(), nullptr, nullptr, nullptr, n_gates, k};
  std::vector<float> sums(candidates.size(), 7), scratch(gw::kTapScratch);
  std::vector<double> expected(candidates.size());
  for (int tile = 0; tile < 2; ++tile) {
    std::vector<uint32_t> x(n_wires + 1);
    for (size_t wire = 0; wire < n_wires; ++wire) x[wire] = static_cast<uint32_t>(random_bits());
    const std::vector<float> rows = random_normals(n_out * gw::kBitTile);
    const auto bit = [&](int32_t wire, size_t s) { return x[static_cast<size_t>(wire)] >> s & 1; };
    for (size_t at = 0; at < candidates.size(); ++at)
      for (size_t p = 0; p < n_positions; ++p)
        for (size_t s = 0; s < gw::kBitTile; ++s) {
          const size_t pin = at / k / n_gates, gate = at / k % n_gates, i = gate * n_positions + p;
          const float* c = coefficients.data() + 4 * gate;
          if (!bit(wires[static_cast<size_t>(candidates[at]) * n_positions + p], s)) continue;
          expected[at] += rows[i * gw::kBitTile + s] * (c[1 + pin] + (bit((pin ? a : b)[i], s) ? c[3] : 0));
        }
    kernels.add_taps(layer, pins, {wires.data(), n_positions}, x.data(), {rows.data(), 1}, sums.data(), tile == 0,
                     scratch.data());
  }
  require_close(sums, expected, 2e-2, "gradients of taps");
}

// Shared gates, a maximum, and gates of their own; `learned`: those have pins.
struct Network {
  static constexpr size_t kInputs = 64, kWidth = 8 * 64, kLast = 120, kGroups = 3, kSamples = 130, kCandidates = 6;
  std::vector<int32_t> candidates = random_below<int32_t>(2 * kLast * kCandidates, kWidth / 2);
  std::vector<float> pins = random_normals(candidates.size()), first, second;
  std::vector<std::vector<float>> weights, means, squares;
  std::vector<gw::Mixture> mixtures;
  std::vector<gw::Moments> moments;
  std::vector<gw::BitStack::Wiring> wirings;

  explicit Network(bool is_learned) : first(pins.size()), second(pins.size()) {
    const auto add = [&](size_t n_out, size_t n_in, size_t n_gates) {
      weights.push_back(random_normals(16 * n_gates));
      means.emplace_back(weights.back().size());
      squares.emplace_back(weights.back().size());
      wirings.push_back({random_below<int32_t>(n_out, static_cast<uint32_t>(n_in)),
                         random_below<int32_t>(n_out, static_cast<uint32_t>(n_in)), std::nullopt, n_gates});
    };
    add(kWidth, kInputs + 1, 8);
    add(kWidth / 2, kWidth, 0);
    for (size_t i = 0; i < kWidth / 2; ++i) {
      wirings[1].a[i] = static_cast<int32_t>(2 * i);
      wirings[1].b[i] = static_cast<int32_t>(2 * i + 1);
    }
    add(kLast, kWidth / 2, kLast);
    if (is_learned) wirings[2].pins = {candidates.data(), pins.data(), first.data(), second.data(), kLast, kCandidates};
    for (size_t l = 0; l < 3; ++l) {
      gw::Mixture mixture{weights[l].data(), wirings[l].n_gates, {}, gw::kNumGates, 2.0f, false};
      for (uint8_t g = 0; g < gw::kNumGates; ++g) mixture.gates[g] = g;
      mixtures.push_back(mixture);
      moments.push_back(l == 1 ? gw::Moments{} : gw::Moments{weights[l].data(), means[l].data(), squares[l].data()});
    }
  }
};

// Weights and losses after some steps.
std::vector<float> train(unsigned threads, bool is_learned) {
  random_bits.seed(3);
  Network net(is_learned);
  gw::BitStack stack(Network::kInputs, net.wirings, Network::kGroups);
  const std::vector<uint8_t> x = random_below<uint8_t>(Network::kSamples * Network::kInputs, 2);
  gw::Loss loss = gw::Loss::cross_entropy(random_below<int32_t>(Network::kSamples, Network::kGroups), 0.1f);
  loss.head.scale = 0.2f;
  const gw::Mixtures mixed(net.mixtures);
  gw::Pool pool(threads);
  std::vector<float> results;
  for (int step = 0; step < 40; ++step) {
    const gw::Samples samples{x.data(), true, Network::kSamples, Network::kInputs, 1};
    const double value =
        stack.run(samples, loss, {mixed, net.moments, {1.0f, 1.0f, 1.0f}, 2.0f}, {0.1f, 0.9f, 0.99f, 1e-8f, 1}, pool);
    results.push_back(static_cast<float>(value));
  }
  if (!(results.back() < 0.9f * results.front())) {
    std::printf("the loss must fall, got %g after %g\n", static_cast<double>(results.back()),
                static_cast<double>(results.front()));
    std::exit(1);
  }
  for (const auto& each : {net.pins, net.weights[0], net.weights[2]})
    results.insert(results.end(), each.begin(), each.end());
  return results;
}

}  // namespace

int main() {
  for (const gw::Target& target : gw::targets())
    for (const size_t n_words : {1, 2, 5})
      for (const size_t n_positions : {3, 16, 45})
        for (const bool is_maximum : {false, true})
          for (const bool reads_once : {false, true}) {
            const Case c(n_words, n_positions, is_maximum, reads_once);
            if (c.n_out % n_positions) continue;
            check_forward(target.train.bits, c);
            check_backward(target.train.bits, c, 1);
            check_backward(target.train.bits, c, n_positions);
          }
  for (const gw::Target& target : gw::targets())
    for (const size_t n_positions : {1, 5, 150, 300})
      for (const uint32_t k : {1u, 4u, 7u}) check_taps(target.train.bits, n_positions, k);
  for (const bool is_learned : {false, true}) {
    const std::vector<float> alone = train(1, is_learned);
    for (const unsigned threads : {2u, 5u}) {
      if (train(threads, is_learned) == alone) continue;
      std::printf("results must not depend on the number of threads\n");
      return 1;
    }
  }
  std::printf("shared gates agree\n");
  return 0;
}
