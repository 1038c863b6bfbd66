#pragma once

#include "tests/support/padded.hpp"
#include "tests/support/two_sided.hpp"
#include <tesela/algorithms/eigen/band_to_tridiagonal.hpp>
#include <tesela/host/lapack/lapack.hpp>

#include <complex>

// Symmetric and Hermitian band matrices in LAPACK's lower band storage: element (i, j), i >= j, in row i - j of column
// j.

namespace tesela::test {

/// Returns a band of this kind: uniform, diagonal, zero, tridiagonal (inside the band), graded (from 1 down to eps^3),
/// spiked (tiny elements next to large ones).
template <class T>
HostMatrix<T> make_band(const std::string& kind, index_t n, index_t b, std::uint64_t seed = 1) {
  using Limits = std::numeric_limits<real_t<T>>;
  const Generator<double> random{Pattern::uniform, 0, 0, seed};
  HostMatrix<T> ab = HostMatrix<T>::zeros(b + 1, n);
  for (index_t j = 0; j < n; ++j)
    for (index_t i = j; i <= std::min(j + b, n - 1); ++i) {
      double x = random.uniform(i, j), y = i > j ? random.uniform(j, i) : 0;
      const double place = static_cast<double>(i + j) / static_cast<double>(2 * n);
      if (kind == "zero" || (kind == "diagonal" && i > j) || (kind == "tridiagonal" && i > j + 1)) x = y = 0;
      double factor = 1;
      if (kind == "graded") factor = std::pow(static_cast<double>(Limits::epsilon()), 3 * place);
      if (kind == "spiked" && (i * 7 + j * 3) % 5 != 0) factor = static_cast<double>(Limits::min()) * 16;
      ab(i - j, j) = number<T>(factor * x, factor * y);
    }
  return ab;
}

/// Returns the band as a full matrix in double precision.
template <class T>
HostMatrix<with_parts<T, double>> dense(const HostMatrix<T>& ab) {
  using Wide = with_parts<T, double>;
  const index_t n = ab.cols();
  auto a = HostMatrix<Wide>::zeros(n, n);
  for (index_t j = 0; j < n; ++j)
    for (index_t i = 0; i < ab.rows() && i + j < n; ++i) {
      a(i + j, j) = Wide(ab(i, j));
      a(j, i + j) = conj(a(i + j, j));
    }
  return a;
}

/// Returns LAPACK's eigenvalues in ascending order.
template <class T>
std::vector<double> band_values(const HostMatrix<T>& ab) {
  auto a = dense(ab);
  std::vector<double> values(static_cast<std::size_t>(a.rows()));
  if (a.rows() > 0) REQUIRE(lapack::syevd(a.rows(), a.data(), a.ld(), values.data(), false) == 0);
  return values;
}

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

/// Returns the largest distance of T's eigenvalues from B's, relative to the largest of these.
template <class T>
double value_error(const std::vector<double>& expected, const Found<T>& t) {
  std::vector<double> d, e;
  for (const T x : t.d) d.push_back(static_cast<double>(real_part(x)));
  for (const T x : t.e) e.push_back(static_cast<double>(is_complex<T> ? std::abs(x) : real_part(x)));
  e.push_back(0);
  REQUIRE(lapack::sterf(std::ssize(d), d.data(), e.data()) == 0);
  double worst = 0, largest = 0;
  for (std::size_t i = 0; i < d.size(); ++i) {
    worst = std::max(worst, std::abs(d[i] - expected[i]));
    largest = std::max(largest, std::abs(expected[i]));
  }
  return largest > 0 ? worst / largest : worst;
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

/// Checks B = Q T Q^H and Q^H Q = I.
template <class T>
void check_formed(const HostMatrix<T>& ab, const Formed<T>& f) {
  using Wide = with_parts<T, double>;
  const index_t n = ab.cols();
  HostMatrix<Wide> t = HostMatrix<Wide>::zeros(n, n);
  for (index_t j = 0; j < n; ++j) {
    t(j, j) = Wide(f.d[static_cast<std::size_t>(j)]);
    if (j + 1 == n) break;
    t(j + 1, j) = Wide(f.e[static_cast<std::size_t>(j)]);
    t(j, j + 1) = conj(t(j + 1, j));
  }
  check_two_sided(dense(ab), f.q, t, f.q);
}

/// Clamps b like SymmetricBand.
inline index_t clamped(index_t n, index_t b) { return std::clamp<index_t>(b, 1, std::max<index_t>(n - 1, 1)); }

}  // namespace tesela::test
