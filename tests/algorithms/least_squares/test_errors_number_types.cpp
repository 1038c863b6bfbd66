#include "tests/support/matrices.hpp"
#include <tesela/algorithms/econometrics/regression.hpp>
#include <tesela/algorithms/least_squares/covariance.hpp>
#include <tesela/algorithms/least_squares/weighted_least_squares.hpp>

// Covariances and standard errors of real and complex unknowns: one body for four types. The reference is the normal
// equations' matrix, formed by BLAS, times the covariance.

using namespace tesela::test;

namespace {

/// Calls solve(graph, A, B) for copies of a and b in tiles.
template <class T, class Solve>
auto in_tiles(const HostMatrix<T>& a, const HostMatrix<T>& b, TileShape tile, const Solve& solve) {
  Graph g(runtime());
  return solve(g, tiles(runtime(), a, tile), tiles(runtime(), b, {tile.mb, 2}));
}

/// Requires the inverse V of N = Y^H Y, which is Hermitian, and the roots of its diagonal.
template <class T, class Answer>
void require_inverse(const Answer& answer, const HostMatrix<T>& Y, double tolerance) {
  REQUIRE(answer.status == SolveStatus::ok);
  Graph g(runtime());
  const HostMatrix<T> V = covariance(g, answer), inverse = product(product(Op::conjugate, Y, Y), V);
  const std::vector<real_t<T>> errors = standard_errors(g, answer);
  REQUIRE(V.shape() == Shape{Y.cols(), Y.cols()});
  REQUIRE(std::ssize(errors) == Y.cols());
  const auto identity = filled<T>(V.shape(), [](index_t i, index_t j) { return i == j ? T(1) : T(0); });
  CHECK(distance(inverse, identity) <= tolerance * eps<T>);
  for (index_t j = 0; j < V.cols(); ++j) {
    const auto error = static_cast<double>(errors[static_cast<std::size_t>(j)]);
    CHECK(std::abs(error - std::sqrt(static_cast<double>(real_part(V(j, j))))) <= tolerance * eps<T> * error);
    for (index_t i = 0; i <= j; ++i) CHECK(V(i, j) == conj(V(j, i)));
    CHECK(!std::signbit(std::imag(V(j, j))));
  }
}

/// Returns F^-1 A for an upper triangle F.
template <class T>
HostMatrix<T> divided(const HostMatrix<T>& F, const HostMatrix<T>& A) {
  HostMatrix<T> Y = A.clone();
  blas::trsm(Op::none, F.rows(), Y.cols(), F.data(), F.ld(), Y.data(), Y.ld());
  return Y;
}

/// Returns a triangle with the diagonal ratio^(i / (m - 1)).
template <class T>
HostMatrix<T> factor(index_t m, double ratio) {
  const HostMatrix<T> random = test::random<T>(m, m, 5);
  return filled<T>({m, m}, [&](index_t i, index_t j) {
    const auto size = static_cast<real_t<T>>(std::pow(ratio, static_cast<double>(i) / static_cast<double>(m - 1)));
    return i == j ? T(size) : i < j ? random(i, j) * (size / static_cast<real_t<T>>(2 * m)) : T(0);
  });
}

}  // namespace

TEMPLATE_TEST_CASE("covariances of ols and wls are the inverses of the normal equations in every type", "",
                   FOUR_TYPES) {
  using T = TestType;
  for (const OlsMethod method : {OlsMethod::tiles, OlsMethod::tall_skinny, OlsMethod::givens})
    for (const auto& [m, n] : {std::pair<index_t, index_t>{1, 1}, {40, 7}, {150, 60}}) {
      CAPTURE(name_of(ols_methods(), method), m, n);
      const HostMatrix<T> a = test::random<T>(m, n, 1), b = test::random<T>(m, 2, 2);
      const OlsOptions options{.method = method, .keep_triangle = true};
      const TileShape tile{method == OlsMethod::givens ? m : 32, 16};
      const auto solved =
          in_tiles(a, b, tile, [&](Graph& g, const auto& A, const auto& B) { return ols(g, A, B, options); });
      require_inverse(solved, a, 1e4);
      std::vector<real_t<T>> w;
      for (index_t i = 0; i < m; ++i) w.push_back(static_cast<real_t<T>>(1 + i % 5));
      const auto weighted =
          in_tiles(a, b, tile, [&](Graph& g, const auto& A, const auto& B) { return wls(g, A, B, w, options); });
      const auto rows = filled<T>(
          a.shape(), [&](index_t i, index_t j) { return a(i, j) * std::sqrt(w[static_cast<std::size_t>(i)]); });
      require_inverse(weighted, rows, 1e4);
    }
}

