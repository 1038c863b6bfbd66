#pragma once

#include <tesela/runtime/scalar.hpp>
#include <tesela/tiles/host_matrix.hpp>

#include <vector>

namespace tesela::kernels {

/// Rows of one size in a least-squares problem: 2^exponent [R | C], any k x n and k x r.
template <class T>
struct RowClass {
  int exponent = 0;
  HostMatrix<T> R, C;
};

/// A triangle with separately scaled rows, so that the size of a row of R has no meaning:
///
///     diag(2^row_exponents) [R | C] equals a unitary matrix times the original rows, R's columns permuted.
template <class T>
struct GradedTriangle {
  HostMatrix<T> R;                        ///< n x n, zero rows below the rank
  HostMatrix<T> C;                        ///< n x r
  std::vector<index_t> pivots;            ///< pivots[j]: the unknown of column j
  std::vector<int> row_exponents;         ///< n
  std::vector<real_t<T>> residual_norms;  ///< of the residual of each column of C, in the units of the data
};

/// Joins classes of rows whose sizes may differ by any factor, with errors in each row relative to its size.
///
/// classes  all numbers must be finite.
/// rcond    a class of lower rank (singular values up to rcond times the largest, columns scaled to unit norm) is
///          reduced to its rank first: rounding errors of heavy rows must not be mistaken for light rows. The triangle
///          ends at the first pivot that errors of rcond in each row, times its class's size, may have caused.
/// Method   Rows are sorted by size and columns pivoted (M. Powell and J. Reid 1969; A. Cox and N. Higham, "Stability
///          of Householder QR factorization for weighted least squares problems", 1998).
template <class T>
GradedTriangle<T> join_graded_rows(std::vector<RowClass<T>> classes, double rcond);

}  // namespace tesela::kernels
