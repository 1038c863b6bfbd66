#include "tests/support/glm.hpp"
#include "tests/support/quadruple.hpp"
#include <tesela/algorithms/least_squares/covariance.hpp>
#include <tesela/algorithms/least_squares/generalized_least_squares.hpp>

#include <array>

// Equations with correlated errors whose standard deviations differ by up to 24 orders of magnitude.

using namespace tesela::test;

namespace {

/// Returns exponents of ten from -s to s for m rows.
std::vector<double> spread(index_t m, double s, const std::string& order) {
  std::vector<double> result;
  for (index_t i = 0; i < m; ++i) {
    // 7 and m are coprime in these tests.
    const index_t at = order == "ascending" ? i : order == "descending" ? m - 1 - i : i * 7 % m;
    result.push_back(-s + 2 * s * static_cast<double>(at) / static_cast<double>(m - 1));
  }
  return result;
}

Matrix with_rows(const Matrix& a, const std::vector<double>& exponents) {
  return made(a.rows(), a.cols(),
              [&](index_t i, index_t j) { return a(i, j) * std::pow(10.0, exponents[static_cast<std::size_t>(i)]); });
}

/// Returns an m x p matrix whose rows are well conditioned.
Matrix regular(index_t m, index_t p, std::uint64_t seed) {
  const Matrix noise = random(m, p, seed);
  return made(m, p, [&](index_t i, index_t j) { return noise(i, j) + (i == j ? 2 : 0); });
}

/// Returns the largest relative error of an unknown.
double worst_of(const Matrix& x, const Matrix& reference) {
  REQUIRE(x.shape() == reference.shape());
  double worst = 0;
  for (index_t k = 0; k < x.size(); ++k)
    worst = std::max(worst, std::abs(x.data()[k] - reference.data()[k]) / std::abs(reference.data()[k]));
  return worst;
}

template <class Solve>
GeneralizedLeastSquares<double> on_copies(const Model<double>& model, const OlsOptions& options, const Solve& solve) {
  Matrix a = model.a.clone(), y = model.y.clone();
  const auto A = TileMatrix<double>::map(runtime(), a.data(), a.rows(), a.cols(), a.ld(), {9, 2}, "A"),
             Y = TileMatrix<double>::map(runtime(), y.data(), y.rows(), y.cols(), y.ld(), {9, 2}, "Y");
  Graph g(runtime());
  return solve(g, A, Y, options);
}

}  // namespace

TEST_CASE("x keeps its digits by every method for correlated equations of any precision") {
  for (const auto& [m, n, p] : {std::array<index_t, 3>{12, 3, 12}, {12, 8, 12}, {20, 8, 30}, {20, 5, 16}, {20, 0, 20}})
    for (const double s : {4.0, 10.0, 12.0})
      for (const char* const order : {"ascending", "descending", "shuffled"})
        for (const double of_a : {0.0, 8.0}) {  // A's rows may be graded as well
          const Model<double> model{with_rows(random(m, n, 1), spread(m, of_a, "shuffled")),
                                    with_rows(regular(m, p, 2), spread(m, s, order)), random(m, 2, 3)};
          const Matrix reference = quadruple_glm(model.a, model.b, model.y);
          for (const GlmMethod method : {GlmMethod::seminormal, GlmMethod::tiles, GlmMethod::gqr, GlmMethod::givens}) {
            CAPTURE(m, n, p, s, order, of_a, name_of(glm_methods(), method));
            const auto found = solve(runtime(), model, {.method = method}, {9, 4});
            CHECK(found.status == SolveStatus::ok);
            CHECK(found.rank == n);
            CHECK(found.rank_b == m - n);
            REQUIRE(found.X.shape() == reference.shape());
            CHECK(worst_of(found.X, reference) <= 1e-11);
          }
        }
}

