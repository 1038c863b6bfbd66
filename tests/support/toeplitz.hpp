#pragma once

#include "tests/support/test.hpp"
#include <tesela/algorithms/toeplitz/toeplitz_matrices.hpp>
#include <tesela/host/blas.hpp>
#include <tesela/host/lapack/lapack.hpp>
#include <tesela/tiles/generator.hpp>

#include <cstdlib>

// Dense references for Toeplitz matrices.

namespace tesela::test {

/// Returns T - sigma I.
template <class T>
HostMatrix<double> dense(const HostMatrix<T>& t, double sigma = 0) {
  const index_t n = t.rows();
  HostMatrix<double> a(n, n);
  for (index_t j = 0; j < n; ++j)
    for (index_t i = 0; i < n; ++i) a(i, j) = static_cast<double>(t(std::abs(i - j), 0)) - (i == j ? sigma : 0);
  return a;
}

/// Solves by LAPACK's gesv in double precision.
template <class T>
HostMatrix<double> dense_solve(const HostMatrix<T>& t, double sigma, const HostMatrix<T>& b) {
  HostMatrix<double> a = dense(t, sigma), x(b.rows(), b.cols());
  std::copy_n(b.data(), b.size(), x.data());
  lapack::gesv(t.rows(), b.cols(), a.data(), a.ld(), x.data(), x.ld());
  return x;
}

/// Returns T's eigenvalues in ascending order by LAPACK's syevd.
template <class T>
std::vector<double> dense_eigenvalues(const HostMatrix<T>& t) {
  HostMatrix<double> a = dense(t);
  std::vector<double> w(static_cast<std::size_t>(t.rows()));
  REQUIRE(lapack::syevd(t.rows(), a.data(), a.ld(), w.data(), false) == 0);
  return w;
}

template <class T>
HostMatrix<T> random_columns(index_t n, index_t k, std::uint64_t seed) {
  HostMatrix<T> b(n, k);
  const Generator<T> uniform{Pattern::uniform, T(0), 0, seed};
  for (index_t j = 0; j < k; ++j)
    for (index_t i = 0; i < n; ++i) b(i, j) = uniform(i, j + 100);
  return b;
}

/// Returns max_j ||(T - sigma I) x - b|| / (||T - sigma I||_F ||x|| + ||b||) over columns first, ..., by sums in
/// double.
template <class T>
double residual(const HostMatrix<T>& t, double sigma, const HostMatrix<T>& x, const HostMatrix<T>& b, index_t first,
                index_t columns) {
  const index_t n = t.rows();
  if (n == 0) return 0;
  const HostMatrix<double> a = dense(t, sigma);
  HostMatrix<double> left(n, columns), product(n, columns);
  std::copy_n(&x(0, first), left.size(), left.data());
  blas::gemm(Op::none, Op::none, n, columns, n, 1.0, a.data(), n, left.data(), n, 0.0, product.data(), n);
  double size_a = static_cast<double>(n) * a(0, 0) * a(0, 0), worst = 0;
  for (index_t i = 1; i < n; ++i) size_a += 2 * static_cast<double>(n - i) * a(i, 0) * a(i, 0);
  for (index_t c = 0; c < columns; ++c) {
    double rr = 0, xx = 0, bb = 0;
    for (index_t i = 0; i < n; ++i) {
      const double right = static_cast<double>(b(i, first + c)), rest = product(i, c) - right;
      rr += rest * rest, xx += left(i, c) * left(i, c), bb += right * right;
    }
    const double relative = rr == 0 ? 0 : std::sqrt(rr) / (std::sqrt(size_a * xx) + std::sqrt(bb));
    if (!(relative <= worst)) worst = relative;
  }
  return worst;
}

/// Returns max |a - b| / max |b|.
template <class A, class B>
double difference(const HostMatrix<A>& a, const HostMatrix<B>& b) {
  double most = 0, size = 0;
  for (index_t e = 0; e < b.size(); ++e) {
    const double here = std::abs(static_cast<double>(a.data()[e]) - static_cast<double>(b.data()[e]));
    if (!(here <= most)) most = here;
    size = std::max(size, std::abs(static_cast<double>(b.data()[e])));
  }
  return most == 0 ? 0 : most / size;
}

}  // namespace tesela::test
