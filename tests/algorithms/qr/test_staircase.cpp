#include "tests/support/shared_runtime.hpp"
#include <tesela/algorithms/givens/givens.hpp>
#include <tesela/algorithms/least_squares/glm.hpp>
#include <tesela/algorithms/least_squares/least_squares.hpp>
#include <tesela/algorithms/qr/qr.hpp>
#include <tesela/algorithms/support/column_ends.hpp>
#include <tesela/algorithms/support/schedule.hpp>

#include <functional>
#include <random>

using namespace tesela::test;

namespace {

HostMatrix<double> with_ends(index_t m, index_t n, const std::function<index_t(index_t)>& end) {
  std::mt19937 random(7);
  std::normal_distribution<double> normal;
  auto a = HostMatrix<double>::zeros(m, n);
  for (index_t j = 0; j < n; ++j)
    for (index_t i = 0; i < std::clamp<index_t>(end(j), 0, m); ++i) a(i, j) = normal(random) + (i == j ? 3 : 0);
  return a;
}

struct Errors {
  double backward = 0, orthogonality = 0;
};

/// max |A - Q R| and max |I - Q^T Q|; Q is m x m.
Errors errors_of(const HostMatrix<double>& a, const HostMatrix<double>& R, const HostMatrix<double>& Q) {
  Errors e;
  const index_t m = a.rows();
  for (index_t j = 0; j < a.cols(); ++j)
    for (index_t i = 0; i < m; ++i) {
      double sum = -a(i, j);
      for (index_t k = 0; k < std::min(R.rows(), j + 1); ++k) sum += Q(i, k) * R(k, j);
      e.backward = std::max(e.backward, std::abs(sum));
    }
  for (index_t j = 0; j < m; ++j)
    for (index_t k = 0; k <= j; ++k) {
      double sum = j == k ? -1 : 0;
      for (index_t i = 0; i < m; ++i) sum += Q(i, j) * Q(i, k);
      e.orthogonality = std::max(e.orthogonality, std::abs(sum));
    }
  return e;
}

void check(const HostMatrix<double>& a, const HostMatrix<double>& R, const HostMatrix<double>& Q) {
  const Errors e = errors_of(a, R, Q);
  CHECK(e.backward <= 1e-12);
  CHECK(e.orthogonality <= 1e-12);
}

/// Factors a copy in tiles, checks it, and returns the factorization.
template <class Factor>
auto factor_and_check(const HostMatrix<double>& a, TileShape tile, const Factor& factor) {
  const index_t m = a.rows(), n = a.cols(), k = std::min(m, n);
  HostMatrix<double> copy = a.clone(), R(k, n), Q(m, m);
  const auto A = TileMatrix<double>::map(runtime(), copy.data(), m, n, copy.ld(), tile, "A");
  const auto r = TileMatrix<double>::map(runtime(), R.data(), k, n, R.ld(), tile, "R");
  const auto q = TileMatrix<double>::map(runtime(), Q.data(), m, m, Q.ld(), tile, "Q");
  Graph g(runtime());
  auto factors = factor(g, A);
  factors.extract_r(g, r);
  factors.form_q(g, q);
  g.wait();
  r.bring_home();
  q.bring_home();
  check(a, R, Q);
  return factors;
}

}  // namespace

TEST_CASE("column_ends finds the last nonzero element") {
  auto a = HostMatrix<double>::zeros(4, 5);
  a(2, 1) = 1, a(3, 2) = std::numeric_limits<double>::quiet_NaN(), a(0, 3) = -1e-320, a(1, 4) = -0.0;
  CHECK(column_ends(a) == std::vector<index_t>{0, 3, 4, 1, 0});
  CHECK(column_ends(HostMatrix<double>(0, 2)).empty());
  CHECK(column_ends(with_ends(3, 4, [](index_t) { return 3; })).empty());
  CHECK(column_ends(HostMatrix<float>(3, 0)).empty());
}

TEST_CASE("rotations in stages skip the zeros of a staircase") {
  const auto tridiagonal = with_ends(300, 300, [](index_t j) { return j + 2; });
  const std::vector<index_t> ends = column_ends(tridiagonal);
  for (const char* order : {"diagonal", "greedy", "binary", "fibonacci"}) {
    CAPTURE(order);
    const auto factors = factor_and_check(tridiagonal, {300, 70}, [&](Graph& g, const TileMatrix<double>& A) {
      return givens_qr(g, A, {.order = order, .ends = ends});
    });
    CHECK(factors.rotations() == 299);
  }
  // Ends that rise and fall, zero columns and any shape; dense matrices use the windows of the formula.
  for (const auto& [m, n] : {std::pair<index_t, index_t>{40, 40}, {65, 30}, {30, 65}, {1, 5}, {50, 1}}) {
    const auto a = with_ends(m, n, [](index_t j) { return j % 7 == 3 ? 0 : j + 1 + (j * 5) % 4; });
    CAPTURE(m, n);
    const auto factors = factor_and_check(
        a, {m, 16}, [&](Graph& g, const TileMatrix<double>& A) { return givens_qr(g, A, {.ends = column_ends(a)}); });
    if (m > 30) CHECK(factors.rotations() < 4 * std::min(m, n));
    const auto dense = with_ends(m, n, [m = m](index_t) { return m; });
    factor_and_check(dense, {m, 16}, [&](Graph& g, const TileMatrix<double>& A) {
      return givens_qr(g, A, {.ends = column_ends(dense)});
    });
  }
}

