#include "tests/support/glm.hpp"
#include "tests/support/machine.hpp"
#include <tesela/algorithms/least_squares/covariance.hpp>

using namespace tesela::test;

namespace {

/// x depends linearly on b, whose covariance is B B^T. The covariance of x is Y Y^T, where Y solves the problem for the
/// columns of B (by LAPACK).
Matrix expected(const Matrix& a, const Matrix& b) {
  const Matrix y = reference_of(Model{a.clone(), b.clone(), b.clone()}).X;
  return gram(y);
}

template <class Answer>
void require_covariance(const Answer& answer, const Matrix& reference, double tolerance) {
  Graph g(runtime());
  const Matrix V = covariance(g, answer);
  const std::vector<double> errors = standard_errors(g, answer);
  REQUIRE(V.shape() == reference.shape());
  CHECK(distance(V, reference) <= tolerance * norm(reference));
  for (index_t i = 0; i < V.rows(); ++i) {
    const double error = std::sqrt(reference(i, i));
    CHECK(std::abs(errors[static_cast<std::size_t>(i)] - error) <= tolerance * error);
    for (index_t j = 0; j < i; ++j) CHECK(V(i, j) == V(j, i));
  }
}

template <class T>
Glm<T> model_of(const HostMatrix<T>& a, const HostMatrix<T>& b, GlmMethod method) {
  return solve(runtime(), consistent(a.clone(), b.clone(), 2), {.method = method, .keep_spread = true});
}

/// Returns Q X with the reflector Q = I - 2 v v^T / v^T v.
Matrix reflected(const Matrix& x) {
  const Matrix v = random(x.rows(), 1, 11);
  const double size = norm(v);
  return made(x.rows(), x.cols(), [&](index_t i, index_t j) {
    double sum = 0;
    for (index_t k = 0; k < x.rows(); ++k) sum += v(k, 0) * x(k, j);
    return x(i, j) - 2 * v(i, 0) * sum / size / size;
  });
}

/// A = Q [T; 0] and B = Q [B1; B2] with B2 = F K, whose rank is the number of rows of K; columns of B have the sizes
/// `of_column`. V = T^-1 B1 P (T^-1 B1 P)^T, where P projects on the null space of K, in extended precision.
struct SingularModel {
  Matrix a, b, covariance;

  template <class Size>
  SingularModel(index_t m, index_t n, index_t p, index_t rank, const Size& of_column) {
    const Matrix T = made(n, n, [](index_t i, index_t j) { return i == j  ? 2.0 + double(i % 3)
                                                                  : i < j ? 0.5
                                                                          : 0.0; }),
                 B1 = random(n, p, 3), F = random(m - n, rank, 4), K = random(rank, p, 5);
    const auto k = [&](index_t i, index_t j) { return K(i, j) * of_column(j); };
    a = reflected(made(m, n, [&](index_t i, index_t j) { return i < n ? T(i, j) : 0; }));
    b = reflected(made(m, p, [&](index_t i, index_t j) {
      double sum = i < n ? B1(i, j) * of_column(j) : 0;
      for (index_t l = 0; i >= n && l < rank; ++l) sum += F(i - n, l) * k(l, j);
      return sum;
    }));
    std::vector<std::vector<long double>> rows;  // rows of K, orthonormalized, then rows of B1 P
    for (index_t i = 0; i < rank + n; ++i) {
      std::vector<long double>& row = rows.emplace_back();
      for (index_t j = 0; j < p; ++j) row.push_back(i < rank ? k(i, j) : B1(i - rank, j) * of_column(j));
      for (int twice = 0; twice < 2; ++twice)
        for (index_t l = 0; l < std::min(i, rank); ++l)
          subtract(row, rows[std::size_t(l)], dot(row, rows[std::size_t(l)]));
      const long double size = std::sqrt(dot(row, row));
      for (long double& x : row) x /= i < rank ? size : 1;
    }
    rows.erase(rows.begin(), rows.begin() + rank);
    for (index_t i = n - 1; i >= 0; --i) {
      std::vector<long double>& row = rows[std::size_t(i)];
      for (index_t l = i + 1; l < n; ++l) subtract(row, rows[std::size_t(l)], T(i, l));
      for (long double& x : row) x /= T(i, i);
    }
    covariance =
        made(n, n, [&](index_t i, index_t j) { return double(dot(rows[std::size_t(i)], rows[std::size_t(j)])); });
  }

