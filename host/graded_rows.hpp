#pragma once

#include <tesela/tiles/host_matrix.hpp>

#include <vector>

namespace tesela::kernels {

/// Rows of a least-squares problem that count alike: 2^exponent [R | C], any k x n and k x r.
template <class T>
struct RowClass {
  int exponent = 0;
  HostMatrix<T> R, C;
};

/// A triangle whose rows stand in units of their own, so that no row's size says anything:
///
///     diag(2^row_exponents) [R | C] is what an orthogonal matrix makes of the rows, R's columns permuted.
template <class T>
struct GradedTriangle {
  HostMatrix<T> R;                 ///< n x n, rows of zeros below the rank
  HostMatrix<T> C;                 ///< n x r
  std::vector<index_t> pivots;     ///< pivots[j]: which unknown column j belongs to
  std::vector<int> row_exponents;  ///< n
  std::vector<T> residual_norms;   ///< of what is left of each column of C, in the units of the data
};

/// Joins classes of rows whose sizes may differ by any factor, so that each row has errors of its own size: rows sorted
/// by size, columns pivoted (M. Powell and J. Reid 1969; A. Cox and N. Higham, "Stability of Householder QR
/// factorization for weighted least squares problems", 1998). A class of a lower rank (singular values up to rcond
/// times the largest, columns scaled to unit norm) is cut to its rank first: what rounding left of heavy rows must not
/// pass for light ones. A pivot that errors of rcond in each row, times its class's size, may have left ends the
/// triangle. All is finite.
template <class T>
GradedTriangle<T> join_graded_rows(std::vector<RowClass<T>> classes, double rcond);

}  // namespace tesela::kernels
