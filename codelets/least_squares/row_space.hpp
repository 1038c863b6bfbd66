#pragma once

#include <tesela/tiles/host_matrix.hpp>

#include <vector>

namespace tesela::kernels {

// Triangles of any rank in host memory. The rank is minimum_norm's: the singular values of R, its columns scaled to
// unit norm, above rcond times the largest.

/// An orthogonal matrix that shows the rank of a k x n upper trapezoid R, k <= n: the rows of turn R from `rank` on are
/// zero, but for `cut` times the columns' norms.
template <class T>
struct RankRows {
  index_t rank = 0;
  double condition = 1;  ///< largest over smallest singular value of R with columns of unit norm
  double cut = 0;
  HostMatrix<T> turn;  ///< k x k
};
template <class T>
RankRows<T> rows_of_rank(HostMatrix<T> R, double rcond);

template <class T>
struct RowSolution {
  HostMatrix<T> W;           ///< of least norm
  HostMatrix<T> L;           ///< with op(R)^T L = W, but for the cut
  std::vector<T> distances;  ///< ||op(R) w - c||_2
  index_t rank = 0;
  double condition = 1, cut = 0;  ///< as RankRows
  bool original_units = true;     ///< as MinimumNorm
};

/// W = the solution of least norm of min ||R^T w - c||_2 for each column c of C, n x r: with R D^-1 P = U [R11 R12; 0
/// 0], D the column norms, w = U [w1; 0] and w1 = argmin ||D P [R11 R12]^T w1 - c||_2. R is a k x n upper trapezoid, k
/// <= n, what is below its diagonal not read; R and C are finite and near 1.
template <class T>
RowSolution<T> solve_rows(HostMatrix<T> R, const HostMatrix<T>& C, double rcond);

/// W = the solution of least norm of min ||R w - c||_2 for each column c of C, n x r, by minimum_norm. R is n x n.
template <class T>
RowSolution<T> solve_columns(HostMatrix<T> R, const HostMatrix<T>& C, double rcond);

}  // namespace tesela::kernels
