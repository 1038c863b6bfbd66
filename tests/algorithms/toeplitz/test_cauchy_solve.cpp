#include "tests/support/shared_runtime.hpp"
#include "tests/support/toeplitz_inverse.hpp"
#include <tesela/algorithms/toeplitz/cauchy_factorization.hpp>
#include <tesela/algorithms/toeplitz/cauchy_inverse.hpp>
#include <tesela/algorithms/toeplitz/toeplitz_inertia.hpp>
#include <tesela/codelets/toeplitz/sine_transform.hpp>

#include <numbers>

using namespace tesela::kernels;
using namespace tesela::test;

namespace {

struct Case {
  ToeplitzGenerator generator;
  double sigma;
  double condition;  ///< bound on the condition of T - sigma I; 0: unknown
};

template <class T, template <class> class Inverse>
void check_solutions(Runtime& runtime, index_t n) {
  const std::vector<Case> cases{
      {{ToeplitzKind::spd}, -1.25, 100},         {{ToeplitzKind::kms, 0.5}, -1.25, 10},
      {{ToeplitzKind::kms, 0.5}, 1, 0},          {{ToeplitzKind::second_difference}, -0.5, 10},
      {{ToeplitzKind::second_difference}, 2, 0}, {{ToeplitzKind::random, 0, 5}, 0.3, 0},
      {{ToeplitzKind::singular_minors}, 0, 0},
  };
  for (const Case& one : cases) {
    const auto t = toeplitz_column<T>(one.generator, n);
    double below = 0, nearest = INFINITY, size = 0;
    for (const double value : dense_eigenvalues(t)) {
      below += value < one.sigma ? 1 : 0;
      nearest = std::min(nearest, std::abs(value - one.sigma));
      size = std::max(size, std::abs(value - one.sigma));
    }
    for (const index_t k : {1, 5}) {
      const auto b = random_columns<T>(n, k, 5);
      const auto s = solve<T, Inverse>(runtime, t, T(one.sigma), b);
      INFO("n " << n << " k " << k << " kind " << static_cast<int>(one.generator.kind) << " sigma " << one.sigma
                << " status " << s.status.info << " nearest " << nearest << " of " << size);
      for (const T x : std::span(s.x.data(), static_cast<std::size_t>(s.x.size()))) REQUIRE(std::isfinite(x));
      if (nearest <= 0.01 * eps<T> * size) {  // for odd n: second_difference at 2, singular_minors at 0
        CHECK_FALSE(s.status.ok());
        CHECK(s.status.info <= n);
        continue;
      }
      if (nearest <= 300 * eps<T> * size) continue;
      CHECK(s.status.ok());
      CHECK(residual(t, one.sigma, s.x, b, 0, k) <= 32 * eps<T>);
      for (index_t j = 0; j < k; ++j) CHECK(s.outcome(j, 0) <= 32 * eps<T>);
      CHECK(s.negative == below);
      if (one.condition > 0) CHECK(difference(s.x, dense_solve(t, one.sigma, b)) <= 20 * one.condition * eps<T>);
    }
  }
}

/// Checks shifts where other recursions divide by zero and shifts where T - sigma I is singular.
template <class T, template <class> class Inverse>
void check_shifts(Runtime& runtime, index_t n) {
  const auto t = toeplitz_column<T>({ToeplitzKind::random, 0, 3}, n);
  const auto b = random_columns<T>(n, 3, 5);
  INFO("n " << n);
  if (n > 1) {
    const auto s = solve<T, Inverse>(runtime, t, t(0, 0), b);
    CHECK(s.status.ok());
    CHECK(residual(t, double(t(0, 0)), s.x, b, 0, 3) <= 32 * eps<T>);
  }
  const auto values = dense_eigenvalues(t);
  for (const index_t i : {index_t{0}, n / 2, n - 1}) {
    const auto sigma = static_cast<T>(values[static_cast<std::size_t>(i)]);
    const auto s = solve<T, Inverse>(runtime, t, sigma, b);
    INFO("eigenvalue " << i);
    for (const T x : std::span(s.x.data(), static_cast<std::size_t>(s.x.size()))) CHECK(std::isfinite(x));
    CHECK(s.status.info > 0);
    CHECK(s.status.info <= n);
  }
}

template <class T, template <class> class Inverse>
void check_failures(Runtime& runtime, index_t n) {
  const auto t = toeplitz_column<T>({ToeplitzKind::kms, 0.5}, n);
  const auto b = random_columns<T>(n, 3, 5);
  check_refinement_fails<T, Inverse>(runtime, t, -1);
  // At t(0) a diagonal matrix becomes zero, and the first pivot fails.
  auto diagonal = HostMatrix<T>::zeros(n, 1);
  diagonal(0, 0) = 3;
  const auto broken = solve<T, Inverse>(runtime, diagonal, T(3), b);
  CHECK(broken.status.info == 1);
  for (index_t e = 0; e < b.size(); ++e) CHECK(broken.x.data()[e] == 0);
}

template <class T, template <class> class Inverse>
void check_all(Runtime& runtime) {
  for (const index_t n : {1, 2, 3, 64, 501, 1000}) check_solutions<T, Inverse>(runtime, n);
  for (const index_t n : {1, 2, 3, 64, 501}) check_shifts<T, Inverse>(runtime, n);
  for (const index_t n : {1, 2, 40}) check_failures<T, Inverse>(runtime, n);
}

/// Compares S X with sums, to the sine basis and back.
template <class T>
void check_transform(Runtime& runtime, index_t n, index_t k) {
  const auto x = random_columns<T>(n, k, 7);
  HostMatrix<T> y(n, k), z(n, k);
  std::fill_n(y.data(), y.size(), std::numeric_limits<T>::quiet_NaN());
  std::fill_n(z.data(), z.size(), std::numeric_limits<T>::quiet_NaN());
  {
    auto from = x.clone();
    const auto X = TileMatrix<T>::map(runtime, from.data(), n, k, n, {n, k});
    const auto Y = TileMatrix<T>::map(runtime, y.data(), n, k, n, {n, k});
    const auto Z = TileMatrix<T>::map(runtime, z.data(), n, k, n, {n, k});
    Graph g(runtime);
    g.insert<SineTransform<T>>({false}, X(0, 0), Y(0, 0), g.scratch<T>(sine_rows(n), k));
    g.insert<SineTransform<T>>({true}, Y(0, 0), Z(0, 0), g.scratch<T>(sine_rows(n), k));
    REQUIRE(g.wait().ok());
  }
  HostMatrix<double> right(n, k);
  for (index_t j = 0; j < k; ++j)
    for (index_t i = 0; i < n; ++i) {
      double sum = 0;
      for (index_t l = 0; l < n; ++l)
        sum += std::sin(static_cast<double>((i + 1) * (l + 1) % (2 * n + 2)) * std::numbers::pi /
                        static_cast<double>(n + 1)) *
               static_cast<double>(x(l, j));
      right(i % 2 * cauchy_rows(n, 0) + i / 2, j) = std::sqrt(2 / static_cast<double>(n + 1)) * sum;
    }
  INFO("n " << n << " k " << k);
  CHECK(difference(y, right) <= 20 * eps<T>);
  CHECK(difference(z, x) <= 20 * eps<T>);
}

}  // namespace

