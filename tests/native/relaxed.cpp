// Relaxed layers without Python: every target against the plain formula, and thread counts against each other.
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <vector>

#include "simd/targets.hpp"
#include "train/stack.hpp"

namespace gw = gatewise;

namespace {

std::mt19937 random_bits(7);

std::vector<float> random_floats(size_t n) {
  std::uniform_real_distribution<float> uniform(0, 1);
  std::vector<float> values(n);
  for (float& value : values) value = uniform(random_bits);
  return values;
}

std::vector<int32_t> random_operands(size_t n, uint32_t width) {
  std::vector<int32_t> operands(n);
  for (int32_t& operand : operands) operand = static_cast<int32_t>(random_bits() % width);
  return operands;
}

void require_close(const std::vector<float>& got, const std::vector<float>& expected, const char* what) {
  for (size_t i = 0; i < expected.size(); ++i) {
    if (std::fabs(got[i] - expected[i]) <= 1e-4f * (1 + std::fabs(expected[i]))) continue;
    std::printf("%s[%zu] must be %g, got %g\n", what, i, expected[i], got[i]);
    std::exit(1);
  }
}

// is_maximum: without coefficients.
void check_layer(const gw::TrainKernels& kernels, uint32_t n_in, uint32_t n_out, size_t n_positions, bool is_maximum) {
  const std::vector<int32_t> a = random_operands(n_out, n_in), b = random_operands(n_out, n_in);
  const std::vector<float> c = random_floats(4 * n_out / n_positions), x = random_floats(n_in * gw::kTile);
  const std::vector<float> grad_y = random_floats(n_out * gw::kTile);
  std::vector<float> y(n_out * gw::kTile), grad_x(x.size()), grad_c(c.size());
  std::vector<float> expected_y(y.size()), expected_x(x.size()), expected_c(c.size());
  for (size_t i = 0; i < n_out; ++i)
    for (size_t s = 0; s < gw::kTile; ++s) {
      const size_t at_a = a[i] * gw::kTile + s, at_b = b[i] * gw::kTile + s, gate = i / n_positions;
      const float va = x[at_a], vb = x[at_b], g = grad_y[i * gw::kTile + s], *k = c.data() + 4 * gate;
      expected_y[i * gw::kTile + s] = is_maximum ? std::fmax(va, vb) : k[0] + k[1] * va + k[2] * vb + k[3] * va * vb;
      expected_x[at_a] += g * (is_maximum ? va >= vb : k[1] + k[3] * vb);
      expected_x[at_b] += g * (is_maximum ? va < vb : k[2] + k[3] * va);
      const float basis[4] = {1, va, vb, va * vb};
      for (size_t t = 0; t < 4; ++t) expected_c[4 * gate + t] += 2 * g * basis[t];
    }
  const gw::RelaxedLayer layer{n_in, n_out, a.data(), b.data(), is_maximum ? nullptr : c.data(), n_positions};
  kernels.forward(layer, x.data(), y.data());
  kernels.backward(layer, x.data(), grad_y.data(), nullptr, grad_c.data(), true);
  kernels.backward(layer, x.data(), grad_y.data(), grad_x.data(), grad_c.data(), false);
  require_close(y, expected_y, "y");
  require_close(grad_x, expected_x, "grad_x");
  if (!is_maximum) require_close(grad_c, expected_c, "grad_coefficients");
}

// A step of Adam must equal Adam's formula on the gradients that mix_backward gives.
void check_gradients(const gw::TrainKernels& kernels, const gw::Mixture& mixture) {
  const size_t n_gates = mixture.n_gates, n = 16 * n_gates;
  const std::vector<float> shares = random_floats(8 * n_gates);
  std::vector<float> grad(n), weights(mixture.logits, mixture.logits + n), expected = weights, first(n), second(n);
  const gw::Shares grads{shares.data(), 2, 4 * n_gates, 0.5f};
  kernels.mix_backward(mixture, 0, n_gates, grads, grad.data());
  kernels.update(mixture, 0, n_gates, grads, {0.1f, 0.9f, 0.999f, 1e-8f, 2.0f},
                 {weights.data(), first.data(), second.data()});
  for (size_t i = 0; i < n; ++i)
    expected[i] -= 0.1f * 0.1f * grad[i] / (2.0f * std::sqrt(0.001f * grad[i] * grad[i]) + 1e-8f);
  require_close(weights, expected, "weights");
  for (size_t i = 0; i < n_gates; ++i) {
    double total = 0;  // the gradients of a softmax add up to zero
    for (size_t k = 0; k < 16; ++k) total += grad[k * n_gates + i];
    require_close({static_cast<float>(total)}, {0.0f}, "sum of gradients");
  }
}

void check_mixture(const gw::TrainKernels& kernels, size_t n_gates, float temperature) {
  const std::vector<float> logits = random_floats(16 * n_gates);
  std::vector<float> c(4 * n_gates), expected(4 * n_gates);
  for (size_t i = 0; i < n_gates; ++i) {
    double total = 0, truth[4] = {};
    for (size_t k = 0; k < 16; ++k) total += std::exp(logits[k * n_gates + i] / temperature);
    for (size_t k = 0; k < 16; ++k)
      for (int t = 0; t < 4; ++t)
        if (k >> (3 - t) & 1) truth[t] += std::exp(logits[k * n_gates + i] / temperature) / total;
    const double values[4] = {truth[0], truth[2] - truth[0], truth[1] - truth[0],
                              truth[3] - truth[2] - truth[1] + truth[0]};
    for (size_t k = 0; k < 4; ++k) expected[4 * i + k] = static_cast<float>(values[k]);
  }
  gw::Mixture mixture{logits.data(), n_gates, {}, gw::kNumGates, temperature, false};
  for (uint8_t k = 0; k < gw::kNumGates; ++k) mixture.gates[k] = k;
  kernels.mix(mixture, 0, n_gates, c.data());
  require_close(c, expected, "coefficients");
  check_gradients(kernels, mixture);
}

void check_threads() {
  const gw::RelaxedStack stack(9,
                               {{random_operands(40, 10), random_operands(40, 10), 8},
                                {random_operands(30, 41), random_operands(30, 41), 0},
                                {random_operands(30, 30), random_operands(30, 30)}},
                               3);
  const size_t n_gates = 8 + 30;
  const std::vector<float> x = random_floats(150 * 9), c = random_floats(4 * n_gates), grad_y = random_floats(150 * 3);
  const gw::Samples samples{x.data(), false, 150, 9, 1};
  std::vector<std::vector<float>> results;
  for (const unsigned threads : {1u, 2u, 5u}) {
    gw::Pool pool(threads);
    std::vector<float> y(150 * 3), grad_c(4 * n_gates), grad_x(150 * 9);
    const gw::SamplesOut to_x{grad_x.data(), 1, 150};
    stack.forward(samples, c.data(), {y.data(), 3, 1}, pool);
    stack.backward(samples, c.data(), {grad_y.data(), false, 150, 3, 1}, grad_c.data(), &to_x, pool);
    y.insert(y.end(), grad_c.begin(), grad_c.end());
    y.insert(y.end(), grad_x.begin(), grad_x.end());
    results.push_back(y);
  }
  if (results[0] == results[1] && results[0] == results[2]) return;
  std::printf("results must not depend on the number of threads\n");
  std::exit(1);
}

}  // namespace

int main() {
  for (const gw::Target& target : gw::targets()) {
    for (const uint32_t n_out : {1u, 7u, 64u})
      for (const bool is_maximum : {false, true}) check_layer(target.train, 5, n_out, 1, is_maximum);
    for (const size_t n_positions : {2, 8, 32}) check_layer(target.train, 5, 64, n_positions, false);
    for (const size_t n_gates : {1, 15, 16, 50})
      for (const float temperature : {0.5f, 1.0f}) check_mixture(target.train, n_gates, temperature);
  }
  check_threads();
  std::printf("relaxed layers agree\n");
  return 0;
}