TEMPLATE_TEST_CASE("covariances of gls and glm are the inverses of the normal equations in every type", "",
                   FOUR_TYPES) {
  using T = TestType;
  const index_t m = 60, n = 8;
  const HostMatrix<T> a = test::random<T>(m, n, 1), b = test::random<T>(m, 1, 2);
  for (const double ratio : {1.0, 0.2, 1e-5}) {
    const HostMatrix<T> f = factor<T>(m, ratio);
    const OlsOptions options{.keep_triangle = true};
    const auto solved = in_tiles(a, b, {24, 10}, [&](Graph& g, const auto& A, const auto& B) {
      return gls_factor(g, A, B, f.clone(), options);
    });
    CAPTURE(ratio, description(solved.path));
    if (ratio == 1) CHECK(solved.path == CovariancePath::whitened);
    if (ratio < 0.1) CHECK(solved.path == CovariancePath::model);
    require_inverse(solved, divided(f, a), 1e5);
    for (const GlmMethod method : {GlmMethod::seminormal, GlmMethod::gqr}) {
      HostMatrix<T> A = a.clone(), B = f.clone(), y = b.clone();
      const auto model =
          glm(runtime(), MatrixView(A), MatrixView(B), MatrixView(y), {.method = method, .keep_spread = true});
      require_inverse(model, divided(f, a), 1e5);
    }
  }
}

TEMPLATE_TEST_CASE("sigma^2 is the mean of |r|^2 per degree of freedom in every type", "", FOUR_TYPES) {
  using T = TestType;
  const HostMatrix<T> a = test::random<T>(30, 4, 1), b = test::random<T>(30, 2, 2);
  const auto solved = in_tiles(a, b, {16, 8}, [](Graph& g, const auto& A, const auto& B) {
    return ols(g, A, B, {.method = OlsMethod::tiles, .keep_triangle = true});
  });
  Graph g(runtime());
  const HostMatrix<T> V = covariance(g, solved), r = minus(b, product(a, solved.X));
  const auto all = regressions(solved.X, standard_errors(g, solved), solved.residual_norms, 26);
  const HostMatrix<T> scaled = covariances(V, all);
  REQUIRE(all.size() == 2);
  for (index_t k = 0; k < 2; ++k) {
    double squares = 0;
    for (index_t i = 0; i < 30; ++i) squares += std::norm(converted<with_parts<T, double>>(r(i, k)));
    const Regression& one = all[static_cast<std::size_t>(k)];
    CHECK(std::abs(one.sigma * one.sigma - squares / 26) <= 1e3 * eps<T> * squares);
    for (index_t j = 0; j < 4; ++j) {
      const double error = one.standard_errors[static_cast<std::size_t>(j)],
                   variance = squares / 26 * static_cast<double>(real_part(V(j, j)));
      CHECK(std::abs(error * error - variance) <= 1e3 * eps<T> * variance);
      for (index_t i = 0; i < 4; ++i)
        CHECK(std::abs(scaled(i, 4 * k + j) - V(i, j) * static_cast<real_t<T>>(squares / 26)) <=
              1e3 * eps<T> * variance);
    }
    CHECK(one.tests.size() == (is_complex<T> ? 0 : 4));
  }
}