TEST_CASE("x and its standard errors keep their digits for variances of any size in a factor or covariance") {
  const index_t m = 12;
  const OlsOptions options{.keep_triangle = true};
  for (const index_t n : {3, 8})
    for (const double s : {2.0, 8.0, 12.0})
      for (const char* const order : {"ascending", "descending", "shuffled"})
        for (const double of_a : {0.0, 6.0}) {
          CAPTURE(n, s, order, of_a);
          const std::vector<double> d = spread(m, s, order);
          const Matrix root = regular(m, m, 2), plain = gram(root), factor = with_rows(root, d);
          const Model<double> model{with_rows(random(m, n, 1), spread(m, of_a, "shuffled")), factor.clone(),
                                    random(m, 1, 3)};
          const Matrix reference = quadruple_glm(model.a, model.b, model.y);
          const auto by_factor = on_copies(model, options, [&](Graph& g, const auto& A, const auto& Y, const auto& o) {
            return gls_factor(g, A, Y, factor.clone(), o);
          });
          const auto by_sigma = on_copies(model, options, [&](Graph& g, const auto& A, const auto& Y, const auto& o) {
            return gls_covariance(g, A, Y,
                                  made(m, m,
                                       [&](index_t i, index_t j) {
                                         return plain(i, j) * std::pow(10.0, d[static_cast<std::size_t>(i)] +
                                                                                 d[static_cast<std::size_t>(j)]);
                                       }),
                                  o);
          });
          CHECK(by_factor.status == SolveStatus::ok);
          CHECK(by_sigma.status == SolveStatus::ok);
          CHECK(worst_of(by_factor.X, reference) <= 1e-11);
          CHECK(worst_of(by_sigma.X, reference) <= 1e-9);  // the covariance is rounded
          // b + F e_k for all k changes x by the columns of a factor of its covariance.
          Matrix moved(m, m), still(m, m);
          for (index_t k = 0; k < m; ++k)
            for (index_t i = 0; i < m; ++i) moved(i, k) = factor(i, k);
          const Matrix spread_of_x = quadruple_glm(model.a, factor, moved);
          Graph g(runtime());
          const auto errors = standard_errors(g, by_factor), of_sigma = standard_errors(g, by_sigma);
          REQUIRE(errors.size() == static_cast<std::size_t>(n));
          REQUIRE(of_sigma.size() == static_cast<std::size_t>(n));
          for (index_t j = 0; j < n; ++j) {
            double sum = 0;
            for (index_t k = 0; k < m; ++k) sum = std::hypot(sum, spread_of_x(j, k));
            CHECK(std::abs(errors[static_cast<std::size_t>(j)] / sum - 1) <= 1e-9);
            CHECK(std::abs(of_sigma[static_cast<std::size_t>(j)] / sum - 1) <= 1e-8);
          }
        }
}

TEST_CASE("an unknown that the most precise equation lacks keeps its digits") {
  // Divided by its standard deviation, equation 3 is 2^22 times as large as the others, except in the first column.
  const double rows[4][4] = {{4, 3, -4, -3}, {-1, -4, -1, 2}, {2, -3, -1, -3}, {0, -4, -4, 4}};
  const Matrix a = made(4, 4, [&](index_t i, index_t j) { return rows[i][j]; });
  const Matrix root = regular(4, 4, 2);
  const std::array<double, 4> sizes{0x1p20, 0x1p21, 0x1p19, 0x1p-2};
  const Matrix f = made(4, 4, [&](index_t i, index_t j) { return sizes[static_cast<std::size_t>(i)] * root(i, j); });
  const Model<double> model{a.clone(), f.clone(), made(4, 1, [](index_t i, index_t) {
                              return i == 3 ? 4.625 : 1e6 / static_cast<double>(i + 1);
                            })};
  const Matrix reference = quadruple_glm(model.a, model.b, model.y);
  for (const GlmMethod method : {GlmMethod::seminormal, GlmMethod::tiles, GlmMethod::gqr, GlmMethod::givens}) {
    CAPTURE(name_of(glm_methods(), method));
    const auto found = solve(runtime(), model, {.method = method}, {9, 4});
    CHECK(found.status == SolveStatus::ok);
    CHECK(worst_of(found.X, reference) <= 1e-13);
  }
  const auto by_factor = on_copies(model, {}, [&](Graph& g, const auto& A, const auto& Y, const auto& o) {
    return gls_factor(g, A, Y, f.clone(), o);
  });
  CHECK(worst_of(by_factor.X, reference) <= 1e-13);
}

