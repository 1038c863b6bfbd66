#include "tests/support/mimo.hpp"
#include <tesela/algorithms/mimo/error_rates.hpp>

using namespace tesela::test;

namespace {

/// Returns the mean of f(x) over x ~ Gamma(diversity, 1), by Simpson's rule in the root of x, where the integrand is
/// smooth.
template <class F>
double over_fading(index_t diversity, F f) {
  const int steps = 4000;
  const double h = std::sqrt(60 + 4 * double(diversity)) / steps;
  double sum = 0;
  for (int k = 0; k <= steps; ++k) {
    const double root = k * h, x = root * root;
    const double density =
        2 * std::pow(root, double(2 * diversity - 1)) * std::exp(-x) / std::tgamma(double(diversity));
    sum += (k == 0 || k == steps ? 1 : k % 2 == 1 ? 4 : 2) * density * f(x);
  }
  return sum * h / 3;
}

double q(double x) { return 0.5 * std::erfc(x / std::sqrt(2.0)); }

Constellation qam(const char* name) { return parse_constellations("test", name, 1).front(); }

/// Returns the bit error rate of one axis of Gray QAM in noise of variance n0/2, computed from the labels.
double axis_error(const Constellation::Axis& axis, double n0) {
  const auto levels = axis.labels.size();
  double sum = 0, bits = std::log2(double(levels));
  for (std::size_t sent = 0; sent < levels; ++sent)
    for (std::size_t found = 0; found < levels; ++found) {
      const auto beyond = [&](double place) { return q((place - double(sent)) * axis.step / std::sqrt(n0 / 2)); };
      const double upper = found + 1 == levels ? 0 : beyond(double(found) + 0.5),
                   lower = found == 0 ? 1 : beyond(double(found) - 0.5);
      sum += (lower - upper) * __builtin_popcount(unsigned(axis.labels[sent] ^ axis.labels[found]));
    }
  return sum / bits / double(levels);
}

}  // namespace

TEST_CASE("closed forms for Rayleigh fading equal the integrals") {
  for (const index_t diversity : {1, 2, 5})
    for (const double snr : {0.1, 1.0, 10.0}) {
      const double integral = over_fading(diversity, [&](double x) { return q(std::sqrt(2 * snr * x)); });
      CHECK(std::abs(rayleigh_error(snr, diversity) / integral - 1) < 1e-8);
    }
  CHECK(std::abs(rayleigh_error(1e12, 1) * 4e12 - 1) < 1e-6);
  for (const char* const name : {"qpsk", "16qam", "64qam", "256qam", "1024qam"}) {
    const Constellation c = qam(name);
    for (const double n0 : {0.5, 0.02}) {
      const auto axis = c.product().front().re;
      const double integral = over_fading(3, [&](double x) { return x > 0 ? axis_error(axis, n0 / x) : 0.5; });
      REQUIRE(qam_bit_error(c, n0, 3));
      CHECK(std::abs(*qam_bit_error(c, n0, 3) / integral - 1) < 1e-8);
    }
  }
  // QPSK: the closed form as a function of Eb/N0.
  CHECK(std::abs(*qam_bit_error(qam("qpsk"), 0.125, 2) / rayleigh_error(4, 2) - 1) < 1e-12);
  CHECK(!qam_bit_error(qam("8psk"), 0.1, 1));
  CHECK(!qam_bit_error(qam("bpsk"), 0.1, 1));
}

TEST_CASE("the union bound counts every pair once") {
  const auto alphabets = parse_constellations("test", "qpsk,8psk", 2);
  double vectors = 0, bits = 0;
  for (int a = 0; a < 32; ++a)
    for (int b = 0; b < 32; ++b) {
      if (a == b) continue;
      const auto &first = alphabets[0].points, &second = alphabets[1].points;
      const double square = std::norm(first[std::size_t(a / 8)] - first[std::size_t(b / 8)]) +
                            std::norm(second[std::size_t(a % 8)] - second[std::size_t(b % 8)]);
      const double wrong = rayleigh_error(square / (4 * 0.2), 3) / 32;
      vectors += wrong, bits += wrong * __builtin_popcount(unsigned(a ^ b)) / 5;
    }
  const UnionBound bound = union_bound(alphabets, 0.2, 3);
  CHECK(std::abs(bound.vectors / vectors - 1) < 1e-9);
  CHECK(std::abs(bound.bits / bits - 1) < 1e-9);
}

TEST_CASE("measured error rates of zf match the closed form and those of sd lie within its bounds") {
  for (const auto& [names, db] : {std::pair{"qpsk", 6.0}, {"16qam", 8.0}}) {
    const auto p = problem<double>({2, 3, 20000, 1}, names, "rayleigh", db);
    const auto wrong = [&](MimoMethod method) {
      const Detection found = detect(p, {.method = method});
      double bits = 0;
      for (index_t e = 0; e < found.labels.size(); ++e)
        bits += __builtin_popcount(unsigned(found.labels.data()[e] ^ p.sent.data()[e]));
      return bits / double(2 * p.alphabets[0].bits() * 20000);
    };
    const double zf = wrong(MimoMethod::zf), sd = wrong(MimoMethod::sd),
                 theory = *qam_bit_error(p.alphabets[0], p.n0, 2);
    CAPTURE(names, zf, theory, sd);
    CHECK(std::abs(zf - theory) < 4 * std::sqrt(2 * theory / 40000));
    CHECK(sd > 0.9 * *qam_bit_error(p.alphabets[0], p.n0, 3));
    CHECK(sd < 1.1 * union_bound(p.alphabets, p.n0, 3).bits);
  }
}
