// The calls for matrices in memory, which choose the tiles, against LAPACK and BLAS.

#include "tests/support/matrices.hpp"
#include <tesela/algorithms/dense/direct_solve.hpp>
#include <tesela/algorithms/dense/gemm.hpp>
#include <tesela/algorithms/eigen/symmetric_inertia.hpp>
#include <tesela/algorithms/givens/givens.hpp>
#include <tesela/algorithms/least_squares/least_squares.hpp>
#include <tesela/algorithms/qr/qr.hpp>
#include <tesela/host/lapack/lapack.hpp>

using namespace tesela::test;

namespace {

/// Returns a symmetric matrix with `shift` added to its diagonal.
HostMatrix<double> symmetric(index_t n, double shift) {
  HostMatrix<double> a = random(n, n, 3);
  for (index_t j = 0; j < n; ++j)
    for (index_t i = 0; i <= j; ++i) a(j, i) = a(i, j) += i == j ? shift : 0;
  return a;
}

}  // namespace

WORKERS_TEST_CASE("gemm multiplies matrices in memory, in the chosen tiles or in given ones") {
  for (const auto& [m, n, k] : {std::tuple<index_t, index_t, index_t>{0, 3, 2}, {1, 1, 1}, {70, 33, 130}, {5, 4, 0}})
    for (const GemmTile& tile : {GemmTile{}, GemmTile{16, 8, 32}}) {
      const HostMatrix<double> a = random(k, m, 1), b = random(k, n, 2);
      HostMatrix<double> c = random(m, n, 3), twice = c.clone();
      HostMatrix<double> left = a.clone(), right = b.clone();
      REQUIRE(gemm(runtime, Op::transpose, Op::none, 2.0, MatrixView<double>(left), MatrixView<double>(right), 0.5,
                   MatrixView<double>(c), {.tile = tile})
                  .ok());
      const HostMatrix<double> ab = product(Op::transpose, a, b);
      for (index_t e = 0; e < c.size(); ++e) twice.data()[e] = 2 * ab.data()[e] + twice.data()[e] / 2;
      CHECK(distance(c, twice) <= 1e-13 * static_cast<double>(k + 1));
    }
}

WORKERS_TEST_CASE("systems in memory are solved, with a status") {
  for (const index_t n : {0, 1, 2, 100, 257}) {
    const HostMatrix<double> x = random(n, 3, 5);
    for (const bool positive : {false, true}) {
      HostMatrix<double> a = symmetric(n, 2 * std::sqrt(static_cast<double>(n)) + 1), b = product(a, x);
      const DirectSolve solved = positive ? cholesky_solve(runtime, MatrixView<double>(a), MatrixView<double>(b))
                                          : lu_solve(runtime, MatrixView<double>(a), MatrixView<double>(b));
      CHECK(solved.status == DirectStatus::ok);
      CHECK(std::ssize(solved.rows) == (positive ? 0 : n));
      CHECK(distance(b, x) <= 1e-11);
    }
  }
  HostMatrix<double> zero = HostMatrix<double>::zeros(4, 4), b = random(4, 1, 1);
  CHECK(lu_solve(runtime, MatrixView<double>(zero), MatrixView<double>(b)).status == DirectStatus::zero_pivot);
  HostMatrix<double> a = symmetric(50, 20);
  a(20, 20) = -1;
  const DirectSolve factored = cholesky(runtime, MatrixView<double>(a), {16, 16});
  CHECK((factored.status == DirectStatus::not_positive && factored.place == 21));
}

WORKERS_TEST_CASE("qr of a matrix in memory gives R, Q and products") {
  for (const Shape shape : {Shape{0, 0}, {1, 1}, {90, 40}, {40, 90}, {300, 64}})
    for (const TileShape tile : {TileShape{0, 0}, {32, 16}}) {
      const auto [m, n] = shape;
      const index_t k = std::min(m, n);
      CAPTURE(m, n, tile.mb);
      const QrOptions options{.tile = tile};
      const HostMatrix<double> a = random(m, n, 7);
      HostMatrix<double> work = a.clone(), q(m, k), r(k, n), only_r = a.clone();
      REQUIRE(qr(runtime, MatrixView<double>(work), MatrixView<double>(q), MatrixView<double>(r), options).ok());
      CHECK(distance(product(q, r), a) <= 1e-13 * static_cast<double>(m + n));
      CHECK(distance(product(Op::transpose, q, q), identity(k)) <= 1e-13);
      REQUIRE(qr(runtime, MatrixView<double>(only_r), {}, {}, options).ok());
      for (index_t j = 0; j < n; ++j)
        for (index_t i = 0; i < m; ++i) REQUIRE(only_r(i, j) == (i < k ? r(i, j) : 0));

      HostMatrix<double> again = a.clone(), formed(m, k), c = a.clone();
      const FactoredQr<double> factored = qr(runtime, MatrixView<double>(again), options);
      REQUIRE(factored.status.ok());
      REQUIRE(factored.factors.form_q(runtime, MatrixView<double>(formed)).ok());
      CHECK(distance(formed, q) <= 1e-13);  // a small Q is formed by LAPACK
      REQUIRE(factored.factors.apply(runtime, Side::left, Op::transpose, MatrixView<double>(c)).ok());
      for (index_t j = 0; j < n; ++j)
        for (index_t i = 0; i < m; ++i) CHECK(std::abs(c(i, j) - (i < k ? r(i, j) : 0)) <= 1e-12);
    }
  HostMatrix<double> bad = random(20, 10, 1);
  bad(3, 4) = std::nan("");
  CHECK(qr(runtime, MatrixView<double>(bad)).status.info == 5);
}