 private:
  static long double dot(const std::vector<long double>& x, const std::vector<long double>& y) {
    long double sum = 0;
    for (std::size_t j = 0; j < x.size(); ++j) sum += x[j] * y[j];
    return sum;
  }
  static void subtract(std::vector<long double>& x, const std::vector<long double>& y, long double factor) {
    for (std::size_t j = 0; j < x.size(); ++j) x[j] -= factor * y[j];
  }
};

}  // namespace

TEST_CASE("the covariance of a model's unknowns holds for any number of columns of B") {
  const GlmMethod method = GENERATE(GlmMethod::tiles, GlmMethod::gqr, GlmMethod::givens);
  for (const auto& [m, n, p] : {std::array<index_t, 3>{1, 1, 1},
                                {7, 3, 7},
                                {64, 10, 64},
                                {97, 20, 130},
                                {97, 20, 80},
                                {40, 40, 40},
                                {60, 20, 45}}) {
    CAPTURE(name_of(glm_methods(), method), m, n, p);
    const Matrix a = random(m, n, 1), b = random(m, p, 2);
    require_covariance(model_of(a, b, method), expected(a, b), 1e-9);
  }
}

TEST_CASE("the covariance of a model's unknowns holds for any rank of B2") {
  const GlmMethod method = GENERATE(GlmMethod::seminormal, GlmMethod::tiles, GlmMethod::gqr, GlmMethod::givens);
  for (const auto& [m, n, p, rank] : {std::array<index_t, 4>{8, 3, 12, 3},
                                      {8, 3, 8, 0},
                                      {8, 3, 4, 2},
                                      {8, 3, 1, 0},
                                      {90, 20, 90, 33},
                                      {90, 20, 60, 33}}) {
    CAPTURE(name_of(glm_methods(), method), m, n, p, rank);
    const SingularModel even(m, n, p, rank, [](index_t) { return 1.0; }),
        graded(m, n, p, rank, [](index_t j) { return std::pow(10.0, -static_cast<double>(j * 5 % 9)); });
    for (const SingularModel* const model : {&even, &graded}) {
      const Glm<double> answer = model_of(model->a, model->b, method);
      CHECK(answer.rank_b == rank);
      require_covariance(answer, model->covariance, 1e-12);
    }
  }
  // If B2 has full column rank, the covariance is zero.
  for (const auto& [p, rank] : {std::pair<index_t, index_t>{0, 0}, {2, 2}, {5, 5}}) {
    CAPTURE(p, rank);
    const SingularModel model(8, 3, p, rank, [](index_t) { return 1.0; });
    Graph g(runtime());
    const Matrix V = covariance(g, model_of(model.a, model.b, method));
    CHECK(V.shape() == Shape{3, 3});
    CHECK(norm(V) == 0);
  }
}

TEST_CASE("standard errors keep their digits for columns of B of any size") {
  // B = H D with Hadamard's matrix H, and A is the first columns of H. The standard errors are the first elements of D.
  constexpr index_t m = 16, n = 4;
  const auto hadamard = [](index_t i, index_t j) {
    return __builtin_parityll(static_cast<unsigned long long>(i & j)) ? -0.25 : 0.25;
  };
  for (const double ratio : {1.0, 1e-6, 1e-12, 1e-24, 1e-60})
    for (const bool small_first : {true, false}) {
      if (!small_first && ratio < 1e-6) continue;  // rounding of the large columns dominates
      CAPTURE(ratio, small_first);
      std::vector<double> d;
      for (index_t j = 0; j < m; ++j)
        d.push_back(std::pow(ratio, static_cast<double>(small_first ? m - 1 - j : j) / 15));
      const Matrix a = made(m, n, hadamard), b = made(m, m, [&](index_t i, index_t j) {
                                               return hadamard(i, j) * d[static_cast<std::size_t>(j)];
                                             });
      Graph g(runtime());
      const std::vector<double> errors = standard_errors(g, model_of(a, b, GlmMethod::seminormal));
      REQUIRE(errors.size() == n);
      for (std::size_t j = 0; j < n; ++j)
        CHECK(std::abs(errors[j] - d[j]) <=
              1e-13 * d[j] + 1e-14 * (small_first ? 0 : d[0]));  // rounding of A mixes the columns
    }
}

