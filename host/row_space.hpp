#pragma once

#include <tesela/runtime/scalar.hpp>
#include <tesela/tiles/host_matrix.hpp>

#include <vector>

namespace tesela::kernels {

// Triangles of any rank in host memory, of real or complex numbers.

/// A unitary matrix that reveals the rank of a k x n upper trapezoid R, k <= n, as minimum_norm decides it, on
/// columns scaled to unit norm: the rows of turn R from `rank` on are zero, except for `cut` times the columns' norms.
template <class T>
struct RankRows {
  index_t rank = 0;
  double condition = 1;  ///< largest over smallest singular value of R with columns of unit norm
  double cut = 0;
  HostMatrix<T> turn;  ///< k x k
};
template <class T>
RankRows<T> rows_of_rank(HostMatrix<T> R, double rcond);

/// Solution of R^H W = C of least norm, and the orthogonal complement of R's rows.
template <class T>
struct RowSolution {
  HostMatrix<T> W;                   ///< n x r
  HostMatrix<T> L;                   ///< n x r with R L = W, except for the cut
  HostMatrix<T> complement;          ///< n x (n - rank): orthonormal columns, orthogonal to R's except for the cut
  std::vector<real_t<T>> distances;  ///< ||R^H w - c||_2
  index_t rank = 0;                  ///< singular values of R above rcond times the largest
  double condition = 1;              ///< largest over smallest of these
  double cut = 0;                    ///< norm of the dropped part of R
};

/// Returns W, the solution of least norm of min ||R^H w - c||_2 for each column c of C, n x r: with R P = U [R11 R12; 0
/// 0], w = U [w1; 0] and w1 = argmin ||P [R11 R12]^H w1 - c||_2.
///
/// R        n x n, upper triangular, finite and near 1; its strict lower triangle is not read.
/// C        finite and near 1.
template <class T>
RowSolution<T> solve_rows(HostMatrix<T> R, const HostMatrix<T>& C, double rcond);

}  // namespace tesela::kernels
