#pragma once

#include <tesela/tiles/host_matrix.hpp>

#include <vector>

namespace tesela::kernels {

/// What R P = Q [R11 R12; 0 R22] says of R, with R11 of the order `rank`.
struct RankRevealed {
  std::vector<index_t> pivots;          ///< pivots[j] is the column that became column j
  std::vector<double> singular_values;  ///< of R, descending
  index_t rank = 0;                     ///< singular values above rcond times the largest
  double cut = 0;                       ///< ||R22||_F
};

/// Factors the k x n upper trapezoid R, k <= n, zeros below its diagonal, in place, and makes C = Q^T C. The rank is
/// decided by the singular values themselves (LAPACK gesvd, in double precision). Column pivoting (geqp3) chooses R11;
/// where it leaves an R22 that is too large for that rank, as it does for Kahan's matrix, columns of R11 and R22 are
/// swapped for as long as that doubles |det R11| (Gu and Eisenstat, "Efficient algorithms for computing a strong
/// rank-revealing QR factorization", 1996, algorithm 4 with f = 2): then ||R22|| is at most sqrt(1 + 4 rank (n - rank))
/// times what any matrix of that rank leaves. Zeros below the diagonal again. R and C are finite, R near 1.
template <class T>
RankRevealed reveal_rank(HostMatrix<T>& R, HostMatrix<T>& C, double rcond);

}  // namespace tesela::kernels
