#include "tests/support/test.hpp"
#include "tools/checks/qr_error.hpp"
#include <tesela/host/lapack/lapack.hpp>
#include <tesela/tiles/generator.hpp>

#include <catch2/catch_approx.hpp>

using namespace tesela;
using Catch::Approx;

namespace {

/// A random matrix with LAPACK's factors, which a test may change before the errors are computed.
template <class T>
struct Factored {
  HostMatrix<T> a, factors;
  std::vector<T> tau;

  Factored(index_t m, index_t n, real_t<T> scale = 1) : a(m, n), tau(static_cast<std::size_t>(std::min(m, n))) {
    const Generator<T> random{Pattern::uniform, 0, n, 3, m};
    for (index_t j = 0; j < n; ++j)
      for (index_t i = 0; i < m; ++i) a(i, j) = scale * random(i, j);
    factors = a.clone();
    lapack::geqrf(m, n, factors.data(), factors.ld(), tau.data());
  }
  void multiply_q(HostMatrix<T>& c) const {
    lapack::ormqr(Op::none, c.rows(), c.cols(), static_cast<index_t>(tau.size()), factors.data(), factors.ld(),
                  tau.data(), c.data(), c.ld());
  }
  HostMatrix<T> q(index_t columns) const {
    auto c = identity<T>(a.rows(), columns);
    multiply_q(c);
    return c;
  }
  QrError measured(index_t columns) const { return qr_error(a, factors, q(columns)); }
  QrError estimated(index_t vectors = 64) const {
    const QrSample<T> sample(factors, vectors, 5);
    auto product = sample.block().clone();
    multiply_q(product);
    return sample.error(a, product);
  }
};

}  // namespace

TEMPLATE_TEST_CASE("LAPACK's own factors have errors of a few roundings", "", float, double, std::complex<float>,
                   std::complex<double>) {
  const double eps = std::numeric_limits<real_t<TestType>>::epsilon();
  for (const auto& [m, n] : {std::pair<index_t, index_t>{90, 40}, {40, 90}, {600, 600}, {1, 1}, {5, 1}, {1, 5}})
    for (const bool full : {false, true}) {
      CAPTURE(m, n, full);
      const Factored<TestType> f(m, n);
      const QrError error = f.measured(full ? m : std::min(m, n));
      CHECK(error.finite);
      CHECK(error.backward <= 10 * eps);
      CHECK(error.orthogonality <= 10 * eps * std::sqrt(static_cast<double>(m)));
      if (n > 5) CHECK((error.backward > 0 && error.orthogonality > 0));
    }
}

TEST_CASE("empty matrices have no error") {
  for (const auto& [m, n] : {std::pair<index_t, index_t>{0, 0}, {0, 4}, {4, 0}}) {
    const Factored<double> f(m, n);
    CHECK(f.measured(m).backward == 0);
    CHECK(f.measured(m).orthogonality == 0);
    CHECK(f.estimated().backward == 0);
    CHECK(f.estimated().orthogonality == 0);
  }
}

TEST_CASE("a known change of the factors equals the reported error") {
  Factored<double> f(60, 30);
  double norm = 0;
  for (index_t e = 0; e < f.a.size(); ++e) norm += f.a.data()[e] * f.a.data()[e];
  norm = std::sqrt(norm);
  SECTION("in R: the size of the change, for any entry") {
    f.factors(3, 20) += 1e-3;
    CHECK(f.measured(30).backward == Approx(1e-3 / norm));
    CHECK(f.measured(30).orthogonality <= 1e-14);
    CHECK(f.estimated().backward == Approx(1e-3 / norm).epsilon(0.2));
  }
  SECTION("in Q") {
    HostMatrix<double> q = f.q(30);
    for (index_t i = 0; i < 60; ++i) q(i, 7) *= 1 + 1e-3;
    double row = 0;
    for (index_t j = 7; j < 30; ++j) row += f.factors(7, j) * f.factors(7, j);
    CHECK(qr_error(f.a, f.factors, q).orthogonality == Approx(2e-3).epsilon(1e-2));
    CHECK(qr_error(f.a, f.factors, q).backward == Approx(1e-3 * std::sqrt(row) / norm));
  }
  SECTION("in a reflector: Q is no longer orthogonal") {
    f.tau[4] *= 0.99;
    const QrError exact = f.measured(30), estimate = f.estimated(300);
    CHECK(exact.orthogonality > 1e-3);
    CHECK(estimate.orthogonality == Approx(exact.orthogonality).epsilon(0.2));
    CHECK(estimate.backward == Approx(exact.backward).epsilon(0.2));
  }
}

