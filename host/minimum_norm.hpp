#pragma once

#include <tesela/tiles/host_matrix.hpp>

#include <vector>

namespace tesela::kernels {

// Rank and solution of min ||R x - c||_2 in host memory, for a triangle or trapezoid R that a QR factorization left.

/// ||x||_2 of n elements, without overflow.
template <class T>
T euclidean_norm(index_t n, const T* x);

/// That of each column.
template <class T>
std::vector<T> column_norms(const HostMatrix<T>& a);

/// Whether no element is NaN or infinite.
template <class T>
bool all_finite(const HostMatrix<T>& a);

/// The 1-norm condition number of the upper triangle R (LAPACK trcon's estimate, at most a few times too small), with
/// its columns scaled to unit norm if asked for; infinite when a diagonal element is zero.
template <class T>
double triangle_condition(const HostMatrix<T>& R, bool unit_columns);

/// Multiplies each column by a power of two that brings its largest element to [1, 2), and returns what it was: column
/// j is 2^exponents[j] times what stands there afterwards. 0 for zero columns.
template <class T>
std::vector<int> scale_columns(HostMatrix<T>& a);

template <class T>
struct MinimumNorm {
  HostMatrix<T> X;                      ///< n x r
  index_t rank = 0;                     ///< numerical
  std::vector<T> residual_norms;        ///< ||R x_k - c_k||_2
  bool original_units = true;           ///< what the norm was measured in
  std::vector<double> singular_values;  ///< of R with its columns scaled to unit norm, descending
  double cut = 0;                       ///< ||R22||_F on those columns: by how much of each column's norm R was changed
};

/// The least-squares solution for any rank (LAPACK gelsy on columns scaled to unit norm, with the rank that the
/// singular values have): R P = Q [R11 R12; 0 R22] by reveal_rank; then [R11 R12] = [T 0] Z and x = P Z^T [T^-1 Q^T c;
/// 0]. R is k x n with k <= n, its strict lower triangle not read, C k x r, both finite.
///
/// Of all minimizers (of the problem with R22 = 0) x has the least ||x||_2, if R's nonzero columns have norms within a
/// factor of eps^(-1/2) of each other. Beyond that rounding errors of large columns drown small ones in every formula
/// for it, and x has the least ||D x||_2, D the columns' norms: the least norm in units in which all columns have norm
/// 1. `original_units` says which. Unknowns of zero columns are zero. Powers of two as factors of R or C are those of X
/// and of nothing else; an X that T cannot hold is not finite.
template <class T>
MinimumNorm<T> minimum_norm(HostMatrix<T> R, HostMatrix<T> C, double rcond);

}  // namespace tesela::kernels
