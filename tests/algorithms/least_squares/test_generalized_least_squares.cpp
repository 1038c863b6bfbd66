#include "tests/support/least_squares.hpp"
#include "tests/support/machine.hpp"
#include <tesela/algorithms/least_squares/covariance.hpp>
#include <tesela/algorithms/least_squares/generalized_least_squares.hpp>
#include <tesela/algorithms/least_squares/weighted_least_squares.hpp>
#include <tesela/host/lapack/lapack.hpp>

using namespace tesela;
using namespace tesela::test;

namespace {

using Answer = GeneralizedLeastSquares<double>;

Answer by_factor(const Matrix& a, const Matrix& b, const Matrix& f, TileShape tile = {24, 10},
                 const OlsOptions& options = {}) {
  return on_copies(runtime(), a, b, tile,
                   [&](Graph& g, const auto& A, const auto& B) { return gls_factor(g, A, B, f.clone(), options); });
}

Answer by_covariance(const Matrix& a, const Matrix& b, const Matrix& s, TileShape tile = {24, 10},
                     const OlsOptions& options = {}) {
  return on_copies(runtime(), a, b, tile,
                   [&](Graph& g, const auto& A, const auto& B) { return gls_covariance(g, A, B, s.clone(), options); });
}

/// Returns x and ||u|| by LAPACK.
Reference by_lapack(const Matrix& a, const Matrix& b, const Matrix& f) {
  const index_t m = a.rows(), n = a.cols(), p = f.cols();
  Reference result{Matrix(n, b.cols()), {}, static_cast<int>(n)};
  std::vector<double> u(static_cast<std::size_t>(p));
  for (index_t k = 0; k < b.cols(); ++k) {
    Matrix of_a = a.clone(), of_f = f.clone(), d = b.clone();
    REQUIRE(lapack::ggglm(m, n, p, of_a.data(), of_a.ld(), of_f.data(), of_f.ld(), &d(0, k), &result.X(0, k),
                          u.data()) == 0);
    double sum = 0;
    for (index_t i = 0; i < p; ++i) sum = std::hypot(sum, u[static_cast<std::size_t>(i)]);
    result.residual_norms.push_back(sum);
  }
  return result;
}

void require_agreement(const Answer& answer, const Reference& reference, double tolerance) {
  CAPTURE(distance(answer.X, reference.X), norm(reference.X));
  REQUIRE(distance(answer.X, reference.X) <= tolerance * norm(reference.X));
  for (std::size_t k = 0; k < reference.residual_norms.size(); ++k)
    REQUIRE(std::abs(answer.residual_norms[k] - reference.residual_norms[k]) <=
            tolerance * reference.residual_norms[k]);
}

Matrix conditioned(index_t m, double condition, std::uint64_t seed) {
  return made(m, m, kernels::ProductForm<double>(m, m, kernels::spectrum(m, condition), seed));
}

Matrix only(const Matrix& f, bool upper) {
  return made(f.rows(), f.cols(), [&](index_t i, index_t j) {
    return i == j ? 2 + std::abs(f(i, j)) : (upper ? i < j : i > j) ? f(i, j) / static_cast<double>(f.rows()) : 0.0;
  });
}

}  // namespace

TEST_CASE("problems with a well-conditioned factor are whitened and agree with dggglm") {
  const auto [m, n] = GENERATE(table<index_t, index_t>({{1, 1}, {7, 3}, {64, 7}, {90, 64}, {130, 1}}));
  CAPTURE(m, n);
  const Matrix a = random(m, n, 1), b = random(m, 3, 2), full = conditioned(m, 50, 3);
  for (const Matrix& f : {full.clone(), only(full, true), only(full, false)})
    for (const TileShape tile : {TileShape{24, 10}, {1000, 1000}}) {
      const Answer answer = by_factor(a, b, f, tile);
      CHECK(answer.status == SolveStatus::ok);
      CHECK(answer.path == (m == 1 ? CovariancePath::rows : CovariancePath::whitened));
      CHECK(answer.factor_condition >= 1);
      require_agreement(answer, by_lapack(a, b, f), 1e-10);
      const Answer same = by_covariance(a, b, gram(f), tile);
      CHECK(same.status == SolveStatus::ok);
      CHECK(same.covariance_rank == m);
      require_agreement(same, by_lapack(a, b, f), 1e-9);
    }
}

