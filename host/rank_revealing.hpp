#pragma once

#include <tesela/tiles/host_matrix.hpp>

#include <vector>

namespace tesela::kernels {

/// Result of R P = Q [R11 R12; 0 R22], with R11 of the order `rank`.
struct RankRevealed {
  std::vector<index_t> pivots;          ///< pivots[j]: the original index of column j
  std::vector<double> singular_values;  ///< of R, descending
  index_t rank = 0;                     ///< singular values above rcond times the largest
  double cut = 0;                       ///< ||R22||_F
};

/// Factors the k x n upper trapezoid R, k <= n, in place, and replaces C by Q^T C.
///
/// R        finite and near 1, zeros below its diagonal, also afterwards.
/// C        finite.
/// Method   The singular values (LAPACK gesvd, in double precision) determine the rank. Column pivoting (geqp3) chooses
///          R11. If its R22 is too large for that rank, as for Kahan's matrix, columns of R11 and R22 are swapped while
///          that doubles |det R11| (Gu and Eisenstat, "Efficient algorithms for computing a strong rank-revealing QR
///          factorization", 1996, algorithm 4 with f = 2). Then ||R22|| is at most sqrt(1 + 4 rank (n - rank)) times
///          R's distance from the nearest matrix of that rank.
template <class T>
RankRevealed reveal_rank(HostMatrix<T>& R, HostMatrix<T>& C, double rcond);

}  // namespace tesela::kernels
