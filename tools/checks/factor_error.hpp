#pragma once

#include <tesela/algorithms/support/measured.hpp>
#include <tesela/runtime/scalar.hpp>
#include <tesela/tiles/host_matrix.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <span>

namespace tesela {

/// Errors of the factors of a matrix.
struct FactorError {
  double backward = 0;     ///< ||P A - L U||_F / ||A||_F, or of A - R^H R; estimated with 16 random vectors
  double growth = 1;       ///< max |U| / max |A|, the growth of elements
  double multipliers = 0;  ///< max |L|, at most 1 with partial pivoting
};

/// Measures P A = L U with unit lower L below U in `factors`; row i of P A is row rows[i] of A (empty: no pivoting).
template <class T>
FactorError lu_error(const HostMatrix<T>& a, const HostMatrix<T>& factors, std::span<const index_t> rows);

/// Measures A = R^H R with R in the upper triangle of `factors`; A is a full matrix.
template <class T>
FactorError cholesky_error(const HostMatrix<T>& a, const HostMatrix<T>& factors);

/// Returns the largest ||b - A x||_2 / (||A||_F ||x||_2 + ||b||_2) of all columns, summed in double precision.
template <class T>
double solution_error(const HostMatrix<T>& a, const HostMatrix<T>& b, const HostMatrix<T>& x);

/// Returns the largest |b - A x|_i / (|A| |x| + |b|)_i of all rows and columns, in double precision: the relative
/// change of the elements of A and b that makes x exact (Oettli and Prager, Numer. Math. 6, 1964). 0 / 0 counts as 0.
template <class T>
double componentwise_error(const HostMatrix<T>& a, const HostMatrix<T>& b, const HostMatrix<T>& x);

/// Returns the bound of these errors. With tournament pivoting, as with partial pivoting, elements grow like n^(2/3) on
/// random matrices; GPUs invert blocks of L, whose multipliers may exceed 1, which triples errors. Cholesky's elements
/// do not grow. A complex product has 2 sqrt 2 times the error of a real one (Higham 2002, lemma 3.5).
template <class T>
double factor_bound(index_t n, bool pivots) {
  const auto order = static_cast<double>(n);
  return std::min((is_complex<T> ? 2 * std::numbers::sqrt2 : 1) * (pivots ? 12 : 4) *
                      (std::pow(order, pivots ? 2.0 / 3 : 0.5) + 8) *
                      static_cast<double>(std::numeric_limits<real_t<T>>::epsilon()),
                  useful_bound);
}

/// Returns ||B||_F ||B^-1||_2 for B = D A E, where powers of two in D and E make the largest element of each row and
/// column about 1 (units_of): a condition of A that does not depend on the units of its rows or of its columns (of
/// both at once only without zeros). It is a lower estimate, by five steps of the power method with the factors P A = L
/// U in the form of lu_error. Infinite if B^-1 overflows.
template <class T>
double lu_condition(const HostMatrix<T>& a, const HostMatrix<T>& factors, std::span<const index_t> rows);

/// Returns the same for a symmetric positive definite A = R^T R, with B = D A D and a diagonal of about 1.
template <class T>
double cholesky_condition(const HostMatrix<T>& a, const HostMatrix<T>& factors);

}  // namespace tesela