TEST_CASE("multipliers of graded equations refer to the unscaled equations") {
  const index_t m = 12, n = 3;
  const std::vector<double> d = spread(m, 5, "shuffled");
  const Matrix root = regular(m, m, 2);
  const Model<double> model{random(m, n, 1), with_rows(root, d), random(m, 1, 3)};
  const auto s = solve(runtime(), model);
  REQUIRE(s.status == SolveStatus::ok);
  // F^T lambda = u holds for the lambda of the unscaled equations.
  const Matrix weighted = made(m, 1, [&](index_t i, index_t) {
    return std::ldexp(s.multipliers(i, 0), s.multiplier_exponents[0]) * std::pow(10.0, d[static_cast<std::size_t>(i)]);
  });
  CHECK(distance(product(Op::transpose, root, weighted), s.U) <= 1e-12 * norm(s.U));
}

TEST_CASE(
    "light equations determine the unknowns that heavy equations of lower rank leave, and inconsistency is found") {
  const index_t m = 14, n = 3;
  // Six heavy rows of rank 2: the light rows determine the third unknown.
  const Matrix two = of_rank(6, n, 2, 5), light = random(8, n, 6);
  const auto size = [](index_t i) { return i < 6 ? 1e-9 : 1.0; };
  Model model{made(m, n, [&](index_t i, index_t j) { return i < 6 ? two(i, j) : light(i - 6, j); }), Matrix(m, m),
              Matrix(m, 1)};
  const Matrix root = regular(m, m, 2), x = random(n, 1, 8), noise = random(m, 1, 9);
  model.b = made(m, m, [&](index_t i, index_t j) { return size(i) * root(i, j); });
  model.y = sum(product(Op::none, model.a, x), product(Op::none, model.b, noise));
  const Matrix reference = quadruple_glm(model.a, model.b, model.y);
  for (const GlmMethod method : {GlmMethod::seminormal, GlmMethod::tiles, GlmMethod::gqr, GlmMethod::givens}) {
    CAPTURE(name_of(glm_methods(), method));
    const auto found = solve(runtime(), model, {.method = method}, {9, 4});
    CHECK(found.status == SolveStatus::ok);
    CHECK(found.rank == n);
    CHECK(worst_of(found.X, reference) <= 1e-5);  // rounding errors in b of the heavy rows
    // Without errors, six equations of rank 2 are inconsistent.
    Model exact{model.a.clone(), model.b.clone(), model.y.clone()};
    for (index_t i = 0; i < 6; ++i)
      for (index_t j = 0; j < m; ++j) exact.b(i, j) = 0;
    exact.y(2, 0) += 1e-3;
    CHECK(solve(runtime(), exact, {.method = method}, {9, 4}).status == SolveStatus::inconsistent);
  }
}

TEST_CASE("graded equations are solved in single precision") {
  const index_t m = 12, n = 4;
  const std::vector<double> d = spread(m, 5, "shuffled");
  const Matrix root = regular(m, m, 2), a = random(m, n, 1), y = random(m, 1, 3);
  const auto single = [](const Matrix& from) {
    HostMatrix<float> to(from.rows(), from.cols());
    for (index_t k = 0; k < from.size(); ++k) to.data()[k] = static_cast<float>(from.data()[k]);
    return to;
  };
  HostMatrix<float> of_a = single(a), of_y = single(y), f = single(with_rows(root, d));
  const Matrix reference = quadruple_glm(of_a, f, of_y);
  const auto A = TileMatrix<float>::map(runtime(), of_a.data(), m, n, m, {5, 2}, "A"),
             Y = TileMatrix<float>::map(runtime(), of_y.data(), m, 1, m, {5, 2}, "Y");
  Graph g(runtime());
  const auto found = gls_factor(g, A, Y, std::move(f));
  CHECK(found.status == SolveStatus::ok);
  REQUIRE(found.X.shape() == Shape{n, 1});
  for (index_t j = 0; j < n; ++j) CHECK(std::abs(static_cast<double>(found.X(j, 0)) / reference(j, 0) - 1) <= 1e-4);
}
