#pragma once

#include "tests/support/test.hpp"
#include <tesela/algorithms/eigen/band_to_tridiagonal.hpp>
#include <tesela/host/blas.hpp>
#include <tesela/host/lapack/lapack.hpp>
#include <tesela/tiles/generator.hpp>
#include <tesela/tiles/host_matrix.hpp>

#include <cstddef>

extern "C" {
void dsbevd_(const char*, const char*, const int*, const int*, double*, const int*, double*, double*, const int*,
             double*, const int*, int*, const int*, int*, std::size_t, std::size_t);
}

// Symmetric band matrices in LAPACK's lower band storage: element (i, j), i >= j, in row i - j of column j.

namespace tesela::test {

/// Returns a band of this kind: uniform, diagonal, zero, tridiagonal (inside the band), graded (from 1 down to eps^3),
/// spiked (tiny elements next to large ones).
template <class T>
HostMatrix<T> make_band(const std::string& kind, index_t n, index_t b, std::uint64_t seed = 1) {
  const Generator<double> random{Pattern::uniform, 0, 0, seed};
  HostMatrix<T> ab = HostMatrix<T>::zeros(b + 1, n);
  for (index_t j = 0; j < n; ++j)
    for (index_t i = j; i <= std::min(j + b, n - 1); ++i) {
      double x = random.uniform(i, j);
      const double place = static_cast<double>(i + j) / static_cast<double>(2 * n);
      if (kind == "zero" || (kind == "diagonal" && i > j) || (kind == "tridiagonal" && i > j + 1)) x = 0;
      if (kind == "graded") x *= std::pow(static_cast<double>(std::numeric_limits<T>::epsilon()), 3 * place);
      if (kind == "spiked" && (i * 7 + j * 3) % 5 != 0) x *= static_cast<double>(std::numeric_limits<T>::min()) * 16;
      ab(i - j, j) = static_cast<T>(x);
    }
  return ab;
}

/// Returns LAPACK's eigenvalues in ascending order.
template <class T>
std::vector<double> band_values(const HostMatrix<T>& ab) {
  const int n = static_cast<int>(ab.cols()), kd = static_cast<int>(ab.rows()) - 1, ld = kd + 1, one = 1;
  std::vector<double> w(static_cast<std::size_t>(n)), copy;
  for (index_t j = 0; j < ab.cols(); ++j)
    for (index_t i = 0; i < ab.rows(); ++i) copy.push_back(static_cast<double>(ab(i, j)));
  const int lwork = std::max(1, 2 * n), liwork = 1;
  std::vector<double> work(static_cast<std::size_t>(lwork));
  std::vector<int> iwork(1);
  double z = 0;
  int info = 0;
  if (n > 0)
    dsbevd_("N", "L", &n, &kd, copy.data(), &ld, w.data(), &z, &one, work.data(), &lwork, iwork.data(), &liwork, &info,
            1, 1);
  return info == 0 ? w : std::vector<double>{};
}

template <class T>
constexpr T nan_of = std::numeric_limits<T>::quiet_NaN();

/// Returns a band in tiles, with NaN in the room for bulges and in the rows after the last one.
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
Found<T> chase(Runtime& rt, const HostMatrix<T>& ab, index_t window, const BulgeOptions& options = {}) {
  const SymmetricBand<T> band = poisoned(rt, ab, window);
  Graph g(rt);
  const BulgeChase<T> chase = band_to_tridiagonal(g, band, options);
  CHECK(g.wait().ok());
  return {chase.diagonal(), chase.off_diagonal()};
}

/// Returns the largest distance of T's eigenvalues from LAPACK's for B, relative to the largest of these.
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

/// Returns C = op(A) B in double.
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

/// A band, its T, and Q formed from the identity in tiles of `tile`.
template <class T>
struct Formed : Found<T> {
  HostMatrix<T> q;
};
template <class T>
Formed<T> form(Runtime& rt, const HostMatrix<T>& ab, index_t window, const BulgeOptions& options, TileShape tile,
               Op op = Op::none) {
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

/// Clamps b like SymmetricBand.
inline index_t clamped(index_t n, index_t b) { return std::clamp<index_t>(b, 1, std::max<index_t>(n - 1, 1)); }

}  // namespace tesela::test