TEST_CASE("problems with an ill-conditioned factor are solved as a model and agree with dggglm") {
  const index_t m = 60, n = 9;
  const Matrix a = random(m, n, 1), b = random(m, 2, 2), f = conditioned(m, 1e9, 3);
  const Answer answer = by_factor(a, b, f);
  CHECK(answer.path == CovariancePath::model);
  CHECK(answer.status == SolveStatus::ok);
  require_agreement(answer, by_lapack(a, b, f), 1e-6);
  CHECK(by_covariance(a, b, gram(conditioned(m, 3e6, 3))).path == CovariancePath::model);
}

TEST_CASE("an identity gives ols and a diagonal gives wls for any range of variances") {
  const index_t m = 80, n = 6;
  const Matrix a = random(m, n, 1), b = random(m, 2, 2);
  const Matrix identity = made(m, m, [](index_t i, index_t j) { return i == j ? 1.0 : 0.0; });
  const auto plain = solve(runtime(), a, b, {24, 10});
  CHECK(distance(by_factor(a, b, identity).X, plain.X) <= 1e-14 * norm(plain.X));
  CHECK(distance(by_covariance(a, b, identity).X, plain.X) <= 1e-14 * norm(plain.X));
  const Matrix e = random(m, 1, 3);
  std::vector<double> weights;
  Matrix f = Matrix::zeros(m, m), s = Matrix::zeros(m, m);
  for (index_t i = 0; i < m; ++i) {
    f(i, i) = std::exp2(std::round(20 * e(i, 0)));
    s(i, i) = f(i, i) * f(i, i);
    weights.push_back(1 / s(i, i));
  }
  const Answer weighted = on_copies(runtime(), a, b, {24, 10}, [&](Graph& g, const auto& A, const auto& B) {
    Answer answer;
    static_cast<LeastSquares<double>&>(answer) = wls(g, A, B, weights);
    return answer;
  });
  CHECK(by_factor(a, b, f).path == CovariancePath::rows);
  CHECK(distance(by_factor(a, b, f).X, weighted.X) == 0);
  CHECK(distance(by_covariance(a, b, s).X, weighted.X) == 0);
  for (std::size_t k = 0; k < 2; ++k)
    CHECK(std::abs(by_factor(a, b, f).residual_norms[k] / weighted.residual_norms[k] - 1) <= 1e-14);
}

TEST_CASE("a singular covariance is solved as a model with constraints, which may be inconsistent") {
  const index_t m = 50, n = 6, p = 47;
  const Matrix a = random(m, n, 1), b = random(m, 2, 2), f = random(m, p, 3);
  const Answer answer = by_covariance(a, b, gram(f));
  CHECK(answer.path == CovariancePath::model);
  CHECK(answer.covariance_rank == p);
  CHECK(answer.status == SolveStatus::ok);
  require_agreement(answer, by_lapack(a, b, f), 1e-7);

  // Six errors and six unknowns for fifty observations: most right-hand sides are inconsistent.
  const Matrix few = random(m, 6, 3);
  const Answer none = by_covariance(a, b, gram(few));
  CHECK(none.status == SolveStatus::inconsistent);
  CHECK(none.X.size() == 0);
  CHECK(none.distances[0] > 0.1);
  // Equations with zero variance hold exactly.
  Matrix s = Matrix::zeros(m, m);
  for (index_t i = 3; i < m; ++i) s(i, i) = 1;
  const Answer exact = by_covariance(a, b, s);
  CHECK(exact.status == SolveStatus::ok);
  for (index_t i = 0; i < 3; ++i) {
    double left = b(i, 0);
    for (index_t j = 0; j < n; ++j) left -= a(i, j) * exact.X(j, 0);
    CHECK(std::abs(left) <= 1e-12 * norm(exact.X));
  }
}

