#pragma once

#include <tesela/runtime/scalar.hpp>
#include <tesela/tiles/host_matrix.hpp>

#include <cmath>
#include <vector>

namespace tesela::kernels {

// Rank and solution of min ||R x - c||_2 in host memory, for a triangle or trapezoid R of a QR factorization. T is real
// or complex.

/// Returns |x| in double precision.
template <class T>
double magnitude(T x) {
  return std::abs(with_parts<T, double>(x));
}

/// Returns ||x||_2 of n elements, without overflow.
template <class T>
real_t<T> euclidean_norm(index_t n, const T* x);

/// Returns the 2-norm of each column.
template <class T>
std::vector<real_t<T>> column_norms(const HostMatrix<T>& a);

/// Returns whether no element is NaN or infinite.
template <class T>
bool all_finite(const HostMatrix<T>& a);

/// Returns the 1-norm condition number of the upper triangle R (LAPACK trcon's estimate, at most a few times too
/// small), on request with its columns scaled to unit norm; infinite if a diagonal element is zero.
template <class T>
double triangle_condition(const HostMatrix<T>& R, bool unit_columns);

/// Multiplies each column by a power of two that brings its largest element to [1, 2), and returns the exponents of the
/// inverse factors: the old column j is 2^exponents[j] times the new one. 0 for zero columns.
template <class T>
std::vector<int> scale_columns(HostMatrix<T>& a);

/// Solution of least norm.
template <class T>
struct MinimumNorm {
  HostMatrix<T> X;                        ///< n x r
  index_t rank = 0;                       ///< numerical rank
  std::vector<real_t<T>> residual_norms;  ///< ||R x_k - c_k||_2
  bool original_units = true;             ///< whether the norm of x was minimized in the original units
  std::vector<double> singular_values;    ///< of R with its columns scaled to unit norm, descending
  double cut = 0;  ///< ||R22||_F on those columns: the change of R relative to each column's norm
};

/// Returns the least-squares solution for any rank (LAPACK gelsy on columns scaled to unit norm, with the rank of the
/// singular values): R P = Q [R11 R12; 0 R22] by reveal_rank; then [R11 R12] = [T 0] Z and x = P Z^H [T^-1 Q^H c; 0].
///
/// R        k x n with k <= n, finite; its strict lower triangle is not read.
/// C        k x r, finite.
/// Returns  the minimizer x (of the problem with R22 = 0) of least ||x||_2, if R's nonzero columns have norms within a
///          factor of eps^(-1/2) of each other, or if rows of T in one size have a condition up to 0.01 / eps. Beyond
///          that, rounding errors of large columns hide small columns in every formula for it, and x has the least
///          ||D x||_2, D the columns' norms: the least norm if units give all columns the norm 1. `original_units`
///          reports which norm it is. Unknowns of zero columns are zero.
///          Powers of two as factors of R or C change X by powers of two and nothing else. An X that T cannot represent
///          is not finite.
template <class T>
MinimumNorm<T> minimum_norm(HostMatrix<T> R, HostMatrix<T> C, double rcond);

}  // namespace tesela::kernels
