#pragma once

#include <tesela/runtime/scalar.hpp>
#include <tesela/tiles/host_matrix.hpp>

#include <functional>
#include <vector>

namespace tesela {

/// Errors of Q and R as a QR factorization of A.
struct QrError {
  double backward = 0;  ///< ||A - Q R||_F / ||A||_F; the numerator alone if A = 0
  /// Allowed loss of entries below T's normal numbers, an addition to the bound of `backward`: min(m, n) + 1 roundings
  /// of each entry relative to ||A||_F, but at most cbrt(eps).
  double lost = 0;
  double orthogonality = 0;  ///< ||I - Q^H Q||_F
  /// Whether the factors (for an estimate: R and Q times its vectors) are finite. The errors may be NaN otherwise.
  bool finite = true;
};

/// Largest errors of a backward stable factorization of an m x n matrix in T: 10 sqrt(max(m, n)) eps, and sqrt(min(m,
/// n)) times that for the orthogonality. tests/tools/checks/test_error_bounds.cpp states the distance of the methods
/// from it.
struct QrBounds {
  double backward = 0, orthogonality = 0;
};
template <class T>
QrBounds qr_bounds(index_t m, index_t n);

// All of these functions read R in the upper trapezoid of the first min(m, n) rows of `factors` and ignore other
// entries. They compute in double precision with BLAS on all cores, on A scaled by a power of two, so that nothing
// overflows.

/// Measures both errors from min(m, n) or more explicit columns of Q, all of which count in the orthogonality.
template <class T>
QrError qr_error(const HostMatrix<T>& a, const HostMatrix<T>& factors, const HostMatrix<T>& q);

/// Returns ||R^H R x - A^H A x|| / (||A||_F^2 ||x||) for a random x: at most twice the backward error. Needs no Q.
template <class T>
double gram_error(const HostMatrix<T>& a, const HostMatrix<T>& factors, std::uint64_t seed);

/// Estimates both errors without explicit Q, from its product with random sign vectors: x^T M y with independent x and
/// y, like M x, has mean square ||M||_F^2 (Hutchinson's estimator).
template <class T>
class QrSample {
 public:
  /// `vectors` of each kind: the squared backward error has a relative spread below sqrt(2 / vectors).
  QrSample(const HostMatrix<T>& factors, index_t vectors, std::uint64_t seed);

  /// Reads no R, but calls multiply_r(X), which returns R X computed in T, for a matrix X of random signs.
  QrSample(Shape a, index_t vectors, std::uint64_t seed,
           const std::function<HostMatrix<T>(const HostMatrix<T>&)>& multiply_r);

  /// Uses only some columns J of an m x n matrix, if all would take minutes: the backward error is ||A_J - Q R_J||_F /
  /// ||A_J||_F, measured, and does not cover other columns. `r` is R_J with zeros below the diagonal; only its part
  /// above is used.
  QrSample(Shape a, const HostMatrix<T>& r, index_t vectors, std::uint64_t seed);

  /// The block to be multiplied by Q from the left, m rows: [R X, Y, Z] above zeros, with `vectors` random columns in
  /// each of X, Y and Z; with columns J [R_J, Y, Z].
  const HostMatrix<T>& block() const { return block_; }

  /// Returns the errors, from A (or A_J) and the product Q block().
  QrError error(const HostMatrix<T>& a, const HostMatrix<T>& product) const;

 private:
  using Wide = with_parts<T, double>;
  QrSample(Shape a, const HostMatrix<T>& first, index_t vectors, std::uint64_t seed, bool whole);
  void set_block(index_t rows, const std::vector<Wide>& first, std::uint64_t seed);
  index_t n_, k_, vectors_;
  index_t columns_;  // columns of the block's first part
  bool whole_ = true;
  std::uint64_t seed_;
  int scale_ = 0;  // R X was divided by 2^scale_
  bool finite_ = true;
  HostMatrix<T> block_;
};

/// Returns R alone: rows x n, with zeros below the diagonal.
template <class T>
HostMatrix<T> upper_trapezoid(const HostMatrix<T>& factors, index_t rows);

/// Returns the first columns of the m x m identity.
template <class T>
HostMatrix<T> identity(index_t m, index_t columns);

}  // namespace tesela