TEST_CASE("the rank of a covariance and the degrees of freedom are reported") {
  const index_t m = 30, n = 4;
  const Matrix a = random(m, n, 1);
  const auto check = [&](const Matrix& f, index_t rank) {
    Matrix b = Matrix::zeros(m, 1);
    for (index_t j = 0; j < m; ++j)
      for (index_t i = 0; i < m; ++i) b(i, 0) += f(i, j);
    for (const Answer& answer : {by_factor(a, b, f), by_covariance(a, b, gram(f))}) {
      CAPTURE(rank, description(answer.path));
      CHECK(answer.status == SolveStatus::ok);
      CHECK(answer.covariance_rank == rank);
      CHECK(answer.degrees_of_freedom == std::min(rank, m - n));
    }
  };
  for (const index_t rank : {1, 10, 29}) check(of_rank(m, m, rank, 2), rank);
  for (const index_t rank : {0, 3, 29, 30})
    check(made(m, m, [&](index_t i, index_t j) { return i == j && i * 7 % m < rank ? 1.0 + double(i) : 0.0; }), rank);
  check(conditioned(m, 1e6, 2), m);
  // Rows and columns of very different size.
  const Matrix even = of_rank(m, m, 10, 2);
  const auto size = [](index_t i) { return std::pow(10.0, static_cast<double>(i * 7 % 20 - 10)); };
  const Matrix b = Matrix::zeros(m, 1);
  CHECK(by_factor(a, b, made(m, m, [&](index_t i, index_t j) { return size(i) * even(i, j); })).covariance_rank == 10);
  CHECK(by_factor(a, b, made(m, m, [&](index_t i, index_t j) { return even(i, j) * size(j); })).covariance_rank == 10);
}

TEST_CASE("an invalid covariance is refused with its worst entry or pivot") {
  const index_t m = 20;
  const Matrix a = random(m, 3, 1), b = random(m, 1, 2), s = gram(random(m, m, 3));
  const auto with = [&](index_t i, index_t j, double value) {
    Matrix changed = s.clone();
    changed(i, j) = value;
    return changed;
  };
  CHECK_THROWS_WITH(by_covariance(a, b, with(4, 7, 1e3)), ContainsSubstring("not symmetric: worst at (5, 8)"));
  CHECK_THROWS_WITH(by_covariance(a, b, with(6, 6, -5)), ContainsSubstring("indefinite"));
  Matrix indefinite = made(m, m, [](index_t i, index_t j) { return i == j ? 1.0 : 0.0; });
  indefinite(3, 3) = -2;
  CHECK_THROWS_WITH(by_covariance(a, b, indefinite), ContainsSubstring("pivot 4 is -2"));
  indefinite(3, 3) = 0;
  indefinite(3, 5) = indefinite(5, 3) = 1e-3;
  CHECK_THROWS_WITH(by_covariance(a, b, indefinite), ContainsSubstring("pivots the pivot of row 4 is -1e-06"));
  CHECK_THROWS_WITH(by_covariance(a, b, random(19, 20, 1)), ContainsSubstring("19 x 20"));
  CHECK_THROWS_WITH(by_factor(a, b, random(20, 19, 1)), ContainsSubstring("20 x 19"));
  CHECK(by_covariance(a, b, with(2, 2, not_a_number)).status == SolveStatus::not_finite);
  CHECK(by_factor(a, b, with(2, 2, infinity)).status == SolveStatus::not_finite);
  Matrix bad = a.clone();
  bad(1, 1) = not_a_number;
  CHECK(by_factor(bad, b, s).status == SolveStatus::not_finite);
  CHECK(by_factor(a, b, Matrix::zeros(m, m)).status == SolveStatus::inconsistent);
}

