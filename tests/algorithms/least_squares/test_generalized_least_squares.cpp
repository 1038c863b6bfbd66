#include "tests/support/glm.hpp"
#include <tesela/algorithms/least_squares/covariance.hpp>
#include <tesela/algorithms/least_squares/generalized_least_squares.hpp>
#include <tesela/algorithms/least_squares/weighted_least_squares.hpp>

using namespace tesela::test;

namespace {

template <class T>
using Answer = GeneralizedLeastSquares<T>;

template <class T>
Answer<T> by_factor(const HostMatrix<T>& a, const HostMatrix<T>& b, const HostMatrix<T>& f, TileShape tile = {24, 10},
                    const OlsOptions& options = {}) {
  return on_copies(runtime(), a, b, tile,
                   [&](Graph& g, const auto& A, const auto& B) { return gls_factor(g, A, B, f.clone(), options); });
}

template <class T>
Answer<T> by_covariance(const HostMatrix<T>& a, const HostMatrix<T>& b, const HostMatrix<T>& s,
                        TileShape tile = {24, 10}, const OlsOptions& options = {}) {
  return on_copies(runtime(), a, b, tile,
                   [&](Graph& g, const auto& A, const auto& B) { return gls_covariance(g, A, B, s.clone(), options); });
}

/// Returns x and ||u|| by LAPACK.
template <class T>
Reference<T> by_lapack(const HostMatrix<T>& a, const HostMatrix<T>& b, const HostMatrix<T>& f) {
  auto [X, U] = reference_of(Model<T>{a.clone(), f.clone(), b.clone()});
  Reference<T> result{std::move(X), {}, a.cols()};
  for (index_t k = 0; k < b.cols(); ++k)
    result.residual_norms.push_back(static_cast<double>(blas::nrm2(U.rows(), &U(0, k))));
  return result;
}

template <class T>
void require_agreement(const Answer<T>& answer, const Reference<T>& reference, double tolerance) {
  CAPTURE(distance(answer.X, reference.X), norm(reference.X));
  REQUIRE(distance(answer.X, reference.X) <= tolerance * norm(reference.X));
  for (std::size_t k = 0; k < reference.residual_norms.size(); ++k)
    REQUIRE(std::abs(static_cast<double>(answer.residual_norms[k]) - reference.residual_norms[k]) <=
            tolerance * reference.residual_norms[k]);
}

/// Solves y = A x + B u with the factor B, or with the covariance B B^H.
template <class T>
Answer<T> solved(const Model<T>& model, bool by_sigma) {
  const OlsOptions options{.multipliers = true};
  return by_sigma ? by_covariance(model.a, model.y, gram(model.b), {16, 16}, options)
                  : by_factor(model.a, model.y, model.b, {16, 16}, options);
}

template <class T>
void require_path(const Model<T>& model, bool by_sigma, CovariancePath path) {
  const auto s = solved(model, by_sigma);
  REQUIRE(s.status == SolveStatus::ok);
  CHECK(s.path == path);
  require_agreement(s, by_lapack(model.a, model.y, model.b), 1e4 * eps<T>);
}

template <class T>
Model<T> of_condition(double condition) {
  return {random<T>(40, 7, 1), of_values<T>(40, 40, kernels::spectrum(40, condition)), random<T>(40, 2, 2)};
}

Matrix conditioned(index_t m, double condition, std::uint64_t seed) {
  return of_values(m, m, kernels::spectrum(m, condition), seed);
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
      const auto answer = by_factor(a, b, f, tile);
      CHECK(answer.status == SolveStatus::ok);
      CHECK(answer.path == (m == 1 ? CovariancePath::rows : CovariancePath::whitened));
      CHECK(answer.factor_condition >= 1);
      require_agreement(answer, by_lapack(a, b, f), 1e-10);
      const auto same = by_covariance(a, b, gram(f), tile);
      CHECK(same.status == SolveStatus::ok);
      CHECK(same.covariance_rank == m);
      require_agreement(same, by_lapack(a, b, f), 1e-9);
    }
}

