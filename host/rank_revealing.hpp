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

/// Factors the k x n upper trapezoid R, k <= n, in place, and replaces C by Q^H C.
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

/// Returns an estimate of the ratio of the largest to the smallest singular value of the n x n upper triangle R.
///
/// R        zeros below its diagonal, and none on it.
/// Returns  NaN if the inverse overflows. The result may be too small: over random starts the mean loss is at most a
///          tenth at n = 6000, whatever the singular values are (Kuczynski and Wozniakowski, "Estimating the largest
///          eigenvalue by the power and Lanczos algorithms with a random start", 1992: 0.103 (ln(n (k - 1)^4) / (k -
///          1))^2 of the eigenvalue after k steps).
/// Method   Lanczos's method: eight steps with R^H R and sixteen with its inverse, from one start vector. It needs 64
///          n^2 operations; the singular values themselves need 8/3 n^3.
template <class T>
double spectral_condition(const HostMatrix<T>& R);

/// Returns the same for R with its columns divided by their norms.
template <class T>
double spectral_condition_of_unit_columns(HostMatrix<T> R);

}  // namespace tesela::kernels
