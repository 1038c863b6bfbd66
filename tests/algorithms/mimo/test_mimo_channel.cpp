#include "tests/support/files.hpp"
#include <tesela/algorithms/mimo/mimo_channel.hpp>

#include <cmath>

using namespace tesela;
using namespace tesela::test;
using Number = std::complex<double>;

extern "C" void zgesvd_(const char*, const char*, const int*, const int*, Number*, const int*, double*, Number*,
                        const int*, Number*, const int*, Number*, const int*, double*, int*);

namespace {

HostMatrix<Number> channels(const MimoShape& shape, const char* kind, std::uint64_t seed = 1) {
  return random_channels<double>(shape, parse_channel("test", kind), seed);
}

std::vector<double> singular_values(const HostMatrix<Number>& h, index_t n, index_t k) {
  const index_t m = h.rows();
  std::vector<Number> a(&h(0, k * n), &h(0, k * n) + m * n);
  std::vector<double> s(static_cast<std::size_t>(std::min(m, n))), real(64);
  std::vector<Number> work(256);
  const int rows = static_cast<int>(m), cols = static_cast<int>(n), one = 1, size = 256;
  int info = 0;
  zgesvd_("N", "N", &rows, &cols, a.data(), &rows, s.data(), nullptr, &one, nullptr, &one, work.data(), &size,
          real.data(), &info);
  REQUIRE(info == 0);
  return s;
}

/// Returns the mean of x conj(y) over all channels.
Number mean(const HostMatrix<Number>& h, index_t n, Shape x, Shape y) {
  Number sum = 0;
  const index_t count = h.cols() / n;
  for (index_t k = 0; k < count; ++k) sum += h(x.rows, k * n + x.cols) * std::conj(h(y.rows, k * n + y.cols));
  return sum / static_cast<double>(count);
}

}  // namespace

TEST_CASE("channels have the requested moments, condition and rank") {
  const MimoShape shape{3, 4, 20000, 1};
  const HostMatrix<Number> rayleigh = channels(shape, "rayleigh"), correlated = channels(shape, "correlated:0.6");
  REQUIRE(rayleigh.shape() == Shape{4, 60000});
  for (const auto* h : {&rayleigh, &correlated}) CHECK(std::abs(mean(*h, 3, {2, 1}, {2, 1}) - 1.0) < 0.04);
  CHECK(std::abs(mean(rayleigh, 3, {2, 1}, {3, 1})) < 0.04);
  CHECK(std::abs(mean(correlated, 3, {1, 1}, {3, 1}) - 0.36) < 0.04);
  CHECK(std::abs(mean(correlated, 3, {1, 0}, {1, 1}) - 0.6) < 0.04);
  CHECK(std::abs(mean(correlated, 3, {1, 0}, {2, 1}) - 0.36) < 0.04);
  for (const auto& [m, n] : {std::pair<index_t, index_t>{4, 3}, {3, 3}, {2, 5}}) {
    const HostMatrix<Number> kappa = channels({n, m, 3, 1}, "kappa:1e4"), rank = channels({n, m, 3, 1}, "rank:1");
    for (index_t k = 0; k < 3; ++k) {
      const auto s = singular_values(kappa, n, k), r = singular_values(rank, n, k);
      CHECK(std::abs(s.front() / s.back() / 1e4 - 1) < 1e-9);
      double sum = 0;
      for (const double x : s) sum += x * x;
      CHECK(std::abs(sum / static_cast<double>(m * n) - 1) < 1e-12);
      CHECK(r[1] < 1e-14 * r[0]);
    }
  }
  const HostMatrix<Number> zero = channels({2, 2, 1, 0}, "zero");
  for (index_t e = 0; e < 4; ++e) CHECK(zero.data()[e] == 0.0);
}

TEST_CASE("signals are H s + v with the channel of their block") {
  const std::vector<Constellation> alphabets = parse_constellations("test", "16qam,bpsk", 2);
  const MimoShape shape{2, 3, 2000, 300};  // the last block is short
  REQUIRE(shape.channels() == 7);
  const HostMatrix<Number> h = channels(shape, "rayleigh");
  const HostMatrix<int> labels = random_labels(shape, alphabets, 5);
  const double n0 = 0.5;
  const HostMatrix<Number> clean = received(shape, h, alphabets, labels, 0, 5),
                           noisy = received(shape, h, alphabets, labels, n0, 5);
  double noise = 0;
  std::vector<int> seen(16);
  for (index_t k = 0; k < shape.signals; ++k) {
    CHECK((labels(1, k) == 0 || labels(1, k) == 1));
    ++seen[static_cast<std::size_t>(labels(0, k))];
    for (index_t i = 0; i < 3; ++i) {
      const index_t c = k / 300 * 2;
      const Number sum = h(i, c) * alphabets[0].points[static_cast<std::size_t>(labels(0, k))] +
                         h(i, c + 1) * alphabets[1].points[static_cast<std::size_t>(labels(1, k))];
      CHECK(std::abs(clean(i, k) - sum) < 1e-14);
      noise += std::norm(noisy(i, k) - sum) / 6000;
    }
  }
  CHECK(std::abs(noise - n0) < 0.03);
  for (const int count : seen) CHECK(std::abs(count - 125) < 50);
  CHECK(std::abs(noise_variance(7, alphabets) - std::pow(10, -0.7) / 2.5) < 1e-15);
}

TEST_CASE("invalid channel options are refused") {
  for (const char* text : {"", "rice", "rayleigh:1", "correlated", "correlated:1", "correlated:-0.1", "kappa:0.5",
                           "kappa:x", "rank:0", "rank:1.5", "zero:1", "kappa:inf"})
    check_throws<ArgumentError>("--channel", [&] { parse_channel("test", text); });
}