TEST_CASE("problems with an ill-conditioned factor are solved as a model and agree with dggglm") {
  const index_t m = 60, n = 9;
  const Matrix a = random(m, n, 1), b = random(m, 2, 2), f = conditioned(m, 1e9, 3);
  const auto answer = by_factor(a, b, f);
  CHECK(answer.path == CovariancePath::model);
  CHECK(answer.status == SolveStatus::ok);
  require_agreement(answer, by_lapack(a, b, f), 1e-6);
  CHECK(by_covariance(a, b, gram(conditioned(m, 3e6, 3))).path == CovariancePath::model);
}

TEST_CASE("an identity gives ols and a diagonal gives wls for any range of variances") {
  const index_t m = 80, n = 6;
  const Matrix a = random(m, n, 1), b = random(m, 2, 2);
  const auto plain = solve(runtime(), a, b, {24, 10});
  CHECK(distance(by_factor(a, b, identity(m)).X, plain.X) <= 1e-14 * norm(plain.X));
  CHECK(distance(by_covariance(a, b, identity(m)).X, plain.X) <= 1e-14 * norm(plain.X));
  const Matrix e = random(m, 1, 3);
  std::vector<double> weights;
  Matrix f = Matrix::zeros(m, m), s = Matrix::zeros(m, m);
  for (index_t i = 0; i < m; ++i) {
    f(i, i) = std::exp2(std::round(20 * e(i, 0)));
    s(i, i) = f(i, i) * f(i, i);
    weights.push_back(1 / s(i, i));
  }
  const auto weighted = on_copies(runtime(), a, b, {24, 10}, [&](Graph& g, const auto& A, const auto& B) {
    Answer<double> answer;
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
  const auto answer = by_covariance(a, b, gram(f));
  CHECK(answer.path == CovariancePath::model);
  CHECK(answer.covariance_rank == p);
  CHECK(answer.status == SolveStatus::ok);
  require_agreement(answer, by_lapack(a, b, f), 1e-7);

  // Six errors and six unknowns for fifty observations: most right-hand sides are inconsistent.
  const Matrix few = random(m, 6, 3);
  const auto none = by_covariance(a, b, gram(few));
  CHECK(none.status == SolveStatus::inconsistent);
  CHECK(none.X.size() == 0);
  CHECK(none.distances[0] > 0.1);
  // Equations with zero variance hold exactly.
  Matrix s = Matrix::zeros(m, m);
  for (index_t i = 3; i < m; ++i) s(i, i) = 1;
  const auto exact = by_covariance(a, b, s);
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
    for (const auto& answer : {by_factor(a, b, f), by_covariance(a, b, gram(f))}) {
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
  Matrix indefinite = identity(m);
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
  const auto plain = by_covariance(a, b, one, {24, 10}, options);
  REQUIRE(plain.status == SolveStatus::ok);
  for (const int step : {3, 8, 20, -20}) {
    CAPTURE(step);
    const auto d = [&](index_t i) { return std::ldexp(1.0, step * static_cast<int>(i * 7 % m)); };
    const Matrix graded_a = made(m, n, [&](index_t i, index_t j) { return d(i) * a(i, j); }),
                 graded_b = made(m, 1, [&](index_t i, index_t j) { return d(i) * b(i, j); }),
                 s = made(m, m, [&](index_t i, index_t j) { return d(i) * d(j) * one(i, j); });
    const auto answer = by_covariance(graded_a, graded_b, s, {24, 10}, options);
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

  const Matrix a = random(30, 4, 1);
  const OlsOptions options{.keep_triangle = true};
  const auto plain = by_factor(a, b, f, {24, 10}, options), of_s = by_covariance(a, b, s, {24, 10}, options);
  Graph g(runtime());
  const auto errors = standard_errors(g, plain);
  for (const int e : {-400, 400}) {
    const auto large = by_factor(a, b, times_two_to(e, f), {24, 10}, options);
    CHECK(distance(large.X, plain.X) == 0);
    CHECK(large.residual_norms[0] == std::ldexp(plain.residual_norms[0], -e));
    CHECK(standard_errors(g, large)[2] == std::ldexp(errors[2], e));
    CHECK(distance(by_covariance(a, b, times_two_to(2 * e, s)).X, of_s.X) == 0);
    CHECK(distance(by_factor(times_two_to(e, a), b, f).X, times_two_to(-e, plain.X)) == 0);
  }
}

TEST_CASE("generalized least squares agrees on a GPU", "[gpu][sanitize]") {
  require_gpu();
  const Matrix a = random(90, 12, 1), b = random(90, 2, 2), full = conditioned(90, 50, 3);
  for (const Matrix& f : {full.clone(), only(full, false), conditioned(90, 1e9, 3)}) {
    const auto answer = by_factor(a, b, f);
    CHECK(answer.status == SolveStatus::ok);
    require_agreement(answer, by_lapack(a, b, f), answer.path == CovariancePath::model ? 1e-6 : 1e-10);
  }
  require_agreement(by_covariance(a, b, gram(full)), by_lapack(a, b, full), 1e-9);
}

TEMPLATE_TEST_CASE("factors and covariances of every path agree with ggglm", "", FOUR_TYPES) {
  using T = TestType;
  const bool by_sigma = GENERATE(false, true);
  Model<T> model = of_condition<T>(3);
  const HostMatrix<T> d = random<T>(40, 1, 5), whole = model.b.clone();
  require_path(model, by_sigma, CovariancePath::whitened);
  // Variances are real, elements of a factor need not be.
  model.b = filled<T>({40, 40}, [&](index_t i, index_t j) { return i == j ? d(i, 0) + T(2) : T(0); });
  require_path(model, by_sigma, CovariancePath::rows);
  if (by_sigma) return;
  for (const bool lower : {false, true}) {  // triangular factors are divided by substitution
    model.b = filled<T>({40, 40}, [&](index_t i, index_t j) {
      return i == j ? d(i, 0) + T(3) : (lower ? i > j : i < j) ? whole(i, j) : T(0);
    });
    require_path(model, false, CovariancePath::whitened);
  }
}

TEMPLATE_TEST_CASE("singular covariances hold some equations exactly", "", FOUR_TYPES) {
  using T = TestType;
  const bool by_sigma = GENERATE(false, true);
  const index_t m = 30, rank = 22;
  HostMatrix<T> f = filled<T>(
      {m, m}, [factor = random<T>(m, rank, 3)](index_t i, index_t j) { return j < rank ? factor(i, j) : T(0); });
  Model<T> model = consistent(random<T>(m, 5, 1), std::move(f), 2, 4);
  const auto s = solved(model, by_sigma);
  REQUIRE(s.status == SolveStatus::ok);
  CHECK(s.path == CovariancePath::model);
  CHECK(s.covariance_rank == rank);
  const HostMatrix<T> lambda = scaled(s.multipliers, s.multiplier_exponents), sigma = gram(model.b),
                      left = minus(model.y, product(model.a, s.X));
  CHECK(distance(product(sigma, lambda), left) <= 1e3 * eps<T> * (norm(sigma) * norm(lambda) + norm(model.y)));
  CHECK(norm(product(Op::conjugate, model.a, lambda)) <= 1e3 * eps<T> * norm(model.a) * norm(lambda));
  model.y = random<T>(m, 2, 2);
  CHECK(solved(model, by_sigma).status == SolveStatus::inconsistent);
}

TEMPLATE_TEST_CASE("covariances that are indefinite or not Hermitian are refused", "", COMPLEX_TYPES) {
  using T = TestType;
  const Model<T> model = of_condition<T>(3);
  const auto with = [&](index_t i, index_t j, T change, bool both) {
    HostMatrix<T> s = gram(model.b);
    s(i, j) += change;
    if (both) s(j, i) = conj(s(i, j));
    return by_covariance(model.a, model.y, s);
  };
  CHECK_NOTHROW(with(3, 5, T(0, real_t<T>(eps<T>) / 16), true));
  CHECK_THROWS_WITH(with(3, 5, T(0, real_t<T>(0.25)), false), ContainsSubstring("not Hermitian: worst at (4, 6)"));
  CHECK_THROWS_WITH(with(7, 7, T(0, real_t<T>(0.25)), false), ContainsSubstring("the imaginary part in row 8 is 0.25"));
  CHECK_THROWS_WITH(with(3, 5, T(0, 9), true), ContainsSubstring("indefinite"));
  CHECK_THROWS_WITH(with(7, 7, T(-9), false), ContainsSubstring("indefinite"));
}