TEST_CASE("the covariance is zero if B2 has full column rank and empty if A is rank deficient") {
  const Matrix a = random(60, 20, 1);
  Graph g(runtime());
  const Matrix none = covariance(g, model_of(a, random(60, 40, 2), GlmMethod::tiles));
  CHECK(none.shape() == Shape{20, 20});
  CHECK(norm(none) == 0);
  CHECK(covariance(g, model_of(of_rank(60, 20, 9, 1), random(60, 60, 2), GlmMethod::tiles)).size() == 0);
  CHECK(standard_errors(g, solve(runtime(), consistent(a.clone(), random(60, 60, 2), 1))).empty());
}

TEMPLATE_TEST_CASE("powers of two scale standard errors exactly", "", float, double) {
  using T = TestType;
  const RuntimeOfCores cores;
  const HostMatrix<T> a = random<T>(70, 12, 1), b = random<T>(70, 80, 2);
  const int most = std::numeric_limits<T>::max_exponent - 24, some = most / 3;
  for (const GlmMethod method : {GlmMethod::tiles, GlmMethod::gqr}) {
    Graph g(runtime());
    const auto plain = standard_errors(g, model_of(a, b, method));
    REQUIRE(plain.size() == 12);
    for (const auto& [of_a, of_b] : {std::pair{most, 0}, {-most, 0}, {0, most}, {0, -most}, {-some, -some}}) {
      const auto errors = standard_errors(g, model_of(times_two_to(of_a, a), times_two_to(of_b, b), method));
      for (std::size_t j = 0; j < plain.size(); ++j) CHECK(errors[j] == std::ldexp(plain[j], of_b - of_a));
    }
  }
}

TEST_CASE("standard errors in single precision agree with those in double precision") {
  const HostMatrix<float> a = random<float>(70, 12, 1), b = random<float>(70, 80, 2);
  const auto wide = [](const HostMatrix<float>& x) {
    return made(x.rows(), x.cols(), [&](index_t i, index_t j) { return static_cast<double>(x(i, j)); });
  };
  for (const GlmMethod method : {GlmMethod::tiles, GlmMethod::gqr}) {
    Graph g(runtime());
    const auto errors = standard_errors(g, model_of(a, b, method));
    const auto expected_errors = standard_errors(g, model_of(wide(a), wide(b), method));
    REQUIRE(errors.size() == 12);
    for (std::size_t j = 0; j < errors.size(); ++j)
      CHECK(std::abs(static_cast<double>(errors[j]) / expected_errors[j] - 1) <= 1e-4);
  }
}

TEST_CASE("generalized least squares returns its covariance on every path") {
  const index_t m = 60, n = 8;
  const Matrix a = random(m, n, 1), b = random(m, 1, 2);
  // Condition 50 is whitened; condition 1e9 becomes a model.
  for (const double condition : {1.0, 50.0, 1e9}) {
    Matrix f = of_values(m, m, kernels::spectrum(m, condition), 3);
    if (condition == 1.0)
      f = made(m, m, [](index_t i, index_t j) { return i == j ? 1.0 + static_cast<double>(i % 5) : 0.0; });
    Matrix work = a.clone(), rhs = b.clone();
    const auto A = TileMatrix<double>::map(runtime(), work.data(), m, n, m, {24, 10}, "A");
    const auto B = TileMatrix<double>::map(runtime(), rhs.data(), m, 1, m, {24, 1}, "B");
    Graph g(runtime());
    const OlsOptions options{.keep_triangle = true};
    const auto answer = gls_factor(g, A, B, f.clone(), options);
    CAPTURE(condition, description(answer.path));
    CHECK(answer.path == (condition == 1.0    ? CovariancePath::rows
                          : condition == 50.0 ? CovariancePath::whitened
                                              : CovariancePath::model));
    require_covariance(answer, expected(a, f), condition == 1e9 ? 1e-6 : 1e-10);
  }
}

TEST_CASE("covariances of models agree on a GPU", "[gpu][sanitize]") {
  require_gpu();
  const Matrix a = random(60, 12, 1), b = random(60, 70, 2);
  for (const GlmMethod method : {GlmMethod::tiles, GlmMethod::gqr})
    require_covariance(model_of(a, b, method), expected(a, b), 1e-9);
}
