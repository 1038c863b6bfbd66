#include "tests/support/band_problem.hpp"
#include "tests/support/shared_runtime.hpp"
#include <tesela/algorithms/eigen/band_to_tridiagonal.hpp>
#include <tesela/codelets/libraries/blas.hpp>
#include <tesela/codelets/libraries/lapack.hpp>

#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>

#include <thread>

using namespace tesela;
using namespace tesela::test;

namespace {

template <class T>
constexpr T nan_of = std::numeric_limits<T>::quiet_NaN();

/// A band in tiles whose room for bulges, and whose rows behind the last one, are NaN.
template <class T>
SymmetricBand<T> poisoned(Runtime& rt, const HostMatrix<T>& ab, index_t window) {
  const index_t n = ab.cols(), b = ab.rows() - 1;
  const SymmetricBand<T> band(rt, n, b, window);
  band.tiles().for_each_tile([&](Tile<T> tile, index_t, index_t column) {
    const auto block = tile.write();
    for (index_t j = 0; j < block.cols; ++j)
      for (index_t i = 0; i < block.rows; ++i)
        block(i, j) = i <= b && column + j + i < n ? ab(i, column + j) : nan_of<T>;
  });
  return band;
}

template <class T>
struct Found {
  std::vector<T> d, e;
};

template <class T>
Found<T> chase(Runtime& rt, const HostMatrix<T>& ab, index_t window, const BandToTridiagonalOptions& options = {}) {
  const SymmetricBand<T> band = poisoned(rt, ab, window);
  Graph g(rt);
  const BulgeChase<T> chase = band_to_tridiagonal(g, band, options);
  CHECK(g.wait().ok());
  return {chase.diagonal(), chase.off_diagonal()};
}

/// The largest distance of T's eigenvalues from LAPACK's of B, over the largest of these.
template <class T>
double value_error(const HostMatrix<T>& ab, const Found<T>& t) {
  const std::vector<double> expected = band_values(ab);
  std::vector<double> d(t.d.begin(), t.d.end()), e(t.e.begin(), t.e.end());
  e.push_back(0);
  REQUIRE(lapack::sterf(ab.cols(), d.data(), e.data()) == 0);
  double worst = 0, largest = 0;
  for (std::size_t i = 0; i < d.size(); ++i) {
    worst = std::max(worst, std::abs(d[i] - expected[i]));
    largest = std::max(largest, std::abs(expected[i]));
  }
  return largest > 0 ? worst / largest : worst;
}

template <class T>
double residual_bound(index_t n) {
  return (sizeof(T) == 8 ? 5e-15 : 1e-6) * std::sqrt(static_cast<double>(std::max<index_t>(n, 1)));
}

template <class T>
double orthogonality_bound(index_t n) {
  return (sizeof(T) == 8 ? 1e-13 : 2e-5) * std::sqrt(static_cast<double>(std::max<index_t>(n, 1)));
}

template <class T>
HostMatrix<T> identity(index_t n) {
  HostMatrix<T> q = HostMatrix<T>::zeros(n, n);
  for (index_t j = 0; j < n; ++j) q(j, j) = T(1);
  return q;
}

/// C = op(A) B in double.
template <class A, class B>
HostMatrix<double> product(Op op, const HostMatrix<A>& a, const HostMatrix<B>& b) {
  HostMatrix<double> x(a.rows(), a.cols()), y(b.rows(), b.cols());
  for (index_t j = 0; j < a.cols(); ++j)
    for (index_t i = 0; i < a.rows(); ++i) x(i, j) = static_cast<double>(a(i, j));
  for (index_t j = 0; j < b.cols(); ++j)
    for (index_t i = 0; i < b.rows(); ++i) y(i, j) = static_cast<double>(b(i, j));
  const Shape inner = apply(op, {a.rows(), a.cols()});
  HostMatrix<double> c = HostMatrix<double>::zeros(inner.rows, b.cols());
  if (inner.rows > 0 && b.cols() > 0)
    blas::gemm(op, Op::none, inner.rows, b.cols(), inner.cols, 1.0, x.data(), a.rows(), y.data(), b.rows(), 0.0,
               c.data(), inner.rows);
  return c;
}

template <class T>
double frobenius(const HostMatrix<T>& a) {
  double sum = 0;
  for (index_t j = 0; j < a.cols(); ++j)
    for (index_t i = 0; i < a.rows(); ++i) sum += static_cast<double>(a(i, j)) * static_cast<double>(a(i, j));
  return std::sqrt(sum);
}

/// A band and its T with Q, formed from the identity in tiles of `tile`.
template <class T>
struct Formed : Found<T> {
  HostMatrix<T> q;
};
template <class T>
Formed<T> form(Runtime& rt, const HostMatrix<T>& ab, index_t window, const BandToTridiagonalOptions& options,
               TileShape tile, Op op = Op::none) {
  const index_t n = ab.cols();
  Formed<T> f;
  f.q = identity<T>(n);
  const SymmetricBand<T> band = poisoned(rt, ab, window);
  const auto Q = TileMatrix<T>::map(rt, f.q.data(), n, n, f.q.ld(), tile, "Q");
  Graph g(rt);
  const BulgeChase<T> chase = band_to_tridiagonal(g, band, options);
  chase.apply(g, op, Q);
  CHECK(g.wait().ok());
  Q.bring_home();
  f.d = chase.diagonal();
  f.e = chase.off_diagonal();
  return f;
}

struct Errors {
  double residual, orthogonality;
};
template <class T>
Errors measure(const HostMatrix<T>& ab, const Formed<T>& f) {
  const index_t n = ab.cols();
  HostMatrix<double> t = HostMatrix<double>::zeros(n, n), b = HostMatrix<double>::zeros(n, n);
  for (index_t j = 0; j < n; ++j) {
    t(j, j) = static_cast<double>(f.d[static_cast<std::size_t>(j)]);
    if (j + 1 < n) t(j + 1, j) = t(j, j + 1) = static_cast<double>(f.e[static_cast<std::size_t>(j)]);
    for (index_t i = 0; i < ab.rows() && i + j < n; ++i) b(i + j, j) = b(j, i + j) = static_cast<double>(ab(i, j));
  }
  const double norm = frobenius(b);
  HostMatrix<double> qt(n, n), tq = product(Op::none, f.q, t);
  for (index_t j = 0; j < n; ++j)
    for (index_t i = 0; i < n; ++i) qt(i, j) = static_cast<double>(f.q(j, i));
  const HostMatrix<double> back = product(Op::none, tq, qt);
  HostMatrix<double> unit = product(Op::transpose, f.q, f.q);
  for (index_t j = 0; j < n; ++j) {
    unit(j, j) -= 1;
    for (index_t i = 0; i < n; ++i) b(i, j) -= back(i, j);
  }
  return {norm > 0 ? frobenius(b) / norm : frobenius(b), frobenius(unit)};
}

/// ||B - Q T Q^T|| / ||B||, ||I - Q^T Q|| and T's eigenvalues.
template <class T>
void check(const std::string& kind, index_t n, index_t b, index_t window, const BandToTridiagonalOptions& options = {},
           TileShape tile = {0, 0}) {
  if (tile.nb == 0) tile = {std::max<index_t>(n, 1), std::clamp<index_t>(n / 3, 1, 64)};
  CAPTURE(kind, n, b, window, options.sweeps, options.block, options.bundle, tile.mb, tile.nb);
  const HostMatrix<T> ab = make_band<T>(kind, n, b);
  const Formed<T> f = form(runtime(), ab, window, options, tile);
  REQUIRE(static_cast<index_t>(f.d.size()) == n);
  REQUIRE(static_cast<index_t>(f.e.size()) == std::max<index_t>(n - 1, 0));
  const Errors x = measure(ab, f);
  const double values = value_error(ab, f), bound = residual_bound<T>(n), unit = orthogonality_bound<T>(n);
  INFO("residual " << x.residual << " and values " << values << ", bound " << bound << "; orthogonality "
                   << x.orthogonality << ", bound " << unit);
  CHECK(x.residual <= bound);
  CHECK(values <= bound);
  CHECK(x.orthogonality <= unit);
}

index_t clamped(index_t n, index_t b) { return std::clamp<index_t>(b, 1, std::max<index_t>(n - 1, 1)); }

}  // namespace

TEMPLATE_TEST_CASE("B = Q T Q^T for all sizes and half-widths", "", float, double) {
  for (const index_t n : {0, 1, 2, 3, 33, 64, 100, 257})
    for (const index_t width : {1, 2, 3, 8, 32, 64}) {
      const index_t b = clamped(n, width);
      check<TestType>("uniform", n, b, suitable_band_window(runtime(), n, b));
      check<TestType>("uniform", n, b, 5 * b, {.sweeps = 3, .block = 8, .bundle = 24});
    }
  check<TestType>("uniform", 100, 99, 2 * 99);
  check<TestType>("uniform", 501, 32, 3 * 32);
  check<TestType>("uniform", 501, 64, 3 * 64, {.sweeps = 1});
}