TEST_CASE("covariances with variances of any size are scaled to variances near 1 for the checks") {
  const index_t m = 16, n = 4;
  const Matrix a = random(m, n, 1), b = random(m, 1, 2),
               one = made(m, m, [](index_t i, index_t j) { return i == j ? 1.0 : 0.5; });
  const OlsOptions options{.keep_triangle = true};
  const Answer plain = by_covariance(a, b, one, {24, 10}, options);
  REQUIRE(plain.status == SolveStatus::ok);
  for (const int step : {3, 8, 20, -20}) {
    CAPTURE(step);
    const auto d = [&](index_t i) { return std::ldexp(1.0, step * static_cast<int>(i * 7 % m)); };
    const Matrix graded_a = made(m, n, [&](index_t i, index_t j) { return d(i) * a(i, j); }),
                 graded_b = made(m, 1, [&](index_t i, index_t j) { return d(i) * b(i, j); }),
                 s = made(m, m, [&](index_t i, index_t j) { return d(i) * d(j) * one(i, j); });
    const Answer answer = by_covariance(graded_a, graded_b, s, {24, 10}, options);
    CHECK(answer.status == SolveStatus::ok);
    CHECK(answer.covariance_rank == m);
    CHECK(distance(answer.X, plain.X) <= 1e-13 * norm(plain.X));
    Graph g(runtime());
    const std::vector<double> errors = standard_errors(g, answer), expected = standard_errors(g, plain);
    REQUIRE(errors.size() == n);
    for (std::size_t j = 0; j < n; ++j) CHECK(std::abs(errors[j] - expected[j]) <= 1e-12 * expected[j]);
  }
  const Matrix hidden = made(m, m, [](index_t i, index_t j) {
    return i == j ? (i < 2 ? 1.0 : 1e20) : i < 2 && j < 2 ? 2.0 : 0.0;
  });
  CHECK_THROWS_WITH(by_covariance(a, b, hidden), ContainsSubstring("indefinite"));
}

TEST_CASE("empty problems are solved, and powers of two scale the solution") {
  CHECK(by_factor(Matrix(0, 4), Matrix(0, 2), Matrix(0, 0)).X.shape() == Shape{4, 2});
  CHECK(by_covariance(Matrix(0, 4), Matrix(0, 2), Matrix(0, 0)).X.shape() == Shape{4, 2});
  const Matrix b = random(30, 1, 2), f = conditioned(30, 20, 3), s = gram(f);
  CHECK(by_factor(Matrix(30, 0), b, f).X.shape() == Shape{0, 1});
  CHECK(by_factor(random(30, 4, 1), Matrix(30, 0), f).X.shape() == Shape{4, 0});

  const auto times = [](const Matrix& from, int e) {
    return made(from.rows(), from.cols(), [&](index_t i, index_t j) { return std::ldexp(from(i, j), e); });
  };
  const Matrix a = random(30, 4, 1);
  const OlsOptions options{.keep_triangle = true};
  const Answer plain = by_factor(a, b, f, {24, 10}, options), of_s = by_covariance(a, b, s, {24, 10}, options);
  Graph g(runtime());
  const auto errors = standard_errors(g, plain);
  for (const int e : {-400, 400}) {
    const Answer large = by_factor(a, b, times(f, e), {24, 10}, options);
    CHECK(distance(large.X, plain.X) == 0);
    CHECK(large.residual_norms[0] == std::ldexp(plain.residual_norms[0], -e));
    CHECK(standard_errors(g, large)[2] == std::ldexp(errors[2], e));
    CHECK(distance(by_covariance(a, b, times(s, 2 * e)).X, of_s.X) == 0);
    CHECK(distance(by_factor(times(a, e), b, f).X, times(plain.X, -e)) == 0);
  }
}

TEST_CASE("generalized least squares agrees on a GPU", "[gpu][sanitize]") {
  test::require_gpu();
  const Matrix a = random(90, 12, 1), b = random(90, 2, 2), full = conditioned(90, 50, 3);
  for (const Matrix& f : {full.clone(), only(full, false), conditioned(90, 1e9, 3)}) {
    const Answer answer = by_factor(a, b, f);
    CHECK(answer.status == SolveStatus::ok);
    require_agreement(answer, by_lapack(a, b, f), answer.path == CovariancePath::model ? 1e-6 : 1e-10);
  }
  require_agreement(by_covariance(a, b, gram(full)), by_lapack(a, b, full), 1e-9);
}
