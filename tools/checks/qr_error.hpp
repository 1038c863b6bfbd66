#pragma once

#include <tesela/tiles/host_matrix.hpp>

#include <vector>

namespace tesela {

/// How far Q and R are from a QR factorization of A.
struct QrError {
  /// ||A - Q R||_F / ||A||_F; the numerator alone when A vanishes. What entries of T lose where they are below its
  /// normal numbers is forgiven: min(m, n) + 1 roundings of each, but at most cbrt(eps) ||A||_F.
  double backward = 0;
  double orthogonality = 0;  ///< ||I - Q^T Q||_F
  /// Whether the factors are finite (of an estimate: R and what Q was multiplied with). The errors may be NaN
  /// otherwise.
  bool finite = true;
};

/// The most that a backward stable factorization of an m x n matrix in T has: 10 sqrt(max(m, n)) eps, and for the
/// orthogonality sqrt(min(m, n)) times that. tests/cli/test_error_bounds.cpp says how far from it methods stay.
struct QrBounds {
  double backward = 0, orthogonality = 0;
};
template <class T>
QrBounds qr_bounds(index_t m, index_t n);

// All of these take R as the upper trapezoid in the first min(m, n) rows of `factors`, whose other entries are not
// read. They compute in double precision with BLAS on all cores, on A scaled by a power of two, so that nothing
// overflows.

/// Measures both errors with min(m, n) or more columns of Q formed; all of them count in the orthogonality.
template <class T>
QrError qr_error(const HostMatrix<T>& a, const HostMatrix<T>& factors, const HostMatrix<T>& q);

/// Estimates both errors without forming Q, from its product with random vectors of signs: x^T M y with independent x
/// and y, like M x, has a mean square of ||M||_F^2 (Hutchinson's estimator).
template <class T>
class QrSample {
 public:
  /// `vectors` of each kind: the square of the backward error has a relative spread below sqrt(2 / vectors).
  QrSample(const HostMatrix<T>& factors, index_t vectors, std::uint64_t seed);

  /// From some columns J of an m x n matrix alone, where all of it would take minutes: the backward error is
  /// ||A_J - Q R_J||_F / ||A_J||_F, measured, and says nothing of the other columns. `r` is R_J, zeros below the
  /// diagonal; what does not fit above it is left out.
  QrSample(Shape a, const HostMatrix<T>& r, index_t vectors, std::uint64_t seed);

  /// The block to be multiplied by Q from the left, m rows: [R X, Y, Z] over zeros, with random X, Y and Z, each of so
  /// many vectors; of columns [R_J, Y, Z].
  const HostMatrix<T>& block() const { return block_; }

  /// The errors, from A (or A_J) and the product Q block().
  QrError error(const HostMatrix<T>& a, const HostMatrix<T>& product) const;

 private:
  void set_block(index_t rows, const std::vector<double>& first, std::uint64_t seed);
  index_t n_, k_, vectors_;
  index_t columns_;  // of the block's first part
  bool whole_ = true;
  std::uint64_t seed_;
  int scale_ = 0;  // R X was divided by 2^scale_
  bool finite_ = true;
  HostMatrix<T> block_;
};

/// R alone: rows x n, zeros below the diagonal.
template <class T>
HostMatrix<T> upper_trapezoid(const HostMatrix<T>& factors, index_t rows);

/// The first columns of the m x m identity.
template <class T>
HostMatrix<T> identity(index_t m, index_t columns);

/// The operations that rates are stated by, whatever a method really does: 2 m n^2 - 2 n^3 / 3 for m >= n (LAPACK's
/// count of geqrf).
inline double qr_flops(index_t rows, index_t cols) {
  const auto m = static_cast<double>(rows), n = static_cast<double>(cols), k = m < n ? m : n;
  return 4 * m * n * k - 2 * (m + n) * k * k + 4 * k * k * k / 3;
}

}  // namespace tesela