WORKERS_TEMPLATE_TEST_CASE("sine transforms agree with sums", "", float, double) {
  for (const index_t n : {1, 2, 3, 64, 501})
    for (const index_t k : {1, 3}) check_transform<TestType>(runtime, n, k);
}

WORKERS_TEMPLATE_TEST_CASE("the pivoted Cauchy-like inverse solves to rounding or reports the failure", "", float,
                           double) {
  check_all<TestType, CauchyInverse>(runtime);
}

WORKERS_TEMPLATE_TEST_CASE("the Cauchy-like factorization solves to rounding or reports the failure", "", float,
                           double) {
  check_all<TestType, CauchyFactorization>(runtime);
}

CORES_TEST_CASE("Cauchy-like factors multiply to the block for any pivots", "[toeplitz]") {
  const index_t n = 61;
  const auto t = toeplitz_column<double>({ToeplitzKind::random, 0, 3}, n);
  Graph g(runtime);
  const SineToeplitz<double> A(g, {t.data(), static_cast<std::size_t>(n)});
  for (int part = 0; part < 2; ++part) {
    const Shape shape = cauchy_factors(n, part);
    const TileMatrix<double> factors(runtime, shape.rows, shape.cols, {shape.rows, shape.cols});
    const TileMatrix<double> report(runtime, CauchyReport::rows, 1, {CauchyReport::rows, 1});
    g.insert<CauchyFactor<double>>({0.25, part}, A.blocks(), factors(0, 0), report(0, 0), g.scratch<double>(1, 1));
    REQUIRE(g.wait().ok());
    const auto l = factors(0, 0).read();
    const auto c = A.blocks().read();
    const index_t rows = shape.rows, first = part * cauchy_rows(n, 0);
    double worst = 0;
    std::vector<bool> seen(static_cast<std::size_t>(rows));
    for (index_t i = 0; i < rows; ++i) {
      CHECK(l(i, i) == 1);
      const auto p = static_cast<index_t>(l(i, rows + 1));
      REQUIRE((p >= 0 && p < rows && !seen[static_cast<std::size_t>(p)]));
      seen[static_cast<std::size_t>(p)] = true;
      for (index_t j = 0; j <= i; ++j) {
        if (j < i) CHECK(l(j, i) == 0);
        const auto q = static_cast<index_t>(l(j, rows + 1));
        double sum = 0;
        for (index_t k = 0; k <= j; ++k) sum += l(i, k) * l(k, rows) * l(j, k);
        const auto w = [n](index_t k) { return 1 / std::sin(double(k) * std::numbers::pi / double(n + 1)); };
        const double right = i == j ? c(first + p, 2) - 0.25
                                    : (c(first + p, 0) * c(first + q, 1) - c(first + p, 1) * c(first + q, 0)) *
                                          w(p + q + part + 1) * w(p - q);
        worst = std::max(worst, std::abs(sum - right));
      }
    }
    CHECK(worst <= 1e-12);
  }
}

CORES_TEST_CASE("Cauchy-like solvers refuse invalid shapes", "[toeplitz]") {
  Graph g(runtime);
  const Toeplitz<double> A(g, toeplitz_column<double>({ToeplitzKind::kms, 0.5}, 6));
  const CauchyInverse<double> inverse(g, A, 0);
  const CauchyFactorization<double> factors(g, A, 0);
  check_tiles_refused(g, inverse);
  check_tiles_refused(g, factors);
  CHECK_THROWS_AS(CauchyInverse<double>(g, Toeplitz<double>(g, HostMatrix<double>(0, 1)), 0), ArgumentError);
  CHECK(g.wait().ok());
}

GPU_TEMPLATE_TEST_CASE("Cauchy-like solvers work under a sanitizer", "[toeplitz][sanitize]", float, double) {
  check_transform<TestType>(runtime, 21, 2);
  check_shifts<TestType, CauchyFactorization>(runtime, 21);
  check_shifts<TestType, CauchyInverse>(runtime, 21);
}