TEST_CASE("tiles of zeros below a staircase are skipped") {
  struct Case {
    index_t m, n;
    TileShape tile;
    std::function<index_t(index_t)> end;
  };
  const std::vector<Case> cases{{96, 96, {16, 16}, [](index_t j) { return j + 3; }},
                                {90, 70, {16, 16}, [](index_t j) { return 20 + j; }},
                                {96, 60, {40, 12}, [](index_t j) { return j % 11 == 4 ? 0 : 2 * j; }},
                                {64, 90, {12, 30}, [](index_t j) { return j / 2; }},
                                {60, 40, {16, 16}, [](index_t j) { return j == 0 ? 60 : 1; }},
                                {50, 50, {50, 50}, [](index_t j) { return j + 1; }}};
  for (const Case& c : cases)
    for (const char* tree : {"diagonal", "greedy", "binary", "domain:2"})
      for (const bool triangles : {false, true}) {
        CAPTURE(c.m, c.n, c.tile.mb, c.tile.nb, tree, triangles);
        const auto a = with_ends(c.m, c.n, c.end);
        QrOptions o{.tree = tree, .triangles = triangles, .ends = column_ends(a)};
        const auto some =
            factor_and_check(a, c.tile, [&](Graph& g, const TileMatrix<double>& A) { return qr(g, A, o); });
        o.ends.clear();
        const auto all =
            factor_and_check(a, c.tile, [&](Graph& g, const TileMatrix<double>& A) { return qr(g, A, o); });
        CHECK(some.transformations().size() <= all.transformations().size());
        if (c.m == 96 && c.n == 96 && !triangles) {
          // In each column but the last: the diagonal tile and the tile below it.
          CHECK(some.transformations().size() == 6 + 5);
          if (std::string(tree) == "diagonal") CHECK(all.transformations().size() == 6 + 15);
        }
      }
  Graph g(runtime());
  const TileMatrix<double> A(runtime(), 9, 4, {4, 4});
  CHECK_THROWS_AS(qr(g, A, {.ends = {1, 2, 3}}), ArgumentError);
  CHECK_THROWS_AS(qr(g, A, {.ends = {1, 2, 3, 10}}), ArgumentError);
  const TileMatrix<double> tall(runtime(), 9, 4, {9, 4});
  CHECK_THROWS_AS(givens_qr(g, tall, {.ends = {1, 2, -1, 9}}), ArgumentError);
}

TEST_CASE("least squares and linear models have the same solution with and without the staircase") {
  const index_t m = 90, n = 60;
  const auto a = with_ends(m, n, [](index_t j) { return j + 9; }), b = with_ends(m, 2, [](index_t) { return m; }),
             f = with_ends(m, m, [](index_t) { return m; });
  const auto solve = [&](bool model, bool rotations, const std::vector<index_t>& ends) {
    HostMatrix<double> x = a.clone(), y = b.clone(), factor = f.clone();
    const TileShape tile{rotations ? m : 16, 16};
    const auto A = TileMatrix<double>::map(runtime(), x.data(), m, n, m, tile, "A"),
               B = TileMatrix<double>::map(runtime(), y.data(), m, 2, m, tile, "B"),
               F = TileMatrix<double>::map(runtime(), factor.data(), m, m, m, tile, "F");
    Graph g(runtime());
    if (model)
      return glm(g, A, F, B, {.method = rotations ? GlmMethod::givens : GlmMethod::tiles, .column_ends = ends}).X;
    return ols(g, A, B, {.method = rotations ? OlsMethod::givens : OlsMethod::tiles, .column_ends = ends}).X;
  };
  for (const bool model : {false, true})
    for (const bool rotations : {false, true}) {
      CAPTURE(model, rotations);
      const auto some = solve(model, rotations, column_ends(a)), all = solve(model, rotations, {});
      REQUIRE(some.shape() == all.shape());
      double most = 0, size = 0;
      for (index_t k = 0; k < all.size(); ++k) {
        most = std::max(most, std::abs(some.data()[k] - all.data()[k]));
        size = std::max(size, std::abs(all.data()[k]));
      }
      CHECK(most <= 1e-12 * size);
    }
}
