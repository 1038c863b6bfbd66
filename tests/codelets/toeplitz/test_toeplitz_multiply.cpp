#include "tests/support/shared_runtime.hpp"
#include "tests/support/toeplitz.hpp"
#include <tesela/algorithms/toeplitz/toeplitz.hpp>

using namespace tesela::test;

namespace {

/// Compares Y = alpha (T - sigma I) X + beta Y with dense sums; Y is NaN if beta is 0.
template <class T>
void check(Runtime& runtime, index_t n, index_t k, index_t nb, T alpha, T sigma, T beta) {
  const T nan = std::numeric_limits<T>::quiet_NaN();
  const index_t ld = n + 3;
  const auto t = toeplitz_column<T>({ToeplitzKind::random, 0, 3}, n);
  const auto a = dense(t, static_cast<double>(sigma));
  HostMatrix<T> x = random_columns<T>(ld, k, 4), y = random_columns<T>(ld, k, 5);
  for (index_t j = 0; j < k; ++j)
    for (index_t i = 0; i < ld; ++i) {
      if (i >= n) x(i, j) = y(i, j) = nan;
      if (beta == 0) y(i, j) = nan;
    }
  const HostMatrix<T> before = y.clone();
  {
    const auto X = TileMatrix<T>::map(runtime, x.data(), n, k, ld, {std::max<index_t>(n, 1), nb});
    const auto Y = TileMatrix<T>::map(runtime, y.data(), n, k, ld, {std::max<index_t>(n, 1), nb});
    Graph g(runtime);
    const Toeplitz<T> A(g, t);
    CHECK(A.n() == n);
    A.multiply(g, alpha, sigma, X, beta, Y);
    REQUIRE(g.wait().ok());
  }
  double worst = 0, size = 0;
  for (index_t i = 0; i < n; ++i) size += std::pow(static_cast<double>(t(i, 0)), 2);
  for (index_t j = 0; j < k; ++j)
    for (index_t i = 0; i < ld; ++i) {
      if (i >= n) {
        CHECK(std::isnan(y(i, j)));
        continue;
      }
      double sum = beta == 0 ? 0 : static_cast<double>(beta) * static_cast<double>(before(i, j));
      for (index_t l = 0; l < n; ++l) sum += static_cast<double>(alpha) * a(i, l) * static_cast<double>(x(l, j));
      const double error = std::abs(static_cast<double>(y(i, j)) - sum);
      if (!(error <= worst)) worst = error;
    }
  const double bound = 8 * static_cast<double>(std::numeric_limits<T>::epsilon()) * (1 + std::abs(double(alpha))) *
                       (1 + std::abs(double(sigma)) + std::sqrt(size * static_cast<double>(n)));
  INFO("n " << n << " k " << k << " error " << worst << " bound " << bound);
  CHECK(worst <= bound);
}

}  // namespace

WORKERS_TEMPLATE_TEST_CASE("products with Toeplitz matrices agree with dense ones", "", float, double) {
  using T = TestType;
  for (const index_t n : {0, 1, 2, 3, 64, 501, 1000}) {
    check<T>(runtime, n, 1, 1, T(1), T(0), T(0));
    check<T>(runtime, n, 5, 2, T(-2), T(0.75), T(3));
    check<T>(runtime, n, 3, 3, T(1), T(-10), T(0));
  }
}

TEST_CASE("products refuse invalid shapes", "[toeplitz]") {
  Runtime runtime({.gpus = 0});
  Graph g(runtime);
  CHECK_THROWS_AS(Toeplitz<double>(g, HostMatrix<double>::zeros(4, 2)), ArgumentError);
  const Toeplitz<double> A(g, HostMatrix<double>::zeros(6, 1));
  const TileMatrix<double> X(runtime, 6, 4, {6, 2}), Y(runtime, 6, 4, {6, 4}), cut(runtime, 6, 4, {3, 2}),
      brief(runtime, 5, 4, {5, 2});
  CHECK_THROWS_AS(A.multiply(g, 1, 0, X, 0, Y), ArgumentError);
  CHECK_THROWS_AS(A.multiply(g, 1, 0, X, 0, X), ArgumentError);
  CHECK_THROWS_AS(A.multiply(g, 1, 0, cut, 0, cut), ArgumentError);
  CHECK_THROWS_AS(A.multiply(g, 1, 0, brief, 0, X), ArgumentError);
  CHECK(g.wait().ok());
}

GPU_TEMPLATE_TEST_CASE("products with Toeplitz matrices agree under a sanitizer", "[toeplitz][sanitize]", float,
                       double) {
  check<TestType>(runtime, 21, 3, 2, TestType(-2), TestType(0.75), TestType(3));
}