NUMBERS_TEST_CASE("qr and ols scale matrices near the ends of the range", "") {
  using T = TestType;
  using Limits = std::numeric_limits<real_t<T>>;
  const index_t m = 200, n = 40;
  const QrOptions tiles{.tile = {64, 16}};
  const auto small = test::random<T>(m, n, 1);
  // Columns of almost one direction, so that sums of their elements exceed norms by a few percent.
  const auto one =
      filled<T>({m, n}, [&](index_t i, index_t j) { return T(real_t<T>(1.1)) + small(i, j) * real_t<T>(0.02); });
  for (const int e : {Limits::max_exponent - 4, Limits::min_exponent - 1, Limits::min_exponent - Limits::digits / 2}) {
    CAPTURE(e);
    const HostMatrix<T> a = times_two_to(e, one), unit = times_two_to(-e, a);
    const double rounding = std::ldexp(1.0, Limits::min_exponent - Limits::digits - e);  // of subnormal numbers
    HostMatrix<T> work = a.clone(), q(m, n), r(n, n), of_unit = unit.clone(), none = a.clone(), only_r = a.clone();
    REQUIRE(qr(runtime, MatrixView<T>(work), MatrixView<T>(q), MatrixView<T>(r), tiles).ok());
    REQUIRE(qr(runtime, MatrixView<T>(of_unit), {}, {}, tiles).ok());
    REQUIRE(qr(runtime, MatrixView<T>(only_r), {}, {}, tiles).ok());
    const FactoredQr<T> factored = qr(runtime, MatrixView<T>(none), tiles);
    REQUIRE(factored.status.ok());
    for (index_t j = 0; j < n; ++j)
      for (index_t i = 0; i <= j; ++i) {
        const T scaled = times_power_of_two(r(i, j), -e);
        CHECK(std::abs(scaled - of_unit(i, j)) <= 100 * eps<T> + rounding);
        CHECK((only_r(i, j) == r(i, j) && none(i, j) == r(i, j)));
      }
    HostMatrix<T> formed(m, n);
    REQUIRE(factored.factors.form_q(runtime, MatrixView<T>(formed)).ok());
    CHECK(distance(formed, q) <= 100 * eps<T>);
    CHECK(distance(product(Op::conjugate, q, q), identity<T>(n)) <= 1e3 * eps<T>);

    const HostMatrix<T> b = times_two_to(e - 8, product(one, test::random<T>(n, 2, 3)));
    const auto solve = [&](HostMatrix<T> of_a, HostMatrix<T> of_b) {
      return ols(runtime, MatrixView<T>(of_a), MatrixView<T>(of_b), {.method = OlsMethod::tiles});
    };
    const LeastSquares<T> found = solve(a.clone(), b.clone()), expected = solve(unit.clone(), times_two_to(-e, b));
    REQUIRE((found.status == SolveStatus::ok && expected.status == SolveStatus::ok));
    CHECK(distance(found.X, expected.X) <= 1e4 * eps<T> * norm(expected.X));  // the condition is 600
    for (std::size_t k = 0; k < 2; ++k)
      CHECK(std::abs(std::ldexp(found.residual_norms[k], -e) - expected.residual_norms[k]) <= 100 * eps<T> + rounding);
  }
  // R overflows, x does not.
  const HostMatrix<T> large = filled<T>({2, 1}, [](index_t, index_t) { return T(Limits::max() * real_t<T>(0.9)); });
  HostMatrix<T> a = large.clone(), b = large.clone(), work = large.clone();
  CHECK(qr(runtime, MatrixView<T>(work)).status.info == 1);
  const LeastSquares<T> found = ols(runtime, MatrixView<T>(a), MatrixView<T>(b));
  REQUIRE(found.status == SolveStatus::ok);
  CHECK(std::abs(found.X(0, 0) - T(1)) <= 10 * eps<T>);
}

WORKERS_TEST_CASE("qr by rotations of a matrix in memory gives R and Q^T B") {
  for (const Shape shape : {Shape{0, 0}, {1, 1}, {90, 40}, {40, 90}, {150, 130}})
    for (const GivensMethod method : {GivensMethod::sequential, GivensMethod::stages, GivensMethod::chain}) {
      const auto [m, n] = shape;
      const index_t k = std::min(m, n);
      const HostMatrix<double> a = random(m, n, 7);
      HostMatrix<double> r = a.clone(), b = a.clone(), alone = a.clone();
      REQUIRE(givens_qr(runtime, MatrixView<double>(r), MatrixView<double>(b), {.method = method}).ok());
      for (index_t j = 0; j < n; ++j)
        for (index_t i = 0; i < m; ++i) CHECK(std::abs(b(i, j) - (i <= j && i < k ? r(i, j) : 0)) <= 1e-13);
      const HostMatrix<double> before = product(Op::transpose, a, a), after = product(Op::transpose, b, b);
      CHECK(distance(before, after) <= 1e-12);
      REQUIRE(givens_qr(runtime, MatrixView<double>(alone), {}, {.method = method}).ok());
      CHECK(distance(alone, r) == 0);
    }
}

WORKERS_TEST_CASE("the inertia of a matrix in memory counts eigenvalues, and NaN has a status") {
  HostMatrix<double> a = HostMatrix<double>::zeros(30, 30);
  for (index_t i = 0; i < 30; ++i) a(i, i) = static_cast<double>(i);
  const auto count = [&](double sigma) { return symmetric_inertia<double>(runtime, MatrixView<double>(a), sigma); };
  CHECK((count(9.5).below == 10 && count(9.5).status.ok()));
  a(7, 2) = std::nan("");
  CHECK(count(9.5).status.info == 3);
}
