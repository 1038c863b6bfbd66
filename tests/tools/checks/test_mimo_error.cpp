#include "tests/support/mimo.hpp"
#include "tools/checks/mimo/mimo_error.hpp"
#include "tools/checks/mimo/mimo_error_rate.hpp"

#include <catch2/matchers/catch_matchers_floating_point.hpp>

#include <random>

using namespace tesela::test;
using Catch::Matchers::WithinAbs;

TEST_CASE("the largest gap keeps NaN") {
  double largest = 0;
  for (const double gap : {1e-16, 0.0, 3e-16, 2e-16}) update_nan_max(largest, gap);
  CHECK(largest == 3e-16);
  update_nan_max(largest, std::numeric_limits<double>::quiet_NaN());
  update_nan_max(largest, 1e-17);
  CHECK(std::isnan(largest));
}

TEST_CASE("mimo_error returns the gap of a wrong result, also near the largest number") {
  for (const double scale : {1.0, 1e305, 1e-290}) {
    Problem<double> p = problem<double>({2, 2, 40, 1}, "qpsk", "rayleigh", 30);
    for (auto* const a : {&p.h, &p.y})
      for (index_t e = 0; e < a->size(); ++e) a->data()[e] *= scale;
    Detection found = detect(p, {.method = MimoMethod::brute});
    const Detection reference = detect(p, {.method = MimoMethod::brute});
    const auto error = [&] { return mimo_error(p.shape, p.h, p.y, p.alphabets, found, reference, HostMatrix<int>()); };
    CAPTURE(scale);
    CHECK(error().metric_gap <= 1e-12);
    CHECK(error().mismatches == 0);
    found.labels(1, 7) ^= 1;
    CHECK(error().metric_gap >= 0.01);
    CHECK(error().metric_gap <= 20);
    CHECK(error().mismatches == 1);
  }
}

namespace {

/// Returns the bit error rate of BPSK in Rayleigh fading with `coherence` bits for each channel.
MimoErrorRate simulate(index_t channels, index_t coherence, double snr, std::mt19937_64& random) {
  HostMatrix<int> found = HostMatrix<int>::zeros(1, channels * coherence);
  const HostMatrix<int> sent = HostMatrix<int>::zeros(1, channels * coherence);
  for (index_t c = 0; c < channels; ++c) {
    const double gain = std::exponential_distribution<double>()(random);
    std::bernoulli_distribution wrong(std::erfc(std::sqrt(snr * gain)) / 2);
    for (index_t k = 0; k < coherence; ++k) found(0, c * coherence + k) = wrong(random) ? 1 : 0;
  }
  MimoErrorRate rate;
  rate.add(found, sent, 1, coherence);
  return rate;
}

double mean_rate(double snr) { return (1 - std::sqrt(snr / (1 + snr))) / 2; }

}  // namespace

TEST_CASE("intervals of error rates have the stated coverage for few and many channels") {
  std::mt19937_64 random(1);
  for (const auto& [channels, coherence, snr, least] : {std::tuple{1000, 1, 10.0, 0.9},
                                                        {100, 100, 10.0, 0.9},
                                                        {30, 100, 10.0, 0.85},
                                                        {10, 100, 0.3, 0.9},
                                                        {2, 100, 10.0, 0.9},
                                                        {1, 100, 10.0, 1.0}}) {
    constexpr int trials = 400;
    int inside = 0, far = 0;
    for (int t = 0; t < trials; ++t) {
      const MimoErrorRate rate = simulate(channels, coherence, snr, random);
      inside += rate.low() <= mean_rate(snr) && mean_rate(snr) <= rate.high() ? 1 : 0;
      far += rate.bits() > 20 && rate.sigmas(mean_rate(snr)) > 4 ? 1 : 0;
    }
    CAPTURE(channels, coherence, snr);
    CHECK(inside >= least * trials);
    CHECK(far <= trials / 100);
  }
}

TEST_CASE("an interval narrows with more events, and one channel gives the interval [0, 1]") {
  std::mt19937_64 random(1);
  const MimoErrorRate many = simulate(40000, 1, 0.3, random), one = simulate(1, 1000, 0.3, random);
  const double rate = many.bit_rate(), usual = 1.96 * std::sqrt(rate / 40000);
  CHECK_THAT(many.high() - rate, WithinAbs(usual, 0.1 * usual));
  CHECK_THAT(rate - many.low(), WithinAbs(usual, 0.1 * usual));
  CHECK(many.sigmas(rate * 1.2) > 8);
  CHECK(one.low() == 0);
  CHECK(one.high() == 1);
  CHECK(one.sigmas(0.9) == 0);
}