TEMPLATE_TEST_CASE("elements below R's diagonal are not read", "", float, double) {
  Factored<TestType> f(20, 12);
  const auto q = f.q(12);
  for (index_t j = 0; j < 12; ++j)
    for (index_t i = j + 1; i < 20; ++i) f.factors(i, j) = std::numeric_limits<TestType>::quiet_NaN();
  CHECK(qr_error(f.a, f.factors, q).backward <= 1e-6);
  CHECK(qr_error(f.a, f.factors, q).finite);
  const auto r = upper_trapezoid(f.factors, 12);
  CHECK(r.rows() == 12);
  for (index_t j = 0; j < 12; ++j)
    for (index_t i = 0; i < 12; ++i) CHECK((i > j ? r(i, j) == 0 : r(i, j) == f.factors(i, j)));
}

TEST_CASE("entries of any size neither overflow nor underflow") {
  for (const double scale : {1e-305, 1e-200, 1e200, 1e305}) {
    CAPTURE(scale);
    Factored<double> f(50, 30, scale);
    CHECK(f.measured(30).backward <= 1e-14);
    CHECK(f.estimated().backward <= 1e-14);
    CHECK(f.estimated().lost <= 1e-14);
    f.factors(2, 2) *= 1.01;
    CHECK(f.measured(30).backward >= 1e-4);
    CHECK(f.estimated().backward >= 1e-4);
  }
  const Factored<double> zero(50, 30, 0);
  CHECK(zero.measured(30).backward == 0);
  CHECK(zero.estimated().backward == 0);
}

TEMPLATE_TEST_CASE("underflow of the smallest numbers is tolerated, but not of a whole matrix", "", float, double) {
  constexpr auto least = std::numeric_limits<TestType>::denorm_min();
  const Generator<TestType> random{Pattern::uniform, 0, 20, 3, 40};
  HostMatrix<TestType> a(40, 20), q(40, 20), factors(40, 20);
  const auto fill = [&](TestType size) {
    for (index_t j = 0; j < 20; ++j)
      for (index_t i = 0; i < 40; ++i) {
        a(i, j) = size * (random(i, j) < 0 ? -least : least);
        q(i, j) = TestType(i == j);
        factors(i, j) = TestType(i <= j ? a(i, j) : 0);
      }
    const QrError error = qr_error(a, factors, q);
    CHECK(error.lost < 0.01);
    return error.backward;  // everything below R's diagonal underflows, about 85 % of A
  };
  CHECK(fill(100) > 0.5);
  CHECK(fill(1) > 0.5);
  for (index_t j = 0; j < 20; ++j) factors(j, j) = a(j, j) = TestType(1e9) * std::numeric_limits<TestType>::min();
  const QrError error = qr_error(a, factors, q);
  CHECK(error.backward > 0);
  CHECK(error.backward < error.lost);
  const Factored<double> f(50, 30);
  CHECK(f.measured(30).lost < 1e-300);
  CHECK(f.estimated().lost < 1e-300);
}

TEST_CASE("NaN and infinities give errors that are not finite") {
  for (const double value : {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
    Factored<double> f(20, 10);
    f.factors(2, 5) = value;
    for (const QrError& error : {f.measured(10), f.estimated()}) {
      CHECK(!error.finite);
      CHECK(!(error.backward <= 1));
    }
    Factored<double> input(20, 10);
    input.a(3, 3) = value;
    CHECK(!(input.measured(10).backward <= 1));
    CHECK(!(input.estimated().backward <= 1));
  }
}
